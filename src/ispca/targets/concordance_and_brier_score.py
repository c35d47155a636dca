"""AUC and concordance, which compare pairs of samples, and the Brier score of predicted survival."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ..families.survival_curves import TIED_RISK, PairBalance, SurvivalFunction, pair_sums
from ..foundation.arrays import Floats, Indices
from .samples import HeldOut, Prediction


def auc(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the area under the ROC curve; for many classes averaged over all pairs, if there are no weights."""
    observed, n_classes = held_out.observed, held_out.n_classes
    scores = prediction.probabilities if prediction.probabilities is not None else prediction.ranking
    seen = observed if held_out.weight is None else observed[held_out.weight > 0]
    if scores is None or len(np.unique(seen)) < n_classes:
        return None
    weight = np.ones(len(observed)) if held_out.weight is None else held_out.weight
    if n_classes == 2:
        return _area(scores[:, 1] if scores.ndim == 2 else scores, observed == 1, weight)
    if prediction.probabilities is None or held_out.weight is not None:
        return None
    areas = []
    for first, second in combinations(range(n_classes), 2):
        either = (observed == first) | (observed == second)
        for one in (first, second):
            areas.append(_area(scores[either, one], observed[either] == one, weight[either]))
    return float(np.mean(areas))


def _area(scores: Floats, positive: np.ndarray, weight: Floats) -> float:
    """Return the fraction of pairs of a positive and another sample that are in the right order."""
    levels = np.unique(scores, return_inverse=True)[1]
    inside, outside = np.bincount(levels, weight * positive), np.bincount(levels, weight * ~positive)
    return float(inside @ (np.cumsum(outside) - outside / 2) / (inside.sum() * outside.sum()))


def auc_trials(held_out: HeldOut) -> float:
    """Return the number of trials of pairs of the largest class and the others."""
    weight = np.ones(len(held_out.observed)) if held_out.weight is None else held_out.weight
    sizes = np.bincount(held_out.observed, weight, held_out.n_classes)
    largest = held_out.observed == sizes.argmax()
    inside, outside = weight * largest, weight * ~largest
    balance = PairBalance(inside * outside.sum() - outside * inside.sum(), (inside @ inside) * (outside @ outside))
    return _trials(held_out, balance, inside.sum() * outside.sum())


def _trials(held_out: HeldOut, balance: PairBalance, total: float) -> float:
    lead = balance.lead if held_out.unit is None else np.bincount(held_out.unit, balance.lead)
    variance = (lead @ lead + balance.squares) / 3
    return float(total**2 / variance) if variance > 0 else 0.0


def concordance(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return Harrell's concordance index over the pairs of each fit; None if no pair is comparable."""
    concordant, comparable, _ = _pairs(held_out, prediction.value)
    return concordant / comparable if comparable > 0 else None


def resampled_concordance(held_out: HeldOut, prediction: Prediction, drawn: Indices) -> Floats:
    """Return the concordance index of bootstrap samples, from the pairs of each fit; NaN without any."""
    y, risk = held_out.observed, np.asarray(prediction.value, dtype=np.float64)
    weights = drawn.astype(np.float64) if held_out.weight is None else drawn * held_out.weight
    fold = np.zeros(len(y), dtype=np.intp) if held_out.fold is None else held_out.fold
    concordant, comparable = np.zeros((2, len(drawn)))
    for number in np.unique(fold):
        own = np.flatnonzero(fold == number)
        event, time, weight = y["event"][own], y["time"][own], weights[:, own]
        later = (time[:, None] < time) | ((time[:, None] == time) & ~event)
        pairs = (event[:, None] & later).astype(np.float64)
        difference = risk[own][:, None] - risk[own]
        right = (difference > TIED_RISK) + 0.5 * (np.abs(difference) <= TIED_RISK)
        comparable += np.einsum("bi,bi->b", weight @ pairs, weight)
        concordant += np.einsum("bi,bi->b", weight @ (pairs * right), weight)
    return np.divide(concordant, comparable, out=np.full(len(drawn), np.nan), where=comparable > 0)


def _pairs(held_out: HeldOut, risk: Any) -> tuple[float, float, PairBalance]:
    """Return the sums of `pair_sums` over the fits."""
    y, weight = held_out.observed, held_out.weight
    fold = np.zeros(len(y), dtype=np.intp) if held_out.fold is None else held_out.fold
    lead, sums = np.zeros(len(y)), np.zeros(3)
    for number in np.unique(fold):
        own = np.flatnonzero(fold == number)
        concordant, comparable, balance = pair_sums(
            y["event"][own], y["time"][own], risk[own], None if weight is None else weight[own]
        )
        lead[own] = balance.lead
        sums += concordant, comparable, balance.squares
    return float(sums[0]), float(sums[1]), PairBalance(lead, float(sums[2]))


def concordance_trials(held_out: HeldOut) -> float:
    """Return the number of trials of the comparable pairs."""
    _, comparable, balance = _pairs(held_out, np.zeros(len(held_out.observed)))
    return _trials(held_out, balance, comparable)


def comparable_pairs(held_out: HeldOut) -> tuple[int, int]:
    """Return the number of events that are compared with a later sample of the same fit, and that of all pairs."""
    y = held_out.observed
    plain = held_out._replace(weight=None)
    _, total, _ = _pairs(plain, np.zeros(len(y)))
    fold = np.zeros(len(y), dtype=np.intp) if held_out.fold is None else held_out.fold
    last = {number: y["time"][fold == number].max() for number in np.unique(fold)}
    used = y["event"] & (y["time"] < np.array([last[number] for number in fold]))
    return int(used.sum()), round(total)


def brier_score(
    event: Any, time: Any, survival: Any, times: Any, censoring: SurvivalFunction, sample_weight: Any = None
) -> Floats:
    """Return the Brier score at each of some times: the mean squared error of predicted survival.

    Samples censored earlier are unknown at a time. The others are weighted by the inverse probability of not
    being censored (Graf and others, 1999): up to their event, or up to that time if they survive it.

    ``survival`` are predicted probabilities (samples x times), and ``censoring`` is `censoring_curve` of the
    training samples. Smaller is better; predictions of one half score 0.25 if nothing is censored.

    Examples
    --------
    >>> from ispca.families.survival_curves import censoring_curve
    >>> event, time = [True, False, True], [1.0, 2.0, 3.0]
    >>> always_half = [[0.5], [0.5], [0.5]]
    >>> brier_score(event, time, always_half, [1.5], censoring_curve(event, time)).tolist()
    [0.25]
    """
    event, time = np.asarray(event, dtype=bool)[:, None], np.asarray(time, dtype=np.float64)[:, None]
    survival, times = np.asarray(survival, dtype=np.float64), np.asarray(times, dtype=np.float64)
    dead = (time <= times) & event
    alive = time > times
    # Where everything is censored, no sample is known, and none counts.
    error = dead * survival**2 * _inverse(censoring(time)) + alive * (1 - survival) ** 2 * _inverse(
        censoring(times)
    )
    return np.average(error, axis=0, weights=sample_weight)


def integrated_brier_score(
    event: Any, time: Any, survival: Any, times: Any, censoring: SurvivalFunction, sample_weight: Any = None
) -> float:
    """Return the mean of the Brier score between the first and the last time, by the trapezoidal rule."""
    times = np.asarray(times, dtype=np.float64)
    scores = brier_score(event, time, survival, times, censoring, sample_weight)
    return float(((scores[1:] + scores[:-1]) / 2 @ np.diff(times)) / (times[-1] - times[0]))


def integrated_brier(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the Brier score of predicted survival, averaged over the evaluation times.

    Times after the last training sample are left out: the probability of being censored is unknown there.
    """
    y, times, censoring = held_out.observed, held_out.times, held_out.censoring
    if prediction.probabilities is None or times is None or censoring is None:
        return None
    known = (times <= censoring.x[-1]) & (censoring(times) > 0)
    if np.count_nonzero(known) < 2:
        return None
    curves = prediction.probabilities[:, known]
    return integrated_brier_score(y["event"], y["time"], curves, times[known], censoring, held_out.weight)


def _inverse(probability: Floats) -> Floats:
    return np.divide(1.0, probability, out=np.zeros_like(probability), where=probability > 0)
