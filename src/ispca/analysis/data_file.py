"""Read the data file of an analysis."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..foundation.data_files import BY_SUFFIX
from ..foundation.progress import progress
from ..readers import Table, read_table
from ..readers.array_files import array_names
from ..readers.file_access import data_suffix
from ..readers.missing_value_treatment import KEEP
from ..readers.table import SampleColumns, text_columns
from .large_data import block_memory
from .settings import Settings

# Settings that also hold for the file of new samples.
OF_NEW = ("samples", "on", "id", "sheet")
# Columns of text that the readers do not keep unless asked to.
MOST_TEXTS = 200


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


def read_with(settings: Settings, names: Iterable[str], **options: Any) -> Table:
    """Read the data file with the settings of these names, which are parameters of `read_table`, and more.

    A matrix that exceeds the memory limit stays in its file.
    """
    assert settings.data is not None
    options |= {name: getattr(settings, name) for name in names}
    options |= {"max_bytes": settings.memory, "block_memory": block_memory(settings)}
    with reading(settings.data) as update:
        return read_table(settings.data, progress=update, **options)


def read_data(settings: Settings) -> Table:
    """Read the data with the target."""
    names = [*OF_NEW, "target", "positive", "merge", "exclude_class", "exclude_samples", "features", "drop"]
    names += ["annotation", "label", "transpose", "kind", "missing"]
    columns, transform = sample_columns(settings), settings.transform or "none"
    return read_with(settings, names, columns=columns, transform=transform)


def own_columns(matrix: Path) -> tuple[str, ...]:
    """Return the columns of an archive of arrays or an svmlight file, which are read only if they are named."""
    suffix = data_suffix(matrix)
    if suffix == ".npz":
        # The reader says what is wrong with a damaged archive.
        with suppress(OSError, ValueError, zipfile.BadZipFile):
            return tuple(array_names(matrix))
    return ("y",) if suffix in BY_SUFFIX and BY_SUFFIX[suffix].own_target else ()


def read_described(matrix: Path, **choices: Any) -> Table:
    """Read a table without a target, but with all columns that describe the samples."""

    def read(optional: tuple[str, ...]) -> Table:
        columns = SampleColumns(optional=optional)
        return read_table(matrix, supervised=False, columns=columns, missing=KEEP, **choices)

    table = read(own_columns(matrix))
    texts = [name for name in text_columns(table.left_out) if name not in table.sheet]
    return read(tuple(texts[:MOST_TEXTS])) if texts else table
