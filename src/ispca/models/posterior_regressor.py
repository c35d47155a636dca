"""Predictions of numbers from the posterior draws of a Gaussian regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._array_types import Floats
from .._checks import integer_seed, observed_values
from .posterior import interval_tails, log_predictive_density
from .posterior_model import PosteriorModel


class PosteriorRegressor(RegressorMixin, PosteriorModel):
    """A Gaussian regression that predicts from posterior draws, whatever they come from."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the posterior predictive mean, and optionally the standard deviation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        return_std : bool, default=False
            Whether to return the predictive standard deviation, too; it includes noise and posterior uncertainty.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predictive means.
        deviation : ndarray of shape (n_samples,)
            Predictive standard deviations, only with ``return_std=True``.
        """
        Z = self._check_new(X)
        mean = Z @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        noise = (self.posterior_.flat("sigma") ** 2).mean()
        spread = [self.posterior_.linear_predictor(Z[part]).var(axis=1) for part in self.posterior_.blocks(Z)]
        return mean, np.sqrt(np.concatenate(spread) + noise)

    def predict_draws(self, X: Any, random_state: Any = 0) -> Floats:
        """Return draws from the posterior predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the noise.

        Returns
        -------
        draws : ndarray of shape (n_draws, n_samples)
            New observations, noise included.
        """
        Z = self._check_new(X)
        eta = self.posterior_.linear_predictor(Z).T
        noise = np.random.default_rng(integer_seed(random_state)).standard_normal(eta.shape)
        return eta + noise * self.posterior_.flat("sigma")[:, None]

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Return the central posterior predictive interval.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        level : float, default=0.9
            Probability that a new observation lies inside.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        return np.quantile(self.predict_draws(X), interval_tails(level), axis=0).T

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log posterior predictive density of each observed value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Observed values.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        Z = self._check_new(X)
        return log_predictive_density(self.posterior_, Z, observed_values(y, len(Z)))
