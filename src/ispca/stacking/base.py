"""The common part of the stacks: fold fits, weights, final fits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from ..containers import ColumnSource
from ..data_checks.copies_outliers_and_drift import copies_together
from ..families.survival_target import refuse_survival
from ..fitted_parts import take_apart
from ..fitting.comparison_inputs import checked_data, named_estimators, resumable_seed, target_is_classes
from ..fitting.fit_and_predict import check_fit_parameters, clone_with_seed
from ..fitting.fit_store import Failure
from ..fitting.runner import SECONDS_WORTH_WORKERS, Work, portions, run
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..foundation.messages import notify
from ..foundation.parallel import cluster_client, count_workers, run_parallel
from ..foundation.parameters import fit_context
from ..foundation.result_tables import as_table
from ..foundation.splits import Split, check_groups, make_fold_splits
from ..inputs.checks import check_container, check_training_data
from ..targets import Target
from ..targets.mixture_weights import stacking_weights
from ..targets.samples import Prediction, Samples
from ..targets.target import Predictions, log_density
from ..targets.target_and_prediction_checks import ImpossiblePrediction, check_offset, check_weights
from .candidates import default_candidates, fit_together, in_fold
from .combination import concentrations

# What the docstrings of all stacks say.
DOCS = {
    "parameters": """
    estimators : list of (str, estimator) or dict, optional
        $candidates
    cv : int, splitter or iterable, default=5
        Number of folds, stratified by class or event, in which copies of a sample stay together; a scikit-learn
        splitter, or pairs of training and test indices.
    concentration : float, default=1.5
        Parameter of the Dirichlet prior: 1 is maximum likelihood, larger values give more equal weights. That of
        kernel methods is at least 5, because they predict well on almost all data.
    n_jobs : int or None, default=-1
        Worker processes. The result does not depend on it.
    resume : path, optional
        Directory in which finished fold fits are stored, to continue after an interruption.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds and of every candidate whose own ``random_state`` is None.""",
    "attributes": """
    weights_ : ndarray of shape (n_candidates,)
        Weights of the mixture.
    cv_table_ : recarray
        Per candidate: weight, mean log density of the out-of-fold predictions and its error, seconds.
    estimators_ : dict of str to estimator
        The candidates, fitted to all samples.""",
    "temperature": """
    inverse_temperature_ : float
        Exponent of the mixed probabilities; values above 1 make them more extreme.""",
    "samples": """
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.""",
    "options": """
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold, here and in
            candidates that make folds themselves.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, for the candidates and for the weights of the mixture.""",
}


@share_docs(**DOCS)
class Stacked(Predictions, BaseEstimator):
    """Base class of the stacks."""

    # What candidates must have, and the parts of their predictions that the mixture consists of.
    _needs = "log_predictive_density"
    _parts: tuple[str, ...] = ("log_density",)

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "estimators": [list, dict, None],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
        "concentration": [Interval(Real, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "resume": "no_validation",
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        cv: Any = 5,
        concentration: float = 1.5,
        n_jobs: int | None = -1,
        resume: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.concentration = concentration
        self.n_jobs = n_jobs
        self.resume = resume
        self.random_state = random_state

    @fit_context(skip_nested=False)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Find the weights, and fit the candidates to all samples.

        Parameters
        ----------
        $samples
        y : array-like of shape (n_samples,), or structured array
            Target: class labels, values, ordered classes (numbers, or an ordered categorical of pandas), or event
            and time in any form that HorseshoeSurvival takes.
        $options

        $fitted
        """
        self._fit(X, y, groups, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, groups: Any, sample_weight: Any, offset: Any = None) -> None:
        X, y, target = self._read_target(X, y)
        given = (check_weights(sample_weight, len(y)), check_offset(offset, len(y)))
        samples, candidates = Samples(X, y, groups, *given), self.estimators
        if candidates is None:
            candidates = default_candidates(target.name, target.n_classes)
        self._finish(samples, target, self._stack(samples, target, named_estimators(candidates)))

    def _read_target(self, X: Any, y: Any) -> tuple[Any, np.ndarray, Target]:
        """Return X and y as all candidates get them, and the target.

        Data that no candidate can use are refused; values that some can handle, such as NaN, are left to them.
        """
        if self.target.plain:
            refuse_survival(y)
        self._check_features(X, y)
        if self.target.plain and np.asarray(y).ndim == 2:
            y = column_or_1d(y, warn=True)
        X, y = checked_data(X, self.target.read(y))
        return X, y, self.target.of(y)

    def _check_features(self, X: Any, y: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if self.estimators is None:
            # All default candidates except the base rate would fail on invalid data.
            needs_target = not (self.target.timed or self.target.ordered)
            check_training_data(self, X, y if needs_target else None, needs_target)
        elif not hasattr(X, "columns") and not isinstance(X, ColumnSource):
            check_array(
                check_container(X), accept_sparse=True, dtype=None, ensure_all_finite=False, ensure_min_samples=2
            )

    def _stack(self, samples: Samples, target: Target, named: dict[str, Any]) -> list[list[Prediction]]:
        """Find the weights, fit the candidates to all samples, and return their predictions fold by fold."""
        validate_data(self, samples.X, skip_check_array=True)
        if target.plain and target_is_classes(named, samples.y) != target.has_classes:
            kind, other = ("regressors", "Regressor") if target.has_classes else ("classifiers", "Classifier")
            raise ValueError(f"The candidates of {type(self).__name__} are {kind}. Use Stacked{other}.")
        check_fit_parameters(named, samples)
        seed = resumable_seed(self.random_state, self.resume)
        groups = check_groups(samples.groups, len(samples.y))
        labels, strata = target.strata(samples.y)
        copies = copies_together(samples.X) if groups is None and isinstance(self.cv, Integral) else None
        together = groups if copies is None else copies
        splits = make_fold_splits(self.cv, samples.X, labels, together, strata is not None, seed)
        if copies is not None:
            # Candidates get only the groups of the caller, which restrict what permutations exchange.
            splits = [Split(split.train, split.test) for split in splits]
        self._held_out = np.concatenate([split.test for split in splits])
        work = Work({name: in_fold(item) for name, item in named.items()}, samples, target, splits, seed)
        outcomes = run(work, self.resume, self.n_jobs, "Stacking")
        named = {name: item for name, item in named.items() if self._is_usable(name, outcomes, len(splits))}
        if not named:
            errors = (outcome.error for outcome in outcomes.values() if isinstance(outcome, Failure))
            reason = next((f"The first error: {error}" for error in errors), "None gives finite intervals.")
            raise ValueError(f"Every candidate failed, so nothing can be stacked. {reason}")
        predictions: list[list[Any]] = [[outcomes[i, name] for name in named] for i in range(len(splits))]
        self._weigh(named, samples, predictions)
        self.estimators_ = self._fit_finally(named, samples._replace(groups=groups), work.split_seed(len(splits)))
        return predictions

    def _weigh(self, named: dict[str, Any], samples: Samples, predictions: list[list[Prediction]]) -> None:
        """Set the weights that predictions of the held-out samples give, fold by fold."""
        densities = np.concatenate(
            [np.column_stack([np.asarray(item.log_density) for item in row]) for row in predictions]
        )
        weight = None if samples.sample_weight is None else samples.sample_weight[self._held_out]
        self.weights_ = stacking_weights(densities, concentrations(named.values(), self.concentration), weight)
        seconds = [[item.seconds_reduction + item.seconds_model for item in row] for row in predictions]
        mean = np.average(densities, axis=0, weights=weight)
        table: dict[str, Any] = {"candidate": list(named), "weight": self.weights_, "mlpd": mean}
        table |= {"mlpd_error": mean_error(densities, mean, weight), "seconds": np.mean(seconds, axis=0)}
        self.cv_table_ = as_table(table)

    def combine(
        self, fitted: dict[str, Any], samples: Samples, splits: list[Split], predictions: list[list[Prediction]]
    ) -> Self:
        """Mix fitted candidates, whose predictions of held-out samples are known for each split.

        Parameters
        ----------
        fitted, samples : dict of str to estimator, Samples
            The candidates, fitted to all samples, and these samples.
        splits, predictions : list of Split, list of list of Prediction
            Splits that hold out every sample once, and predictions of these samples, by split and candidate.

        $fitted
        """
        X, y, target = self._read_target(samples.X, samples.y)
        validate_data(self, X, skip_check_array=True)
        self._held_out = np.concatenate([split.test for split in splits])
        samples = samples._replace(X=X, y=y)
        self._weigh(fitted, samples, predictions)
        self.estimators_ = dict(fitted)
        self._finish(samples, target, predictions)
        return self

    def _is_usable(self, name: str, outcomes: dict[Any, Any], n_splits: int) -> bool:
        """Return whether a candidate has a density in every fold; otherwise warn or raise."""
        for number in range(n_splits):
            outcome = outcomes[number, name]
            if isinstance(outcome, Failure):
                notify(f"The candidate {name!r} failed and is left out: {outcome.error}")
                return False
            if any(getattr(outcome, part) is None for part in self._parts):
                raise ValueError(
                    f"The candidate {name!r} gives no predictive distribution, so it cannot be stacked. It needs "
                    f"{self._needs}."
                )
            try:
                self._check_part(outcome)
            except ImpossiblePrediction as error:
                notify(f"The candidate {name!r} is left out: {error}")
                return False
        return True

    def _check_part(self, prediction: Prediction) -> None:
        """Refuse a prediction that cannot be mixed."""

    def _finish(self, samples: Samples, target: Target, predictions: list[list[Prediction]]) -> None:
        """Set what follows from the weights."""

    def _fit_finally(self, named: dict[str, Any], samples: Samples, seed: int) -> dict[str, Any]:
        """Fit the candidates to all samples; on this machine, neighbors in one worker share computations."""
        elsewhere = cluster_client(self.n_jobs) is not None
        pieces = portions([(0, name) for name in named], count_workers(self.n_jobs), elsewhere)
        final = [[clone_with_seed(in_fold(named[name]), seed) for _, name in piece] for piece in pieces]
        shared = (samples._replace(X=None), samples.X, elsewhere)
        worth = elsewhere or float(self.cv_table_["seconds"].sum()) > SECONDS_WORTH_WORKERS
        fitted, messages = zip(
            *run_parallel(fit_together, shared, final, self.n_jobs if worth else 1), strict=True
        )
        for message in {str(message): message for message in chain.from_iterable(messages)}.values():
            notify(message)
        return dict(zip(named, chain.from_iterable(fitted), strict=True))

    def _of_each(self, predict: Callable[[Any], Any]) -> list[Any]:
        """Return the predictions of every candidate; impossible ones are an error that names the candidate."""
        found = []
        for name, estimator in self.estimators_.items():
            try:
                found.append(predict(estimator))
            except ImpossiblePrediction as error:
                raise ValueError(
                    f"The candidate {name!r} cannot predict these samples: {error} Refit the stack without it."
                ) from error
        return found

    def _of_each_model(self, X: Any, predict: Callable[[Any, Any], Any]) -> list[Any]:
        """Return what the last step of every candidate predicts for samples as it sees them."""

        def part(estimator: Any) -> Any:
            parts = take_apart(estimator)
            return predict(parts.model, parts.model_input(X))

        return self._of_each(part)

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return X

    def _log_density(self, Z: Any, y: np.ndarray, offset: Floats | None) -> Floats:
        options = offset_option(offset)
        parts = self._of_each_model(Z, lambda model, Z: log_density(model, Z, y, **options))
        return np.asarray(logsumexp(np.array(parts), axis=0, b=self.weights_[:, None]))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        candidates: list[Any] = []
        with suppress(TypeError, ValueError):  # fit refuses invalid candidates
            candidates = [get_tags(item) for item in dict(self.estimators or {}).values()]
        inputs = [item.input_tags for item in candidates if not item.no_validation]
        # Candidates that fail on sparse data or NaN are left out.
        tags.input_tags.sparse = not inputs or any(item.sparse for item in inputs)
        tags.input_tags.allow_nan = any(item.allow_nan for item in inputs)
        return tags


def offset_option(offset: Floats | None) -> dict[str, Floats]:
    """Return the offset as a parameter; candidates that take none need not take zeros."""
    return {} if offset is None else {"offset": offset}


def mean_error(values: Floats, mean: Floats, weight: Floats | None) -> Floats:
    """Return the standard error of the mean over samples; weights count samples."""
    if weight is None:
        return values.std(axis=0, ddof=1) / np.sqrt(len(values))
    total = weight.sum()
    return np.sqrt(weight @ (values - mean) ** 2 / max(total - 1, 1e-300) / total)
