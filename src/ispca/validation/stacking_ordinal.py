"""StackedOrdinal: Bayesian stacking of the probabilities of ordered classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context

from .._checks import checked_weights
from ..families.ordinal import ordinal_target
from ..models.posterior_ordinal import observed_positions
from .input_checks import checked_data
from .samples import Samples
from .stacking import StackedClassifier
from .stacking_candidates import default_candidates
from .target import Target


class StackedOrdinal(StackedClassifier):
    """Mix the predictions of several methods for ordered classes, with weights from held-out samples.

    Works like StackedClassifier, with HorseshoeOrdinal in the default candidates. Candidates see the numbers of
    the classes, from 0 on, in place of the labels, so that all of them know the order.

    Parameters
    ----------
    estimators : list of (str, estimator) or dict, optional
        The candidates; each must have ``predict_proba``. By default PCA, SPCA, ISPCA (50 components each) and
        ISPCA with supervised components only, both with the residual test and cross-fitted, each with
        HorseshoeOrdinal; and the base rate.
    cv : int, splitter or iterable, default=5
        Number of folds, stratified by class, a scikit-learn splitter, or pairs of training and test indices.
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
    classes_ : ndarray
        Class labels, from lowest to highest.
    weights_, inverse_temperature_, cv_table_, estimators_
        As in StackedClassifier.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ispca import StackedOrdinal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)); grade = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> candidates = {"logistic": LogisticRegression(), "base rate": DummyClassifier()}
    >>> stack = StackedOrdinal(candidates, n_jobs=1, random_state=0).fit(X, grade)
    >>> stack.predict_proba(X).shape
    (60, 3)
    """

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> StackedOrdinal:
        """Find the weights, and fit the candidates to all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Ordered classes: numbers, or an ordered categorical of pandas.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold, here and in
            candidates that make folds themselves.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, for the candidates and for the weights of the mixture.

        Returns
        -------
        self : StackedOrdinal
            The fitted estimator.
        """
        self._check_features(X, y, needs_target=False)
        codes, self.classes_ = ordinal_target(y)
        X, codes = checked_data(X, codes)
        weight = checked_weights(sample_weight, len(codes))
        target = Target("ordinal", np.arange(len(self.classes_)))
        candidates = default_candidates("ordinal") if self.estimators is None else self.estimators
        predictions = self._fit(Samples(X, codes, groups, weight), target, candidates)
        self._temper(predictions, codes, weight)
        return self

    def _candidate_classes(self) -> np.ndarray:
        return np.arange(len(self.classes_))

    def _observed_codes(self, y: Any, n_samples: int) -> np.ndarray:
        return observed_positions(y, self.classes_, n_samples)
