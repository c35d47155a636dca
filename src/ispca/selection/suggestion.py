"""Rules that turn a path of submodels into a suggested size, and the sentences that explain it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats
from ..foundation.messages import count
from ..stacking.base import mean_error

# A panel is clearly better than no features if it beats them by this many standard errors.
BETTER_ERRORS = 2.0
# A submodel matches the reference if it is at most this many standard errors worse.
MATCH_ERRORS = 1.0
# The draws suffice if two halves of them agree within this fraction of a standard error.
HALVES_ERRORS = 0.5
# Without validation, the suggested submodel explains this fraction of the divergence of the one without features.
EXPLAINED = 0.95


class Differences(NamedTuple):
    """Mean paired difference of the log density from that of the reference for each size, and its error."""

    mean: Floats
    error: Floats


class Suggestion(NamedTuple):
    """The suggested size, and one or two sentences that say why."""

    size: int
    message: str


def weighted_mean(values: Floats, sample_weight: Floats | None = None) -> Floats:
    """Return the mean over the last axis, the samples."""
    return np.asarray(np.average(values, axis=-1, weights=sample_weight))


def overlap_factor(n_folds: int, test_to_train: float) -> float:
    """Return by how much the standard error of held-out samples grows, because folds share training samples.

    It is the correction of Nadeau and Bengio (2003), as in comparisons: 1 / k becomes 1 / k + test / train.
    """
    return float(np.sqrt(1 + n_folds * test_to_train))


def paired_differences(
    log_density: Floats, reference: Floats, sample_weight: Floats | None = None, factor: float = 1.0
) -> Differences:
    """Compare the log densities of submodels, sizes x samples, with those of the reference, sample by sample.

    ``factor`` corrects the standard errors of held-out samples.
    """
    differences = log_density - reference
    mean = weighted_mean(differences, sample_weight)
    return Differences(mean, factor * mean_error(differences.T, mean, sample_weight))


def suggest_size(differences: Differences, n_always: int, more_features: bool) -> Suggestion:
    """Suggest the smallest size that matches a reference that predicts, or say why there is none.

    A few confident mistakes of the reference must not make no features its match: the size is at least 1, and
    larger where the first features are worth no more than none. ``more_features`` says whether a larger
    ``max_features`` would make larger submodels possible.
    """
    mean, error = differences
    smallest = min(max(n_always, 1), len(mean) - 1)
    matching = np.flatnonzero(mean[smallest:] >= -MATCH_ERRORS * error[smallest:]) + smallest
    useful = matching[mean[matching] > mean[0]]
    matching = useful if len(useful) else matching
    if len(matching):
        size = int(matching[0])
        verb = "predicts" if size == 1 else "predict"
        return Suggestion(
            size,
            f"{count(size, 'feature')} {verb} held-out samples as well as the reference, within one standard "
            f"error (difference {_nats(mean[size], error[size])}).",
        )
    size = int(np.argmax(mean[smallest:])) + smallest
    advice = (
        "Raise ⟦max_features⟧ to examine larger submodels."
        if more_features
        else "More features are not available: the reference uses them in a way that a submodel cannot reproduce."
    )
    return Suggestion(
        size,
        f"No submodel of up to {count(len(mean) - 1, 'feature')} predicts held-out samples as well as the "
        f"reference; the best one has {size} (difference {_nats(mean[size], error[size])}). {advice}",
    )


def suggest_without_reference(
    differences: Differences, gains: Differences, n_always: int, judged: bool = True, stacked: bool = False
) -> Suggestion:
    """Suggest a size where the reference was not shown to be better than the base rate.

    It is the smallest that was itself shown to be better than no features, or 0. ``gains`` are the differences
    from no features, because panels that merely beat an overfitted reference say nothing; ``judged`` says whether
    there are enough events to judge the reference, and ``stacked`` whether it is a stack.
    """
    if not judged:
        return Suggestion(0, "There are too few events to judge the reference, so no features are suggested.")
    mean, error = differences
    reference = (
        "The reference does not predict held-out samples significantly better than the base rate (difference "
        f"{_nats(-mean[0], error[0])})"
    )
    better = np.flatnonzero(gains.mean > BETTER_ERRORS * gains.error)
    better = better[better >= n_always]
    if not len(better):
        return Suggestion(0, f"{reference}, so no features are suggested.")
    size = int(better[0])
    panel = f"{count(size, 'feature')} {'does' if size == 1 else 'do'}"
    advice = "" if stacked else " A better reference, such as a stack, may lead to a better panel."
    gain = _nats(gains.mean[size], gains.error[size])
    return Suggestion(size, f"{reference}, but {panel} (difference {gain}).{advice}")


def suggest_unvalidated_size(divergence: Floats, n_always: int) -> Suggestion:
    """Suggest the smallest size that explains most of the divergence between no features and the reference."""
    smallest = min(n_always, len(divergence) - 1)
    enough = np.flatnonzero(divergence[smallest:] <= (1 - EXPLAINED) * divergence[0]) + smallest
    size = int(enough[0]) if len(enough) else len(divergence) - 1
    explained = 1 - divergence[size] / divergence[0] if divergence[0] > 0 else 1.0
    verb = "explains" if size == 1 else "explain"
    return Suggestion(
        size,
        f"Not validated: {count(size, 'feature')} {verb} {explained:.0%} of the reference's predictions of the "
        "training samples, which says nothing about new samples.",
    )


def draws_message(halves: Floats, error: float, n_draws: int, sample_weight: Floats | None = None) -> str:
    """Return advice if the log densities from two halves of the draws (2 x samples) differ too much, or ""."""
    first, second = weighted_mean(halves, sample_weight)
    if abs(first - second) <= HALVES_ERRORS * error:
        return ""
    return (
        f"Two halves of the draws give the largest submodel different held-out log densities ({first:.3f} and "
        f"{second:.3f}). Raise ⟦n_draws⟧ above {n_draws}."
    )


def _nats(difference: float, error: float) -> str:
    return f"{difference:.3f} nats per sample, standard error {error:.3f}"
