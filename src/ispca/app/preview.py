"""What is understood of uploaded files and the chosen target: samples, features, guesses, warnings, and run time.

This runs in a worker process. The result is a plain dictionary that the page shows beside its controls.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..analysis.column_roles import candidates, features_seem_in_rows
from ..analysis.data_file import own_columns, read_described
from ..analysis.settings import N_BAGS
from ..analysis.table_checks import check_covariates, check_in_memory
from ..data_checks.findings import find_substitutes
from ..foundation.data_files import BY_SUFFIX
from ..foundation.messages import InputError
from ..readers import Table, read_table
from ..readers.excel import is_workbook, sheet_names
from ..readers.file_access import data_suffix, packing
from ..readers.kept_files import file_state, keep
from ..readers.table import SampleColumns
from ..targets import TARGETS, find_target
from .form import PageError, in_page_words, label, read_choices

# Kinds of targets by the words of the page.
KINDS = {target.option: name for name, target in TARGETS.items()}
# Checks of larger data take too long for a preview; the run makes them anyway.
MOST_CHECKED = 20_000_000
FOLDS = 5
# Seconds of one core, measured with runs of `ispca fit` on 50 to 1,000 samples and 1,500 to 30,000 features: a
# constant, what grows with the table, and what grows with the samples, as more components are found.
START, PER_VALUE, PER_SAMPLE = 3.0, 1.1e-6, 1.9e-3
# The same for each bag, measured on 60 to 300 samples; further classes double it.
BAG_START, PER_BAG_SAMPLE, PER_BAG_VALUE = 0.15, 1.2e-3, 1e-7
# What survival times and further classes add; those also double the rest.
SURVIVAL_SECONDS, SEVERAL_CLASSES = 6.0, 10.0
# More cores help little.
MOST_CORES = 2
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
N_FIRST, CORNER = 5, (6, 8)
# Columns that describe features: those that readers of a report know best come first.
SYMBOL, MOST_LABELS = re.compile("symbol|name|hgnc|hugo", re.IGNORECASE), 200
# Sheets of a workbook to try when the first one is not a table.
MOST_SHEETS = 10
# Choices about where the samples are and what names them, and those that change nothing that a preview shows.
OF_READING = ("id", "on", "sheet_name", "transpose")
OF_MODEL = ("method", "components", "draws", "bags", "seed")


def describe_target(table: Table, found: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a preview that the chosen target changes."""
    y, target = np.asarray(table.target), table.target_kind
    described: dict[str, Any] = {"name": table.target_name, "kind": target.option, "label": target.label}
    described |= {"classes": {}, "range": None}
    if target.has_classes:
        described["classes"] = {str(label): often for label, often in table.class_counts.items()}
    else:
        numbers = target.numbers(y)
        described["range"] = [float(numbers.min()), float(numbers.max())]
    if target.timed:
        described["events"] = int(y["event"].sum())
    changed: dict[str, Any] = {"target": described, "samples": table.X.shape[0], "features": table.n_features}
    return changed | {
        "notes": [in_page_words(note) for note in table.notes],
        "warnings": [*found["warnings"], *_warnings(table, given)],
        "seconds": estimate_seconds(changed, given),
    }


def _warnings(table: Table, given: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what the checks of the data find as in a run, unless they would take too long."""
    confounding = [{"kind": "confounding", "sentence": sentence} for sentence in check_covariates(table)]
    findings = find_substitutes(table.substitutes)
    if table.X.shape[0] * table.X.shape[1] <= MOST_CHECKED:
        names = table.features[: table.n_features].tolist()
        findings += check_in_memory(table, names, given.get("cv", FOLDS))
    found = [{"kind": kind, "sentence": in_page_words(sentence)} for kind, sentence, *_ in findings]
    return confounding + found


def estimate_seconds(found: Mapping[str, Any], given: Mapping[str, Any]) -> float:
    """Return about how long an analysis takes with the options chosen so far.

    >>> found = {"samples": 60, "features": 2000}
    >>> estimate_seconds(found, {"cv": 0}) < estimate_seconds(found, {})
    True
    """
    n_folds, chosen = FOLDS if given.get("cv") is None else given["cv"], found.get("target") or {}
    once = PER_VALUE * found["samples"] * found["features"] + PER_SAMPLE * found["samples"] ** 1.5
    target = find_target(KINDS[chosen["kind"]]) if chosen else None
    if target is not None and target.timed:
        once += SURVIVAL_SECONDS
    if _has_several_classes(target, chosen):
        once = 2 * once + SEVERAL_CLASSES
    seconds = START + once * (1 + n_folds) / (1 + FOLDS) + _seconds_of_bags(found, given, target)
    return round(seconds / min(MOST_CORES, os.cpu_count() or 1), 1)


def _seconds_of_bags(found: Mapping[str, Any], given: Mapping[str, Any], target: Any) -> float:
    n_bags = N_BAGS if given.get("bags") is None else given["bags"]
    values = found["samples"] * found["features"]
    once = BAG_START + PER_BAG_SAMPLE * found["samples"] + PER_BAG_VALUE * values
    return n_bags * once * (2 if _has_several_classes(target, found.get("target") or {}) else 1)


def _has_several_classes(target: Any, chosen: Mapping[str, Any]) -> bool:
    return target is not None and target.unordered and len(chosen["classes"]) > 2


class Files(NamedTuple):
    """The files of a page."""

    matrix: Path
    sheet: Path | None = None
    annotation: Path | None = None

    def choices(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return where the samples are and what names them, as it was chosen."""
        chosen = {name: given.get(name) for name in ("id", "on")} | {"sheet": given.get("sheet_name")}
        transpose = bool(given.get("transpose"))
        return chosen | {"samples": self.sheet, "annotation": self.annotation, "transpose": transpose}

    def keep(self, what: str, given: Mapping[str, Any], compute: Any) -> Any:
        """Return what is computed from the files with some choices, from memory if nothing has changed."""
        chosen = json.dumps({name: given[name] for name in sorted(given)})
        return keep(self.matrix, (what, file_state(self.sheet), file_state(self.annotation), chosen), compute)

    @property
    def sheets(self) -> list[str]:
        """The names of the sheets to choose from, of which there are none if no file is a readable workbook."""
        with suppress(InputError):
            books = (file for file in (self.matrix, self.sheet) if file and is_workbook(file))
            return next(map(sheet_names, books), [])
        return []


def preview(
    matrix: Path, sheet: Path | None, options: Mapping[str, Any], annotation: Path | None = None
) -> dict[str, Any]:
    r"""Return what is understood of a matrix, its sample sheet and its annotation with the options chosen so far.

    What keeps the files from being read is raised as a PageError. What only keeps the chosen options from being
    used is returned as ``error``, beside what is understood.

    >>> import pathlib, tempfile
    >>> from ispca.app.preview import preview
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.csv"
    >>> _ = path.write_text("sample,g1,g2,state\na,1,2,ill\nb,3,5,well\nc,2,4,ill\nd,0,1,well\n")
    >>> found = preview(path, None, {})
    >>> found["samples"], found["features"], found["columns"][0]["name"]
    (4, 2, 'state')
    """
    given = read_choices(options)
    files = Files(matrix, sheet, annotation)
    reading = {name: value for name, value in given.items() if name in OF_READING}
    try:
        found, other, own = files.keep("look", reading, lambda: _first_look(files, reading))
    except InputError as error:
        if annotation is None:
            raise PageError(error) from None
        # Unless the other files cannot be read either, it is the annotation.
        wrong = PageError(InputError(error.problem, f"Remove or replace {label('annotation')}."), "annotation")
        return preview(matrix, sheet, options) | {"error": wrong.values}
    found = found | {"sheet_name": other or given.get("sheet_name"), "seconds": estimate_seconds(found, given)}
    given = {name: value for name, value in given.items() if name not in OF_MODEL} | (
        {"sheet_name": other} if other else {}
    )
    try:
        found |= files.keep("target", given, lambda: _examine(files, given, found, own))
    except InputError as error:
        found |= {"error": PageError(error).values}
    if other is not None:
        first = found["sheets"][0]
        note = f"The first sheet, {first!r}, cannot be used as a table; {other!r} is read instead."
        found["notes"] = [note, *found["notes"]]
    return found


def _first_look(files: Files, given: dict[str, Any]) -> tuple[dict[str, Any], str | None, str | None]:
    """Return what is understood before a target is chosen, and the sheet that is read if the first one cannot be.

    The last is the name of the target that the file itself provides.
    """
    other = None
    try:
        table = read_described(files.matrix, **files.choices(given))
    except InputError:
        for name in [] if given else files.sheets[1:MOST_SHEETS]:
            with suppress(InputError):
                table, other = read_described(files.matrix, **files.choices({"sheet_name": name})), name
                break
        else:
            raise
    own = "y" if "y" in table.sheet and "y" in own_columns(files.matrix) else None
    return _describe(table, files), other, own


def _describe(table: Table, files: Files) -> dict[str, Any]:
    n_samples, n_features = table.X.shape
    columns = candidates(table)
    absent, understood = table.missing, table.read_as
    unsure = files.sheet is None and not understood.features_in_rows and features_seem_in_rows(table, columns)
    corner = table.X[: CORNER[0], : CORNER[1]]
    dense = corner if isinstance(corner, np.ndarray) else corner.toarray()
    return {
        "samples": n_samples,
        "features": n_features,
        "first_samples": table.ids[:N_FIRST].tolist(),
        "first_features": table.features[:N_FIRST].tolist(),
        "corner": [["" if np.isnan(value) else f"{value:.4g}" for value in row] for row in dense],
        "format": _format(table, files.matrix),
        "orientation": {"transpose": understood.features_in_rows, "certain": not unsure},
        "id": understood.ids_from,
        "on": understood.matched_on,
        "columns": columns,
        "labels": sorted(table.annotation, key=lambda name: not SYMBOL.search(name))[:MOST_LABELS],
        "target": None,
        "missing": {"values": absent.values, "columns": absent.columns, "rows": absent.samples},
        "sheets": files.sheets,
        # Columns of text are candidates: they are left out only once something else is the target.
        "notes": [note for note in table.notes if " of text left out" not in note],
        "warnings": [],
        "error": None,
    }


def _format(table: Table, matrix: Path) -> str:
    suffix, understood = data_suffix(matrix), table.read_as
    parts = [BY_SUFFIX[suffix].words]
    if understood.delimiter and not (suffix == ".tsv" and understood.delimiter == "\t"):
        parts.append(f"{DELIMITERS[understood.delimiter]}-separated")
    elif suffix == ".txt":
        parts = ["GEO series matrix"]
    if understood.decimal_comma:
        parts.append("decimal commas")
    if packing(matrix):
        parts.append("gzipped" if packing(matrix) == ".gz" else f"packed ({packing(matrix)[1:]})")
    return ", ".join(parts)


def _examine(files: Files, given: Mapping[str, Any], found: dict[str, Any], own: str | None) -> dict[str, Any]:
    """Return what the chosen target changes, nothing if there is none and the file has no ``own``."""
    timed = "time" in given and "event" in given
    target = given.get("target") or own
    kind = KINDS.get(given.get("kind", ""))
    if not timed and (target is None or (kind is not None and find_target(kind).timed)):
        return {}
    roles: dict[str, Any] = {name: given.get(name) for name in ("groups", "weights", "offset")}
    if timed:
        roles |= {name: given.get(name) for name in ("time", "event", "event_value")}
    lists: dict[str, Any] = {
        name: tuple(given.get(name, ())) for name in ("features", "drop", "exclude_class", "exclude_samples")
    }
    table = read_table(
        files.matrix,
        **files.choices(given),
        label=given.get("label"),
        target=None if timed else target,
        columns=SampleColumns(covariates=tuple(given.get("covariates", ())), **roles),
        kind=None if timed else kind,
        positive=None if timed else given.get("positive"),
        merge=bool(given.get("merge")),
        missing=given.get("missing", "error"),
        transform=given.get("transform", "none"),
        **lists,
    )
    return describe_target(table, found, given)
