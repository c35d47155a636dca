"""Models that predict from the draws of all bags: one class for each kind of target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax

from ..families.counts import mean
from ..families.piecewise_hazard import PiecewiseHazard, interval_starts
from ..foundation.arrays import Floats, Indices, Mask
from ..models.classifiers import PosteriorClassifier, PosteriorOrdinal
from ..models.posterior import BLOCK_NUMBERS, Posterior, part_of
from ..models.posterior_predictor import PosteriorModel
from ..models.regressors import PosteriorCounts, PosteriorRegressor
from ..models.survival import CumulativeHazard, PosteriorSurvival, choose_draws
from ..targets.mixture_weights import apply_inverse_temperature, fit_inverse_temperature
from ..targets.quantity import interval_tails
from ..targets.samples import log_class_probability
from ..targets.target_and_prediction_checks import check_offset
from .bag import Bag
from .bags import BagData, Bags
from .calibrated_intervals import observation_columns, predictive_interval
from .conformal import class_p_values, prediction_sets
from .noise_factor import fit_noise_factor
from .pooled_components import place_draws

# Both the differences between bags and the draws of each bag show how few samples there are. Together they make
# intervals too wide, so the draws of a bag are moved toward their mean.
CONTRACTION = 0.5
# Prior standard deviation of the logarithm of the power that fits probabilities out of the bag.
LOG_POWER_SD = 0.5
# One factor of the noise needs no more samples, each of which has a linear predictor for every draw.
MOST_NOISE_SAMPLES = 2000
# Between the classes of a prediction set.
SEPARATOR = " | "


class PooledModel(PosteriorModel):
    """Base class of the models of all bags; chains of the posterior are bags.

    Attributes
    ----------
    left_out_ : ndarray of shape (n_bags, n_samples)
        Which samples each bag left out.
    observed_, out_of_bag_ : ndarray of shape (n_samples,), the latter with an axis of classes
        What was observed (numbers of classes), and the mean by the bags that left the sample out.
    groups_, sample_weight_ : ndarray of shape (n_samples,) or None
        Numbers of groups, and weights.
    """

    # It has no parameters.
    _parameter_constraints: dict[str, list[Any]] = {}  # noqa: RUF012
    left_out_: Mask
    observed_: np.ndarray
    out_of_bag_: Floats
    groups_: Indices | None
    sample_weight_: Floats | None
    _mean_draws: Callable[[Floats, Floats | None], Floats]  # of Z and offset: samples x draws, or x classes

    @classmethod
    def of(cls, bags: Bags, Z: Floats, data: BagData) -> Self:
        """Return the model of the bags; ``Z`` are the linear features of the samples."""
        model, found = cls(), bags.bags
        arrays: dict[str, Any] = {"coef": place_draws(found)}
        arrays["intercept"] = np.stack([bag.intercept for bag in found])
        if found[0].extra is not None:
            arrays[str(data.family.extra)] = np.stack([bag.extra for bag in found])
        for name in ("coef", "intercept", "thresholds"):
            if name in arrays:
                center = arrays[name].mean(axis=1, keepdims=True)
                arrays[name] = center + CONTRACTION * (arrays[name] - center)
        model.n_features_in_ = Z.shape[1]
        model.left_out_ = bags.left_out(len(Z))
        model._complete(Posterior(data.family.name, **arrays), found, Z, data)
        return model

    def _complete(self, posterior: Posterior, bags: Sequence[Bag], Z: Floats, data: BagData) -> None:
        """Set the posterior, and what follows from it."""
        self.posterior_ = posterior
        self._set_means()
        samples = data.samples
        self.observed_ = np.asarray(data.target.observations(data.target.numbers(samples.y)))
        self.out_of_bag_ = self.out_of_bag(Z, samples.offset)
        self.groups_ = (
            None if samples.groups is None else np.unique(samples.groups, return_inverse=True)[1].ravel()
        )
        self.sample_weight_ = samples.sample_weight

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
        blocks, offset = self.posterior_.blocks(Z), check_offset(offset, len(Z))
        draws = (self.sharpen(self._mean_draws(Z[p], part_of(offset, p))) for p in blocks)
        return np.moveaxis(np.concatenate([np.quantile(part, tails, axis=1) for part in draws], axis=1), 0, -1)

    def interval_columns(self, Z: Floats, offset: Floats | None, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return 90% intervals of the mean by the columns of files; each contains the prediction ``found``."""
        low, high = self.mean_interval(Z, offset=offset).T
        mean = np.asarray(found["mean"], dtype=np.float64)
        return {"mean_q5": np.minimum(low, mean), "mean_q95": np.maximum(high, mean)}

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

    def means_without(self, Z: Floats, offset: Floats | None = None) -> Iterator[Floats]:
        """Yield the means of new samples over the bags without each training sample: (n_new, n_samples, ...)."""
        left_out, means = self.left_out_.astype(np.float64), self.bag_means(Z, offset)
        weights = left_out / np.maximum(left_out.sum(axis=0), 1.0)
        rows = max(1, BLOCK_NUMBERS // max(1, weights.shape[1] * means[0, 0].size))
        for start in range(0, len(means), rows):
            yield np.einsum("nb...,bi->ni...", means[start : start + rows], weights)


class PooledClasses(PooledModel):
    """Base class of models of classes.

    An average of probabilities is too cautious where the bags agree, so it is raised to a power that fits the
    predictions out of the bag.
    """

    classes_: np.ndarray
    inverse_temperature_: float

    def _complete(self, posterior: Posterior, bags: Sequence[Bag], Z: Floats, data: BagData) -> None:
        self.classes_ = np.asarray(data.target.classes if data.labels is None else data.labels)
        super()._complete(posterior, bags, Z, data)
        known = np.isfinite(self.out_of_bag_[:, 0])
        weight = None if self.sample_weight_ is None else self.sample_weight_[known]
        power = fit_inverse_temperature(self.out_of_bag_[known], self.observed_[known], weight, LOG_POWER_SD)
        # A class with no sample out of the bag cannot object to being denied.
        complete = np.isin(self.observed_, self.observed_[known]).all()
        self.inverse_temperature_ = power if complete else min(power, 1.0)

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

    def interval_columns(self, Z: Floats, offset: Floats | None, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return 90% intervals of the probabilities, and the prediction set with the predicted class."""
        ends, names = self.mean_interval(Z), [str(label) for label in self.classes_]
        columns: dict[str, Any] = {}
        for name in found:
            if name.startswith("p(") and name[2:-1] in names:
                low, high = ends[:, names.index(name[2:-1])].T
                given = np.asarray(found[name], dtype=np.float64)
                columns |= {f"{name}_q5": np.minimum(low, given), f"{name}_q95": np.maximum(high, given)}
        chosen = self.predict_set(Z)
        predicted = [str(label) for label in np.asarray(found["prediction"]).tolist()]
        chosen |= np.array(names) == np.array(predicted)[:, None]
        sets = [SEPARATOR.join(name for name, inside in zip(names, row, strict=True) if inside) for row in chosen]
        return columns | {"prediction_set": np.array(sets, dtype=object)}

    def predict_set(self, X: Any, level: float = 0.9) -> Mask:
        """Return a set of classes for each sample, which contains its class with a given probability.

        Of the samples of each class, about this fraction has its class in the set, and at least ``2 level - 1``
        whatever the data, if new samples are drawn like the training samples. See the guide on prediction sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        level : float, default=0.9
            The probability.

        Returns
        -------
        chosen : ndarray of shape (n_samples, n_classes)
            Which classes are in the set, in the order of ``classes_``.
        """
        interval_tails(level)
        calibration = {"groups": self.groups_, "weights": self.sample_weight_}
        found = [
            class_p_values(self.out_of_bag_, self.observed_, without, **calibration)
            for without in self.means_without(self._check_new(X))
        ]
        return prediction_sets(np.concatenate(found), level)

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
    """Quantities; the noise is that of predictions out of the bag."""

    def _complete(self, posterior: Posterior, bags: Sequence[Bag], Z: Floats, data: BagData) -> None:
        super()._complete(posterior, bags, Z, data)
        sigma = np.asarray(posterior.sigma)
        n_chosen = min(len(Z), MOST_NOISE_SAMPLES)
        chosen = np.arange(n_chosen) * len(Z) // n_chosen
        predictors = posterior.linear_predictor(Z[chosen]).reshape(n_chosen, *sigma.shape)
        weight = None if self.sample_weight_ is None else self.sample_weight_[chosen]
        factor = fit_noise_factor(predictors, sigma, self.observed_[chosen], self.left_out_[:, chosen], weight)
        self.posterior_ = replace(posterior, sigma=factor * sigma)

    def _mean_draws(self, Z: Floats, offset: Floats | None = None) -> Floats:
        return self.posterior_.linear_predictor(Z)

    def interval_columns(self, Z: Floats, offset: Floats | None, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return 90% intervals of the mean and of a new observation; each contains the prediction ``found``."""
        return super().interval_columns(Z, offset, found) | observation_columns(self.predict_interval(Z), found)

    def _quantiles(self, Z: Floats, tails: tuple[float, float]) -> Floats:
        return predictive_interval(self, Z, tails[1] - tails[0])


class PooledCounts(PooledModel, PosteriorCounts):
    """Counts."""

    def _mean_draws(self, Z: Floats, offset: Floats | None = None) -> Floats:
        return mean(self.posterior_.linear_predictor(Z, offset))

    def predict_interval(self, X: Any, level: float = 0.9, offset: Any = None) -> Floats:
        """Return the predictive interval, which is calibrated on predictions out of the bag.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        level : float, default=0.9
            Probability that a new count lies inside.
        offset : array-like of shape (n_samples,), optional
            Logarithm of the exposure of each sample, 0 by default.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        interval_tails(level)
        Z, offset = self._check_offset(X, offset)
        dispersion = self.posterior_.extra()
        extra = 0.0 if dispersion is None else float(np.mean(1 / dispersion))

        def spread(means: Floats) -> Floats:
            return np.sqrt(np.maximum(means + extra * means**2, 1e-300))

        return np.maximum(predictive_interval(self, Z, level, offset, spread), 0.0)

    def interval_columns(self, Z: Floats, offset: Floats | None, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return 90% intervals of the mean and of a new count; each contains the prediction ``found``."""
        interval = self.predict_interval(Z, offset=offset)
        return super().interval_columns(Z, offset, found) | observation_columns(interval, found)


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

    def interval_columns(self, Z: Floats, offset: Floats | None, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return 90% intervals of the predicted survival; each contains the prediction ``found``."""
        columns: dict[str, Any] = {}
        names = [name for name in found if name.startswith("survival(")]
        curves = self.survival_curves(Z, [float(name[9:-1]) for name in names], offset=offset)
        for place, name in enumerate(names):
            given = np.asarray(found[name], dtype=np.float64)
            columns[f"{name}_q5"] = np.minimum(curves.lower[:, place], given)
            columns[f"{name}_q95"] = np.maximum(curves.upper[:, place], given)
        return columns


# The model of all bags for each kind of target.
POOLED: dict[str, type[PooledModel]] = {
    model.target.name: model
    for model in (PooledClassifier, PooledRegressor, PooledSurvival, PooledCounts, PooledOrdinal)
}
