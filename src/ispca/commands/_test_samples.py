"""Samples of ``ispca fit --test``: read before the fit, evaluated after it."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from .._messages import listing
from .._progress import waiting
from ..containers import ColumnSource
from ..data_checks import Finding
from ..data_checks.duplicates import find_test_copies
from ..readers import Table, TableError
from ._console import Console
from ._evaluation import evaluate, target_columns
from ._fit_files import model_details
from ._new_blocks import reduced
from ._new_samples import Description, described, matched, read_new, warn_about_scale


class TestSamples(NamedTuple):
    """What was read, and what the model file will say about the training data."""

    table: Table
    details: dict[str, Any]
    description: Description
    args: argparse.Namespace

    def evaluate(self, model: Any, training: Any, console: Console) -> tuple[dict[str, Any] | None, list[Finding]]:
        """Return the evaluation of a model on these samples, and whether they are among the training data."""
        where = self.args.data.name
        samples = matched(self.table, model, self.description, self.args, console, replace_absent=True)
        warn_about_scale(samples, model, self.description, where, console)
        X, kept, copies = samples.X, samples.kept, []
        in_memory = not isinstance(training, ColumnSource)
        if in_memory and isinstance(X, ColumnSource):
            console.note(f"{where} is not searched for training samples, because this needs all data in memory.")
        elif in_memory:
            copies = find_test_copies(training, X, where, self.table.ids[kept].tolist())
        console.notes(f"warning: {finding.sentence}" for finding in copies)
        with waiting("Predicting"):
            model, X = reduced(model, X)
            found, notes = evaluate(model, X, self.table, kept, self.details, where)
        console.notes(notes)
        return found, copies


def read_test(args: argparse.Namespace, training: Table, console: Console) -> TestSamples:
    """Read the samples of --test, which need a target; this is checked before the fit."""
    details = model_details(training, args)
    description = described(details, args.out)
    of_test = argparse.Namespace(**{**vars(args), "data": args.test})
    columns = target_columns(details)
    table = read_new(of_test, tuple(map(str, training.features)), description, columns)
    absent = [name for name in columns if name not in table.sheet]
    if absent:
        raise TableError(
            f"{args.test.name} (--test) does not contain the target: it has no column {listing(absent)}."
        )
    console.notes(f"{args.test.name}: {note}" for note in table.notes)
    return TestSamples(table, details, description, of_test)
