"""PenalizedClassifier: logistic and softmax regression with a lasso or ridge penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, _fit_context

from .._array_types import Floats
from .._checks import check_training_data, class_codes, observed_codes
from ..families import class_family
from ..reduction.reuse import Reuse
from .base import Penalized


class PenalizedClassifier(ClassifierMixin, Penalized):
    """Logistic (two classes) or softmax (more) regression with a lasso or ridge penalty.

    The conventions are those of R's glmnet and cv.glmnet: features are standardized internally, the intercept is
    not penalized, and the penalty is chosen from a path by the cross-validated deviance. The folds here are
    stratified: each class is spread evenly over them.

    Parameters
    ----------
    penalty : {"lasso", "ridge"}, default="lasso"
        Sum of absolute values, or half the sum of squares, of the standardized coefficients.
    choice : {"one_standard_error", "best", "average"}, default="one_standard_error"
        The largest penalty whose deviance is within one standard error of the minimum, that of the minimum, or
        predictions averaged over penalties, each weighted by exp(total held-out log density). For ridge, "best"
        and "average" extend the path below glmnet's end until it goes at least a decade past the minimum, or to
        0.000001 of that end. A chosen penalty at the end of the path gives a warning.
    n_lambdas : int, default=100
        Length of glmnet's path; it ends early when the deviance is explained or no longer falls.
    cv : int, splitter or iterable, default=10
        Number of cross-validation folds (never more than samples, or groups), or a scikit-learn splitter or
        list of (training indices, test indices) that holds out every sample exactly once.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients in the units of X; with ``choice="average"``, their weighted mean.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; with ``choice="average"``, their weighted mean.
    lambda_, lambda_best_, lambda_one_standard_error_ : float
        The chosen penalty (of an average, the one with the largest weight), the best, and glmnet's default.
    lambdas_, cv_deviance_, cv_deviance_error_ : ndarray
        The path: penalties, mean deviance of held-out samples, and its standard error.
    weights_ : ndarray or None
        Weight of each penalty in ``lambdas_``, with ``choice="average"``. The sum is 1. At most 12 penalties, a
        third of a decade or more apart, are averaged, and weights below 1% of the largest are set to 0.
    averaged_coef_ : ndarray of shape (n_averaged, 1 or n_classes, n_features) or None
        Coefficients at each penalty with a positive weight.
    averaged_intercept_ : ndarray of shape (n_averaged, 1 or n_classes) or None
        Intercepts at each penalty with a positive weight.
    n_nonzero_ : int
        Number of features with a nonzero coefficient.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.penalized import PenalizedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 200)); y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "ill", "well")
    >>> model = PenalizedClassifier(random_state=0).fit(X, y)
    >>> int(np.abs(model.coef_[0]).argmax()), model.n_nonzero_ < 20
    (0, True)
    >>> model.predict(X[:3]).tolist() == y[:3].tolist()
    True
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, groups: Any = None, *, sample_weight: Any = None, reuse: Reuse | None = None
    ) -> PenalizedClassifier:
        """Fit the path and choose the penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in fits and held-out deviances; 0 leaves a sample out.
        reuse : Reuse, optional
            Results to share with other fits to the same X; `compare` passes it. The fit does not depend on it.

        Returns
        -------
        self : PenalizedClassifier
            The fitted estimator.
        """
        given = X
        X, y = check_training_data(self, X, y)
        classes, codes = class_codes(y)
        counts = np.bincount(codes)
        if counts.min() < 2:
            raise ValueError(
                f"The class {classes.tolist()[counts.argmin()]!r} has a single training sample, so no "
                "cross-validation can choose the penalty. Add samples of this class or drop it."
            )
        family = class_family(len(classes))
        self.coef_, self.intercept_ = self._fit_path(given, X, codes, family, groups, reuse, sample_weight)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the linear predictors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        predictors : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log odds of the second class; for more classes one score each. With ``choice="average"``, these are
            the log odds and the log probabilities of the averaged probabilities.
        """
        if self._averages:
            logs = self._log_probabilities(X)
            return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs
        predictors = self._predictors(X)
        return predictors[:, 0] if predictors.shape[1] == 1 else predictors

    def _log_probabilities(self, X: Any) -> Floats:
        if not self._averages:
            return class_family(len(self.classes_)).log_probabilities(self._predictors(X))
        predictors, weights = self._averaged_predictors(X)
        logs = np.stack([class_family(len(self.classes_)).log_probabilities(part) for part in predictors])
        return np.asarray(logsumexp(logs, axis=0, b=weights[:, None, None]))

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.exp(self._log_probabilities(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        most_probable = self._log_probabilities(X).argmax(axis=1)
        return self.classes_[most_probable]

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log probability of each observed class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels seen in ``fit``.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        logs = self._log_probabilities(X)
        return logs[np.arange(len(logs)), observed_codes(y, self.classes_, len(logs))]
