"""The verdict of a cross-validation: one measure, one interval, and one rule for what is said about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data_checks.small_class import useful
from ..families.survival_target import is_survival
from ..targets.intervals import UNKNOWN, Estimate, estimate
from ..targets.measures import COVERAGE
from ..targets.samples import INTERVAL_PROBABILITY, HeldOut, Pooled, Prediction
from ..targets.target import Judgment, interval_text, nan_to_none
from .baseline_comparison import BASE_RATE, COMBINED, COMPONENTS, COVARIATES
from .calibration import recalibrate, value_slope
from .comparison import Comparison
from .pooling import pooled_difference

NOT_BETTER = "this is not significantly better than the base rate."


def verdict(comparison: Comparison, *, method: str | None = None) -> dict[str, Any]:
    """Return how well a method predicts held-out samples, compared with the base rate.

    The measure is computed from all held-out samples together: the accuracy for classes (the AUC if more than two
    thirds belong to one class), R2 for quantities, the concordance index for survival times, and the explained
    deviance for counts. The standard error comes from a jackknife over the samples, or groups of them, corrected
    for overlapping training sets. Fractions get Wilson intervals, and explained fractions intervals that are
    symmetric for log(1 - value), so no interval leaves the range of its measure or has length zero. Pairs count
    at most as many trials as random orders of the same samples correspond to.

    Parameters
    ----------
    comparison : Comparison
        The result of `compare_with_baselines` or `compare`.
    method : str, optional
        The method to judge; by default the first one.

    Returns
    -------
    verdict : dict
        ``sentence``, ``measure``, ``value``, ``low``, ``high``, ``baseline_value``, ``n_held_out``,
        ``better_than_baseline``, ``better_method`` (name of a method that is clearly better, or None),
        ``components`` (of a combined prediction: what the components alone reach, or None), ``caveats``
        (sentences on overconfident predictions), and for classes ``auc``, ``auc_low``, ``auc_high``.
        A method is better than the base rate if the interval of the measure lies above the value of the base
        rate. With fewer than 10 events or 20 pairs, survival times are not judged, and it is None. Another method
        is clearly better if the interval of the paired difference over all held-out samples says so, in the main
        measure or in that of the verdict.
    """
    method = method or comparison.methods[0]
    found = comparison.pooled[method]
    if found is None:
        return _failure(comparison, method)
    own = comparison.judgment(method)
    better = own.better
    sentences = [judged_sentence(own)]
    winner = better_method(comparison, method) if own.judged else None
    if winner not in (None, COMPONENTS):
        sentences.append(_superior(comparison, method, winner, own))
    alone = components_alone(comparison) if method == COMBINED and own.judged else None
    if alone is not None:
        sentences.append(alone["sentence"])
    values = {name: nan_to_none(value) for name, value in own.estimate._asdict().items()}
    return {
        "sentence": " ".join(sentences),
        "measure": own.measure.name,
        **values,
        "baseline_value": own.baseline,
        "better_than_baseline": better,
        "better_method": winner,
        "components": alone,
        "caveats": _overconfidence(found),
        "n_held_out": len(np.unique(found.samples)),
        **own.more,
    }


def judged_sentence(own: Judgment) -> str:
    """Return the sentence of a judgment, which says so if a method is not better than the base rate."""
    return f"{own.sentence.removesuffix('.')}; {NOT_BETTER}" if own.better is False else own.sentence


def components_alone(comparison: Comparison) -> dict[str, Any] | None:
    """Return what the interpretable components reach by themselves, and by how much the combined prediction gains.

    ``measure``, ``value``, ``difference``, ``low`` and ``high`` (95% interval of the difference),
    ``better_than_baseline`` (of the components) and ``sentence``; None if the components were not fitted.
    """
    if COMPONENTS not in comparison.methods:
        return None
    combined, own = comparison.pooled[COMBINED], comparison.pooled[COMPONENTS]
    if combined is None or own is None:
        return None
    headline, better = comparison.judgment(COMBINED), comparison.judgment(COMPONENTS).better
    measure = headline.measure
    more = (own.base_rate,) if measure.of_base_rate else ()
    value = measure.score(own.held_out, own.prediction, *more)
    if value is None:
        return None
    difference = paired_difference(comparison, COMBINED, COMPONENTS)[1]
    reached = f"{measure.phrase or measure.title} {measure.show(value)}"
    significance = "no significant difference"
    if difference.low > 0 or difference.high < 0:
        significance = f"significantly {'worse' if difference.low > 0 else 'better'}"
    sentence = f"Components alone: {reached} ({significance})"
    if better != headline.better:
        # Otherwise, what was said about the combined prediction is true of them, too.
        sentence += f"; {NOT_BETTER}" if headline.better else "; this is significantly better than the base rate."
    found = {"measure": measure.name, "value": float(value), "difference": difference.value}
    found["better_than_baseline"] = better
    ends = {"low": nan_to_none(difference.low), "high": nan_to_none(difference.high)}
    return found | ends | {"sentence": sentence.removesuffix(".") + "."}


def verdict_on_components(verdict: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a verdict with what is said of the components alone, which lists of features describe."""
    alone = verdict.get("components") or verdict
    about = {name: alone[name] for name in ("better_than_baseline", "covariate_gain") if name in alone}
    if useful(verdict) and not useful(alone):
        about["better_method"] = COMBINED
    return {**verdict, **about}


def chance_sentence(verdict: Mapping[str, Any] | None) -> str | None:
    """Return what lists of features say if the components are no better than chance, otherwise None."""
    if not verdict:
        return None
    found = verdict_on_components(verdict)
    if useful(found):
        return None
    what = "The components alone do not predict significantly better than the base rate"
    if found["better_than_baseline"]:
        what = "The components alone are not shown to add to the covariates"
    elif found["better_than_baseline"] is None:
        what = "The predictions were not judged"
    return f"{what}, so effects of single features may be due to chance."


def _failure(comparison: Comparison, method: str) -> dict[str, Any]:
    names = ("value", "low", "high", "baseline_value", "better_method")
    values = {"sentence": f"{_start(method)} could not be fitted in any split, so nothing is known about it."}
    nothing: dict[str, Any] = {"better_than_baseline": None, "caveats": [], "n_held_out": 0}
    return values | {"measure": comparison.main_metric} | dict.fromkeys(names) | nothing | {"components": None}


def better_method(comparison: Comparison, method: str) -> str | None:
    """Return the best of the methods that are clearly better than another one, apart from the base rate."""
    if not comparison.scores:
        return None
    rivals = [name for name in comparison.methods if name not in (method, BASE_RATE, COVARIATES, COMBINED)]
    clear = [name for name in rivals if paired_difference(comparison, name, method)[1].low > 0]
    return max(clear, key=lambda name: comparison.difference(name, method)[0], default=None)


def paired_difference(comparison: Comparison, method: str, other: str) -> tuple[str, Estimate]:
    """Return a measure, and by how much a method is better by it than another one, with the 95% interval.

    It is the main measure, unless only that of the verdict shows a difference, both over all held-out samples. A
    mixture is so similar to its parts that their densities differ clearly even if the difference hardly matters:
    with it, only the measure of the verdict counts.
    """
    own, rival = comparison.pooled[method], comparison.pooled[other]
    if own is None or rival is None:
        return comparison.main_metric, UNKNOWN
    measures = [comparison.judgment(method).measure]
    if COMBINED not in (method, other):
        measures.insert(0, comparison.target.measures[comparison.main_metric])
    found = [(measure.name, pooled_difference(measure, own, rival)) for measure in measures]
    return next((item for item in found if item[1].low > 0 or item[1].high < 0), found[0])


def _superior(comparison: Comparison, method: str, winner: str, own: Judgment) -> str:
    """Say that another method is clearly better, with both values."""
    measure, theirs, ours = own.measure, comparison.judgment(winner).estimate.value, own.estimate.value
    if own.judged and theirs > ours and measure.show(theirs) != measure.show(ours):
        name, high, low = measure.phrase or measure.title, measure.show(theirs), measure.show(ours)
    else:
        # The measure of the comparison sees more, such as the probabilities.
        main = comparison.target.measures[comparison.main_metric]
        both = [comparison.pooled[item] for item in (winner, method)]
        name = main.title
        high, low = (f"{main.score(item.held_out, item.prediction):.3g}" for item in both if item is not None)
    return f"{_start(winner)} is clearly better: {name} {high} instead of {low}."


def _start(name: str) -> str:
    """Return the name of a method as the start of a sentence."""
    return f"The {name}" if name in ("lasso", "ridge") else name[:1].upper() + name[1:]


def _overconfidence(found: Pooled) -> list[str]:
    """Return sentences on probabilities, values and intervals that are clearly too sure."""
    held_out, prediction, lines = found.held_out, found.prediction, []
    slope = calibration_slope(held_out, prediction)
    if slope is not None and slope[2] < 1:
        what = "The probabilities are overconfident" if held_out.n_classes else "The predictions are too extreme"
        interval = f"{slope[0]:.2f} (95% interval {slope[1]:.2f} to {slope[2]:.2f})"
        lines.append(f"{what}: their calibration slope in held-out samples is {interval} instead of 1.")
    if prediction.interval is not None:
        value = estimate(COVERAGE.score, COVERAGE.limits, held_out, prediction)
        if value.high < INTERVAL_PROBABILITY:
            lines.append(
                f"The {INTERVAL_PROBABILITY:.0%} intervals are too narrow: they contain "
                f"{COVERAGE.show(value.value)} of the held-out values{interval_text(value, COVERAGE)}."
            )
    return lines


def calibration_slope(held_out: HeldOut, prediction: Prediction) -> tuple[float, float, float] | None:
    """Return the calibration slope with its 95% interval, or None if it cannot be estimated or for survival.

    For more than two classes, it is that of the probability of the predicted class against whether it was right.
    """
    if is_survival(held_out.observed):
        return None
    if not held_out.n_classes:
        values = np.asarray(prediction.value, dtype=np.float64)
        return value_slope(np.asarray(held_out.observed, dtype=np.float64), values)
    if prediction.probabilities is None:
        return None
    fit = recalibrate(*outcome_probabilities(held_out, prediction.probabilities))
    return None if fit is None else fit.slope


def outcome_probabilities(held_out: HeldOut, probabilities: Any) -> tuple[Any, Any]:
    """Return the probability of the second of two classes, or of the predicted one, and whether it happened."""
    if held_out.n_classes == 2:
        return probabilities[:, 1], held_out.observed == 1
    return probabilities.max(axis=1), probabilities.argmax(axis=1) == held_out.observed
