"""List data sets, and find one by name."""

from __future__ import annotations

from .._messages import suggestion
from .other_sets import OTHER_SETS
from .paper_sets import PAPER_SETS
from .records import Dataset

DATASETS: dict[str, Dataset] = {record.name: record for record in (*PAPER_SETS, *OTHER_SETS)}


def list_datasets() -> tuple[Dataset, ...]:
    """Return the records of all data sets; those of the paper come first.

    Examples
    --------
    >>> from ispca.datasets import list_datasets
    >>> [record.name for record in list_datasets() if record.target == "multiclass"]
    ['glioma-4c', 'lung-5c', 'lung-5c-1543']
    """
    return tuple(DATASETS.values())


def find(name: str) -> Dataset:
    """Return the record of a data set, or raise a ValueError that suggests similar names.

    Examples
    --------
    >>> find("prostata")
    Traceback (most recent call last):
    ValueError: There is no data set 'prostata'. Did you mean prostate?
    """
    if name in DATASETS:
        return DATASETS[name]
    raise ValueError(f"There is no data set {name!r}. {suggestion(name, list(DATASETS))}")
