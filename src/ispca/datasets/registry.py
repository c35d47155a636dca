"""The data sets by name: what descriptions.toml says about each, and its public sources."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import unquote, urlsplit

from ..foundation.messages import suggestion
from ..targets import TARGETS


class DatasetError(OSError):
    """A data set is not present or cannot be downloaded, or it fails verification."""


@dataclass(frozen=True)
class Source:
    """A public file from which a data set can be converted."""

    url: str
    format: str  # "mat", "rdata", "survival-rdata", "dexter-zip" or "blog-zip": how ``paper/convert.py`` reads it
    sha256: str | None = None  # checksum of the file, if known
    # Whether the checksum of the converted arrays was computed from this file. If it was computed from another
    # copy, sizes must agree but the arrays may differ, for example in the order of rows.
    same_file: bool = True

    @property
    def filename(self) -> str:
        """The last part of the address."""
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
        Name in ``loading.PREPROCESSING``.
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

    @property
    def is_survival(self) -> bool:
        """Whether the target consists of events and times."""
        return self.target in TARGETS and TARGETS[self.target].timed


@cache
def all_datasets() -> dict[str, Dataset]:
    """Return the records of all data sets by name."""
    descriptions = tomllib.loads(files(__package__).joinpath("descriptions.toml").read_text(encoding="utf-8"))
    for fields in descriptions.values():
        fields["counts"] = tuple(fields.get("counts", ()))
        fields["sources"] = tuple(Source(**source) for source in fields.get("sources", ()))
    return {name: Dataset(name, **fields) for name, fields in descriptions.items()}


def list_datasets() -> tuple[Dataset, ...]:
    """Return the records of all data sets; those of the paper come first.

    Examples
    --------
    >>> from ispca.datasets import list_datasets
    >>> [record.name for record in list_datasets() if record.target == "multiclass"]
    ['glioma-4c', 'lung-5c', 'lung-5c-1543', 'armstrong-3c', ...]
    """
    return tuple(all_datasets().values())


def find(name: str) -> Dataset:
    """Return the record of a data set, or raise a ValueError that suggests similar names.

    >>> find("prostata")
    Traceback (most recent call last):
    ValueError: There is no data set 'prostata'. Did you mean prostate?
    """
    datasets = all_datasets()
    if name not in datasets:
        raise ValueError(f"There is no data set {name!r}. {suggestion(name, list(datasets))}")
    return datasets[name]
