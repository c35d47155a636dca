"""Models that predict from the draws of all bags: one class for each kind of target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax

from ..families.piecewise_hazard import PiecewiseHazard, interval_starts
from ..foundation.arrays import Floats, Mask
from ..models.classifiers import PosteriorClassifier, PosteriorOrdinal
from ..models.posterior import Posterior, part_of
from ..models.posterior_predictor import PosteriorModel
from ..models.regressors import PosteriorCounts, PosteriorRegressor
from ..models.survival import CumulativeHazard, PosteriorSurvival, choose_draws
from ..targets.mixture_weights import apply_inverse_temperature, fit_inverse_temperature
from ..targets.quantity import interval_tails
from ..targets.samples import log_class_probability
from .bag import Bag
from .bags import BagData, Bags
from .pooled_components import place_draws


class PooledModel(PosteriorModel):
    """Base class of the models of all bags; chains of the posterior are bags.

    Attributes
    ----------
    left_out_ : ndarray of shape (n_bags, n_samples)
        Which samples each bag left out.
    """

    left_out_: Mask
    _mean_draws: Callable[[Floats, Floats | None], Floats]  # of Z and offset: samples x draws, or x classes

    @classmethod
    def of(cls, bags: Bags, Z: Floats, data: BagData) -> Self:
        """Return the model of the bags; ``Z`` are the linear features of the samples."""
        model, found = cls(), bags.bags
        arrays: dict[str, Any] = {"coef": place_draws(found)}
        arrays["intercept"] = np.stack([bag.intercept for bag in found])
        if found[0].extra is not None:
            arrays[str(data.family.extra)] = np.stack([bag.extra for bag in found])
        model.n_features_in_ = Z.shape[1]
        model.left_out_ = bags.left_out(len(Z))
        model._complete(Posterior(data.family.name, **arrays), found, Z, data)
        return model

    def _complete(self, posterior: Posterior, bags: Sequence[Bag], Z: Floats, data: BagData) -> None:
        """Set the posterior, and what follows from it."""
        self.posterior_ = posterior
        self._set_means()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Refuse: the draws are those of bags."""
        raise TypeError(f"{type(self).__name__} is made by BaggedPosterior.fit.")

    def sharpen(self, means: Floats) -> Floats:
        """Return means as predictions; only probabilities differ."""
        return means

    def mean_interval(self, X: Any, level: float = 0.9, offset: Any = None) -> Floats:
        """Return the interval of the mean of each sample; for classes, of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Linear features.
        level : float, default=0.9
            Fraction of the draws inside.
        offset : array-like of shape (n_samples,), optional
            Offset, for counts and survival times.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2), or (n_samples, n_classes, 2)
            Lower and upper ends. For survival times, the mean is the linear predictor.
        """
        Z, tails = self._check_new(X), interval_tails(level)
        blocks = self.posterior_.blocks(Z)
        draws = (self.sharpen(self._mean_draws(Z[p], part_of(offset, p))) for p in blocks)
        return np.moveaxis(np.concatenate([np.quantile(part, tails, axis=1) for part in draws], axis=1), 0, -1)

    def bag_means(self, Z: Floats, offset: Floats | None = None) -> Floats:
        """Return the mean of each bag: (n_samples, n_bags), or (n_samples, n_bags, n_classes)."""
        n_bags = len(self.left_out_)
        found = []
        for part in self.posterior_.blocks(Z):
            draws = self._mean_draws(Z[part], part_of(offset, part))
            found.append(draws.reshape(len(draws), n_bags, -1, *draws.shape[2:]).mean(axis=2))
        return np.concatenate(found)

    def out_of_bag(self, Z: Floats, offset: Floats | None = None) -> Floats:
        """Return the mean of each training sample over the bags that left it out; NaN if none did."""
        means, left_out = self.bag_means(Z, offset), self.left_out_.T.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = left_out / left_out.sum(axis=1, keepdims=True)
        averages: Floats = np.einsum("ib,ib...->i...", weights, means)
        return averages

    def means_without(self, means: Floats) -> Floats:
        """Return the means of new samples over the bags without each training sample: (n_new, n_samples, ...)."""
        left_out = self.left_out_.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = left_out / left_out.sum(axis=0)
        averages: Floats = np.einsum("nb...,bi->ni...", means, weights)
        return averages


class PooledClasses(PooledModel):
    """Base class of models of classes.

    An average of probabilities is too cautious where the bags agree, so it is raised to a power that fits the
    predictions out of the bag.
    """

    classes_: np.ndarray
    inverse_temperature_: float

    def _complete(self, posterior: Posterior, bags: Sequence[Bag], Z: Floats, data: BagData) -> None:
        samples, known_classes = data.samples, np.asarray(data.target.classes)
        self.classes_ = known_classes if data.labels is None else np.asarray(data.labels)
        super()._complete(posterior, bags, Z, data)
        found = self.out_of_bag(Z)
        known = np.isfinite(found[:, 0])
        weight = None if samples.sample_weight is None else samples.sample_weight[known]
        codes = np.searchsorted(known_classes, samples.y[known])
        self.inverse_temperature_ = fit_inverse_temperature(found[known], codes, weight)

    def sharpen(self, means: Floats) -> Floats:
        """Return averages of probabilities to the power that fits out-of-bag predictions."""
        return apply_inverse_temperature(means, self.inverse_temperature_)

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Return the interval of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        level : float, default=0.9
            Fraction of the draws inside.

        Returns
        -------
        interval : ndarray of shape (n_samples, n_classes, 2)
            Lower and upper ends.
        """
        return self.mean_interval(X, level)

    def _probabilities(self, Z: Floats) -> Floats:
        return self.sharpen(super()._probabilities(Z))

    def _log_density(self, Z: Floats, y: np.ndarray, offset: Floats | None) -> Floats:
        return log_class_probability(self._probabilities(Z), y)


class PooledClassifier(PooledClasses, PosteriorClassifier):
    """Classes without an order.

    Attributes
    ----------
    inverse_temperature_ : float
        The power of the probabilities; values above 1 make them more extreme.
    """

    def _mean_draws(self, Z: Floats, offset: Floats | None = None) -> Floats:
        eta = self.posterior_.linear_predictor(Z)
        return softmax(eta, axis=2) if eta.ndim == 3 else np.stack([expit(-eta), expit(eta)], axis=2)


class PooledOrdinal(PooledClasses, PosteriorOrdinal):
    """Ordered classes.

    Attributes
    ----------
    inverse_temperature_ : float
        The power of the probabilities; values above 1 make them more extreme.
    """

    def _complete(self, posterior: Posterior, bags: Sequence[Bag], Z: Floats, data: BagData) -> None:
        # The intercepts of the bags move the thresholds.
        moved = np.asarray(posterior.thresholds) - posterior.intercept[:, :, None]
        none = np.zeros_like(posterior.intercept)
        super()._complete(replace(posterior, intercept=none, thresholds=moved), bags, Z, data)

    def _mean_draws(self, Z: Floats, offset: Floats | None = None) -> Floats:
        eta, thresholds = self.posterior_.linear_predictor(Z), self.posterior_.flat("thresholds")
        below = expit(thresholds - eta[:, :, None])
        edges = [np.zeros((*eta.shape, 1)), below, np.ones((*eta.shape, 1))]
        return np.diff(np.concatenate(edges, axis=2), axis=2)


class PooledRegressor(PooledModel, PosteriorRegressor):
    """Quantities."""

    def _mean_draws(self, Z: Floats, offset: Floats | None = None) -> Floats:
        return self.posterior_.linear_predictor(Z)


class PooledCounts(PooledModel, PosteriorCounts):
    """Counts."""

    def _mean_draws(self, Z: Floats, offset: Floats | None = None) -> Floats:
        return np.exp(self.posterior_.linear_predictor(Z, offset))


class PooledSurvival(PooledModel, PosteriorSurvival):
    """Survival times; the mean is the linear predictor."""

    def _complete(self, posterior: Posterior, bags: Sequence[Bag], Z: Floats, data: BagData) -> None:
        # The intercepts of the bags move the hazards.
        shift = posterior.flat("intercept")[:, None]
        rates = np.concatenate([bag.log_rates for bag in bags]) + shift
        values = np.concatenate([bag.log_hazard for bag in bags]) + shift
        draws = choose_draws(posterior.n_draws, len(Z))
        event, time = data.samples.y["event"], data.samples.y["time"]
        starts = interval_starts(event, time, data.samples.sample_weight)
        self.cumulative_hazard_ = CumulativeHazard(np.unique(time[event]), values[draws], draws)
        self.unique_times_ = np.unique(time)
        none = np.zeros_like(posterior.intercept)
        super()._complete(replace(posterior, intercept=none, hazard=PiecewiseHazard(starts, rates)), bags, Z, data)

    def _mean_draws(self, Z: Floats, offset: Floats | None = None) -> Floats:
        return self.posterior_.linear_predictor(Z, offset)


# The model of all bags for each kind of target.
POOLED: dict[str, type[PooledModel]] = {
    model.target.name: model
    for model in (PooledClassifier, PooledRegressor, PooledSurvival, PooledCounts, PooledOrdinal)
}
