"""Read a data file, and perhaps the files that describe its samples and features, into a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .excel import is_workbook, pair_sheets
from .file_access import Limit, as_table_error, limit_for
from .file_formats import find_format, read_file
from .interpretation import Choices, interpret
from .missing_value_treatment import check_treatment
from .sample_columns import Categories, check_roles
from .sample_sheet import read_both, read_texts
from .subsets_and_transforms import check_transform
from .table import MissingTargetError, Raw, Request, SampleColumns, Table, TableError, ignore_progress

NO_COLUMNS = SampleColumns()


def read_table(
    path: Any,
    *,
    target: str | None = None,
    id: str | None = None,
    drop: tuple[str, ...] = (),
    transpose: bool = False,
    kind: str | None = None,
    missing: str = "error",
    transform: str = "none",
    supervised: bool = True,
    known: tuple[str, ...] | None = None,
    categories: Categories | None = None,
    columns: SampleColumns = NO_COLUMNS,
    max_bytes: int | None = None,
    block_memory: float | None = None,
    progress: Callable[[float], None] = ignore_progress,
    samples: Any = None,
    on: str | None = None,
    annotation: Any = None,
    label: str | None = None,
    features: tuple[str, ...] = (),
    sheet: str | None = None,
    positive: str | None = None,
    merge: bool = False,
    exclude_class: tuple[str, ...] = (),
    exclude_samples: tuple[str, ...] = (),
    decimal_comma: bool | None = None,
) -> Table:
    r"""Read a data file into numbers, names and a target.

    Parameters
    ----------
    path : path
        A .csv, .tsv or .txt file, a .svm, .svmlight or .libsvm file (any of them packed as .gz, .bz2, .xz or
        .zip), a .parquet, .xlsx, .h5ad, .npz, .npy, .zarr or .bed file, or a folder with matrix.mtx, barcodes.tsv
        and features.tsv of 10x Genomics.
    target : str, optional
        Column of the target; not needed for .npz (``y``) and svmlight files.
    id : str, optional
        Column with sample names. By default the first column, if it has no name, contains unique text, or is
        called something like "id" or "sample".
    drop : tuple of str
        Names or shell patterns, such as "clin_*", of columns that are not features.
    transpose : bool, default=False
        Whether features are in rows and samples in columns.
    kind : {"classification", "regression", "survival", "count", "ordinal"}, optional
        Kind of target. By default, text and integers with at most ten distinct values are class labels, and other
        numbers are quantities; a time and an event are survival. Counts and ordered classes must be requested.
    missing : {"error", "mean", "columns", "rows", "keep"}, default="error"
        Treatment of missing values: raise an error, replace them by the column mean, leave out the affected
        columns or samples, or keep them as NaN, which is for looking at a file only.
    transform : {"none", "log1p", "log2", "cpm-log", "binary"}, default="none"
        Transformation of the features, never of covariates: log(x + 1), log2(x + 1), log2(1 + counts per million),
        or 1 for positive values. With a fitted model (``known``), the caller applies it to the model's features.
    supervised : bool, default=True
        Whether to read a target.
    known : tuple of str, optional
        The features of a fitted model.
    categories : dict of str to list of str or None, optional
        The covariates of a fitted model and their categories; None for quantities.
    columns : SampleColumns, optional
        Columns that describe the samples: ``time`` and ``event``, which take the place of the target,
        ``covariates``, ``groups``, ``weights`` and ``offset``; ``optional`` ones are read if they exist.
    max_bytes : int, optional
        Memory that the table may take, in bytes: 8 per cell, 16 per entry of a sparse matrix, and 256 per row and
        per column. The same limit applies to data unpacked from a compressed file. By default 200 times the size
        of the file, but at least 256 MB and at most 8 GB.
    block_memory : float, optional
        If X exceeds the limit, leave it in its file, to be read in blocks within this many bytes of memory.
        Possible for .npy, .bed, .zarr, .h5ad and .parquet. By default, X is always read into memory.
    progress : callable, optional
        Called with the fraction of the file that has been read.
    samples : path, optional
        A sample sheet: a table with one row per sample, which may contain the target and other columns that
        describe the samples. Samples are matched by name, and whether they are rows or columns of ``path`` is
        found out from the side that matches.
    on : str, optional
        Column of the sample sheet with the sample names. By default the one that matches best.
    annotation : path, optional
        A table with one row per feature that describes the features. One of its columns has their names.
    label : str, optional
        The column that describes features, of ``annotation`` or of ``path``, to show beside their names.
    features : tuple of str
        Names or shell patterns of the features to use. By default all.
    sheet : str, optional
        The sheet of an Excel file to read, of ``path`` or else of ``samples``. By default the first.
    positive : str, optional
        The class to call positive.
    merge : bool, default=False
        Whether to merge classes that differ only in case, spaces, hyphens or underscores. By default, a note names
        them, and those that are far rarer than another spelling are left out, as are classes with a single sample.
    exclude_class : tuple of str
        Classes to leave out.
    exclude_samples : tuple of str
        Names or shell patterns of samples to leave out.
    decimal_comma : bool, optional
        Whether commas are decimal marks in a text file that does not show it, such as one that contains 1.234 or
        1,234 but no other number with a comma or point. By default this is guessed, and a note says so.

    Returns
    -------
    table : Table
        Values, names, target, and notes about what was assumed and left out.

    Raises
    ------
    TableError
        If the file cannot be used; the message says why and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from ispca.readers import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.csv"
    >>> _ = path.write_text("sample,g1,g2,state\na,1,2,ill\nb,3,5,well\nc,2,4,ill\nd,0,1,well\n")
    >>> table = read_table(path, target="state")
    >>> table.X.shape, table.features.tolist(), table.target.tolist()
    ((4, 2), ['g1', 'g2'], ['ill', 'well', 'ill', 'well'])
    """
    path = Path(path)
    check_treatment(missing)
    check_transform(transform)
    _check_words(path, samples, target, columns, supervised, on, transpose)
    choices = Choices(
        *(kind, missing, transform, supervised, categories, features, label, positive),
        *(merge, exclude_class, exclude_samples),
    )
    with as_table_error(path):
        limit = limit_for(path, max_bytes)
        workbook = _find_sheets(path, samples, sheet, limit, as_given=id is None and not transpose)
        request = Request(
            *(limit, target, id, drop, transpose, known, progress, columns),
            excel_sheet=workbook.matrix,
            block_memory=block_memory,
            decimal_comma=decimal_comma,
        )
        raw = _read_sheets(path, workbook, request, on, max_bytes)
        described = None if annotation is None else _read_annotation(Path(annotation), max_bytes)
        progress(1.0)
        return interpret(raw, path.name, request, choices, described)


def _check_words(
    path: Path,
    samples: Any,
    target: str | None,
    columns: SampleColumns,
    supervised: bool,
    on: str | None,
    transpose: bool,
) -> None:
    """Refuse arguments that do not fit the format of the file, or each other."""
    found = find_format(path)
    check_roles(columns, target)
    if supervised and target is None and columns.time is None and not found.own_target:
        raise MissingTargetError(f"The target column of {path.name} is not specified.", "⟦Pass target=COLUMN⟧.")
    if on is not None and samples is None:
        raise TableError("on names a column of a sample sheet, but there is none.", "⟦Pass samples=FILE⟧.")
    if transpose and found.matrix:
        what = "a 10x folder has" if path.is_dir() else f"{path.suffix} files have"
        raise TableError(
            f"{path.name} cannot be transposed: {what} samples in rows.", "⟦Leave out transpose=True⟧."
        )


class Sheets(NamedTuple):
    """The sheets of workbooks to read: that of the matrix, and the file and sheet with its samples."""

    matrix: str | None
    file: Path | None
    samples: str | None
    notes: list[str]


def _read_sheets(path: Path, sheets: Sheets, request: Request, on: str | None, max_bytes: int | None) -> Raw:
    """Read the matrix, and the sheet of its samples if there is one."""
    if sheets.file is None:
        raw = read_file(path, request)
    else:
        raw = read_both(path, sheets.file, request, sheets.samples, on, max_bytes)
    raw.notes[:0] = sheets.notes
    return raw


def _read_annotation(path: Path, max_bytes: int | None) -> Any:
    return read_texts(path, max_bytes).sheet, path.name


def _find_sheets(path: Path, samples: Any, sheet: str | None, limit: Limit, as_given: bool) -> Sheets:
    """Return the sheets to read; ``as_given`` says that a workbook may contain its samples, too."""
    excel = is_workbook(path)
    # The sheet of a workbook with samples, unless the data are one, too.
    of_samples = None if excel or samples is None else sheet
    if sheet is not None and not excel and (samples is None or not is_workbook(Path(samples))):
        raise TableError(f"{path.name} is not an Excel file: no sheet {sheet!r}.", "⟦Leave out sheet=NAME⟧.")
    file = None if samples is None else Path(samples)
    same = file is not None and path.resolve() == file.resolve()
    alone = file is None and sheet is None and as_given
    pair = pair_sheets(path, limit, sheet, required=same) if excel and (same or alone) else None
    if pair is None:
        return Sheets(sheet, file, of_samples, [])
    what = f"sheet {pair[0]!r} was read as the data, and sheet {pair[1]!r} as the sample sheet"
    return Sheets(pair[0], path, pair[1], [f"{path.name}: {what}."])
