"""Read the data file of an analysis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..foundation.progress import progress
from ..readers import Table, read_table
from ..readers.table import SampleColumns
from .large_data import block_memory
from .settings import Settings


@contextmanager
def reading(path: Path) -> Iterator[Any]:
    """Show the progress of reading a file; yield the function to call with the fraction read."""
    fraction = 0.0

    def update(value: float) -> None:
        nonlocal fraction
        fraction = value

    with progress(f"Reading {path.name} (%)", 100, lambda: int(100 * fraction)):
        yield update


def sample_columns(settings: Settings) -> SampleColumns:
    """Return the columns that describe the samples."""
    names = (settings.time, settings.event, settings.covariates, settings.groups, settings.weights)
    return SampleColumns(*names, settings.offset, event_value=settings.event_value)


def read_data(settings: Settings) -> Table:
    """Read the data with the target; a matrix that exceeds the memory limit stays in its file."""
    assert settings.data is not None
    with reading(settings.data) as update:
        return read_table(
            settings.data,
            target=settings.target,
            samples=settings.samples,
            on=settings.on,
            id=settings.id,
            sheet=settings.sheet,
            positive=settings.positive,
            merge=settings.merge,
            exclude_class=settings.exclude_class,
            exclude_samples=settings.exclude_samples,
            features=settings.features,
            drop=settings.drop,
            annotation=settings.annotation,
            label=settings.label,
            transpose=settings.transpose,
            kind=settings.kind,
            columns=sample_columns(settings),
            missing=settings.missing,
            transform=settings.transform or "none",
            max_bytes=settings.memory,
            block_memory=block_memory(settings),
            progress=update,
        )
