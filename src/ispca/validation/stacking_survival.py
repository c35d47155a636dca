"""StackedSurvival: Bayesian stacking of predicted survival."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from .._array_types import Floats
from .._checks import checked_weights
from .._concordance import concordance_index
from ..families.survival_curves import survival_functions
from ..families.survival_target import survival_target
from .prediction import Prediction, survival_at
from .samples import Samples, n_rows
from .stacking_base import Stacked
from .stacking_candidates import default_candidates
from .target import choose_target


class StackedSurvival(Stacked):
    """Mix the predicted survival of several methods, with weights from held-out samples.

    The weights maximize the log density of out-of-fold predictions, as in StackedClassifier. The survival curve of
    the mixture is the weighted mean of the candidates' curves. Risk scores of different methods have different
    scales, so the risk of the mixture is minus the mean survival time up to the last training time, the area
    under its curve. ``predict`` and ``score`` follow the conventions of scikit-survival.

    Parameters
    ----------
    estimators : list of (str, estimator) or dict, optional
        The candidates; each must have ``predict_survival_function`` and ``log_predictive_density``. By default
        PCA, SPCA, ISPCA (50 components each) and ISPCA with supervised components only, both with the residual
        test and cross-fitted, each with HorseshoeSurvival; lasso and ridge on the original features; and the
        Kaplan-Meier curve.
    cv : int, splitter or iterable, default=5
        Number of folds, stratified by event, a scikit-learn splitter, or pairs of training and test indices.
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
    unique_times_ : ndarray
        Distinct times of the training samples, at which survival curves are evaluated.
    weights_, cv_table_, estimators_
        As in StackedClassifier.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import PenalizedSurvival, StackedSurvival
    >>> from ispca.validation.base_rates import BaseRateSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)); time = rng.exponential(np.exp(-X[:, 0]))
    >>> candidates = {"ridge": PenalizedSurvival(penalty="ridge"), "base rate": BaseRateSurvival()}
    >>> stack = StackedSurvival(candidates, n_jobs=1, random_state=0).fit(X, (time < 2, np.minimum(time, 2)))
    >>> bool(stack.weights_[0] > 0.8)
    True
    """

    _needs = "predict_survival_function and log_predictive_density"

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> StackedSurvival:
        """Find the weights, and fit the candidates to all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : structured array, frame or tuple
            Event (whether it was observed) and time, in any form that HorseshoeSurvival takes.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold, here and in
            candidates that make folds themselves.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, for the candidates and for the weights of the mixture.

        Returns
        -------
        self : StackedSurvival
            The fitted estimator.
        """
        self._check_features(X, y, needs_target=False)
        X, y, target = choose_target({}, X, y, "survival")
        candidates = default_candidates("survival") if self.estimators is None else self.estimators
        self._fit(Samples(X, y, groups, checked_weights(sample_weight, len(y))), target, candidates)
        self.unique_times_ = np.unique(y["time"])
        return self

    def _complete(self, prediction: Prediction) -> bool:
        return prediction.probabilities is not None

    def predict(self, X: Any) -> Floats:
        """Return the risk score: minus the mean survival time up to the last training time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            A higher risk means an earlier event.
        """
        curves = self.predict_survival_function(X, return_array=True)
        # Everyone survives until the first time.
        before = np.column_stack([np.ones(len(curves)), curves[:, :-1]])
        return -(before @ np.diff(self.unique_times_, prepend=0.0))

    def predict_survival_function(self, X: Any, return_array: bool = False) -> Any:
        """Return the survival function of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        return_array : bool, default=False
            Whether to return the probabilities at ``unique_times_`` instead of functions.

        Returns
        -------
        survival : ndarray of SurvivalFunction, or of shape (n_samples, n_times)
            Functions with the points ``x`` and values ``y``, or the values alone.
        """
        check_is_fitted(self)
        times, count = self.unique_times_, n_rows(X)
        parts = self._of_each_model(X, lambda model, Z: survival_at(model, Z, times, count))
        curves: Floats = np.tensordot(self.weights_, np.array(parts), 1)
        if return_array:
            return curves
        return survival_functions(times, curves)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Harrell's concordance index.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : structured array, frame or tuple
            Event and time, as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        concordance : float
            Fraction of the comparable pairs whose risks are in the right order; 0.5 is chance.
        """
        y = survival_target(y, needs_events=False)
        weight = checked_weights(sample_weight, len(y))
        return concordance_index(y["event"], y["time"], self.predict(X), weight)

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log density of each event time under the mixture, or survival probability if censored.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : structured array, frame or tuple
            Event and time, as in ``fit``.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        return self._mixed_density(X, survival_target(y, needs_events=False))
