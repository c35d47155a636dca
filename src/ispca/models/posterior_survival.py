"""Predictions of survival from the posterior draws of a Cox regression."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats
from .._checks import check_one_each, checked_offset, checked_weights
from .._concordance import concordance_index
from ..families.survival_curves import median_times, step_values, survival, survival_functions
from ..families.survival_target import survival_target
from .baseline_hazard import cumulative_hazard
from .posterior import interval_tails, log_predictive_density
from .posterior_model import PosteriorModel
from .sampling import Training


class SurvivalCurves(NamedTuple):
    """Survival curves of samples, with credible bands."""

    times: Floats
    mean: Floats  # samples x times, averaged over the posterior
    lower: Floats  # samples x times
    upper: Floats  # samples x times


class PosteriorSurvival(PosteriorModel):
    """A Cox regression that predicts from posterior draws, whatever they come from."""

    def _set_curves(self, data: Training) -> None:
        """Set what survival curves need beside the draws."""
        self.cumulative_hazard_ = cumulative_hazard(self.posterior_, data)
        self.unique_times_ = np.unique(data.y["time"])

    @property
    def event_times_(self) -> Floats:
        """Distinct times of the training samples at which events happened."""
        return self.cumulative_hazard_.times

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the risk score: the posterior mean of the linear predictor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            A higher risk means an earlier event.
        """
        Z = self._check_new(X)
        offset = checked_offset(offset, len(Z))
        risk = Z @ self.coef_
        return risk if offset is None else risk + offset

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return Harrell's concordance index.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        risk = self.predict(X, offset)
        target = survival_target(y, needs_events=False)
        check_one_each(risk, target)
        return concordance_index(target["event"], target["time"], risk, checked_weights(sample_weight, len(risk)))

    def survival_curves(self, X: Any, times: Any = None, level: float = 0.9, offset: Any = None) -> SurvivalCurves:
        """Return survival curves, averaged over the posterior, with credible bands.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        times : array-like of shape (n_times,), optional
            Times of the curves, by default ``unique_times_``. After the last training time, the curves stay where
            they are.
        level : float, default=0.9
            Posterior probability that the survival probability lies inside the band, at each time.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        curves : SurvivalCurves
            ``times``, and ``mean``, ``lower`` and ``upper`` of shape (n_samples, n_times).
        """
        tails = interval_tails(level)
        times = self._times(times)
        found = [
            [draws.mean(axis=0), *np.quantile(draws, tails, axis=0)] for draws in self._curve_draws(X, offset)
        ]
        mean, lower, upper = (step_values(self.event_times_, curves, times) for curves in np.stack(found, axis=1))
        return SurvivalCurves(times, mean, lower, upper)

    def predict_survival_function(self, X: Any, return_array: bool = False, offset: Any = None) -> Any:
        """Return the survival function of each sample, averaged over the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        curves = step_values(self.event_times_, self._mean_curves(X, offset), self._times(None))
        if return_array:
            return curves
        return survival_functions(self.unique_times_, curves)

    def median_survival(self, X: Any, offset: Any = None) -> Floats:
        """Return the time at which the survival function of each sample falls to one half.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        median : ndarray of shape (n_samples,)
            Infinity where the curve stays above one half.
        """
        return median_times(self.event_times_, self._mean_curves(X, offset))

    def log_predictive_density(self, X: Any, y: Any, offset: Any = None) -> Floats:
        """Return the log posterior predictive density of each event time, or survival probability if censored.

        The partial likelihood gives times no density. The density therefore uses, for each draw, a baseline hazard
        that is constant on up to ten intervals with equally many training events: the events of the interval, plus
        one half, over the sum of ``exp(X beta)`` times the time spent there. The last one goes on forever.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        Z = self._check_new(X)
        target = survival_target(y, needs_events=False)
        check_one_each(Z, target)
        return log_predictive_density(self.posterior_, Z, target, checked_offset(offset, len(Z)))

    def _times(self, times: Any) -> Floats:
        if times is None:
            return self.unique_times_
        found = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if found.ndim != 1 or not np.isfinite(found).all():
            raise ValueError("times must be a list of finite numbers.")
        return found

    def _curve_draws(self, X: Any, offset: Any) -> Any:
        """Yield for each sample the draws of its survival curve (draws x event times)."""
        Z = self._check_new(X)
        offset = checked_offset(offset, len(Z))
        hazard = self.cumulative_hazard_
        eta = Z @ self.posterior_.flat("coef")[hazard.draws].T
        if offset is not None:
            eta += offset[:, None]
        return (survival(hazard.log_values, sample) for sample in eta)

    def _mean_curves(self, X: Any, offset: Any) -> Floats:
        return np.stack([draws.mean(axis=0) for draws in self._curve_draws(X, offset)])
