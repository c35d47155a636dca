"""Search inside a fold: refit the reference, find a path, and evaluate its submodels on the held-out samples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..fitted_parts import take_apart
from ..fitting.fit_and_predict import fit_timed
from ..fitting.fit_store import Failure
from ..fitting.runner import Work, run
from ..foundation.arrays import Floats, Indices, protect
from ..foundation.messages import notify
from ..foundation.splits import Split
from ..targets import Target
from ..targets.samples import HeldOut, Pooled, Prediction, Samples, log_class_probability
from ..targets.target import log_density
from ..targets.target_and_prediction_checks import possible_probabilities
from .reference import ReferencePredictions, cluster, reference_predictions
from .search import SearchPath, SearchSettings, columns, forward_search
from .selection_data import numeric_values
from .submodels_and_panels import find_submodel


@dataclass(frozen=True)
class FoldPath:
    """The path of one fold and the log densities of its held-out samples."""

    sets: tuple[list[int], ...]  # features of the submodel of each size
    log_density: Any  # sizes x samples; a shorter path repeats its last submodel
    reference: Any  # log densities of the reference
    halves: Any  # 2 x samples: of the largest submodel, from each half of the draws; None if there is one draw
    # What the submodels of each size predict and, last, the reference; see `ispca.validation.Prediction`.
    value: Any = None
    probabilities: Any = None  # of the classes, likewise (sizes x samples x classes), or None


class Search(NamedTuple):
    """What a search found, and the predictions of the reference that it is based on."""

    path: SearchPath
    draws: ReferencePredictions
    clusters: ReferencePredictions


@dataclass(frozen=True)
class Searcher:
    """How to search: settings that are the same in every fold."""

    settings: SearchSettings
    n_draws: int  # of the submodels
    n_clusters: int  # of the draws, in the search
    seed: int  # of the clusters

    def search(self, fitted: Any, samples: Samples, target: Target) -> Search:
        """Search for features that predict like a fitted reference."""
        draws = reference_predictions(fitted, samples, target, self.n_draws)
        clusters = cluster(draws, self.n_clusters, self.seed)
        return Search(forward_search(numeric_values(samples.X), clusters, self.settings), draws, clusters)


@dataclass(frozen=True)
class FoldEvaluation:
    """Evaluates a reference and its submodels in one fold; see `ispca.fitting.runner.Work`."""

    searcher: Searcher

    def __call__(self, estimator: Any, train: Samples, test: Samples, target: Target) -> FoldPath:
        """Fit the reference, search, and evaluate the submodels of all sizes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_timed(estimator, train)
            reference = reference_prediction(estimator, test, target)
            # A class without training samples is unknown to the reference.
            known = target if target.classes is None else target.of(train.y)
            found = self.searcher.search(estimator, train, known)
            sets, values = found.path.sets, (numeric_values(train.X), numeric_values(test.X))

            def predict(draws: ReferencePredictions, chosen: Indices) -> Prediction:
                parts = columns(values[0], chosen), columns(values[1], chosen)
                return submodel_prediction(parts, draws, test, target, known.classes)

            predicted = [predict(found.draws, chosen) for chosen in sets]
            predicted += predicted[-1:] * (self.searcher.settings.max_features + 1 - len(sets))
            halves = [predict(half, sets[-1]).log_density for half in halves_of(found.draws)]
        everything = [*predicted, reference]
        return FoldPath(
            tuple(chosen.tolist() for chosen in sets),
            np.array([item.log_density for item in predicted]),
            reference.log_density,
            np.array(halves) if halves else None,
            np.array([item.value for item in everything]),
            None if target.classes is None else np.array([item.probabilities for item in everything]),
        )


def reference_prediction(fitted: Any, samples: Samples, target: Target) -> Prediction:
    """Return what a reference predicts: the same numbers as in a comparison."""
    prediction = target.predict(fitted, take_apart(fitted), samples)
    if prediction.log_density is None:
        raise ValueError("The reference predicts no distribution of the target.")
    return prediction


def training_density(fitted: Any, samples: Samples, target: Target) -> Floats:
    """Return the log density of training samples under a reference."""
    if not target.ordered:
        return np.asarray(reference_prediction(fitted, samples, target).log_density)
    # A reference fitted before knows ordered classes by their labels, not by their numbers.
    predicted = fitted.predict_proba(protect(samples.X, fitted))
    return log_class_probability(possible_probabilities(predicted, len(samples.y), target.n_classes), samples.y)


def submodel_prediction(
    parts: tuple[Floats, Floats], draws: ReferencePredictions, test: Samples, target: Target, classes: Any
) -> Prediction:
    """Return what a submodel predicts for test samples, with their log densities.

    ``parts`` are the features of the submodel for the training and for the test samples.
    """
    train_part, test_part = parts
    model = find_submodel(target)().fit(train_part, draws, classes=classes)
    if target.classes is not None:
        return target.predict(model, take_apart(model), test._replace(X=test_part))
    options = {} if test.offset is None else {"offset": test.offset}
    density = log_density(model, test_part, test.y, **options)
    return Prediction(model.predict(test_part, **options), log_density=density)


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


class HeldOutPaths(NamedTuple):
    """Log densities of all samples that were held out, and the paths of the folds."""

    samples: Indices  # one that was held out several times has the mean of its log densities
    # As in `FoldPath`, for these samples.
    log_density: Floats
    reference: Floats
    halves: Floats | None
    sets: list[tuple[list[int], ...]]  # for each fold, the features of the submodel of each size
    # Measures of the predictions of each size and, last, of the reference.
    measures: Mapping[str, Floats] = MappingProxyType({})
    better: bool | None = None  # whether the reference beats the base rate, by the rule of verdicts, if judged

    def fractions(self, panel: Indices) -> Floats:
        """Return for each feature of a panel the fraction of the folds whose panel of this size contains it."""
        # A shorter path has no larger panel than its last one.
        found = [fold[min(len(panel), len(fold) - 1)] for fold in self.sets]
        return np.array([np.mean([feature in chosen for chosen in found]) for feature in panel])


def combine_folds(folds: Sequence[FoldPath], splits: Sequence[Split]) -> HeldOutPaths:
    """Average the log densities of each sample over the folds that held it out."""
    places = np.concatenate([split.test for split in splits])
    samples, position, counts = np.unique(places, return_inverse=True, return_counts=True)

    def combine(parts: list[Floats]) -> Floats:
        values = np.concatenate(parts, axis=-1)
        total = np.zeros((len(samples), *values.shape[:-1]))
        np.add.at(total, position, values.T)
        return (total.T / counts).astype(np.float64)

    halves = [fold.halves for fold in folds]
    return HeldOutPaths(
        samples,
        combine([fold.log_density for fold in folds]),
        combine([fold.reference for fold in folds]),
        combine(halves) if all(half is not None for half in halves) else None,
        [fold.sets for fold in folds],
    )


def validate_path(work: Work, resume: Any, n_jobs: int | None, groups: Any = None) -> HeldOutPaths:
    """Search in every fold, and combine the folds; those that fail are left out with a warning."""
    outcomes = run(work, resume, n_jobs, "Validating")
    folds = [outcome for _, outcome in sorted(outcomes.items())]
    errors = [fold.error for fold in folds if isinstance(fold, Failure)]
    if len(errors) == len(folds):
        raise ValueError(f"The selection failed in every fold. The first error: {errors[0]}")
    if errors:
        notify(f"The selection failed in {len(errors)} of {len(folds)} folds, which are left out: {errors[0]}")
    kept = [number for number, fold in enumerate(folds) if not isinstance(fold, Failure)]
    folds, splits = [folds[number] for number in kept], [work.splits[number] for number in kept]
    observed, predictions = path_predictions(folds, splits, work.samples, work.target, groups)
    judged = Pooled(np.concatenate([split.test for split in splits]), observed, predictions[-1], predictions[0])
    measures, better = path_measures(work.target, observed, predictions), work.target.judge(judged).better
    return combine_folds(folds, splits)._replace(measures=measures, better=better)


def path_predictions(
    folds: Sequence[Any], splits: Sequence[Split], samples: Samples, target: Target, groups: Any = None
) -> tuple[HeldOut, list[Prediction]]:
    """Return all held-out samples, and what was predicted for them by each size and, last, by the reference."""
    tests = np.concatenate([split.test for split in splits])
    weight = None if samples.sample_weight is None else samples.sample_weight[tests]
    unit = tests if groups is None else np.unique(groups, return_inverse=True)[1].ravel()[tests]
    fold = np.repeat(np.arange(len(splits)), [len(split.test) for split in splits])
    # Folds share training samples, as in a verdict.
    overlap = len(np.unique(tests)) / float(np.mean([len(split.train) for split in splits]))
    observed = target.observations(samples.y[tests])
    held_out = HeldOut(observed, target.n_classes, weight, unit=unit, fold=fold, overlap=overlap)
    values = np.concatenate([fold.value for fold in folds], axis=1)
    chances: Any = [None] * len(values)
    if target.classes is not None:
        chances = np.concatenate([fold.probabilities for fold in folds], axis=1)
    return held_out, [Prediction(value, chance) for value, chance in zip(values, chances, strict=True)]


def path_measures(target: Target, held_out: HeldOut, predictions: Sequence[Prediction]) -> dict[str, Floats]:
    """Return each measure of the predictions of each size and, last, of the reference; NaN if undefined."""
    measures = [target.measures[name] for name in target.shown_measures]
    return {
        each.name: np.array([each.score(held_out, item) for item in predictions], dtype=np.float64)
        for each in measures
    }
