"""What is understood of uploaded files: samples, features, candidates for the target, guesses and warnings.

This runs in a worker process. The result is a plain dictionary that the page shows beside its controls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._messages import InputError
from ..data_checks import check_data
from ..readers import Table, read_table
from ..readers.excel import sheet_names
from ..readers.files import data_suffix
from ..readers.records import SampleColumns
from .column_roles import candidates

KINDS = {
    "class": "classification",
    "quantity": "regression",
    "count": "count",
    "ordinal": "ordinal",
    "survival": "survival",
}
WORDS = {kind: word for word, kind in KINDS.items()}
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
N_FIRST, CORNER = 5, (6, 8)
# Checks of larger data take too long for a preview; the run makes them anyway.
MOST_CHECKED = 20_000_000
# Rough cost of an analysis with cross-validation: a constant, and what grows with the table.
SECONDS, SECONDS_PER_VALUE, SECONDS_PER_SAMPLE = 5.0, 2.5e-6, 0.03
# Words of the page for parameters that errors advise to change.
CONTROLS = {
    "missing": "Missing values",
    "transpose": "Features are in rows",
    "kind": "Kind of target",
    "target": "Target",
    "id": "Sample names",
    "on": "Sample names in the sheet",
    "sheet": "Excel sheet",
    "samples": "Sample sheet",
}
VALUES = {
    "regression": "quantity",
    "classification": "classes",
    "rows": "leave out samples",
    "columns": "leave out columns",
    "mean": "replace by the column mean",
    "True": "yes",
    **dict.fromkeys(("COLUMN", "NAME", "FILE"), ""),
}


def preview(matrix: Path, sheet: Path | None, options: Mapping[str, Any]) -> dict[str, Any]:
    r"""Return what is understood of a matrix and its sample sheet with the options chosen so far.

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
    given = dict(options)
    # Missing values are counted here, whatever will be done about them.
    table = _read(matrix, sheet, given, missing="mean")
    texts = tuple(name for name, why in table.left_out.items() if why.startswith("text"))
    if texts:
        optional = SampleColumns(optional=texts[:200])
        table = _read(matrix, sheet, given, missing="mean", columns=optional)
    found = _described(table, matrix, given)
    try:
        chosen = _supervised(matrix, sheet, given)
    except InputError as error:
        return found | {"error": {"problem": error.problem, "advice": in_page_words(error.advice)}}
    return found if chosen is None else found | _of_target(chosen)


def _read(matrix: Path, sheet: Path | None, given: dict[str, Any], **more: Any) -> Table:
    return read_table(
        matrix,
        samples=sheet,
        supervised=False,
        id=given.get("id"),
        on=given.get("on"),
        sheet=given.get("sheet_name"),
        transpose=bool(given.get("transpose")),
        **more,
    )


def _described(table: Table, matrix: Path, given: dict[str, Any]) -> dict[str, Any]:
    n_samples, n_features = table.X.shape
    columns = candidates(table)
    certain, absent = not _looks_transposed(table, columns), table.missing
    return {
        "samples": n_samples,
        "features": n_features,
        "first_samples": table.ids[:N_FIRST].tolist(),
        "first_features": table.features[:N_FIRST].tolist(),
        "corner": _corner(table),
        "format": FORMATS.get(data_suffix(matrix), "sparse text"),
        "orientation": {"transpose": bool(given.get("transpose")), "certain": certain},
        "columns": columns,
        "target": None,
        "missing": {"values": absent.values, "columns": absent.columns, "rows": absent.samples},
        "sheets": sheet_names(matrix) if data_suffix(matrix) == ".xlsx" else [],
        "notes": [note for note in table.notes if "replaced by the column mean" not in note],
        "warnings": [],
        "seconds": estimated_seconds(n_samples, n_features, int(given.get("cv") or 5)),
        "error": None,
    }


def _corner(table: Table) -> list[list[str]]:
    rows, columns = CORNER
    part = table.X[:rows, :columns]
    dense = part if isinstance(part, np.ndarray) else part.toarray()
    return [[f"{value:.4g}" for value in row] for row in dense]


def _looks_transposed(table: Table, columns: list[dict[str, Any]]) -> bool:
    """Return whether the features seem to be in rows: many more rows than columns, and nothing to predict."""
    n_samples, n_features = table.X.shape
    return n_samples > 500 and n_samples > 5 * n_features and not any(column["score"] > 2 for column in columns)


def estimated_seconds(n_samples: int, n_features: int, n_folds: int) -> float:
    """Return about how long an analysis takes."""
    once = SECONDS_PER_VALUE * n_samples * n_features + SECONDS_PER_SAMPLE * n_samples
    return round(SECONDS + once * (1 + n_folds) / 6, 1)


def _supervised(matrix: Path, sheet: Path | None, given: dict[str, Any]) -> Table | None:
    """Return the table as the run will read it, or None if no target is chosen yet."""
    timed = given.get("time") is not None and given.get("event") is not None
    if given.get("target") is None and not timed:
        return None
    roles: dict[str, Any] = {name: given.get(name) for name in ("groups", "weights", "offset")}
    times = {name: given[name] for name in ("time", "event") if timed}
    columns = SampleColumns(covariates=tuple(given.get("covariates") or ()), **roles, **times)
    return read_table(
        matrix,
        samples=sheet,
        target=None if timed else given.get("target"),
        columns=columns,
        kind=None if timed else KINDS.get(given.get("kind") or ""),
        positive=given.get("positive"),
        id=given.get("id"),
        on=given.get("on"),
        sheet=given.get("sheet_name"),
        transpose=bool(given.get("transpose")),
        features=tuple(given.get("features") or ()),
        drop=tuple(given.get("drop") or ()),
        missing=given.get("missing") or "error",
        transform=given.get("transform") or "none",
    )


def _of_target(table: Table) -> dict[str, Any]:
    target, kind = np.asarray(table.target), str(table.kind)
    described: dict[str, Any] = {"name": table.target_name, "kind": WORDS[kind], "classes": {}, "range": None}
    if kind in ("classification", "ordinal"):
        labels, counts = np.unique(target, return_counts=True)
        described["classes"] = {str(label): int(often) for label, often in zip(labels, counts, strict=True)}
    elif kind == "survival":
        described["events"] = int(target["event"].sum())
        described["range"] = [float(target["time"].min()), float(target["time"].max())]
    else:
        described["range"] = [float(target.min()), float(target.max())]
    return {
        "target": described,
        "samples": table.X.shape[0],
        "features": table.n_features,
        "notes": table.notes,
        "warnings": _warnings(table),
    }


def _warnings(table: Table) -> list[dict[str, str]]:
    """Return what the checks of the data find, unless they would take too long."""
    if table.in_blocks or table.X.shape[0] * table.X.shape[1] > MOST_CHECKED:
        return []
    findings = check_data(
        table.X[:, : table.n_features],
        table.target,
        str(table.kind),
        features=table.features[: table.n_features].tolist(),
        ids=table.ids.tolist(),
        sheet=table.sheet,
        groups=table.groups,
    )
    return [{"kind": finding.kind, "sentence": finding.sentence} for finding in findings]


def in_page_words(advice: str) -> str:
    """Return advice about parameters of Python functions as advice about controls of the page.

    Examples
    --------
    >>> from ispca.app.preview import in_page_words
    >>> in_page_words("Pass missing='mean' to replace them by the column mean.")
    'Set “Missing values” to “replace by the column mean” to replace them by the column mean.'
    """

    def control(match: re.Match[str]) -> str:
        value = VALUES.get(match["value"], match["value"])
        label = f"“{CONTROLS.get(match['name'], match['name'])}”"
        return f"{label} to “{value}”" if value and match["verb"] != "Leave out" else label

    pattern = r"(?P<verb>Pass|pass|Leave out|)(?P<space>\s*)(?P<name>\w+)='?(?P<value>[\w-]+)'?"
    verbs = {"Pass": "Set", "pass": "set", "Leave out": "Clear", "": ""}
    return re.sub(pattern, lambda match: verbs[match["verb"]] + match["space"] + control(match), advice)
