"""List data sets, and find one by name; descriptions.toml describes them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from .._messages import suggestion
from .records import Dataset, Source


def _record(name: str, fields: dict[str, Any]) -> Dataset:
    counts = tuple(fields.pop("counts", ()))
    sources = tuple(Source(**source) for source in fields.pop("sources", ()))
    return Dataset(name, counts=counts, sources=sources, **fields)


@cache
def all_datasets() -> dict[str, Dataset]:
    """Return the records of all data sets by name."""
    descriptions = tomllib.loads(files(__package__).joinpath("descriptions.toml").read_text(encoding="utf-8"))
    return {name: _record(name, fields) for name, fields in descriptions.items()}


def list_datasets() -> tuple[Dataset, ...]:
    """Return the records of all data sets; those of the paper come first.

    Examples
    --------
    >>> from ispca.datasets import list_datasets
    >>> [record.name for record in list_datasets() if record.target == "multiclass"]
    ['glioma-4c', 'lung-5c', 'lung-5c-1543']
    """
    return tuple(all_datasets().values())


def find(name: str) -> Dataset:
    """Return the record of a data set, or raise a ValueError that suggests similar names.

    Examples
    --------
    >>> find("prostata")
    Traceback (most recent call last):
    ValueError: There is no data set 'prostata'. Did you mean prostate?
    """
    datasets = all_datasets()
    if name in datasets:
        return datasets[name]
    raise ValueError(f"There is no data set {name!r}. {suggestion(name, list(datasets))}")
