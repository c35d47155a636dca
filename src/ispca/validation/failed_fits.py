"""Scores of fits that failed: those of the base rate, so that no method gains by failing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ..fitting.fit_and_predict import fit_and_predict
from ..foundation.arrays import Floats
from ..foundation.messages import count
from ..foundation.splits import Split
from ..targets import Target
from ..targets.measures import Measure, score_all
from ..targets.samples import HeldOut, Prediction, Samples
from ..targets.target_and_prediction_checks import ImpossiblePrediction

RULE = "Where a method failed, it gets the scores of the base rate"
NEVER = "A method that failed in every split is not ranked"


def failure_text(errors: Sequence[tuple[int, str, str]], n_splits: int) -> str:
    """Say in how many splits each method failed, what follows from it, and why the first fit failed.

    >>> failure_text([(0, "lasso", "ValueError: No signal."), (2, "lasso", "ValueError: No signal.")], 5)
    'lasso could not be fitted in 2 of 5 splits, where it gets the scores of the base rate: No signal.'
    """
    sentences = []
    for method in dict.fromkeys(name for _, name, _ in errors):
        reasons = [error for _, name, error in errors if name == method]
        result = "so it is not ranked" if len(reasons) == n_splits else "where it gets the scores of the base rate"
        where = f"in {len(reasons)} of {count(n_splits, 'split')}"
        reason = reasons[0].removeprefix("ValueError: ")
        sentences.append(f"{method} could not be fitted {where}, {result}: {reason}")
    return "\n".join(sentences)


def fair_scores(
    predictions: list[list[Prediction | None]],
    held_out: list[HeldOut],
    rates: list[Prediction | None],
    measures: dict[str, Measure],
) -> dict[str, Floats]:
    """Return every measure for every split (row) and method (column).

    Where a method has no value of a measure that it has in other splits, because the fit failed or gave no
    probabilities, it gets the value of the base rate of that split's training part. NaN is left where the
    measure does not apply to the method or to the split, and for a method that failed everywhere.
    """
    scores = {}
    for name, measure in measures.items():
        values = score_all(predictions, held_out, measure)
        applies = ~np.isnan(values).all(axis=0)
        expected = score_all([[rate] for rate in rates], held_out, measure)
        scores[name] = np.where(np.isnan(values) & applies, expected, values)
    return scores


def held_out_part(samples: Samples, target: Target, split: Split) -> HeldOut:
    """Return the held-out observations of a split as measures take them."""
    train, test = samples._replace(X=np.zeros((len(samples.y), 1))).parts(split)
    return target.held_out(test, train)


def base_rate(samples: Samples, target: Target, split: Split) -> Prediction | None:
    """Predict the class frequencies, mean and standard deviation, rate, or survival curve of the training part."""
    train, test = samples._replace(X=np.zeros((len(samples.y), 1))).parts(split)
    # A single sample has no standard deviation, and the variance of huge values overflows.
    with suppress(ImpossiblePrediction, ValueError):
        return fit_and_predict(target.base_rate(), train._replace(groups=None), test, target)
    return None
