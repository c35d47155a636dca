"""Predictions of counts from the posterior draws of a Poisson or negative-binomial regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._array_types import Floats
from .._checks import checked_offset, checked_weights, integer_seed, observed_counts
from ..families import NEGATIVE_BINOMIAL, POISSON, CountFamily
from ..families.counts import explained_deviance
from ..families.poisson import mean
from .posterior import interval_tails, log_predictive_density, part_of
from .posterior_model import PosteriorModel

COUNT_FAMILIES: dict[str, CountFamily] = {family.name: family for family in (NEGATIVE_BINOMIAL, POISSON)}


class PosteriorCounts(RegressorMixin, PosteriorModel):
    """A regression of counts that predicts from posterior draws, whatever they come from."""

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the expected count, averaged over the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Expected counts.
        """
        Z = self._check_new(X)
        offset = checked_offset(offset, len(Z))
        blocks = self.posterior_.blocks(Z)
        means = [mean(self.posterior_.linear_predictor(Z[part], part_of(offset, part))) for part in blocks]
        return np.concatenate([part.mean(axis=1) for part in means])

    def predict_draws(self, X: Any, offset: Any = None, random_state: Any = 0) -> Floats:
        """Return draws from the posterior predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the draws.

        Returns
        -------
        draws : ndarray of shape (n_draws, n_samples)
            New counts.
        """
        Z = self._check_new(X)
        eta = self.posterior_.linear_predictor(Z, checked_offset(offset, len(Z)))
        rng = np.random.default_rng(integer_seed(random_state))
        family = COUNT_FAMILIES[self.posterior_.family]
        return family.draw(mean(eta), self.posterior_.extra(), rng).T

    def predict_interval(self, X: Any, level: float = 0.9, offset: Any = None) -> Floats:
        """Return the central posterior predictive interval.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        level : float, default=0.9
            Probability that a new count lies inside, at least.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper ends, which are counts themselves.
        """
        tails = interval_tails(level)
        return np.quantile(self.predict_draws(X, offset), tails, axis=0, method="inverted_cdf").T

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return D2, the fraction of the deviance that the model explains.

        It is 1 minus the deviance of the predictions over that of a constant rate. The deviance is that of the
        family, with the posterior mean of the dispersion; for Poisson counts it is scikit-learn's
        ``d2_tweedie_score`` with power 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        weights = checked_weights(sample_weight, len(predicted))
        offset = checked_offset(offset, len(predicted))
        counts, extra = observed_counts(y, len(predicted)), self.posterior_.extra()
        dispersion = None if extra is None else extra.mean()
        family = COUNT_FAMILIES[self.posterior_.family]
        return explained_deviance(family, counts, predicted, offset, weights, dispersion)

    def log_predictive_density(self, X: Any, y: Any, offset: Any = None) -> Floats:
        """Return the log posterior predictive probability of each observed count.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        Z = self._check_new(X)
        counts = observed_counts(y, len(Z))
        return log_predictive_density(self.posterior_, Z, counts, checked_offset(offset, len(Z)))
