"""Load an analysis from the files that were written for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..data_checks import Finding
from ..foundation.result_tables import ResultTable, as_table
from ..persistence import ModelFileError
from ..validation.baseline_comparison import COMBINED, COMPONENTS
from .analysis import Analysis
from .file_names import COEFFICIENTS, HELD_OUT_FILE, SCORES, model_file
from .model_loading import load_bagged, load_details, load_predictor
from .result_files import COLUMNS, SUMMARY, read_results
from .settings import Settings


def load(folder: Any) -> Analysis:
    """Load an analysis that `Analysis.save` or ``ispca fit`` has written.

    Parameters
    ----------
    folder : path
        The folder of the results.

    Returns
    -------
    analysis : Analysis
        With models, tables, verdict, findings, test, notes and settings; it can predict and evaluate. Tables have
        the six digits of their files. The data, the cross-validation and what needs them (``table``,
        ``validation``, `report`, `save`, `select`, `compare`) are not restored.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ModelFileError(f"There is no folder {folder}.", "Pass a folder written by ispca fit.")
    path = model_file(folder, "components")
    model, details = load_predictor(path), load_details(path)
    found = {COMPONENTS: details}
    combined, both = None, model_file(folder)
    if both != path:
        combined, found[COMBINED] = load_predictor(both), load_details(both)
    scores, coefficients = read_results(folder / SCORES, model), read_results(folder / COEFFICIENTS, model)
    if scores is None or coefficients is None:
        missing = SCORES if scores is None else COEFFICIENTS
        raise ModelFileError(f"{folder} contains no {missing}.", "Pass a folder written by ispca fit.")
    names = model[0].get_feature_names_out()
    summary = details.pop(SUMMARY, {})
    findings = [Finding(finding["kind"], finding["sentence"]) for finding in summary.get("findings", ())]
    return Analysis(
        Settings(**summary.get("settings", {})),
        model,
        as_table({name: scores[name] for name in ("id", *names)}),
        as_table({name: _column(coefficients, name) for name in COLUMNS}),
        read_results(folder / HELD_OUT_FILE, model),
        summary.get("verdict"),
        tuple(findings),
        summary.get("test"),
        tuple(summary.get("notes", ())),
        details,
        combined=combined,
        bagged=load_bagged(folder),
        model_details=found,
    )


def _column(table: ResultTable, name: str) -> np.ndarray:
    """Return a column, NaN if an earlier version did not write it."""
    known: np.ndarray = table[name] if name in (table.dtype.names or ()) else np.full(len(table), np.nan)
    return known
