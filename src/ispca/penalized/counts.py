"""PenalizedCounts: Poisson regression with a lasso or ridge penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import RegressorMixin, _fit_context

from .._array_types import Floats
from .._checks import check_training_data, checked_offset, checked_weights, observed_counts
from ..families import POISSON
from ..families.counts import count_target, explained_deviance
from ..families.poisson import mean
from ..reduction.reuse import Reuse
from .base import Penalized


class PenalizedCounts(RegressorMixin, Penalized):
    """Poisson regression with log link and a lasso or ridge penalty.

    The conventions are those of R's glmnet and cv.glmnet: features are standardized internally, the intercept is
    not penalized, and the penalty is chosen from a path by the cross-validated deviance. There is no penalized
    model for negative-binomial counts; use HorseshoeCounts.

    Parameters
    ----------
    penalty : {"lasso", "ridge"}, default="lasso"
        Sum of absolute values, or half the sum of squares, of the standardized coefficients.
    choice : {"one_standard_error", "best", "average"}, default="one_standard_error"
        The largest penalty whose deviance is within one standard error of the minimum, that of the minimum, or
        predictions averaged over penalties, each weighted by exp(total held-out log density). For ridge, "best"
        and "average" extend the path, as in PenalizedClassifier.
    n_lambdas : int, default=100
        Length of glmnet's path; it ends early when the deviance is explained or no longer falls.
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
    lambda_, lambda_best_, lambda_one_standard_error_ : float
        The chosen penalty (of an average, the one with the largest weight), the best, and glmnet's default.
    lambdas_, cv_deviance_, cv_deviance_error_ : ndarray
        The path: penalties, mean deviance of held-out samples, and its standard error.
    weights_, averaged_coef_, averaged_intercept_ : ndarray or None
        Weights, coefficients and intercepts of averaged penalties, as in PenalizedClassifier.
    n_nonzero_ : int
        Number of features with a nonzero coefficient.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.penalized import PenalizedCounts
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 200)); y = rng.poisson(np.exp(1 + X[:, 0]))
    >>> model = PenalizedCounts(random_state=0).fit(X, y)
    >>> int(np.abs(model.coef_).argmax())
    0
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        sample_weight: Any = None,
        offset: Any = None,
        reuse: Reuse | None = None,
    ) -> PenalizedCounts:
        """Fit the path and choose the penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Counts: integers of 0 or more.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in fits and held-out deviances; 0 leaves a sample out.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor: the logarithm of the exposure.
        reuse : Reuse, optional
            Results to share with other fits to the same X; `compare` passes it. The fit does not depend on it.

        Returns
        -------
        self : PenalizedCounts
            The fitted estimator.
        """
        given = X
        X, y = check_training_data(self, X, y)
        counts = count_target(y)
        coef, intercept = self._fit_path(given, X, counts, POISSON, groups, reuse, sample_weight, offset)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        return self

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the expected counts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Expected counts.
        """
        predictors, weights = self._all_predictors(X, offset)
        return np.asarray(mean(predictors) @ weights)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return D2, the fraction of the Poisson deviance that the model explains.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Observed counts.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        score : float
            1 is perfect, and 0 is as good as a constant rate.
        """
        predicted = self.predict(X, offset)
        n = len(predicted)
        weights, offset = checked_weights(sample_weight, n), checked_offset(offset, n)
        return explained_deviance(POISSON, observed_counts(y, n), predicted, offset, weights)

    def log_predictive_density(self, X: Any, y: Any, offset: Any = None) -> Floats:
        """Return the log probability of each observed count.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Observed counts.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        predictors, weights = self._all_predictors(X, offset)
        logs = POISSON.log_likelihood(predictors, observed_counts(y, len(predictors)), None)
        return np.asarray(logsumexp(logs, axis=1, b=weights))
