"""The predictions of a reference model, draw by draw: what its submodels are fitted to."""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, softmax

from .._array_types import Floats
from ..families import COX, FAMILIES, GAUSSIAN, NEGATIVE_BINOMIAL, ORDINAL, POISSON, Family, class_family
from ..families.poisson import mean as expected_count
from ..families.survival_curves import breslow, step_values
from ..fitted_parts import take_apart
from ..models.posterior_model import PosteriorModel
from ..validation.samples import Samples
from ..validation.stacking_base import Stacked
from ..validation.stacking_weights import tempered
from ..validation.target import Target

# Of samples whose observation ends before the first event: they tell nothing.
LEAST_HAZARD = 1e-6
# The dispersion of Poisson counts among negative binomial ones.
NO_DISPERSION = 1e6


class ReferencePredictions(NamedTuple):
    """Predictions of a reference for the training samples, under draws of its posterior or clusters of them.

    Attributes
    ----------
    family : Family
        Distribution of the target.
    mean : ndarray of shape (n_samples, n_draws) or (n_samples, n_draws, n_classes)
        Expected target: a mean, the probability of the second class or of each class, an expected count; for
        survival times the expected number of events until the end of observation; for ordered classes the linear
        predictor.
    extra : ndarray with the draws first, or None
        What the likelihood needs beside: noise, dispersion, thresholds.
    offset : ndarray of shape (n_samples, n_draws) or None
        Part of every linear predictor: that of counts, or the logarithm of the baseline cumulative hazard.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the samples.
    weights : ndarray of shape (n_draws,)
        Weights of the draws; their sum is 1.
    y : ndarray
        The target as the family needs it.
    """

    family: Family
    mean: Floats
    extra: Floats | None
    offset: Floats | None
    sample_weight: Floats | None
    weights: Floats
    y: Any

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
    """Return the predictions of a fitted reference for its training samples.

    Parameters
    ----------
    fitted : Pipeline or estimator
        A pipeline that ends with a horseshoe model, a stack, or any model with a predictive distribution. A model
        without a posterior gives one draw, and a stack the draws of its candidates in proportion to their weights.
    samples : Samples
        The training samples.
    target : Target
        The kind of the target and its classes.
    n_draws : int
        Number of draws, at most.

    Returns
    -------
    predictions : ReferencePredictions
    """
    stack = take_apart(fitted).model
    if isinstance(stack, Stacked):
        before = take_apart(fitted).model_input(samples.X)
        weighted = zip(stack.estimators_.values(), stack.weights_, strict=True)
        shares = [(model, round(float(weight) * n_draws)) for model, weight in weighted]
        inside = samples._replace(X=before)
        parts = [_repeated(_draws(model, inside, target, n), n) for model, n in shares if n]
        family = _family(target, [part.extra for part in parts])
        draws = _sharpened(stack, _joined(family, parts), target)
    else:
        draws = _draws(fitted, samples, target, n_draws)
        family = _family(target, [draws.extra])
    count = draws.mean.shape[1]
    y = family.target(samples.y) if target.classes is None else target.observed(samples.y)
    return ReferencePredictions(
        family, draws.mean, draws.extra, draws.offset, samples.sample_weight, np.full(count, 1 / count), y
    )


def _family(target: Target, extras: list[Floats | None]) -> Family:
    """Return the family of a target; counts are negative binomial if any draw has a dispersion."""
    if target.kind == "classification":
        return class_family(target.n_classes)
    if target.kind == "count":
        return NEGATIVE_BINOMIAL if any(extra is not None for extra in extras) else POISSON
    return {"regression": GAUSSIAN, "ordinal": ORDINAL, "survival": COX}[target.kind]


def _repeated(draws: _Draws, n_draws: int) -> _Draws:
    """Return as many draws as wanted, of a model that has fewer."""
    places = np.arange(n_draws) * draws.mean.shape[1] // n_draws

    def chosen(values: Floats | None, axis: int) -> Floats | None:
        return None if values is None else np.take(values, places, axis=axis)

    return _Draws(np.take(draws.mean, places, axis=1), chosen(draws.extra, 0), chosen(draws.offset, 1))


def _joined(family: Family, parts: list[_Draws]) -> _Draws:
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


def _sharpened(stack: Any, draws: _Draws, target: Target) -> _Draws:
    """Return the probabilities of a stack of classifiers, which sharpens their mixture."""
    if target.kind != "classification":
        return draws
    mean = draws.mean if draws.mean.ndim == 3 else np.stack([1 - draws.mean, draws.mean], axis=2)
    sharp = tempered(mean, stack.inverse_temperature_)
    return draws._replace(mean=sharp if draws.mean.ndim == 3 else sharp[:, :, 1])


def _draws(fitted: Any, samples: Samples, target: Target, n_draws: int) -> _Draws:
    parts = take_apart(fitted)
    Z = parts.model_input(samples.X)
    find = _posterior_draws if isinstance(parts.model, PosteriorModel) else _single_draw
    return find(parts.model, Z, samples, target, n_draws)


def _posterior_draws(model: Any, Z: Any, samples: Samples, target: Target, n_draws: int) -> _Draws:
    """Return evenly spaced draws of a posterior."""
    posterior = model.posterior_
    available = posterior.n_draws if target.kind != "survival" else len(model.cumulative_hazard_.draws)
    places = np.arange(min(n_draws, available)) * available // min(n_draws, available)
    if target.kind == "survival":
        hazard = model.cumulative_hazard_
        log_hazard = _log_hazard(hazard.times, hazard.log_values[places], samples.y["time"])
        eta = _predictor(posterior, Z, hazard.draws[places], samples.offset)
        given = 0.0 if samples.offset is None else samples.offset[:, None]
        return _Draws(expected_count(eta + log_hazard), None, log_hazard + given)
    eta = _predictor(posterior, Z, places, samples.offset)
    extra = posterior.extra()
    extra = None if extra is None else extra[places]
    if target.kind == "classification":
        return _Draws(softmax(eta, axis=2) if target.n_classes > 2 else expit(eta))
    if target.kind == "count":
        offset = None if samples.offset is None else np.repeat(samples.offset[:, None], len(places), axis=1)
        return _Draws(expected_count(eta), extra, offset)
    return _Draws(eta, extra)


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
    if target.kind == "classification":
        probabilities = _all_classes(model, Z, target)
        return _Draws(probabilities[:, None, :] if target.n_classes > 2 else probabilities[:, 1:])
    if target.kind == "ordinal":
        return _latent(_all_classes(model, Z, target))
    if target.kind == "survival":
        event, time = samples.y["event"], samples.y["time"]
        baseline = _log_hazard(*breslow(np.zeros((len(time), 1)), event, time, samples.sample_weight), time)
        survived = [float(curve(t)) for curve, t in zip(model.predict_survival_function(Z), time, strict=True)]
        expected = -np.log(np.clip(survived, 1e-12, np.exp(-LEAST_HAZARD)))
        return _Draws(expected[:, None], None, baseline)
    if target.kind == "count":
        options = {} if samples.offset is None else {"offset": samples.offset}
        offset = None if samples.offset is None else samples.offset[:, None]
        extra = getattr(model, "dispersion_", 0.0)
        return _Draws(model.predict(Z, **options)[:, None], np.array([1 / extra]) if extra else None, offset)
    if "return_std" not in signature(model.predict).parameters:
        raise ValueError(
            f"{type(model).__name__} has no predictive distribution, which a reference needs. Use one whose "
            "predict takes return_std, such as HorseshoeRegressor, PenalizedRegressor or BayesianRidge."
        )
    mean, deviation = model.predict(Z, return_std=True)
    noise = np.sqrt(np.mean(np.square(np.asarray(deviation))))
    return _Draws(np.asarray(mean)[:, None], np.array([noise]))


def _all_classes(model: Any, Z: Any, target: Target) -> Floats:
    """Return probabilities of all classes; 0 for those that the model does not know."""
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{type(model).__name__} has no predictive distribution, which a reference needs. Use a classifier "
            "with predict_proba."
        )
    probabilities = np.zeros((Z.shape[0], target.n_classes))
    probabilities[:, np.searchsorted(target.classes, model.classes_)] = model.predict_proba(Z)
    return probabilities


def _latent(probabilities: Floats) -> _Draws:
    """Return the thresholds and the linear predictors whose cumulative logits are nearest to given ones."""
    below = logit(np.clip(np.cumsum(probabilities, axis=1)[:, :-1], 1e-6, 1 - 1e-6))
    thresholds = np.maximum.accumulate(below.mean(axis=0))
    thresholds += 1e-6 * np.arange(len(thresholds))
    eta = (thresholds - below).mean(axis=1)
    return _Draws(eta[:, None], thresholds[None])
