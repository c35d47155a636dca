"""The verdict of a cross-validation: one sentence, one measure, and an interval that stays in its range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from ..families.ordinal import ordinal_target
from ..families.survival_target import survival_target
from .baseline_comparison import BASE_RATE, MODEL
from .comparison import Comparison
from .corrected_interval import CONFIDENCE
from .failed_fits import held_out_part
from .metrics import HeldOut, accuracy, concordance, mean_log_density, poisson_deviance, r2
from .prediction import Prediction
from .samples import Samples
from .target import Target, evaluation_times

# More samples than this are deleted in blocks, which bounds the time of a jackknife.
N_BLOCKS = 200
Z = float(norm.ppf((1 + CONFIDENCE) / 2))


class Fold(NamedTuple):
    """Held-out observations, their blocks, and what a method and the base rate predict for them."""

    held_out: HeldOut
    blocks: np.ndarray
    prediction: Prediction
    base_rate: Prediction


class Estimate(NamedTuple):
    """A measure with its 95% interval."""

    value: float
    low: float
    high: float


def verdict(
    comparison: Comparison,
    y: Any,
    *,
    method: str = MODEL,
    groups: Any = None,
    sample_weight: Any = None,
) -> dict[str, Any]:
    """Return how well a method predicts held-out samples, compared with the base rate.

    The measure is the accuracy for classes, the explained variance for quantities, the concordance for survival
    times and the explained deviance for counts, averaged over the folds. Its interval comes from a jackknife over
    the held-out samples, or groups of them, so it does not include the variation between training sets. Fractions
    get Wilson intervals with the same variance, and explained fractions symmetric intervals of log(1 - value), so
    no interval leaves the range of its measure or has length zero.

    Parameters
    ----------
    comparison : Comparison
        The result of `compare_with_baselines`, or another one with the method "base rate".
    y : array-like of shape (n_samples,), or events and times
        The target that was compared with.
    method : str, default="this model"
        The method to judge.
    groups, sample_weight : array-like of shape (n_samples,), optional
        Groups and weights of the samples, as in the comparison.

    Returns
    -------
    verdict : dict
        ``sentence``, ``measure``, ``value``, ``low``, ``high``, ``baseline_value``, ``n_held_out``,
        ``better_than_baseline``, and for classes ``auc``, ``auc_low``, ``auc_high`` (None unless there are two).
        A method is better than the base rate if the interval of the measure lies above it. For classes, whose
        accuracy ignores rare ones, the mean log density of the equal mixture of both predictions must lie above
        that of the base rate: a few confident mistakes cost the mixture little, and without information it loses.
    """
    folds = _folds(comparison, y, method, groups, sample_weight)
    values = VERDICTS[comparison.kind](folds)
    held_out = np.unique(np.concatenate([split.test for split in comparison.splits]))
    return values | {"n_held_out": len(held_out)}


def _folds(comparison: Comparison, y: Any, method: str, groups: Any, sample_weight: Any) -> list[Fold]:
    y, target = _target(comparison.kind, y)
    units = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    blocks = units % N_BLOCKS
    samples = Samples(np.zeros((len(y), 1)), y, None, None if sample_weight is None else np.asarray(sample_weight))
    own, base = comparison.methods.index(method), comparison.methods.index(BASE_RATE)
    found = []
    for split, row in zip(comparison.splits, comparison.predictions, strict=True):
        base_rate = row[base]
        if base_rate is not None:
            held_out = held_out_part(samples, target, split)
            # A failed fit counts as the base rate, as in the table.
            found.append(Fold(held_out, blocks[split.test], row[own] or base_rate, base_rate))
    return found


def _target(kind: str, y: Any) -> tuple[Any, Target]:
    if kind == "survival":
        y = survival_target(y)
        return y, Target(kind, times=evaluation_times(y))
    if kind == "ordinal":
        codes, classes = ordinal_target(y)
        return codes, Target(kind, np.arange(len(classes)))
    y = np.asarray(y)
    return y, Target(kind, np.unique(y) if kind == "classification" else None)


Score = Callable[[Fold], float | None]


def jackknife(folds: list[Fold], score: Score) -> tuple[float, float, int]:
    """Return the mean of a measure over the folds, its standard error, and the number of blocks of samples."""
    means = np.array([score(fold) for fold in folds], dtype=np.float64)
    blocks = np.unique(np.concatenate([fold.blocks for fold in folds]))
    if np.isnan(means).all():
        return np.nan, np.nan, len(blocks)
    without: list[float] = []
    for block in blocks:
        changed = means.copy()
        for number, fold in enumerate(folds):
            keep = fold.blocks != block
            if not keep.all():
                left = _part(fold, keep) if keep.any() else None
                changed[number] = np.nan if left is None else score(left)
        without.append(np.nan if np.isnan(changed).all() else float(np.nanmean(changed)))
    found = np.array(without)[~np.isnan(without)]
    error = np.sqrt((len(found) - 1) * found.var()) if len(found) else np.nan
    return float(np.nanmean(means)), float(error), len(blocks)


def _part(fold: Fold, keep: np.ndarray) -> Fold:
    weight = fold.held_out.weight
    held_out = fold.held_out._replace(
        observed=fold.held_out.observed[keep], weight=None if weight is None else weight[keep]
    )
    return Fold(held_out, fold.blocks[keep], _rows(fold.prediction, keep), _rows(fold.base_rate, keep))


def _rows(prediction: Prediction, keep: np.ndarray) -> Prediction:
    names = ("value", "probabilities", "ranking", "log_density", "interval")
    parts = {name: getattr(prediction, name) for name in names}
    return replace(prediction, **{name: part[keep] for name, part in parts.items() if part is not None})


def fraction_interval(value: float, error: float, n_units: int) -> Estimate:
    """Return a fraction with the Wilson interval of as many trials as give its standard error, at most n_units.

    >>> [round(end, 2) for end in fraction_interval(1.0, 0.0, 50)]
    [1.0, 0.93, 1.0]
    """
    if np.isnan(value):
        return Estimate(np.nan, np.nan, np.nan)
    variance = value * (1 - value)
    n = min(n_units, variance / error**2) if error > 0 and variance > 0 else n_units
    center, square = (value + Z**2 / (2 * n)) / (1 + Z**2 / n), variance / n + Z**2 / (4 * n**2)
    reach = float(Z / (1 + Z**2 / n) * np.sqrt(square))
    return Estimate(value, max(0.0, center - reach), min(1.0, center + reach))


def explained_interval(value: float, error: float) -> Estimate:
    """Return an explained fraction, at most 1, with an interval that is symmetric for log(1 - value).

    >>> [round(end, 2) for end in explained_interval(0.8, 0.05)]
    [0.8, 0.67, 0.88]
    """
    rest = 1 - value
    if not np.isfinite(value) or not np.isfinite(error) or rest <= 0:
        return Estimate(value, np.nan, np.nan)
    factor = float(np.exp(min(Z * error / rest, 50.0)))
    return Estimate(value, 1 - rest * factor, 1 - rest / factor)


def _fraction(folds: list[Fold], score: Callable[[HeldOut, Prediction], float | None]) -> Estimate:
    return fraction_interval(*jackknife(folds, lambda fold: score(fold.held_out, fold.prediction)))


def _auc(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the area under the ROC curve of two classes; as in `metrics`, but fast for a few samples."""
    if held_out.n_classes != 2 or prediction.probabilities is None:
        return None
    weight = np.ones(len(held_out.observed)) if held_out.weight is None else held_out.weight
    scores, positive = prediction.probabilities[:, 1], held_out.observed == 1
    pairs = np.outer(weight[positive], weight[~positive])
    if not pairs.sum():
        return None
    difference = np.subtract.outer(scores[positive], scores[~positive])
    return float((pairs * (np.sign(difference) + 1) / 2).sum() / pairs.sum())


def _values(measure: str, estimate: Estimate, baseline: float, better: bool, sentence: str) -> dict[str, Any]:
    return {
        "sentence": sentence if better else f"{sentence} {NOT_BETTER}",
        "measure": measure,
        **{name: _known(value) for name, value in estimate._asdict().items()},
        "baseline_value": baseline,
        "better_than_baseline": better,
    }


NOT_BETTER = "This is not significantly better than the base rate."
OVERCONFIDENT = (
    "Its probabilities are overconfident: they fit the held-out samples worse than the class frequencies."
)


def _known(value: float) -> float | None:
    """Return None for NaN, which JSON does not have."""
    return float(value) if np.isfinite(value) else None


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%"


def _around(estimate: Estimate, show: Callable[[float], str]) -> str:
    if not np.isfinite(estimate.low):
        return ""
    return f" (95% interval {show(estimate.low)} to {show(estimate.high)})"


def _class_sizes(held_out: HeldOut) -> np.ndarray:
    return np.bincount(held_out.observed, held_out.weight, minlength=held_out.n_classes)


def _classes(folds: list[Fold]) -> dict[str, Any]:
    estimate, area = _fraction(folds, accuracy), _fraction(folds, _auc)
    # Not the accuracy of the base rate: what is most common in the training part is often rarer in the other.
    sizes = np.sum([_class_sizes(fold.held_out) for fold in folds], axis=0)
    baseline = float(sizes.max() / sizes.sum())

    difference, error, _ = jackknife(folds, _hedged_gain)
    better = bool(difference - Z * error > 0) if np.isfinite(error) else bool(estimate.low > baseline)
    sentence = (
        f"{_percent(estimate.value)} of held-out samples are classified correctly"
        f"{_around(estimate, _percent)}, compared with {_percent(baseline)} by always predicting the most common "
        "class"
    )
    if np.isfinite(area.value):
        sentence += f"; AUC {area.value:.2f}" + _around(area, lambda end: f"{end:.2f}")
    sentence += "."
    if better and np.mean([_gain(fold) or 0.0 for fold in folds]) < 0:
        sentence += f" {OVERCONFIDENT}"
    areas = {"auc": _known(area.value), "auc_low": _known(area.low), "auc_high": _known(area.high)}
    return _values("accuracy", estimate, baseline, better, sentence) | areas


def _hedged_gain(fold: Fold) -> float | None:
    """Return by how much the equal mixture of a method and the base rate beats the base rate, in log density."""
    own, base = fold.prediction.log_density, fold.base_rate.log_density
    return None if own is None or base is None else fold.held_out.mean(np.logaddexp(own, base) - np.log(2) - base)


def _gain(fold: Fold) -> float | None:
    own, base = (mean_log_density(fold.held_out, item) for item in (fold.prediction, fold.base_rate))
    return None if own is None or base is None else own - base


def _quantity(folds: list[Fold]) -> dict[str, Any]:
    mean, error, _ = jackknife(folds, lambda fold: r2(fold.held_out, fold.prediction))
    estimate = explained_interval(mean, error)
    sentence = (
        f"{_percent(estimate.value)} of the variance of the target in held-out samples is explained"
        f"{_around(estimate, _percent)}, compared with 0% by always predicting the mean."
    )
    return _values("r2", estimate, 0.0, bool(estimate.low > 0), sentence)


def _survival(folds: list[Fold]) -> dict[str, Any]:
    estimate = _fraction(folds, concordance)
    sentence = (
        "Of two held-out samples with known order of events, the one with the earlier event has the higher risk "
        f"in {_percent(estimate.value)} of cases{_around(estimate, _percent)}, compared with 50% by guessing."
    )
    if np.isnan(estimate.value):
        sentence = "No two held-out samples of one fold have a known order of events, so nothing can be compared."
    return _values("concordance", estimate, 0.5, bool(estimate.low > 0.5), sentence)


def _counts(folds: list[Fold]) -> dict[str, Any]:
    def explained(fold: Fold) -> float | None:
        own, base = (poisson_deviance(fold.held_out, item) for item in (fold.prediction, fold.base_rate))
        return None if own is None or base is None or not 0 < base < np.inf else 1 - own / base

    mean, error, _ = jackknife(folds, explained)
    estimate = explained_interval(mean, error)
    sentence = (
        f"{_percent(estimate.value)} of the deviance of held-out counts from their mean rate is explained"
        f"{_around(estimate, _percent)}, compared with 0% by always predicting that rate."
    )
    return _values("explained_deviance", estimate, 0.0, bool(estimate.low > 0), sentence)


VERDICTS: dict[str, Callable[[list[Fold]], dict[str, Any]]] = {
    "classification": _classes,
    "ordinal": _classes,
    "regression": _quantity,
    "survival": _survival,
    "count": _counts,
}
