"""PenalizedRegressor: linear regression with a lasso or ridge penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import RegressorMixin, _fit_context

from .._array_types import Floats
from .._checks import check_training_data, numeric_target, observed_values
from ..families import GAUSSIAN
from ..reduction.reuse import Reuse
from .base import Penalized


class PenalizedRegressor(RegressorMixin, Penalized):
    """Linear regression with a lasso or ridge penalty.

    The conventions are those of R's glmnet and cv.glmnet: features are standardized internally, the intercept is
    not penalized, and the penalty is chosen from a path by the cross-validated squared error.

    Parameters
    ----------
    penalty : {"lasso", "ridge"}, default="lasso"
        Sum of absolute values, or half the sum of squares, of the standardized coefficients.
    choice : {"one_standard_error", "best", "average"}, default="one_standard_error"
        The largest penalty whose error is within one standard error of the minimum, that of the minimum, or
        predictions averaged over penalties, each weighted by exp(total held-out log density). For ridge, "best"
        and "average" extend the path below glmnet's end until it goes at least a decade past the minimum, or to
        0.000001 of that end. A chosen penalty at the end of the path gives a warning.
    n_lambdas : int, default=100
        Length of glmnet's path; it ends early when the variance is explained or no longer falls.
    cv : int, splitter or iterable, default=10
        Number of cross-validation folds (never more than samples, or groups), or a scikit-learn splitter or
        list of (training indices, test indices) that holds out every sample exactly once.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of X; with ``choice="average"``, their weighted mean.
    intercept_ : float
        Intercept; with ``choice="average"``, the weighted mean.
    residual_scale_ : float
        Root of the cross-validated mean squared error at the chosen penalty, or of its weighted mean.
    lambda_, lambda_best_, lambda_one_standard_error_ : float
        The chosen penalty (of an average, the one with the largest weight), the best, and glmnet's default.
    lambdas_, cv_deviance_, cv_deviance_error_ : ndarray
        The path: penalties, mean squared error of held-out samples, and its standard error.
    weights_ : ndarray or None
        Weight of each penalty in ``lambdas_``, with ``choice="average"``. The sum is 1. At most 12 penalties, a
        third of a decade or more apart, are averaged, and weights below 1% of the largest are set to 0.
    averaged_coef_ : ndarray of shape (n_averaged, 1, n_features) or None
        Coefficients at each penalty with a positive weight.
    averaged_intercept_ : ndarray of shape (n_averaged, 1) or None
        Intercepts at each penalty with a positive weight.
    n_nonzero_ : int
        Number of features with a nonzero coefficient.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.penalized import PenalizedRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 200)); y = 3 * X[:, 0] + rng.normal(size=60)
    >>> model = PenalizedRegressor(random_state=0).fit(X, y)
    >>> int(np.abs(model.coef_).argmax())
    0
    >>> mean, deviation = model.predict(X[:2], return_std=True)
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, groups: Any = None, *, sample_weight: Any = None, reuse: Reuse | None = None
    ) -> PenalizedRegressor:
        """Fit the path and choose the penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Target values.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in fits and held-out deviances; 0 leaves a sample out.
        reuse : Reuse, optional
            Results to share with other fits to the same X; `compare` passes it. The fit does not depend on it.

        Returns
        -------
        self : PenalizedRegressor
            The fitted estimator.
        """
        given = X
        X, y = check_training_data(self, X, y)
        y = numeric_target(y)
        coef, intercept = self._fit_path(given, X, y, GAUSSIAN, groups, reuse, sample_weight)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        weights = self.lambdas_ == self.lambda_ if self.weights_ is None else self.weights_
        self.residual_scale_ = float(np.sqrt(weights @ self.cv_deviance_))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predicted values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        return_std : bool, default=False
            Whether to return a standard deviation for each sample, too: ``residual_scale_``, or that of the
            mixture of normals if several penalties are averaged.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predicted values.
        deviation : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        mean = self._predictors(X)[:, 0]
        if not return_std:
            return mean
        if not self._averages:
            return mean, np.full(len(mean), self.residual_scale_)
        means, _, weights = self._mixture(X)
        return mean, np.sqrt(self.residual_scale_**2 + weights @ (means - mean) ** 2)

    def _mixture(self, X: Any) -> tuple[Floats, Floats, Floats]:
        """Return means (penalties x samples), deviations and weights of the averaged normals."""
        predictors, weights = self._averaged_predictors(X)
        return predictors[:, :, 0], np.sqrt(self.cv_deviance_[self.weights_ > 0]), weights

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log density of each observed value.

        The distribution is normal with deviation ``residual_scale_``, or a mixture of normals if several penalties
        are averaged.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Observed values.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        if self._averages:
            means, deviations, weights = self._mixture(X)
            logs = GAUSSIAN.log_likelihood(means.T, observed_values(y, means.shape[1]), deviations)
            return np.asarray(logsumexp(logs, axis=1, b=weights))
        mean = self._predictors(X)[:, 0]
        y = observed_values(y, len(mean))
        return GAUSSIAN.log_likelihood(mean[:, None], y, self.residual_scale_)[:, 0]
