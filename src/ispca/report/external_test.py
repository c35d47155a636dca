"""Report section on the evaluation of the model on a table that had no part in the fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..plots.comparison import TITLES
from .class_predictions import confusion_table
from .formatting import clean, number, section, table
from .input_checks import Inputs
from .prediction import MINUS

HOW = "The model was fitted without these samples."
# Labels of entries that are not named like a measure of a comparison.
LABELS = {
    "data": "File",
    "samples": "Samples",
    "log_density": TITLES["mlpd"],
    "majority": "accuracy of always predicting the largest class",
}
FACTS = ("data", "samples")
# Entries that the report has elsewhere.
KNOWN = ("target", "kind")
MOST_ERRORS = 200


def external_test_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return the measures of the evaluation, the confusion matrix and the errors; None without an evaluation."""
    test = inputs.context.test
    if not test:
        return None
    facts = [[_label(key), _shown(test[key])] for key in FACTS if key in test]
    measures = {key: value for key, value in test.items() if key not in (*FACTS, *KNOWN) and _is_number(value)}
    tables = [_measures(measures, test.get("intervals") or {})] if measures else []
    if test.get("confusion"):
        tables.append(_confusion(test["confusion"]))
    if test.get("misclassified"):
        tables.append(_errors(test["misclassified"]))
    return section("External test", [HOW], facts=facts, tables=tables)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _measures(values: Mapping[str, Any], intervals: Mapping[str, Any]) -> dict[str, Any]:
    rows: list[list[Any]] = [
        [_label(key), *(number(part, 3) for part in (value, *intervals.get(key, (None, None))))]
        for key, value in values.items()
    ]
    columns = [("Measure", "text"), ("Value", "number"), ("95% from", "number"), ("to", "number")]
    caption = "Measures with 95% intervals from a jackknife over the samples of the test"
    return table("test-measures", caption, columns, rows)


def _label(key: str) -> str:
    label = LABELS.get(key, TITLES.get(key, key.replace("_", " ")))
    return clean(label[0].upper() + label[1:], 80)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return clean(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}".replace("-", MINUS)


def _confusion(confusion: Mapping[str, Any]) -> dict[str, Any]:
    return confusion_table("test-confusion", [clean(name) for name in confusion["classes"]], confusion["counts"])


def _errors(wrong: list[Mapping[str, Any]]) -> dict[str, Any]:
    columns = [("Sample", "text"), ("Observed", "text"), ("Predicted", "text"), ("P(predicted), %", "number")]
    rows = []
    for item in wrong[:MOST_ERRORS]:
        chance = item["probability"]
        texts = [clean(item[name]) for name in ("id", "observed", "predicted")]
        rows.append([*texts, None if chance is None else number(100 * chance, 3)])
    more = f", the first {MOST_ERRORS} shown" if len(wrong) > MOST_ERRORS else ""
    return table("test-misclassified", f"Misclassified samples: {len(wrong):,}{more}", columns, rows)
