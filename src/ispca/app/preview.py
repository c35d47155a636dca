"""What is understood of uploaded files: samples, features, candidates for the target, guesses and warnings.

This runs in a worker process. The result is a plain dictionary that the page shows beside its controls.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._messages import InputError
from ..readers import Table, read_table
from ..readers.excel import sheet_names
from ..readers.files import data_suffix, is_gzipped
from ..readers.missing import KEEP
from ..readers.npz import array_names
from ..readers.records import SampleColumns, UnknownColumnError
from .arguments import OptionError, fit_arguments
from .column_roles import candidates
from .labels import in_page_words, label
from .orientation_guess import features_seem_in_rows
from .run_time import estimated_seconds
from .target_preview import KINDS, described_target

FORMATS = {
    ".csv": "CSV",
    ".tsv": "tab-separated text",
    ".txt": "text",
    ".parquet": "Parquet",
    ".xlsx": "Excel",
    ".h5ad": "AnnData",
    ".npz": "NumPy archive",
    ".npy": "NumPy array",
}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
N_FIRST, CORNER = 5, (6, 8)
# Columns of text that the readers do not keep unless asked to.
MOST_TEXTS = 200
# Columns that describe features: those that readers of a report know best come first.
SYMBOL, MOST_LABELS = re.compile("symbol|name|hgnc|hugo", re.IGNORECASE), 200
# Sheets of a workbook to try when the first one is not a table.
MOST_SHEETS = 10


def preview(
    matrix: Path, sheet: Path | None, options: Mapping[str, Any], annotation: Path | None = None
) -> dict[str, Any]:
    r"""Return what is understood of a matrix, its sample sheet and its annotation with the options chosen so far.

    What keeps the files from being read is raised as an InputError, in the words of the page. What only keeps the
    chosen options from being used is returned as ``error``, beside what is understood.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ispca.app.preview import preview
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.csv"
    >>> _ = path.write_text("sample,g1,g2,state\na,1,2,ill\nb,3,5,well\nc,2,4,ill\nd,0,1,well\n")
    >>> found = preview(path, None, {})
    >>> found["samples"], found["features"], found["columns"][0]["name"]
    (4, 2, 'state')
    """
    try:
        fit_arguments(options, {"matrix": matrix})
    except OptionError as error:
        raise InputError(str(error)) from None
    try:
        table, other_sheet = _first_look(matrix, sheet, annotation, options)
    except InputError as error:
        if annotation is not None:
            # Unless the other files cannot be read either, it is the annotation.
            problem = {"problem": error.problem, "advice": f"Remove or replace {label('annotation')}."}
            return preview(matrix, sheet, options) | {"error": problem}
        if sheet is not None and _is_matrix_of(sheet, matrix):
            raise InputError(*_swapped(matrix, sheet)) from None
        raise _on_page(error) from None
    found = _described(table, matrix, sheet, options)
    if other_sheet is not None:
        options = {**options, "sheet_name": other_sheet}
    try:
        own = "y" if "y" in table.sheet and "y" in _own_columns(matrix) else None
        chosen = _supervised(matrix, sheet, annotation, options, own)
        found |= {} if chosen is None else described_target(chosen, found, options)
    except InputError as error:
        shown = _on_page(error)
        found |= {"error": {"problem": shown.problem, "advice": shown.advice}}
    if other_sheet is not None:
        first = found["sheets"][0]
        note = f"The first sheet, {first!r}, cannot be used as a table; {other_sheet!r} is read instead."
        found |= {"sheet_name": other_sheet, "notes": [note, *found["notes"]]}
    return found


def _on_page(error: InputError) -> InputError:
    """Return an error in the words of the page."""
    problem = error.problem
    if isinstance(error, UnknownColumnError):
        problem = problem.replace(f"{error.name!r} ({error.role})", f"{error.name!r} ({label(error.role)})")
    return InputError(problem, in_page_words(error.advice))


def _first_look(
    matrix: Path, sheet: Path | None, annotation: Path | None, given: Mapping[str, Any]
) -> tuple[Table, str | None]:
    """Return the table, and the sheet of a workbook that is read because its first one cannot be."""
    try:
        return _looked_at(matrix, sheet, annotation, given), None
    except InputError:
        names = [] if any(_how_to_read(given).values()) else _sheet_names(matrix, sheet)
        for name in names[1:MOST_SHEETS]:
            with suppress(InputError):
                return _looked_at(matrix, sheet, annotation, {**given, "sheet_name": name}), name
        raise


def _sheet_names(matrix: Path, sheet: Path | None) -> list[str]:
    """Return the names of the sheets to choose from, of which there are none if no file is a readable workbook."""
    with suppress(InputError):
        return next((sheet_names(file) for file in (matrix, sheet) if file and _is_excel(file)), [])
    return []


def _looked_at(matrix: Path, sheet: Path | None, annotation: Path | None, given: Mapping[str, Any]) -> Table:
    """Return the table without a target, but with all columns that describe the samples."""
    read = partial(_unsupervised, matrix, sheet, annotation, given)
    table = read(_own_columns(matrix))
    texts = [name for name, why in table.left_out.items() if why.startswith("text") and name not in table.sheet]
    return read(tuple(texts[:MOST_TEXTS])) if texts else table


def _own_columns(matrix: Path) -> tuple[str, ...]:
    """Return the columns of an archive of arrays or an svmlight file, which are read only if they are named."""
    suffix = data_suffix(matrix)
    if suffix == ".npz":
        # The reader says what is wrong with a damaged archive.
        with suppress(OSError, ValueError, zipfile.BadZipFile):
            return tuple(array_names(matrix))
    return ("y",) if suffix not in FORMATS else ()


def _unsupervised(
    matrix: Path,
    sheet: Path | None,
    annotation: Path | None,
    given: Mapping[str, Any],
    optional: tuple[str, ...],
) -> Table:
    return read_table(
        matrix,
        samples=sheet,
        annotation=annotation,
        supervised=False,
        columns=SampleColumns(optional=optional),
        missing=KEEP,
        **_how_to_read(given),
    )


def _how_to_read(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": given.get("id"),
        "on": given.get("on"),
        "sheet": given.get("sheet_name"),
        "transpose": bool(given.get("transpose")),
    }


def _is_matrix_of(sheet: Path, matrix: Path, n_features: int = 0) -> bool:
    """Return whether the sample sheet is a matrix with more features, whose samples the other file describes."""
    with suppress(InputError, ImportError):
        other = read_table(sheet, samples=matrix, supervised=False, missing=KEEP)
        return other.n_features > max(n_features, len(other.sheet))
    return False


def _swapped(matrix: Path, sheet: Path) -> tuple[str, str]:
    problem = f"The two files seem to be swapped: {sheet.name} contains the data, {matrix.name} the sample sheet."
    return problem, "Go back, and swap them."


def _described(table: Table, matrix: Path, sheet: Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    n_samples, n_features = table.X.shape
    columns = candidates(table)
    absent, understood = table.missing, table.read_as
    swapped = []
    if sheet is not None and len(table.sheet) > 2 * n_features and _is_matrix_of(sheet, matrix, n_features):
        swapped = [{"kind": "swapped", "sentence": " ".join(_swapped(matrix, sheet))}]
    unsure = sheet is None and not understood.features_in_rows and features_seem_in_rows(table, columns)
    return {
        "samples": n_samples,
        "features": n_features,
        "first_samples": table.ids[:N_FIRST].tolist(),
        "first_features": table.features[:N_FIRST].tolist(),
        "corner": _corner(table),
        "format": _format(table, matrix),
        "orientation": {"transpose": understood.features_in_rows, "certain": not unsure},
        "id": understood.ids_from,
        "on": understood.matched_on,
        "columns": columns,
        "labels": sorted(table.annotation, key=lambda name: not SYMBOL.search(name))[:MOST_LABELS],
        "target": None,
        "missing": {"values": absent.values, "columns": absent.columns, "rows": absent.samples},
        "sheets": _sheet_names(matrix, sheet),
        "sheet_name": given.get("sheet_name"),
        # Columns of text are candidates: they are left out only once something else is the target.
        "notes": [note for note in table.notes if " of text left out" not in note],
        "warnings": swapped,
        "seconds": estimated_seconds(n_samples, n_features, given),
        "error": None,
    }


def _is_excel(path: Path) -> bool:
    return data_suffix(path) == ".xlsx"


def _format(table: Table, matrix: Path) -> str:
    suffix, understood = data_suffix(matrix), table.read_as
    parts = [FORMATS.get(suffix, "svmlight")]
    if understood.delimiter and not (suffix == ".tsv" and understood.delimiter == "\t"):
        parts.append(f"{DELIMITERS[understood.delimiter]}-separated")
    elif suffix == ".txt":
        parts = ["GEO series matrix"]
    if understood.decimal_comma:
        parts.append("decimal commas")
    if is_gzipped(matrix):
        parts.append("gzipped")
    return ", ".join(parts)


def _corner(table: Table) -> list[list[str]]:
    rows, columns = CORNER
    part = table.X[:rows, :columns]
    dense = part if isinstance(part, np.ndarray) else part.toarray()
    return [["" if np.isnan(value) else f"{value:.4g}" for value in row] for row in dense]


def _supervised(
    matrix: Path, sheet: Path | None, annotation: Path | None, given: Mapping[str, Any], own: str | None
) -> Table | None:
    """Return the table as the run will read it, or None if no target is chosen and the file has no ``own``."""
    timed = given.get("time") is not None and given.get("event") is not None
    target = given.get("target") or own
    if not timed and (target is None or given.get("kind") == "survival"):
        return None
    roles: dict[str, Any] = {name: given.get(name) for name in ("groups", "weights", "offset")}
    times = {name: given[name] for name in ("time", "event") if timed}
    columns = SampleColumns(covariates=tuple(given.get("covariates") or ()), **roles, **times)
    return read_table(
        matrix,
        samples=sheet,
        annotation=annotation,
        label=given.get("label"),
        target=None if timed else target,
        columns=columns,
        kind=None if timed else KINDS.get(given.get("kind") or ""),
        positive=None if timed else given.get("positive"),
        features=tuple(given.get("features") or ()),
        drop=tuple(given.get("drop") or ()),
        missing=given.get("missing") or "error",
        transform=given.get("transform") or "none",
        **_how_to_read(given),
    )
