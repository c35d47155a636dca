"""StackedCounts: Bayesian stacking of predictive distributions of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.metrics import d2_tweedie_score

from .._array_types import Floats
from .._checks import checked_offset, checked_weights
from .prediction_checks import possible_counts
from .samples import Samples, n_rows
from .stacking_base import Stacked
from .stacking_candidates import default_candidates
from .target import checked_counts, choose_target


class StackedCounts(RegressorMixin, Stacked):
    """Mix the predictive distributions of several models of counts, with weights from held-out samples.

    The weights maximize the log density of out-of-fold predictions, as in StackedClassifier.

    Parameters
    ----------
    estimators : list of (str, estimator) or dict, optional
        The candidates; each must have ``log_predictive_density``. By default PCA, SPCA, ISPCA (50 components each)
        and ISPCA with supervised components only, both with the residual test and cross-fitted, each with
        HorseshoeCounts; lasso and ridge on the original features; and the mean rate.
    cv : int, splitter or iterable, default=5
        Number of folds, a scikit-learn splitter, or pairs of training and test indices.
    concentration : float, default=1.5
        Parameter of the Dirichlet prior: 1 is maximum likelihood, larger values give more equal weights.
    n_jobs : int or None, default=-1
        Worker processes. The result does not depend on it.
    resume : path, optional
        Directory in which finished fold fits are stored, to continue after an interruption.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds and of every candidate whose own ``random_state`` is None.

    Attributes
    ----------
    weights_, cv_table_, estimators_
        As in StackedClassifier.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import PenalizedCounts, StackedCounts
    >>> from ispca.validation.base_rates import BaseRateCounts
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)); y = rng.poisson(np.exp(1 + X[:, 0]))
    >>> candidates = {"lasso": PenalizedCounts(), "base rate": BaseRateCounts()}
    >>> stack = StackedCounts(candidates, n_jobs=1, random_state=0).fit(X, y)
    >>> bool(stack.weights_[0] > 0.8)
    True
    """

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, offset: Any = None
    ) -> StackedCounts:
        """Find the weights, and fit the candidates to all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Counts: integers of 0 or more.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold, here and in
            candidates that make folds themselves.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, for the candidates and for the weights of the mixture.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictors: the logarithm of the exposure. All candidates must take it.

        Returns
        -------
        self : StackedCounts
            The fitted estimator.
        """
        self._check_features(X, y)
        X, y, target = choose_target({}, X, y, "count")
        weight, offset = checked_weights(sample_weight, len(y)), checked_offset(offset, len(y))
        candidates = default_candidates("count") if self.estimators is None else self.estimators
        self._fit(Samples(X, y, groups, weight, offset), target, candidates)
        return self

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the expected count under the mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Expected counts.
        """
        count = n_rows(X)
        options = _options(offset, count)
        parts = self._of_each_model(X, lambda model, Z: possible_counts(model.predict(Z, **options), count))
        expected: Floats = self.weights_ @ np.array(parts)
        return expected

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return D2, the fraction of the Poisson deviance that the predictions explain.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Observed counts.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        score : float
            1 is perfect, and 0 is as good as the mean count.
        """
        predicted = self.predict(X, offset)
        return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=1))

    def log_predictive_density(self, X: Any, y: Any, offset: Any = None) -> Floats:
        """Return the log probability of each observed count under the mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Observed counts.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        y = checked_counts(y)
        return self._mixed_density(X, y, **_options(offset, len(y)))


def _options(offset: Any, n_samples: int) -> dict[str, Floats]:
    """Return the offset as a parameter; candidates that take none need not take zeros."""
    offsets = checked_offset(offset, n_samples)
    return {} if offsets is None else {"offset": offsets}
