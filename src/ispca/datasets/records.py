"""What is known of a data set before it is loaded: frozen records, and the error for all that can go wrong."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit


class DatasetError(OSError):
    """A data set is not there, cannot be downloaded, or is not what it should be."""


@dataclass(frozen=True)
class Source:
    """A public file that a data set can be made from.

    Parameters
    ----------
    url : str
        Where to download it.
    format : {"mat", "rdata", "survival-rdata", "dexter-zip", "blog-zip"}
        How to convert it (``convert.py``).
    sha256 : str or None
        Checksum of the file, where it is known.
    same_file : bool
        Whether the checksum of the converted arrays was made from this very file. Where it was made from another
        copy, sizes must agree but the arrays may differ, say in the order of rows.
    """

    url: str
    format: str
    sha256: str | None = None
    same_file: bool = True

    @property
    def filename(self) -> str:
        """The last part of the address, under which a copy in ``ISPCA_DATA`` is recognised."""
        return unquote(urlsplit(self.url).path.rpartition("/")[2])


@dataclass(frozen=True)
class Dataset:
    """One data set: what it is, where it comes from, and what must be true of it.

    Parameters
    ----------
    name, title : str
        Short name for :func:`load`, and what it is in a few words.
    n, D : int
        Number of samples and of features.
    target : {"binary", "multiclass", "regression", "counts", "survival"}
        Kind of target.
    origin : str
        Where the arrays come from, in words.
    study : str
        Whom to cite.
    scale : str
        What the stored values are, in words.
    counts : tuple of int
        Samples per class, in any order.
    paper_name : str or None
        Name in the paper, for its twelve.
    stand_in_for : str or None
        The data set of the paper that this one is run beside while it is missing.
    preprocessing : str
        Name in ``preprocessing.PREPROCESSING``.
    sparse : bool
        Whether it is held as a sparse array.
    sources : tuple of Source
        Public files, tried in this order.
    checksum : str or None
        ``arrays.checksum`` of the converted arrays, where they could be obtained.
    notes : str
        Whatever else a user must know.
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
