"""Rules that turn a path of submodels into a suggested size, and the sentences that explain it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._array_types import Floats, Mask
from .._messages import count
from ..validation.stacking_base import mean_error

# The reference is better than chance if it beats the submodel without features by this many standard errors: more
# than 2, because folds share training samples, so that the errors are somewhat too small.
CHANCE_ERRORS = 2.5
# A panel is clearly better than the reference if it beats it by this many standard errors.
BETTER_ERRORS = 2.0
# A submodel matches the reference if it is at most this many standard errors worse.
MATCH_ERRORS = 1.0
# A feature can replace another one if the exchange costs less than this fraction of a standard error.
EQUIVALENT_ERRORS = 0.1
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


def paired_differences(log_density: Floats, reference: Floats, sample_weight: Floats | None = None) -> Differences:
    """Compare the log densities of submodels, sizes x samples, with those of the reference, sample by sample."""
    differences = log_density - reference
    mean = weighted_mean(differences, sample_weight)
    return Differences(mean, mean_error(differences.T, mean, sample_weight))


def from_best_panel(
    log_density: Floats, differences: Differences, sample_weight: Floats | None = None
) -> Differences | None:
    """Compare all sizes with the best one if that is clearly better than the reference, otherwise return None.

    A reference that shrinks its coefficients, such as the lasso, is easily matched by panels that lack something.
    """
    mean, error = differences
    best = int(np.argmax(mean))
    if mean[best] <= BETTER_ERRORS * error[best]:
        return None
    return paired_differences(log_density, log_density[best], sample_weight)


def suggest_size(
    differences: Differences, n_always: int, more_features: bool, from_best: Differences | None = None
) -> Suggestion:
    """Suggest the smallest size that matches the reference, or say why there is none.

    ``more_features`` says whether a larger ``max_features`` would make larger submodels possible. If there are
    differences ``from_best``, the best panel takes the place of the reference.
    """
    mean, error = differences
    if -mean[0] <= CHANCE_ERRORS * error[0]:
        return Suggestion(
            0,
            "The reference predicts held-out samples no better than a submodel without features (difference "
            f"{_nats(-mean[0], error[0])}), so no features are suggested.{_better_panel(differences)}",
        )
    smallest = min(n_always, len(mean) - 1)
    compared = differences if from_best is None else from_best
    matching = np.flatnonzero(compared.mean[smallest:] >= -MATCH_ERRORS * compared.error[smallest:]) + smallest
    if len(matching):
        size = int(matching[0])
        verb = "predicts" if size == 1 else "predict"
        if from_best is None:
            other = "the reference, within one standard error"
        else:
            best = int(np.argmax(mean))
            other = f"the best panel, which has {count(best, 'feature')} and predicts better than the reference"
        return Suggestion(
            size,
            f"{count(size, 'feature')} {verb} held-out samples as well as {other} (difference "
            f"{_nats(compared.mean[size], compared.error[size])}).",
        )
    size = int(np.argmax(mean[smallest:])) + smallest
    advice = (
        "Raise max_features to examine larger submodels."
        if more_features
        else "More features are not available: the reference uses them in a way that a submodel cannot reproduce."
    )
    return Suggestion(
        size,
        f"No submodel of up to {count(len(mean) - 1, 'feature')} predicts held-out samples as well as the "
        f"reference; the best one has {size} (difference {_nats(mean[size], error[size])}). {advice}",
    )


def _better_panel(differences: Differences) -> str:
    """Return advice if panels predict although the reference does not: it is not a good one."""
    mean, error = differences
    size = int(np.argmax(mean))
    if size == 0 or mean[size] <= BETTER_ERRORS * error[size] or mean[size] <= mean[0]:
        return ""
    return (
        f" Submodels of {count(size, 'feature')} predict better than the reference (difference "
        f"{_nats(mean[size], error[size])}): use a better reference, such as a stack."
    )


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
        f"{second:.3f}). Raise n_draws above {n_draws}."
    )


def are_equivalent(cost: Floats, error: float) -> Mask:
    """Return which exchanges of a feature cost so little that the data do not prefer it."""
    return np.asarray(cost < EQUIVALENT_ERRORS * error)


def _nats(difference: float, error: float) -> str:
    return f"{difference:.3f} nats per sample, standard error {error:.3f}"
