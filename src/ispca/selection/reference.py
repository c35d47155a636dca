"""The predictions of a reference model, draw by draw or in clusters of draws: what its submodels are fitted to."""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit, softmax

from ..families import FAMILIES, POISSON, Family, class_family
from ..families.counts import mean as expected_count
from ..families.survival_curves import breslow, step_values
from ..fitted_parts import take_apart
from ..foundation.arrays import Floats, Indices
from ..models.posterior_predictor import PosteriorModel
from ..stacking.base import Stacked
from ..targets import Target
from ..targets.mixture_weights import apply_inverse_temperature
from ..targets.samples import Samples

# Of samples whose observation ends before the first event: they tell nothing.
LEAST_HAZARD = 1e-6
# The dispersion of Poisson counts among negative binomial ones.
NO_DISPERSION = 1e6
# Steps of Lloyd's algorithm.
MOST_ITERATIONS = 30
NO_DISTRIBUTION = "{} has no predictive distribution, which a reference needs. Use {}."


class ReferencePredictions(NamedTuple):
    """Predictions of a reference for the training samples, under draws of its posterior or clusters of them."""

    family: Family
    # The expected target (samples x draws, or samples x draws x classes): a mean, the probability of the second
    # class or of each class, an expected count, for survival times the expected number of events until the end of
    # observation, and for ordered classes the linear predictor.
    mean: Floats
    extra: Floats | None  # draws first: what the likelihood needs beside, such as noise, dispersion, thresholds
    # Part of every linear predictor (samples x draws): of counts, or the log of the baseline cumulative hazard.
    offset: Floats | None
    sample_weight: Floats | None
    weights: Floats  # of the draws; their sum is 1
    y: Any  # as the family needs it

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.mean)

    @property
    def n_draws(self) -> int:
        """Number of draws or clusters."""
        return len(self.weights)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name of the family, because its functions cannot be pickled."""
        return _with_family, (self.family.name, *self[1:])

    def relative_weight(self) -> Floats:
        """Return the weights of the samples, whose sum is 1."""
        weight = np.ones(self.n_samples) if self.sample_weight is None else self.sample_weight
        return weight / weight.sum()


def _with_family(name: str, *others: Any) -> ReferencePredictions:
    return ReferencePredictions(FAMILIES[name], *others)


class _Draws(NamedTuple):
    """Draws of one model; fields as in `ReferencePredictions`."""

    mean: Floats
    extra: Floats | None = None
    offset: Floats | None = None


def reference_predictions(fitted: Any, samples: Samples, target: Target, n_draws: int) -> ReferencePredictions:
    """Return at most some draws of the predictions of a fitted reference for its training samples.

    The reference is a pipeline that ends with a horseshoe model, a stack, or any model with a predictive
    distribution. A model without a posterior gives one draw, and a stack the draws of its candidates in
    proportion to their weights.
    """
    stack = take_apart(fitted).model
    if isinstance(stack, Stacked):
        before = take_apart(fitted).model_input(samples.X)
        weighted = zip(stack.estimators_.values(), stack.weights_, strict=True)
        shares = [(model, round(float(weight) * n_draws)) for model, weight in weighted]
        inside = samples._replace(X=before)
        parts = [_repeat(_draws(model, inside, target, n), n) for model, n in shares if n]
        family = _family(target, [part.extra for part in parts])
        draws = _sharpen(stack, _join(family, parts), target)
    else:
        draws = _draws(fitted, samples, target, n_draws)
        family = _family(target, [draws.extra])
    count = draws.mean.shape[1]
    y = family.target(samples.y) if target.classes is None else target.observations(samples.y)
    return ReferencePredictions(
        family, draws.mean, draws.extra, draws.offset, samples.sample_weight, np.full(count, 1 / count), y
    )


def _family(target: Target, extras: list[Floats | None]) -> Family:
    """Return the family of a target; counts are negative binomial if any draw has a dispersion."""
    if target.counted and all(extra is None for extra in extras):
        return POISSON
    return class_family(target.n_classes) if target.family is None else target.family


def _repeat(draws: _Draws, n_draws: int) -> _Draws:
    """Return as many draws as wanted, of a model that has fewer."""
    places = np.arange(n_draws) * draws.mean.shape[1] // n_draws

    def take(values: Floats | None, axis: int) -> Floats | None:
        return None if values is None else np.take(values, places, axis=axis)

    return _Draws(np.take(draws.mean, places, axis=1), take(draws.extra, 0), take(draws.offset, 1))


def _join(family: Family, parts: list[_Draws]) -> _Draws:
    """Join the draws of several models."""
    extra = None
    if family.extra and any(part.extra is not None for part in parts):
        extras = [
            np.full(part.mean.shape[1], NO_DISPERSION) if part.extra is None else part.extra for part in parts
        ]
        extra = np.concatenate(extras)
    offsets = [part.offset for part in parts if part.offset is not None]
    offset = np.concatenate(offsets, axis=1) if offsets else None
    return _Draws(np.concatenate([part.mean for part in parts], axis=1), extra, offset)


def _sharpen(stack: Any, draws: _Draws, target: Target) -> _Draws:
    """Return the probabilities of a stack of classifiers, which sharpens their mixture."""
    if not target.unordered:
        return draws
    mean = draws.mean if draws.mean.ndim == 3 else np.stack([1 - draws.mean, draws.mean], axis=2)
    sharp = apply_inverse_temperature(mean, stack.inverse_temperature_)
    return draws._replace(mean=sharp if draws.mean.ndim == 3 else sharp[:, :, 1])


def _draws(fitted: Any, samples: Samples, target: Target, n_draws: int) -> _Draws:
    parts = take_apart(fitted)
    Z = parts.model_input(samples.X)
    # A model of classes without an order, for ordered ones, has draws of another shape.
    alike = isinstance(parts.model, PosteriorModel) and FAMILIES[parts.model.posterior_.family].kind == target.name
    find = _posterior_draws if alike else _single_draw
    return find(parts.model, Z, samples, target, n_draws)


def _posterior_draws(model: Any, Z: Any, samples: Samples, target: Target, n_draws: int) -> _Draws:
    """Return evenly spaced draws of a posterior."""
    posterior, hazard = model.posterior_, getattr(model, "cumulative_hazard_", None)
    available = posterior.n_draws if hazard is None else len(hazard.draws)
    places = np.arange(min(n_draws, available)) * available // min(n_draws, available)
    offset = None if samples.offset is None else np.repeat(samples.offset[:, None], len(places), axis=1)
    if hazard is not None:
        log_hazard = _log_hazard(hazard.times, hazard.log_values[places], samples.y["time"])
        eta = _predictor(posterior, Z, hazard.draws[places], samples.offset)
        return _Draws(
            expected_count(eta + log_hazard), None, log_hazard if offset is None else log_hazard + offset
        )
    eta = _predictor(posterior, Z, places, samples.offset)
    extra = posterior.extra()
    mean = softmax(eta, axis=2) if eta.ndim == 3 else FAMILIES[posterior.family].projection.mean(eta)
    return _Draws(mean, None if extra is None else extra[places], offset)


def _predictor(posterior: Any, Z: Any, places: Any, offset: Floats | None) -> Floats:
    """Return the linear predictors of some draws."""
    Z = np.asarray(Z, dtype=np.float64)
    eta: Floats = np.tensordot(Z, posterior.flat("coef")[places], axes=(1, -1))
    eta += posterior.flat("intercept")[places]
    return eta if offset is None else eta + offset[:, None]


def _log_hazard(times: Floats, log_values: Floats, observed: Floats) -> Floats:
    """Return the logarithm of cumulative hazards at the times of the samples (samples x draws)."""
    values = step_values(times, log_values, observed, before=-np.inf)
    return np.maximum(values, np.log(LEAST_HAZARD)).T


def _single_draw(model: Any, Z: Any, samples: Samples, target: Target, n_draws: int) -> _Draws:
    """Return the predictions of a model without a posterior, as one draw."""
    if target.has_classes:
        if not hasattr(model, "predict_proba"):
            raise ValueError(NO_DISTRIBUTION.format(type(model).__name__, "a classifier with predict_proba"))
        probabilities = np.zeros((Z.shape[0], target.n_classes))  # 0 for classes that the model does not know
        probabilities[:, np.searchsorted(target.classes, model.classes_)] = model.predict_proba(Z)
        if target.ordered:
            return _latent(probabilities)
        return _Draws(probabilities[:, None, :] if target.n_classes > 2 else probabilities[:, 1:])
    if target.timed:
        event, time = samples.y["event"], samples.y["time"]
        baseline = _log_hazard(*breslow(np.zeros((len(time), 1)), event, time, samples.sample_weight), time)
        survived = [float(curve(t)) for curve, t in zip(model.predict_survival_function(Z), time, strict=True)]
        expected = -np.log(np.clip(survived, 1e-12, np.exp(-LEAST_HAZARD)))
        return _Draws(expected[:, None], None, baseline)
    if target.counted:
        options = {} if samples.offset is None else {"offset": samples.offset}
        offset = None if samples.offset is None else samples.offset[:, None]
        extra = getattr(model, "dispersion_", 0.0)
        return _Draws(model.predict(Z, **options)[:, None], np.array([1 / extra]) if extra else None, offset)
    if "return_std" not in signature(model.predict).parameters:
        use = "one whose predict takes return_std, such as HorseshoeRegressor, PenalizedRegressor or BayesianRidge"
        raise ValueError(NO_DISTRIBUTION.format(type(model).__name__, use))
    mean, deviation = model.predict(Z, return_std=True)
    noise = np.sqrt(np.mean(np.square(np.asarray(deviation))))
    return _Draws(np.asarray(mean)[:, None], np.array([noise]))


def _latent(probabilities: Floats) -> _Draws:
    """Return the thresholds and the linear predictors whose cumulative logits are nearest to given ones."""
    below = logit(np.clip(np.cumsum(probabilities, axis=1)[:, :-1], 1e-6, 1 - 1e-6))
    thresholds = np.maximum.accumulate(below.mean(axis=0))
    thresholds += 1e-6 * np.arange(len(thresholds))
    eta = (thresholds - below).mean(axis=1)
    return _Draws(eta[:, None], thresholds[None])


def cluster(predictions: ReferencePredictions, n_clusters: int, seed: int) -> ReferencePredictions:
    """Return the mean predictions of clusters of draws, with the number of draws as weights.

    Draws are grouped by their linear predictors; the extra of a Gaussian cluster contains the spread of its means.
    """
    if predictions.n_draws <= n_clusters:
        return predictions
    loss = predictions.family.projection
    points = loss.link(loss.targets(predictions.mean)).reshape(predictions.n_draws, -1)
    labels = k_means(points, n_clusters, np.random.default_rng(seed))
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    means, extras, offsets = [], [], []
    for chosen in members:
        inside = predictions.weights[chosen] / predictions.weights[chosen].sum()
        part = predictions.mean[:, chosen]
        average = np.tensordot(part, inside, axes=(1, 0))
        means.append(average)
        if predictions.extra is not None:
            spread = predictions.relative_weight() @ (part - average[:, None]) ** 2 @ inside
            extras.append(loss.pooled(predictions.extra[chosen], inside, spread))
        if predictions.offset is not None:
            offsets.append(predictions.offset[:, chosen] @ inside)
    return predictions._replace(
        mean=np.stack(means, axis=1),
        extra=np.stack(extras) if extras else None,
        offset=np.stack(offsets, axis=1) if offsets else None,
        weights=np.array([predictions.weights[chosen].sum() for chosen in members]),
    )


def k_means(points: Floats, n_clusters: int, rng: np.random.Generator) -> Indices:
    """Return the cluster of each point, by Lloyd's algorithm from distant starting points."""
    points = points - points.mean(axis=0)
    squares = np.einsum("ij,ij->i", points, points)
    centers = points[[rng.integers(len(points))]]
    nearest = np.full(len(points), np.inf)
    while len(centers) < n_clusters:
        newest = centers[-1]
        nearest = np.minimum(nearest, np.maximum(squares - 2 * points @ newest + newest @ newest, 0))
        if nearest.sum() <= 0:  # fewer distinct points than clusters
            break
        centers = np.concatenate([centers, points[[rng.choice(len(points), p=nearest / nearest.sum())]]])
    labels = np.full(len(points), -1)
    for _ in range(MOST_ITERATIONS):
        distance = np.einsum("ij,ij->i", centers, centers) - 2 * points @ centers.T
        found = distance.argmin(axis=1)
        if (found == labels).all():
            break
        labels = found
        for label in np.unique(labels):
            centers[label] = points[labels == label].mean(axis=0)
    return labels
