"""Base rates: predictive distributions of values, counts and survival times that use the target alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import nbinom, norm, poisson
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from ..families.piecewise_hazard import estimate_hazard, log_likelihood
from ..families.survival_curves import kaplan_meier, survival_functions
from ..families.survival_target import is_survival, survival_target
from ..foundation.arrays import Floats
from .target_and_prediction_checks import check_counts, check_offset, check_weights, n_rows

SMALLEST_DEVIATION = 1e-8
# The total of counts that are all zero.
SMALLEST_TOTAL = 0.5


class BaseRate(BaseEstimator):
    """Base class of the base rates."""

    _parameter_constraints: dict[str, list[Any]] = {}  # noqa: RUF012

    def _check_features(self, X: Any, y: Any) -> None:
        """Store the number of features."""
        validate_data(self, X, skip_check_array=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.no_validation = True
        return tags


class BaseRateRegressor(RegressorMixin, BaseRate):
    """Predict a normal distribution with the mean and standard deviation of the target, without using X.

    Attributes
    ----------
    mean_, deviation_ : float
        Mean and standard deviation of the training target.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseRateRegressor:
        """Compute mean and standard deviation of the target; of X, only the number of features is stored."""
        self._check_features(X, y)
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, ensure_min_samples=2), warn=True)
        check_consistent_length(X, y)
        weight = check_weights(sample_weight, len(y))
        self.mean_ = float(np.average(y, weights=weight))
        if weight is None:
            spread = float(y.std(ddof=1))
        else:
            total = max(float(weight.sum()) - 1, np.finfo(np.float64).tiny)
            spread = float(np.sqrt(weight @ (y - self.mean_) ** 2 / total))
        # A constant target gets a density, too.
        self.deviation_ = max(spread, SMALLEST_DEVIATION * max(1.0, abs(self.mean_)))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of the target for every sample, and optionally its standard deviation."""
        check_is_fitted(self)
        mean = np.full(n_rows(X), self.mean_)
        return (mean, np.full(len(mean), self.deviation_)) if return_std else mean

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log normal density of each observed value."""
        check_is_fitted(self)
        return norm.logpdf(np.asarray(y, dtype=np.float64), self.mean_, self.deviation_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class BaseRateCounts(RegressorMixin, BaseRate):
    """Predict a negative-binomial distribution with the mean rate of the counts, without using X.

    Its dispersion is that of the training counts (by moments); without overdispersion, it is a Poisson
    distribution.

    Attributes
    ----------
    rate_ : float
        Mean count per unit of exposure, the exponential of the offset.
    dispersion_ : float
        The variance of a count with mean m is ``m + dispersion_ * m**2``.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> BaseRateCounts:
        """Compute rate and dispersion; of X, only the number of features is stored."""
        self._check_features(X, y)
        y = check_counts(y).astype(np.float64)
        check_consistent_length(X, y)
        weight = check_weights(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight
        exposure = _exposure(offset, len(y))
        self.rate_ = max(float(weight @ y), SMALLEST_TOTAL) / float(weight @ exposure)
        mean = self.rate_ * exposure
        excess = float(weight @ ((y - mean) ** 2 - mean)) / float(weight @ mean**2)
        self.dispersion_ = max(excess, 0.0)
        return self

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the mean rate times the exposure of each sample."""
        check_is_fitted(self)
        return self.rate_ * _exposure(offset, n_rows(X))

    def _distribution(self, X: Any, offset: Any) -> Any:
        mean = self.predict(X, offset)
        if self.dispersion_ == 0:
            return poisson(mean)
        return nbinom(1 / self.dispersion_, 1 / (1 + self.dispersion_ * mean))

    def predict_interval(self, X: Any, level: float = 0.9, offset: Any = None) -> Floats:
        """Return the central interval of the count of each sample."""
        distribution = self._distribution(X, offset)
        return np.column_stack([distribution.ppf((1 - level) / 2), distribution.ppf((1 + level) / 2)])

    def log_predictive_density(self, X: Any, y: Any, offset: Any = None) -> Floats:
        """Return the log probability of each observed count."""
        return self._distribution(X, offset).logpmf(np.asarray(y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class BaseRateSurvival(BaseRate):
    """Predict the Kaplan-Meier curve of the training samples and equal risks, without using X.

    The log density of a time comes from a hazard that is constant on intervals, as in ``HorseshoeSurvival``.

    Attributes
    ----------
    unique_times_, survival_ : ndarray of shape (n_times,)
        The Kaplan-Meier curve: distinct training times, and the probability of surviving each.
    hazard_ : PiecewiseHazard
        The hazard on intervals.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseRateSurvival:
        """Estimate curve and hazard; of X, only the number of features is stored."""
        self._check_features(X, y)
        y = survival_target(y)
        check_consistent_length(X, y)
        weight = check_weights(sample_weight, len(y))
        if weight is not None:
            y, weight = y[weight > 0], weight[weight > 0]
        event, time = y["event"], y["time"]
        curve = kaplan_meier(event, time, weight)
        self.unique_times_, self.survival_ = curve.x, curve.y
        self.hazard_ = estimate_hazard(np.zeros((len(time), 1)), event, time, weight)
        return self

    def predict(self, X: Any) -> Floats:
        """Return a risk of 0 for every sample."""
        check_is_fitted(self)
        return np.zeros(n_rows(X))

    def predict_survival_function(self, X: Any) -> np.ndarray:
        """Return the Kaplan-Meier curve for every sample."""
        check_is_fitted(self)
        return survival_functions(self.unique_times_, [self.survival_] * n_rows(X))

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log density of each observed time, or the log probability to survive a time of censoring."""
        check_is_fitted(self)
        y = y if is_survival(y) else survival_target(y)
        return log_likelihood(self.hazard_, np.zeros((len(y), 1)), y["event"], y["time"])[:, 0]


def _exposure(offset: Any, n_samples: int) -> Floats:
    offsets = check_offset(offset, n_samples)
    return np.ones(n_samples) if offsets is None else np.exp(offsets)
