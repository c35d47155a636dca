"""PenalizedSurvival: Cox proportional hazards regression with a lasso or ridge penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import _fit_context

from .._array_types import Floats
from .._checks import check_one_each, check_training_data, checked_offset, checked_weights
from .._concordance import concordance_index
from ..families import COX
from ..families.piecewise_hazard import (
    PiecewiseHazard,
    event_counts,
    interval_starts,
    log_rates,
    time_at_risk,
)
from ..families.survival_curves import breslow, step_values, survival, survival_functions
from ..families.survival_target import survival_target
from ..reduction.reuse import Reuse
from .base import Penalized


class PenalizedSurvival(Penalized):
    """Cox proportional hazards regression with a lasso or ridge penalty.

    The conventions are those of R's glmnet: features are standardized internally, and ties are handled by
    Breslow's method. The penalty is chosen by the partial likelihood of the held-out linear predictors of all
    folds together (Dai and Breheny, 2019); folds are stratified by event. Targets, ``predict``, ``score`` and
    ``predict_survival_function`` follow the conventions of scikit-survival.

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
        Always 0: the baseline hazard takes its place.
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
    unique_times_ : ndarray
        Distinct times of the training samples, at which survival functions are evaluated.
    event_times_ : ndarray
        Those at which events happened.
    log_cumulative_hazard_ : ndarray of shape (n_averaged or 1, n_event_times)
        Logarithm of Breslow's cumulative baseline hazard from each event time on.
    hazard_starts_, log_hazard_rates_ : ndarray
        Intervals and rates of the piecewise-constant hazard behind ``log_predictive_density``.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.penalized import PenalizedSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 200))
    >>> death, end = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2, size=80)
    >>> model = PenalizedSurvival(random_state=0).fit(X, (death < end, np.minimum(death, end)))
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
    ) -> PenalizedSurvival:
        """Fit the path and choose the penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : structured array, frame or tuple
            Event (whether it was observed) and time, as scikit-survival's ``Surv`` makes them, as two columns of a
            frame, or as ``(event, time)``.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in fits and held-out deviances; 0 leaves a sample out.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor.
        reuse : Reuse, optional
            Results to share with other fits to the same X; `compare` passes it. The fit does not depend on it.

        Returns
        -------
        self : PenalizedSurvival
            The fitted estimator.
        """
        given, target = X, survival_target(y)
        X, _ = check_training_data(self, X, None, needs_target=False)
        check_one_each(X, target)
        events = target["event"].astype(np.int64)
        coef, _ = self._fit_path(
            given, X, target, COX, groups, reuse, sample_weight, offset, events if 0 in events else None
        )
        # The intercept only centers the features, which cancels from the partial likelihood.
        self.coef_, self.intercept_ = coef[0], 0.0
        if self.averaged_intercept_ is not None:
            self.averaged_intercept_ = np.zeros_like(self.averaged_intercept_)
        eta, _ = self._all_predictors(X, offset)
        self._keep_baseline(eta, target, checked_weights(sample_weight, len(target)))
        return self

    def _keep_baseline(self, eta: Floats, target: np.ndarray, weights: Floats | None) -> None:
        used = slice(None) if weights is None else weights > 0
        eta, target = eta[used], target[used]
        weights = None if weights is None else weights[used]
        event, time = target["event"], target["time"]
        self.unique_times_ = np.unique(time)
        self.event_times_, self.log_cumulative_hazard_ = breslow(eta, event, time, weights)
        starts = interval_starts(event, time, weights)
        # Relative to the average sample, no predictor is too large.
        center = eta.mean(axis=0)
        at_risk = time_at_risk(starts, eta - center, time, weights)
        rates = log_rates(event_counts(starts, event, time, weights), at_risk) - center[:, None]
        self.hazard_starts_, self.log_hazard_rates_ = starts, rates

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the risk score, the linear predictor of ``coef_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            A higher risk means an earlier event.
        """
        risk = self._predictors(X)[:, 0]
        offset = checked_offset(offset, len(risk))
        return risk if offset is None else risk + offset

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return Harrell's concordance index.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : structured array, frame or tuple
            Event and time, as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        concordance : float
            Fraction of the comparable pairs whose risks are in the right order; 0.5 is chance.
        """
        risk, target = self.predict(X, offset), survival_target(y, needs_events=False)
        check_one_each(risk, target)
        return concordance_index(target["event"], target["time"], risk, checked_weights(sample_weight, len(risk)))

    def predict_survival_function(self, X: Any, return_array: bool = False, offset: Any = None) -> Any:
        """Return the survival function of each sample, averaged over averaged penalties.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        return_array : bool, default=False
            Whether to return the probabilities at ``unique_times_`` instead of functions.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        survival : ndarray of SurvivalFunction, or of shape (n_samples, n_times)
            Functions with the points ``x`` and values ``y``, or the values alone.
        """
        eta, weights = self._all_predictors(X, offset)
        curves = np.einsum("p,ipt->it", weights, survival(self.log_cumulative_hazard_, eta))
        curves = step_values(self.event_times_, curves, self.unique_times_)
        if return_array:
            return curves
        return survival_functions(self.unique_times_, curves)

    def log_predictive_density(self, X: Any, y: Any, offset: Any = None) -> Floats:
        """Return the log density of each event time, or log survival probability if censored.

        The baseline hazard is constant on intervals, as in HorseshoeSurvival.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : structured array, frame or tuple
            Event and time, as in ``fit``.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        eta, weights = self._all_predictors(X, offset)
        target = survival_target(y, needs_events=False)
        check_one_each(eta, target)
        hazard = PiecewiseHazard(self.hazard_starts_, self.log_hazard_rates_)
        return np.asarray(logsumexp(COX.log_likelihood(eta, target, hazard), axis=1, b=weights))
