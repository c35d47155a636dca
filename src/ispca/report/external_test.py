"""Report section on the evaluation of the model on a table that had no part in the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..plots.comparison import TITLES
from .formatting import clean, number, section, table
from .input_checks import Inputs
from .prediction import MINUS

HOW = "The model was fitted without these samples, and nothing was chosen with their help."


def external_test_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return the measures of `commands._evaluation.evaluate` and its tables; None without an evaluation."""
    test = inputs.context.test
    if not test:
        return None
    text = [clean(test[key], 1000) for key in ("sentence", "summary") if isinstance(test.get(key), str)]
    facts = [[_label(key), _shown(value)] for key, value in test.items() if _is_fact(key, value)]
    tables = []
    for key, value in test.items():
        found = _table(key, value, test.get("classes"))
        if found is not None:
            tables.append(found)
    return section("External test", [*text, HOW], facts=facts, tables=tables)


def _is_fact(key: str, value: Any) -> bool:
    known = key not in ("sentence", "summary", "classes") and not isinstance(value, bool)
    return known and (isinstance(value, str) or number_of(value) is not None)


def number_of(value: Any) -> float | int | None:
    """Return a finite number, or None for everything else."""
    try:
        return number(value)
    except (TypeError, ValueError):
        return None


def _label(key: str) -> str:
    label = TITLES.get(key, key.removeprefix("n_").replace("_", " "))
    return clean(label[0].upper() + label[1:], 80)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return clean(value)
    found = number_of(value)
    return f"{found:,}" if isinstance(found, int) else f"{found:.3g}".replace("-", MINUS)


def _table(key: str, value: Any, classes: Any) -> dict[str, Any] | None:
    """Return counts by observed and predicted class, or rows of records, as a table."""
    if key == "confusion" and isinstance(value, Mapping):
        columns = list(dict.fromkeys(str(name) for row in value.values() for name in row))
        cells = [[row.get(name, 0) for name in columns] for row in value.values()]
        return _confusion(list(map(str, value)), columns, cells)
    if key == "confusion" and classes is not None and len(value) == len(classes):
        return _confusion(list(map(str, classes)), list(map(str, classes)), [list(row) for row in value])
    if isinstance(value, Sequence) and value and all(isinstance(row, Mapping) for row in value):
        columns = list(value[0])
        rows = [[clean(cell) if isinstance(cell, str) else number(cell) for cell in row.values()] for row in value]
        kinds = ["text" if isinstance(cell, str) else "number" for cell in value[0].values()]
        labels = [(_label(name), kind) for name, kind in zip(columns, kinds, strict=True)]
        return table(f"test-{clean(key, 40)}", _label(key), labels, rows)
    return None


def _confusion(observed: list[str], predicted: list[str], cells: list[list[Any]]) -> dict[str, Any]:
    columns = [("Observed", "text"), *((f"Predicted {clean(name)}", "number") for name in predicted)]
    rows = [[clean(name), *map(number, row)] for name, row in zip(observed, cells, strict=True)]
    return table("test-confusion", "Confusion matrix: numbers of samples", columns, rows)
