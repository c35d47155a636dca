"""Records that describe a data set and its sources, and the error for data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from .._extras import load_extra


class DatasetError(OSError):
    """A data set is not present, cannot be downloaded, or fails verification."""


def load_package(purpose: str, module: str) -> Any:
    """Import an optional package, or raise a DatasetError that says how to install it."""
    try:
        return load_extra(purpose, module)
    except ImportError as error:
        raise DatasetError(str(error)) from error


@dataclass(frozen=True)
class Source:
    """A public file from which a data set can be converted.

    Parameters
    ----------
    url : str
        Where to download it.
    format : {"mat", "rdata", "survival-rdata", "dexter-zip", "blog-zip"}
        How to convert it (``convert.py``).
    sha256 : str or None
        Checksum of the file, if known.
    same_file : bool
        Whether the checksum of the converted arrays was computed from this file. If it was computed from another
        copy, sizes must agree but the arrays may differ, for example in the order of rows.
    """

    url: str
    format: str
    sha256: str | None = None
    same_file: bool = True

    @property
    def filename(self) -> str:
        """The last part of the address, by which a copy in ``ISPCA_DATA`` is recognized."""
        return unquote(urlsplit(self.url).path.rpartition("/")[2])


@dataclass(frozen=True)
class Dataset:
    """One data set: its description, its sources, and what is verified.

    Parameters
    ----------
    name, title : str
        Short name for :func:`load`, and a short description.
    n, D : int
        Number of samples and of features.
    target : {"binary", "multiclass", "regression", "counts", "survival"}
        Kind of target.
    origin : str
        Where the arrays come from.
    study : str
        The publication to cite.
    scale : str
        What the stored values are.
    counts : tuple of int
        Samples per class, in any order.
    paper_name : str or None
        Name in the paper, if it is one of its twelve data sets.
    stand_in_for : str or None
        The data set of the paper for which this one is a substitute.
    preprocessing : str
        Name in ``preprocessing.PREPROCESSING``.
    sparse : bool
        Whether the data are stored as a sparse array.
    sources : tuple of Source
        Public files, tried in this order.
    checksum : str or None
        ``arrays.checksum`` of the converted arrays, if they could be obtained.
    notes : str
        Further information for users.
    """

    name: str
    title: str
    n: int
    D: int
    target: str
    origin: str
    study: str
    scale: str
    counts: tuple[int, ...] = ()
    paper_name: str | None = None
    stand_in_for: str | None = None
    preprocessing: str = "none"
    sparse: bool = False
    sources: tuple[Source, ...] = ()
    checksum: str | None = None
    notes: str = ""

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.target in ("binary", "multiclass")
