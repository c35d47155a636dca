"""The common part of the stacking estimators: fold fits, weights, final fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from .._array_types import Floats
from .._checks import check_training_data
from .._result_table import ResultTable, as_table
from .._splits import checked_groups, make_fold_splits
from .._warnings import notify
from ..containers import ColumnSource
from ..fitted_parts import take_apart
from ..models.base import Horseshoe
from ..reduction.reuse import Reuse
from .fit_store import Failure
from .fitting import check_fit_parameters, fit_timed, prepared
from .input_checks import checked_data, named_estimators, resumable_seed
from .prediction import INTERVAL_PROBABILITY, Prediction, log_density
from .prediction_checks import ImpossiblePrediction
from .runner import Work, cluster_client, portions, run, shared_with_cluster
from .samples import Samples
from .stacking_weights import stacking_weights
from .target import Target, target_is_classes

# Weights do not need long chains: out-of-fold predictions are averages over the draws.
FOLD_DRAWS = {"n_chains": 2, "n_warmup": 400, "n_draws": 400}


class Stacked(BaseEstimator):
    """Base class of the stacking estimators."""

    # What candidates must have.
    _needs = "log_predictive_density"

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

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Refuse data that no candidate can use; values that some can handle, such as NaN, are left to them."""
        self._check_features(X, y)
        if np.asarray(y).ndim == 2:
            y = column_or_1d(y, warn=True)
        return checked_data(X, y)

    def _check_features(self, X: Any, y: Any, needs_target: bool = True) -> None:
        """Refuse features, and with ``needs_target`` targets, that no candidate can use."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if self.estimators is None:
            # All default candidates except the base rate would fail on invalid data.
            check_training_data(self, X, y if needs_target else None, needs_target)
        elif not hasattr(X, "columns") and not isinstance(X, ColumnSource):
            check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False, ensure_min_samples=2)

    def _fit(self, samples: Samples, target: Target, candidates: Any) -> list[list[Prediction]]:
        """Find the weights, fit the candidates to all samples, and return their predictions fold by fold."""
        named = named_estimators(candidates)
        validate_data(self, samples.X, skip_check_array=True)
        self._check_kind(named, samples.y, target)
        check_fit_parameters(named, samples)
        seed = resumable_seed(self.random_state, self.resume)
        groups = checked_groups(samples.groups, len(samples.y))
        labels, strata = target.strata(samples.y)
        splits = make_fold_splits(self.cv, samples.X, labels, groups, strata is not None, seed)
        self._held_out = np.concatenate([split.test for split in splits])
        work = Work({name: in_fold(item) for name, item in named.items()}, samples, target, splits, seed)
        outcomes = run(work, self.resume, self.n_jobs, "Stacking")
        named = {name: item for name, item in named.items() if self._worked(name, outcomes, len(splits))}
        if not named:
            raise ValueError(f"Every candidate failed, so nothing can be stacked. {_first_error(outcomes)}")
        predictions: list[list[Any]] = [[outcomes[i, name] for name in named] for i in range(len(splits))]
        densities = np.concatenate([np.column_stack([item.log_density for item in row]) for row in predictions])
        weight = None if samples.sample_weight is None else samples.sample_weight[self._held_out]
        self.weights_ = stacking_weights(densities, self.concentration, weight)
        self.cv_table_ = _table(list(named), predictions, densities, self.weights_, weight)
        self.estimators_ = self._fit_finally(named, samples._replace(groups=groups), work.split_seed(len(splits)))
        return predictions

    def _check_kind(self, named: dict[str, Any], y: Any, target: Target) -> None:
        """Refuse candidates for another kind of target."""
        if target.kind not in ("classification", "regression"):
            return
        classification = target.kind == "classification"
        if target_is_classes(named, y) != classification:
            kind, other = ("regressors", "Regressor") if classification else ("classifiers", "Classifier")
            raise ValueError(f"The candidates of {type(self).__name__} are {kind}. Use Stacked{other}.")

    def _worked(self, name: str, outcomes: dict[Any, Any], n_splits: int) -> bool:
        """Return whether a candidate has a density in every fold; otherwise warn or raise."""
        for number in range(n_splits):
            outcome = outcomes[number, name]
            if isinstance(outcome, Failure):
                notify(f"The candidate {name!r} failed and is left out: {outcome.error}")
                return False
            if outcome.log_density is None or not self._complete(outcome):
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

    def _complete(self, prediction: Prediction) -> bool:
        """Return whether a prediction has all parts of the mixture besides the log density."""
        return True

    def _check_part(self, prediction: Prediction) -> None:
        """Refuse a prediction that cannot be mixed."""

    def _fit_finally(self, named: dict[str, Any], samples: Samples, seed: int) -> dict[str, Any]:
        """Fit the candidates to all samples; neighbors in one worker share computations."""
        pieces = list(portions([(0, name) for name in named], joblib.effective_n_jobs(self.n_jobs)))
        final = [[prepared(named[name], seed) for _, name in piece] for piece in pieces]
        X, others, elsewhere = samples.X, samples._replace(X=None), cluster_client() is not None
        fits = (joblib.delayed(_fit_together)(estimators, others, X, elsewhere) for estimators in final)
        with shared_with_cluster(X):
            fitted, messages = zip(*joblib.Parallel(n_jobs=self.n_jobs)(fits), strict=True)
        for message in dict.fromkeys(chain.from_iterable(messages)):
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

    def _mixed_density(self, X: Any, y: Any, **options: Any) -> Floats:
        """Return the log density of each observation under the mixture."""
        parts = self._of_each_model(X, lambda model, Z: log_density(model, Z, y, **options))
        density: Floats = logsumexp(np.array(parts), axis=0, b=self.weights_[:, None])
        return density

    def _of_each_model(self, X: Any, predict: Callable[[Any, Any], Any]) -> list[Any]:
        """Return what the last step of every candidate predicts for samples as it sees them."""
        check_is_fitted(self)

        def part(estimator: Any) -> Any:
            parts = take_apart(estimator)
            return predict(parts.model, parts.model_input(X))

        return self._of_each(part)

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


def in_fold(estimator: Any) -> Any:
    """Return the candidate for the fits in the folds, with shorter chains and no second attempt."""
    estimator = clone(estimator)
    for step in [estimator, *estimator.get_params(deep=True).values()]:
        if isinstance(step, Horseshoe):
            shorter = {name: min(most, getattr(step, name)) for name, most in FOLD_DRAWS.items()}
            step.set_params(retry=False, **shorter)
    return estimator


def _fit_together(estimators: list[Any], samples: Samples, X: Any, elsewhere: bool) -> tuple[list[Any], list[str]]:
    """Return the fitted candidates and their warnings, which a worker process would print itself."""
    samples = samples._replace(X=X)
    if elsewhere:
        # Arrays from the network may be unaligned in memory, and are then summed in another order.
        samples = samples.copied()
    recorded = warnings.catch_warnings(record=True)
    with threadpool_limits(1), joblib.parallel_config(backend="sequential"), recorded as caught:
        warnings.simplefilter("always")
        # For candidates, n_components is an upper limit, and a penalty at the end of its path lowers their weight:
        # neither needs a warning.
        warnings.filterwarnings("ignore", message="n_components=|The chosen penalty")
        reuse = Reuse()
        for estimator in estimators:
            fit_timed(estimator, samples, reuse)
    return estimators, [str(warning.message) for warning in caught]


def normal_part(prediction: Prediction) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the normal distribution that represents a prediction in a mixture."""
    width = np.diff(np.asarray(prediction.interval), axis=1)[:, 0]
    if not (np.isfinite(width) & (width > 0)).all():
        raise ImpossiblePrediction("Its 90% intervals are empty or infinite.")
    return prediction.value, width / (2 * norm.ppf((1 + INTERVAL_PROBABILITY) / 2))


def _first_error(outcomes: dict[Any, Any]) -> str:
    errors = (outcome.error for outcome in outcomes.values() if isinstance(outcome, Failure))
    return next((f"The first error: {error}" for error in errors), "None gives finite intervals.")


def _table(
    names: list[str], predictions: list[list[Prediction]], densities: Floats, weights: Floats, weight: Any
) -> ResultTable:
    """Return one row per candidate: weight, out-of-fold mean log density with its error, seconds per fit."""
    seconds = [[item.seconds_reduction + item.seconds_model for item in row] for row in predictions]
    mean = np.average(densities, axis=0, weights=weight)
    return as_table(
        {
            "candidate": names,
            "weight": weights,
            "mlpd": mean,
            "mlpd_error": mean_error(densities, mean, weight),
            "seconds": np.mean(seconds, axis=0),
        }
    )


def mean_error(values: Floats, mean: Floats, weight: Floats | None) -> Floats:
    """Return the standard error of the mean over samples; weights count samples."""
    if weight is None:
        error: Floats = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        return error
    total = weight.sum()
    error = np.sqrt(weight @ (values - mean) ** 2 / max(total - 1, 1e-300) / total)
    return error
