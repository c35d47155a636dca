"""Write what was predicted for each sample while it was held out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._csv import open_csv, write_table
from ..readers import Table
from ..validation import Comparison
from ..validation.prediction import Prediction
from ._class_order import class_order

HELD_OUT = "held_out.csv"


def write_fold_predictions(path: Path, comparison: Comparison, method: str, table: Table) -> None:
    """Write the predictions of one method, in the order of the samples, with the fold that held them out."""
    rows = [row for _, row in _rows(comparison, [method], table)]
    _write(path, ["id", "fold", *_columns(table)], (row for _, row in sorted(rows, key=lambda item: item[0])))


def write_split_predictions(path: Path, comparison: Comparison, table: Table) -> None:
    """Write the predictions of all methods, in the order of the methods and of the splits."""
    rows = ([name, *row] for name, (_, row) in _rows(comparison, comparison.methods, table))
    _write(path, ["method", "id", "split", *_columns(table)], rows)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with open_csv(path) as file:
        write_table(file, header, rows)


def _columns(table: Table) -> list[str]:
    """Return the names of the columns for a kind of target: what was observed, and what was predicted."""
    if table.kind == "survival":
        return ["observed_time", "observed_event", "risk"]
    if table.kind in ("classification", "ordinal"):
        labels, order = _classes(table)
        return ["observed", "prediction", *(f"p({labels[place]})" for place in order)]
    return ["observed", "prediction", "q5", "q95"]


def _classes(table: Table) -> tuple[list[Any], list[int]]:
    """Return the classes in the order of the probabilities, and the order to show them in."""
    labels = np.unique(np.asarray(table.target)).tolist()
    return labels, class_order(labels, table.positive)


def _rows(
    comparison: Comparison, methods: Sequence[str], table: Table
) -> Iterable[tuple[str, tuple[tuple[int, int], list[Any]]]]:
    """Yield the method, the place and split of each held-out sample, and its row; failed fits have none."""
    for name in methods:
        column = comparison.methods.index(name)
        pairs = zip(comparison.splits, comparison.predictions, strict=True)
        for number, (split, predictions) in enumerate(pairs, start=1):
            prediction = predictions[column]
            if prediction is None:
                continue
            values = zip(*_values(prediction, split.test, table), strict=True)
            for place, cells in zip(split.test.tolist(), values, strict=True):
                yield name, ((place, number), [table.ids[place], number, *cells])


def _values(prediction: Prediction, test: np.ndarray, table: Table) -> list[list[Any]]:
    """Return the columns of one split."""
    y = np.asarray(table.target)[test]
    if table.kind == "survival":
        return [y["time"].tolist(), y["event"].astype(int).tolist(), _digits(prediction.value)]
    if table.kind in ("classification", "ordinal"):
        labels, order = _classes(table)
        predicted = [labels[place] for place in np.asarray(prediction.value, dtype=np.intp)]
        found, n_samples = prediction.probabilities, len(test)
        chances = [[None] * n_samples if found is None else _digits(found[:, place]) for place in order]
        return [y.tolist(), predicted, *chances]
    ends = [[None] * len(test)] * 2 if prediction.interval is None else map(_digits, prediction.interval.T)
    return [y.tolist(), _digits(prediction.value), *ends]


def _digits(values: Any) -> list[float]:
    """Return numbers with eight digits, more than the draws determine."""
    return [float(f"{value:.8g}") for value in np.asarray(values, dtype=np.float64).tolist()]
