"""HorseshoeSurvival: Cox proportional hazards regression under the regularized horseshoe prior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..families import COX
from ..families.piecewise_hazard import (
    PiecewiseHazard,
    event_counts,
    interval_starts,
    log_rates,
    time_at_risk,
)
from ..families.survival_curves import breslow, median_times, step_values, survival
from ..families.survival_target import survival_target
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..inputs.checks import check_training_data
from ..targets.quantity import interval_tails
from ..targets.samples import Samples, select_samples
from ..targets.survival import SurvivalPredictions
from ..targets.target_and_prediction_checks import check_one_each
from .base import DOCS, OffsetHorseshoe
from .posterior import Posterior, part_of
from .posterior_predictor import DENSE, PosteriorModel

# Curves are averaged over at most this many draws, fewer if there are very many samples.
MOST_DRAWS = 1000
FEWEST_DRAWS = 100
MOST_NUMBERS = 2**23


@dataclass(frozen=True)
class CumulativeHazard:
    """Breslow's cumulative baseline hazard, for some of the draws.

    Attributes
    ----------
    times : ndarray of shape (time,)
        Distinct event times of the training samples.
    log_values : ndarray of shape (draw, time)
        Logarithms of the cumulative hazard from each event time on.
    draws : ndarray of shape (draw,)
        Numbers of the draws, counted through all chains.
    """

    times: Floats
    log_values: Floats
    draws: np.ndarray


def choose_draws(n_draws: int, n_samples: int) -> np.ndarray:
    """Return the numbers of the draws that curves are averaged over, evenly spaced."""
    most = min(n_draws, int(np.clip(MOST_NUMBERS // n_samples, FEWEST_DRAWS, MOST_DRAWS)))
    return np.arange(most) * n_draws // most


def with_hazard(posterior: Posterior, data: Samples) -> Posterior:
    """Return the draws with the piecewise-constant baseline hazard of each."""
    event, time = data.y["event"], data.y["time"]
    starts = interval_starts(event, time, data.sample_weight)
    # Relative to the average sample, no predictor is too large.
    center = posterior.linear_predictor(data.X.mean(axis=0)[None])
    at_risk = np.zeros((len(starts), posterior.n_draws))
    for part in posterior.blocks(data.X):
        eta = posterior.linear_predictor(data.X[part], part_of(data.offset, part)) - center
        at_risk += time_at_risk(starts, eta, time[part], part_of(data.sample_weight, part))
    counts = event_counts(starts, event, time, data.sample_weight)
    return replace(posterior, hazard=PiecewiseHazard(starts, log_rates(counts, at_risk) - center.T))


def cumulative_hazard(posterior: Posterior, data: Samples) -> CumulativeHazard:
    """Return Breslow's cumulative baseline hazard for evenly spaced draws."""
    draws = choose_draws(posterior.n_draws, len(data.X))
    eta = data.X @ posterior.flat("coef")[draws].T
    if data.offset is not None:
        eta += data.offset[:, None]
    times, log_values = breslow(eta, data.y["event"], data.y["time"], data.sample_weight)
    return CumulativeHazard(times, log_values, draws)


class SurvivalCurves(NamedTuple):
    """Survival curves of samples, with credible bands."""

    times: Floats
    mean: Floats  # samples x times, averaged over the posterior
    lower: Floats  # samples x times
    upper: Floats  # samples x times


class PosteriorSurvival(SurvivalPredictions, PosteriorModel):
    """A Cox regression that predicts from posterior draws, whatever they come from."""

    def _set_curves(self, data: Samples) -> None:
        """Set what survival curves need beside the draws."""
        self.cumulative_hazard_ = cumulative_hazard(self.posterior_, data)
        self.unique_times_ = np.unique(data.y["time"])

    @property
    def event_times_(self) -> Floats:
        """Distinct times of the training samples at which events happened."""
        return self.cumulative_hazard_.times

    def _risk(self, Z: Floats, offset: Floats | None) -> Floats:
        risk = Z @ self.coef_
        return risk if offset is None else risk + offset

    def _curves(self, Z: Floats, offset: Floats | None) -> Floats:
        return step_values(self.event_times_, self._mean_curves(Z, offset), self.unique_times_)

    def _mean_curves(self, Z: Floats, offset: Floats | None) -> Floats:
        return np.stack([draws.mean(axis=0) for draws in self._curve_draws(Z, offset)])

    def _curve_draws(self, Z: Floats, offset: Floats | None) -> Iterator[Floats]:
        """Yield for each sample the draws of its survival curve (draws x event times)."""
        hazard = self.cumulative_hazard_
        eta = Z @ self.posterior_.flat("coef")[hazard.draws].T
        if offset is not None:
            eta += offset[:, None]
        return (survival(hazard.log_values, sample) for sample in eta)

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
        Z, offset = self._check_offset(X, offset)
        times = self.unique_times_ if times is None else np.atleast_1d(np.asarray(times, dtype=np.float64))
        if times.ndim != 1 or not np.isfinite(times).all():
            raise ValueError("times must be a list of finite numbers.")
        found = [
            [draws.mean(axis=0), *np.quantile(draws, tails, axis=0)] for draws in self._curve_draws(Z, offset)
        ]
        mean, lower, upper = (step_values(self.event_times_, curves, times) for curves in np.stack(found, axis=1))
        return SurvivalCurves(times, mean, lower, upper)

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
        return median_times(self.event_times_, self._mean_curves(*self._check_offset(X, offset)))


NO_INTERCEPT = """unpenalized coefficients, per standard deviation of their
        features. A Cox model has no intercept."""


@share_docs(**DOCS | {"intercept": NO_INTERCEPT}, deviation="s")
class HorseshoeSurvival(PosteriorSurvival, OffsetHorseshoe):
    """Cox proportional hazards regression under the regularized horseshoe prior.

    The hazard of a sample is that of a baseline times ``exp(offset + X beta)``. The posterior of beta under the
    partial likelihood (ties by Efron's method) is sampled, and predictions are averaged over it. Survival
    curves add Breslow's baseline hazard, estimated for each draw. Features are used as given: put
    ``ISPCA(whiten=True)`` or a scaler before. The prior of the coefficients is that of HorseshoeClassifier with
    tau of scale ``p0 / (K - p0) / sqrt(number of events)``: only events inform.

    Targets, ``predict``, ``score`` and ``predict_survival_function`` follow the conventions of scikit-survival.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior means of the coefficients, log hazard ratios per unit of the feature.
    intercept_ : float
        Always 0.
    unique_times_ : ndarray
        Distinct times of the training samples, at which survival functions are evaluated.
    event_times_ : ndarray
        Those at which events happened.
    cumulative_hazard_ : CumulativeHazard
        Breslow's cumulative baseline hazard, for at most 1,000 of the draws.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import HorseshoeSurvival
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(100, 5))
    >>> death, end = rng.exponential(np.exp(-Z[:, 0])), rng.exponential(2, size=100)
    >>> model = HorseshoeSurvival(random_state=0).fit(Z, (death < end, np.minimum(death, end)))
    >>> (model.coef_.round() + 0.0).tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0]
    >>> curves = model.survival_curves([[1.0, 0, 0, 0, 0], [-1.0, 0, 0, 0, 0]], times=[0.5])
    >>> bool(curves.mean[0, 0] < curves.mean[1, 0])
    True
    """

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> None:
        target = survival_target(y)
        X, _ = check_training_data(self, X, None, needs_target=False, **DENSE, ensure_min_samples=2)
        check_one_each(len(X), target)
        data = select_samples(X, target, sample_weight, offset, None)
        data = data._replace(y=survival_target(data.y))
        self._sample(COX, data, partial(with_hazard, data=data))
        self._set_curves(data)
