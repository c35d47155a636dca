"""Scores of fits that failed: those of the base rate, so that no method gains by failing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from sklearn.base import clone

from .._array_types import Floats
from .._messages import count
from .._splits import Split
from .base_rates import BASE_RATES
from .metrics import HeldOut, Measure, score_all
from .prediction import Prediction, fit_and_predict
from .prediction_checks import ImpossiblePrediction
from .samples import Samples
from .survival_measures import censoring_curve
from .target import Target

RULE = "Where a method failed, it gets the scores of the base rate"
NEVER = "A method that failed in every split is not ranked"


def failure_text(errors: Sequence[tuple[int, str, str]], n_splits: int) -> str:
    """Say in how many splits each method failed, what follows from it, and why the first fit failed.

    Examples
    --------
    >>> from ispca.validation.failed_fits import failure_text
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
    samples: Samples,
    target: Target,
    splits: list[Split],
    measures: dict[str, Measure],
) -> dict[str, Floats]:
    """Return every measure for every split (row) and method (column).

    Where a method has no value of a measure that it has in other splits, because the fit failed or gave no
    probabilities, it gets the value of the base rate of that split's training part. NaN is left where the
    measure does not apply to the method or to the split, and for a method that failed everywhere.
    """
    held_out = [held_out_part(samples, target, split) for split in splits]
    scores = {name: score_all(predictions, held_out, measure) for name, measure in measures.items()}
    missing = np.any([np.isnan(values).any(axis=1) for values in scores.values()], axis=0)
    rates = [
        [_base_rate(samples, target, split) if lacks else None]
        for split, lacks in zip(splits, missing, strict=True)
    ]
    for name, measure in measures.items():
        values = scores[name]
        applies = ~np.isnan(values).all(axis=0)
        scores[name] = np.where(np.isnan(values) & applies, score_all(rates, held_out, measure), values)
    return scores


def held_out_part(samples: Samples, target: Target, split: Split) -> HeldOut:
    """Return the held-out observations of a split as measures take them."""
    train, test = samples._replace(X=np.zeros((len(samples.y), 1))).parts(split)
    censoring = None
    if target.kind == "survival":
        censoring = censoring_curve(train.y["event"], train.y["time"], train.sample_weight)
    observed = target.observed(test.y)
    return HeldOut(observed, target.n_classes, test.sample_weight, target.times, censoring)


def _base_rate(samples: Samples, target: Target, split: Split) -> Prediction | None:
    """Predict the class frequencies, mean and standard deviation, rate, or survival curve of the training part."""
    if target.kind == "regression" and len(split.train) < 2:
        return None  # a single sample has no standard deviation
    train, test = samples._replace(X=np.zeros((len(samples.y), 1))).parts(split)
    with suppress(ImpossiblePrediction):  # the variance of huge values overflows
        return fit_and_predict(clone(BASE_RATES[target.kind]), train._replace(groups=None), test, target)
    return None
