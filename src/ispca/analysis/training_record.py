"""Training samples: what was predicted while they were held out, and how they are recognized among new ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data_checks.training_copies import (
    BYTES,
    N_SUMS,
    NEW,
    Recognized,
    hashed_samples,
    recognize,
    recognized_texts,
)
from ..foundation.result_tables import ResultTable, as_table, open_csv, write_table
from ..persistence import ModelFileError
from ..readers import Table
from ..targets.samples import Prediction
from ..validation import Comparison
from .new_samples import Matched

# The entry of the model file, and the column of predictions that marks training samples.
RECORD, COLUMN = "training_samples", "training_sample"
HELD_OUT, FITTED = "held-out prediction", "fitted prediction"
LEFT_OUT = "The model predicts the samples that it was fitted to too well, so {they} not evaluated."
GIVEN = "Their predictions are those of the cross-validation, made while they were held out."
GIVEN_ONE = "Its prediction is that of the cross-validation, made while it was held out."
SOME_GIVEN = "Predictions of the cross-validation are given for those that it held out."
# No predictions: only the names of their columns are asked for.
NOTHING = Prediction(np.empty(0))


def fold_predictions(comparison: Comparison, table: Table) -> ResultTable:
    """Return the predictions of the first method, in the order of the samples, with the fold of each."""
    rows = sorted(_rows(comparison, comparison.methods[0], table), key=lambda row: row[0])
    cells = zip(*([table.ids[place], *row] for place, *row in rows), strict=True)
    names = ("id", "fold", *_columns(table))
    return as_table({name: _array(values) for name, values in zip(names, cells, strict=True)})


def _array(values: Sequence[Any]) -> np.ndarray:
    """Return the values of a column; text stays as it is, whatever its length."""
    numeric = all(isinstance(value, int | float) for value in values)
    return np.array(values) if numeric else np.array([*values, None], dtype=object)[:-1]


def write_split_predictions(path: Path, comparison: Comparison, table: Table) -> None:
    """Write the predictions of all methods, in the order of the methods and of the splits."""
    rows = (
        [name, table.ids[place], *row]
        for name in comparison.methods
        for place, *row in _rows(comparison, name, table)
    )
    with open_csv(path) as file:
        write_table(file, ["method", "id", "split", *_columns(table)], rows)


def held_out_columns(comparison: Comparison, method: str, table: Table) -> dict[str, list[Any]]:
    """Return the predictions of one method by the columns of ``ispca predict``; None for samples without one."""
    found: dict[str, list[Any]] = {name: [None] * len(table.ids) for name in _prediction_columns(table, NOTHING)}
    for place, *row in _rows(comparison, method, table):
        for name, value in zip(found, row[-len(found) :], strict=True):
            found[name][place] = value
    return found


def _prediction_columns(table: Table, prediction: Prediction) -> dict[str, list[Any]]:
    """Return predictions by column, as they are written."""
    target = table.target_kind
    if target.has_classes:
        target = replace(target, classes=np.array(list(table.class_counts)))
    columns = target.predicted_columns(prediction, table.positive)
    return {name: _plain(np.asarray(values)) for name, values in columns.items()}


def _columns(table: Table) -> list[str]:
    """Return the names of the columns: what was observed, and what was predicted."""
    observed = table.target_kind.observed_columns(np.asarray(table.target)[:0])
    return [*observed, *("prediction" if name == "mean" else name for name in _prediction_columns(table, NOTHING))]


def _rows(comparison: Comparison, method: str, table: Table) -> Iterator[list[Any]]:
    """Yield place and split of each held-out sample, what was observed and predicted; failed fits have none."""
    own = [predictions[comparison.methods.index(method)] for predictions in comparison.predictions]
    for number, (split, prediction) in enumerate(zip(comparison.splits, own, strict=True), start=1):
        if prediction is not None:
            observed = table.target_kind.observed_columns(np.asarray(table.target)[split.test]).values()
            columns = [*(values.tolist() for values in observed), *_prediction_columns(table, prediction).values()]
            yield from ([place, number, *row] for place, *row in zip(split.test.tolist(), *columns, strict=True))


def _plain(values: np.ndarray) -> list[Any]:
    """Return values as they are written, numbers with eight digits, more than the draws determine."""
    cells = values.tolist()
    return [float(f"{value:.8g}") for value in cells] if values.dtype.kind == "f" else cells


def training_record(table: Table, chosen: Any = None) -> dict[str, Any] | None:
    """Return what a model file says about its training samples: hashes of them; None if there are too many.

    ``chosen`` are the columns of the table in the model, all by default.
    """
    covariates = np.arange(len(table.features)) >= table.n_features
    X, covariates = (table.X, covariates) if chosen is None else (table.X[:, chosen], covariates[chosen])
    return hashed_samples(table.ids, X, covariates, table.offset)


def with_held_out(
    record: dict[str, Any] | None, validation: Comparison | None, method: str, table: Table
) -> dict[str, Any] | None:
    """Return a record with the held-out predictions of a method, or of the first one if there is no such."""
    if record is None or validation is None:
        return record
    method = method if method in validation.methods else validation.methods[0]
    return {**record, "held_out": held_out_columns(validation, method, table)}


class KnownSamples(NamedTuple):
    """New samples, of which some may be training samples, and the held-out predictions of the training samples."""

    found: Recognized
    held_out: Mapping[str, list[Any]]

    @property
    def seen(self) -> np.ndarray:
        """Which samples are training samples."""
        return np.asarray(self.found.places != NEW)

    def held_out_rows(self) -> np.ndarray:
        """Return which samples have a held-out prediction."""
        first = next(iter(self.held_out.values()), [])
        known = np.array([value is not None for value in first] or [False])
        return self.seen & (known[self.found.places] if first else False)

    def with_held_out(self, columns: dict[str, Any], of_new: Collection[str] = ()) -> dict[str, Any]:
        """Return predictions in which training samples have those of the cross-validation, and are marked.

        Columns ``of_new`` samples are empty for training samples, unless the cross-validation has them.
        """
        if not self.seen.any():
            return columns
        rows = self.held_out_rows()
        places = self.found.places[rows].tolist()
        changed = {}
        for name, values in columns.items():
            cells = np.asarray(values).astype(object)
            if name in of_new:
                cells[self.seen] = None
            own = self.held_out.get(name)
            cells[rows] = [None if own is None else own[place] for place in places]
            changed[name] = cells
        marks = np.where(rows, HELD_OUT, np.where(self.seen, FITTED, "no"))
        return {**changed, COLUMN: marks}

    def texts(self, ids: Any, where: str) -> tuple[str, str]:
        """Return what to say about training samples, and about new samples with their names; empty if nothing."""
        seen, held_out = int(np.count_nonzero(self.seen)), int(np.count_nonzero(self.held_out_rows()))
        consequence = LEFT_OUT.format(they="it is" if seen == 1 else "they are")
        if seen and held_out == seen:
            consequence += f" {GIVEN_ONE if seen == 1 else GIVEN}"
        elif self.held_out:
            consequence += f" {SOME_GIVEN}"
        return recognized_texts(self.found, ids, where, consequence)


def known_samples(
    details: Mapping[str, Any], path: Path | str, table: Table, samples: Matched, covariates: np.ndarray
) -> KnownSamples | None:
    """Return which samples the model of a file was fitted to; None if the file does not tell."""
    record = details.get(RECORD)
    if record is None:
        return None
    if not _is_record(record):
        raise ModelFileError(
            f"{path} is damaged: its record of training samples is unusable.", "Fit the model again."
        )
    kept = samples.kept
    offset = None if table.offset is None else table.offset[kept]
    found = recognize(record, table.ids[kept], samples.X, covariates, offset)
    return KnownSamples(found, record.get("held_out", {}))


def _is_record(record: Any) -> bool:
    """Return whether a record, which may come from anywhere, has entries of the right kind and length."""
    if not isinstance(record, dict) or not isinstance(record.get("held_out", {}), dict):
        return False
    names, values = record.get("names"), record.get("values")
    lists = [names, values, *record.get("held_out", {}).values()]
    if not all(isinstance(entries, list) and len(entries) == len(lists[0]) for entries in lists):
        return False
    sums = record.get("sums", [])
    if not isinstance(sums, list) or len(sums) not in (0, len(lists[0])):
        return False
    if not all(isinstance(row, list) and len(row) == N_SUMS for row in sums):
        return False
    cells = (cell for column in lists[2:] for cell in column)
    return (
        all(isinstance(name, str) for name in lists[0])
        and all(isinstance(text, str) and len(text) % (2 * BYTES) == 0 for text in lists[1])
        and all(cell is None or isinstance(cell, str | int | float) for cell in cells)
        and all(type(value) in (int, float) for row in sums for value in row)
    )
