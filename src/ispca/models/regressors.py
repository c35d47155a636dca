"""HorseshoeRegressor and HorseshoeCounts: regression of numbers under the regularized horseshoe prior."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from ..families import GAUSSIAN, NEGATIVE_BINOMIAL, POISSON, CountFamily
from ..families.counts import mean
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..foundation.parameters import integer_seed
from ..targets.counts import CountPredictions
from ..targets.quantity import QuantityIntervals, interval_tails
from ..targets.target_and_prediction_checks import numeric_target
from .base import BLOCKED_DOCS, DOCS, Horseshoe, OffsetHorseshoe
from .posterior import part_of
from .posterior_predictor import PosteriorModel
from .sampling import spreads


class PosteriorRegressor(QuantityIntervals, RegressorMixin, PosteriorModel):
    """A Gaussian regression that predicts from posterior draws, whatever they come from."""

    def _mean(self, Z: Floats) -> Floats:
        return Z @ self.coef_ + self.intercept_

    def _mean_and_deviation(self, Z: Floats) -> tuple[Floats, Floats]:
        noise = (self.posterior_.flat("sigma") ** 2).mean()
        spread = [self.posterior_.linear_predictor(Z[part]).var(axis=1) for part in self.posterior_.blocks(Z)]
        return self._mean(Z), np.sqrt(np.concatenate(spread) + noise)

    def _quantiles(self, Z: Floats, tails: tuple[float, float]) -> Floats:
        return np.quantile(self._draws(Z, 0), tails, axis=0).T

    def _draws(self, Z: Floats, random_state: Any) -> Floats:
        eta = self.posterior_.linear_predictor(Z).T
        noise = np.random.default_rng(integer_seed(random_state)).standard_normal(eta.shape)
        return eta + noise * self.posterior_.flat("sigma")[:, None]

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
        return self._draws(self._check_new(X), random_state)


@share_docs(**BLOCKED_DOCS, deviation="sigma")
class HorseshoeRegressor(PosteriorRegressor, Horseshoe):
    """Gaussian regression under the regularized horseshoe prior.

    The full posterior is sampled; its cost does not grow with the number of samples. Features are used
    as given: put ``ISPCA(whiten=True)`` or a scaler before. The prior of the coefficients is that of
    HorseshoeClassifier with tau of scale ``p0 / (K - p0) * sigma / sqrt(n)``; the noise sigma has the
    reference prior ``1 / sigma``. The target is centered and scaled to unit spread inside, so the scales of
    slab and intercept are in units of its standard deviation; draws are returned in the original units.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior means of the coefficients.
    intercept_ : float
        Posterior mean of the intercept.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import HorseshoeRegressor
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(60, 5)); y = 3 * Z[:, 0] + rng.normal(size=60)
    >>> model = HorseshoeRegressor(random_state=0).fit(Z, y)
    >>> (model.coef_.round() + 0.0).tolist()
    [3.0, 0.0, 0.0, 0.0, 0.0]
    >>> mean, deviation = model.predict([[1.0, 0, 0, 0, 0]], return_std=True)
    """

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> None:
        data = self._check_training(X, y, sample_weight)
        y = numeric_target(data.y)
        # In units of its own spread, y suits the fixed scales of slab and intercept whatever it measures.
        center = float(np.average(y, weights=data.sample_weight))
        spread = float(spreads(y, data.sample_weight))
        self._sample(GAUSSIAN, data._replace(y=(y - center) / spread))
        self.posterior_ = self.posterior_.rescaled(center, spread)


COUNT_FAMILIES: dict[str, CountFamily] = {family.name: family for family in (NEGATIVE_BINOMIAL, POISSON)}


class PosteriorCounts(CountPredictions, RegressorMixin, PosteriorModel):
    """A regression of counts that predicts from posterior draws, whatever they come from."""

    def _mean(self, Z: Floats, offset: Floats | None) -> Floats:
        blocks = self.posterior_.blocks(Z)
        means = [mean(self.posterior_.linear_predictor(Z[part], part_of(offset, part))) for part in blocks]
        return np.concatenate([part.mean(axis=1) for part in means])

    def _deviance_family(self) -> tuple[CountFamily, float | None]:
        dispersion = self.posterior_.extra()
        return COUNT_FAMILIES[self.posterior_.family], None if dispersion is None else dispersion.mean()

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
        eta = self.posterior_.linear_predictor(*self._check_offset(X, offset))
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


COUNT_SAMPLER = '"auto" is a blocked sampler for Poisson counts with many samples per feature, otherwise "nuts".'


@share_docs(**DOCS | {"sampler": COUNT_SAMPLER}, deviation="s")
class HorseshoeCounts(PosteriorCounts, OffsetHorseshoe):
    """Regression of counts under the regularized horseshoe prior, with log link.

    A count of mean mu has the variance ``mu + mu^2 / phi`` (negative binomial, the dispersion phi is sampled)
    or mu (Poisson), and ``log(mu) = offset + intercept + X beta``. The full posterior is sampled; predictions
    are averaged over it. Features are used as given: put ``ISPCA(whiten=True)`` or a scaler before. The prior
    of the coefficients is that of HorseshoeClassifier with tau of scale ``p0 / (K - p0) * s / sqrt(n)``, where
    s is ``1 / sqrt(mean(y))`` for Poisson counts and ``sd(y) / mean(y)``, at least that and at most 10, for
    negative-binomial ones. The prior of the dispersion is ``log(phi) ~ N(0, 2^2)``.

    Parameters
    ----------
    family : {"negative-binomial", "poisson"}, default="negative-binomial"
        Distribution of the counts. Counts rarely vary as little as Poisson counts do, and predictions that assume
        so are overconfident.
    $parameters

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior means of the coefficients.
    intercept_ : float
        Posterior mean of the intercept.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import HorseshoeCounts
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(100, 5)); y = rng.poisson(np.exp(2 + Z[:, 0]))
    >>> model = HorseshoeCounts(random_state=0).fit(Z, y)
    >>> (model.coef_.round() + 0.0).tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0]
    >>> low, high = model.predict_interval([[1.0, 0, 0, 0, 0]])[0]
    """

    _parameter_constraints = {  # noqa: RUF012
        **OffsetHorseshoe._parameter_constraints,
        "family": [StrOptions(set(COUNT_FAMILIES))],
    }

    def __init__(
        self,
        *,
        family: str = "negative-binomial",
        prior: str = "horseshoe",
        p0: float = 1,
        slab_df: float = 4,
        slab_scale: float = 5,
        intercept_scale: float = 10,
        unpenalized: Any = None,
        n_chains: int = 4,
        n_warmup: int = 1000,
        n_draws: int = 1000,
        sampler: str = "auto",
        target_accept: float = 0.9,
        retry: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            prior=prior,
            p0=p0,
            slab_df=slab_df,
            slab_scale=slab_scale,
            intercept_scale=intercept_scale,
            unpenalized=unpenalized,
            n_chains=n_chains,
            n_warmup=n_warmup,
            n_draws=n_draws,
            sampler=sampler,
            target_accept=target_accept,
            retry=retry,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.family = family

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> None:
        data = self._check_training(X, y, sample_weight, offset)
        family = COUNT_FAMILIES[self.family]
        self._sample(family, data._replace(y=family.target(data.y)))
