"""PenalizedRegressor: linear regression with a lasso or ridge penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, _fit_context

from .._checks import check_training_data, numeric_target, observed_values
from ..families import GAUSSIAN
from ..reduction.records import Floats
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
    choice : {"one_standard_error", "best"}, default="one_standard_error"
        The largest penalty whose error is within one standard error of the minimum, or that of the minimum.
    n_lambdas : int, default=100
        Length of the path; it ends early when the variance is explained or no longer falls.
    cv : int, splitter or iterable, default=10
        Number of cross-validation folds (never more than samples, or groups), or a scikit-learn splitter or
        list of (training indices, test indices) that holds out every sample exactly once.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of X.
    intercept_ : float
        Intercept.
    residual_scale_ : float
        Root of the cross-validated mean squared error at the chosen penalty.
    lambda_, lambda_best_, lambda_one_standard_error_ : float
        The chosen penalty, and the two choices.
    lambdas_, cv_deviance_, cv_deviance_error_ : ndarray
        The path: penalties, mean squared error of held-out samples, and its standard error.
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
    def fit(self, X: Any, y: Any, groups: Any = None, *, reuse: Reuse | None = None) -> PenalizedRegressor:
        """Fit the path and choose the penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Target values.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold.
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
        coef, intercept = self._fit_path(given, X, y, GAUSSIAN, groups, reuse)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        self.residual_scale_ = float(np.sqrt(self.cv_deviance_[self._chosen]))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predicted values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        return_std : bool, default=False
            Whether to return ``residual_scale_`` for each sample, too.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predicted values.
        deviation : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        mean = self._predictors(X)[:, 0]
        return (mean, np.full(len(mean), self.residual_scale_)) if return_std else mean

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log density of each observed value under a normal of deviation ``residual_scale_``.

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
        mean = self._predictors(X)[:, 0]
        y = observed_values(y, len(mean))
        return GAUSSIAN.log_likelihood(mean[:, None], y, self.residual_scale_)[:, 0]
