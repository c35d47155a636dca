"""The comparison over all sets: the paper's methods and ours, every posterior checked, bad ones refitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ispca import HorseshoeClassifier
from ispca.datasets import load
from ispca.validation import Comparison, compare, paper_methods

from .context import DRAWS, Context
from .output import write_csv
from .refitting import Refits, failing, posterior_rows, refit

# The paper's numbers of components: of two classes, of more.
COMPONENTS = 50
COMPONENTS_MANY_CLASSES = 20
# These methods are not in the paper.
OURS = ("ISPCA-residual", "ridge-best", "lasso-best")


@dataclass(frozen=True)
class SetResult:
    """What was found on one data set.

    Attributes
    ----------
    name : str
        The data set.
    first, comparison : Comparison
        As it came out, and with the refits in place.
    refits : Refits
        Which posteriors failed before and after refitting.
    """

    name: str
    first: Comparison
    comparison: Comparison
    refits: Refits


def methods_for(n_classes: int, draws: int = DRAWS) -> dict[str, Any]:
    """Return the methods of the experiment: no retry inside a fit, since failing fits are refitted afterwards.

    Parameters
    ----------
    n_classes : int
        Number of classes, which decides the number of components.
    draws : int, default=1000
        Warm-up draws and kept draws of each chain.

    Returns
    -------
    methods : dict of str to estimator
        By name.
    """
    K = COMPONENTS if n_classes == 2 else COMPONENTS_MANY_CLASSES
    length: dict[str, Any] = {} if draws == DRAWS else {"n_warmup": draws, "n_draws": draws}
    return paper_methods(K, model=HorseshoeClassifier(retry=False, **length))


def run_set(name: str, context: Context) -> SetResult:
    """Compare the methods on one data set; finished fits are kept in ``out/fits/name`` and not repeated."""
    data = load(name)
    methods = methods_for(len(np.unique(data.target)), context.draws)
    directory = context.out / "fits" / name
    first = compare(methods, data.data, data.target, cv=context.splits, resume=directory, n_jobs=context.n_jobs)
    n_failing = int(failing(first).sum())
    if n_failing:
        context.say(f"{name}: {n_failing} posteriors are refitted with more draws")
    comparison, refits = refit(first, methods, data.data, data.target, context, directory)
    return SetResult(name, first, comparison, refits)


def run_experiment(context: Context) -> list[SetResult]:
    """Compare on all sets, once per run, and write ``splits.csv`` and ``posteriors.csv``."""
    if "experiment" not in context.memory:
        results = []
        for number, name in enumerate(context.sets.run, 1):
            context.say(f"{name} ({number} of {len(context.sets.run)}): {context.splits} splits")
            results.append(run_set(name, context))
        if results:
            write_csv(context.out / "splits.csv", [row for result in results for row in split_rows(result)])
            rows = [row for r in results for row in posterior_rows(r.name, r.comparison, r.refits)]
            write_csv(context.out / "posteriors.csv", rows)
        context.memory["experiment"] = results
    found: list[SetResult] = context.memory["experiment"]
    return found


def split_rows(result: SetResult) -> list[dict[str, Any]]:
    """Return one row per split and method: the measures, the first fit's seconds, and whether it was refitted."""
    rows = []
    for number, predictions in enumerate(result.first.predictions):
        for column, (method, prediction) in enumerate(zip(result.comparison.methods, predictions, strict=True)):
            row = {"set": result.name, "split": number, "method": method}
            row |= {m: float(result.comparison.scores[m][number, column]) for m in ("mlpd", "accuracy")}
            if prediction is not None:
                row["seconds_reduction"] = round(prediction.seconds_reduction, 3)
                row["seconds_model"] = round(prediction.seconds_model, 3)
            row["refitted"] = bool(result.refits.before[number, column])
            rows.append(row)
    return rows
