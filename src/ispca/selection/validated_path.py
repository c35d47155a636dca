"""Search inside a fold: refit the reference, find a path, and evaluate its submodels on the held-out samples."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from .._splits import Split
from .._warnings import notify
from ..reduction.reuse import Reuse
from ..validation.fit_store import Failure
from ..validation.fitting import fit_timed
from ..validation.prediction import PREDICT, log_density, predict_classes
from ..validation.runner import Work, run
from ..validation.samples import Samples
from ..validation.target import Target
from .candidates import columns
from .clusters import clustered
from .numeric_columns import numeric_values
from .reference import ReferencePredictions, reference_predictions
from .search import SearchPath, forward_search
from .settings import SearchSettings
from .submodels import submodel_for


@dataclass(frozen=True)
class FoldPath:
    """The path of one fold and the log densities of its held-out samples.

    Attributes
    ----------
    sets : tuple of list of int
        Features of the submodel of each size.
    log_density : ndarray of shape (max_features + 1, n_test)
        Of the submodels of each size; a shorter path repeats its last submodel.
    reference : ndarray of shape (n_test,)
        Of the reference.
    halves : ndarray of shape (2, n_test) or None
        Of the largest submodel, from each half of the draws; None if there is only one draw.
    seconds_reference, seconds_search, seconds_submodels : float
        Time to fit the reference, to search, and to fit and evaluate the submodels.
    messages : tuple of str
        Warnings of the fit.
    """

    sets: tuple[list[int], ...]
    log_density: Any
    reference: Any
    halves: Any
    seconds_reference: float
    seconds_search: float
    seconds_submodels: float
    messages: tuple[str, ...] = ()


class Search(NamedTuple):
    """What a search found, and the predictions of the reference that it is based on."""

    path: SearchPath
    draws: ReferencePredictions
    clusters: ReferencePredictions


@dataclass(frozen=True)
class Searcher:
    """How to search: settings that are the same in every fold.

    Attributes
    ----------
    settings : SearchSettings
        What may be chosen.
    n_draws, n_clusters : int
        Number of draws of the submodels, and of clusters of them in the search.
    seed : int
        Seed of the clusters.
    """

    settings: SearchSettings
    n_draws: int
    n_clusters: int
    seed: int

    def search(self, fitted: Any, samples: Samples, target: Target) -> Search:
        """Search for features that predict like a fitted reference."""
        draws = reference_predictions(fitted, samples, target, self.n_draws)
        clusters = clustered(draws, self.n_clusters, self.seed)
        return Search(forward_search(numeric_values(samples.X), clusters, self.settings), draws, clusters)


@dataclass(frozen=True)
class FoldEvaluation:
    """Evaluates a reference and its submodels in one fold; see `ispca.validation.runner.Work`."""

    searcher: Searcher

    def __call__(
        self, estimator: Any, train: Samples, test: Samples, target: Target, reuse: Reuse | None
    ) -> FoldPath:
        """Fit the reference, search, and evaluate the submodels of all sizes."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seconds_reference = sum(fit_timed(estimator, train, reuse))
            reference = reference_density(estimator, test, target)
            start = time.perf_counter()
            # A class without training samples is unknown to the reference.
            known = target if target.classes is None else target._replace(classes=np.unique(train.y))
            found = self.searcher.search(estimator, train, known)
            middle = time.perf_counter()
            sets, values = found.path.sets, (numeric_values(train.X), numeric_values(test.X))

            def density(draws: ReferencePredictions, chosen: Indices) -> Floats:
                parts = columns(values[0], chosen), columns(values[1], chosen)
                return submodel_density(parts, draws, test, target, known.classes)

            densities = [density(found.draws, chosen) for chosen in sets]
            densities += densities[-1:] * (self.searcher.settings.max_features + 1 - len(sets))
            halves = [density(half, sets[-1]) for half in halves_of(found.draws)]
        return FoldPath(
            tuple(chosen.tolist() for chosen in sets),
            np.array(densities),
            reference,
            np.array(halves) if halves else None,
            seconds_reference,
            middle - start,
            time.perf_counter() - middle,
            tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        )


def reference_density(fitted: Any, samples: Samples, target: Target) -> Floats:
    """Return the log density of samples under a reference: the same numbers as in a comparison."""
    density = PREDICT[target.kind](fitted, samples, target).log_density
    if density is None:
        raise ValueError("The reference predicts no distribution of the target.")
    return density


def submodel_density(
    parts: tuple[Floats, Floats], draws: ReferencePredictions, test: Samples, target: Target, classes: Any
) -> Floats:
    """Return the log density of test samples under a submodel.

    ``parts`` are the features of the submodel for the training and for the test samples.
    """
    train_part, test_part = parts
    model = submodel_for(target.kind)().fit(train_part, draws, classes=classes)
    if target.classes is not None:
        density = predict_classes(model, test_part, test.y, target.classes).log_density
    else:
        options = {} if test.offset is None else {"offset": test.offset}
        density = log_density(model, test_part, test.y, **options)
    return np.asarray(density)


def halves_of(draws: ReferencePredictions) -> list[ReferencePredictions]:
    """Return every second draw, and the others; nothing if there is only one draw."""
    if draws.n_draws < 2:
        return []
    halves = []
    for half in (slice(0, None, 2), slice(1, None, 2)):
        weights = draws.weights[half]
        halves.append(
            draws._replace(
                mean=draws.mean[:, half],
                extra=None if draws.extra is None else draws.extra[half],
                offset=None if draws.offset is None else draws.offset[:, half],
                weights=weights / weights.sum(),
            )
        )
    return halves


class HeldOut(NamedTuple):
    """Log densities of all samples that were held out, and the paths of the folds.

    Attributes
    ----------
    samples : ndarray of int
        The samples; one that was held out several times has the mean of its log densities.
    log_density, reference, halves
        As in `FoldPath`, for these samples.
    sets : list of tuple of list of int
        For each fold, the features of the submodel of each size.
    """

    samples: Indices
    log_density: Floats
    reference: Floats
    halves: Floats | None
    sets: list[tuple[list[int], ...]]

    def fractions(self, panel: Indices) -> Floats:
        """Return for each feature of a panel the fraction of the folds whose panel of this size contains it."""
        # A shorter path has no larger panel than its last one.
        found = [fold[min(len(panel), len(fold) - 1)] for fold in self.sets]
        return np.array([np.mean([feature in chosen for chosen in found]) for feature in panel])


def held_out(folds: Sequence[FoldPath], splits: Sequence[Split]) -> HeldOut:
    """Combine the folds."""
    places = np.concatenate([split.test for split in splits])
    samples, position, counts = np.unique(places, return_inverse=True, return_counts=True)

    def combined(parts: list[Floats]) -> Floats:
        values = np.concatenate(parts, axis=-1)
        total = np.zeros((len(samples), *values.shape[:-1]))
        np.add.at(total, position, values.T)
        return (total.T / counts).astype(np.float64)

    halves = [fold.halves for fold in folds]
    return HeldOut(
        samples,
        combined([fold.log_density for fold in folds]),
        combined([fold.reference for fold in folds]),
        combined(halves) if all(half is not None for half in halves) else None,
        [fold.sets for fold in folds],
    )


def validated_paths(work: Work, resume: Any, n_jobs: int | None) -> HeldOut:
    """Search in every fold, and combine the folds; those that fail are left out with a warning."""
    outcomes = run(work, resume, n_jobs, "Validating")
    folds = [outcome for _, outcome in sorted(outcomes.items())]
    errors = [fold.error for fold in folds if isinstance(fold, Failure)]
    if len(errors) == len(folds):
        raise ValueError(f"The selection failed in every fold. The first error: {errors[0]}")
    if errors:
        notify(f"The selection failed in {len(errors)} of {len(folds)} folds, which are left out: {errors[0]}")
    kept = [number for number, fold in enumerate(folds) if not isinstance(fold, Failure)]
    return held_out([folds[number] for number in kept], [work.splits[number] for number in kept])
