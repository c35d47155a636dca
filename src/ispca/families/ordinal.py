"""Ordered classes: cumulative logit regression, ``P(y <= k) = expit(threshold_k - eta)``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from ..foundation.arrays import Floats, Indices
from .family import Contrasts, Family, NullModel, Projected, Submodels, squared_error
from .null_glm import maximize

# Of a logistic variable, the noise of the latent response.
LATENT_VARIANCE = np.pi**2 / 3


def declared_order(y: Any) -> Any:
    """Return the categories of an ordered categorical of pandas, from lowest to highest, or None."""
    return y.dtype.categories if getattr(getattr(y, "dtype", None), "ordered", False) else None


def ordinal_target(y: Any, categories: Any = None) -> tuple[Indices, np.ndarray]:
    """Return the codes of ordered classes, and the classes that occur from lowest to highest.

    ``y`` is an ordered categorical of pandas, numbers, or any labels if ``categories`` gives their order.

    >>> ordinal_target(["low", "high", "low"], ["low", "medium", "high"])[0]
    array([0, 1, 0])
    """
    categories = declared_order(y) if categories is None else categories
    labels = np.asarray(y)
    if categories is None:
        try:
            labels = labels.astype(np.float64) if labels.dtype.kind not in "iuf" else labels
        except (TypeError, ValueError):
            raise ValueError(
                "The order of the classes is unknown: y contains text. Pass an ordered categorical of pandas, "
                "numbers, or the categories from lowest to highest."
            ) from None
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("y contains missing classes. Drop these samples.")
        categories = np.unique(labels)
    order = list(np.asarray(categories).tolist())
    unknown = sorted({str(label) for label in labels.tolist() if label not in order})
    if unknown:
        raise ValueError(f"y contains classes that are not among the categories: {', '.join(unknown[:5])}.")
    positions = np.array([order.index(label) for label in labels.tolist()])
    used, codes = np.unique(positions, return_inverse=True)
    if len(used) < 2:
        raise ValueError("y holds one class only; an ordinal target needs samples of 2 classes or more.")
    return codes.ravel(), np.asarray(categories)[used]


def cumulative(eta: Floats, thresholds: Floats) -> Floats:
    """Return ``P(y <= k)`` for k from -1 (zero) to the last class (one), along a new last axis."""
    inside = expit(thresholds - eta[..., None])
    shape = (*inside.shape[:-1], 1)
    return np.concatenate([np.zeros(shape), inside, np.ones(shape)], axis=-1)


def probabilities(eta: Floats, thresholds: Floats) -> Floats:
    """Return the probabilities of the classes, averaged over the draws (samples x classes)."""
    # One threshold at a time: all of them would take several times the memory of the predictors.
    below = [expit(threshold - eta).mean(axis=1) for threshold in thresholds.T]
    return np.diff(np.column_stack([np.zeros(len(eta)), *below, np.ones(len(eta))]), axis=1)


def contrasts(y: Any) -> Contrasts:
    """Return the residuals of the model without covariates: the classes by their mean ranks."""
    codes, classes = ordinal_target(y)
    ones = np.ones(len(codes))
    return Contrasts(null_model(codes, ones[:, None], np.zeros(len(codes)), ones).residuals, classes)


def null_model(y: Any, covariates: Floats, offset: Floats, weights: Floats) -> NullModel:
    """Return the slopes and the expected curvature of the log likelihood in the linear predictor."""
    codes = ordinal_target(y)[0]
    n_classes, columns = codes.max() + 1, covariates[:, 1:]
    observed = codes[:, None] == np.arange(n_classes)
    frequencies = np.cumsum(weights @ observed)[:-1] / weights.sum()
    thresholds = np.log(frequencies / (1 - frequencies)) + np.average(offset, weights=weights)
    start = np.concatenate([thresholds, np.zeros(columns.shape[1])])

    def parts(parameters: Floats) -> tuple[Floats, Floats]:
        cut = parameters[: n_classes - 1]
        below = cumulative(columns @ parameters[n_classes - 1 :] + offset, cut)
        return np.diff(below, axis=1), below

    def likelihood(parameters: Floats) -> float:
        probabilities = parts(parameters)[0]
        chosen = probabilities[np.arange(len(codes)), codes]
        return float(weights @ np.log(chosen)) if (chosen > 0).all() else -np.inf

    def slopes(parameters: Floats) -> tuple[Floats, Floats]:
        probabilities, below = parts(parameters)
        density = below * (1 - below)
        # Slopes of each class's probability in the thresholds and in the coefficients.
        jacobian = np.zeros((len(codes), n_classes, len(parameters)))
        for k in range(n_classes - 1):
            jacobian[:, k, k] = density[:, k + 1]
            jacobian[:, k + 1, k] = -density[:, k + 1]
        jacobian[:, :, n_classes - 1 :] = -np.diff(density, axis=1)[:, :, None] * columns[:, None, :]
        relative = jacobian / np.sqrt(probabilities)[:, :, None]
        gradient = np.einsum("i,ikp->p", weights, jacobian * (observed / probabilities)[:, :, None])
        return gradient, np.einsum("i,ikp,ikq->pq", weights, relative, relative)

    probabilities, below = parts(maximize(likelihood, slopes, start, weights.sum()))
    # With logistic thresholds, (f_k - f_(k-1)) / (F_k - F_(k-1)) = 1 - F_k - F_(k-1).
    per_class = below[:, 1:] + below[:, :-1] - 1
    residuals = per_class[np.arange(len(codes)), codes]
    return NullModel(residuals[:, None], (probabilities * per_class**2).sum(axis=1))


def log_likelihood(eta: Floats, y: Any, thresholds: Any) -> Floats:
    """Return the log probability of each class under each draw; ``thresholds`` is draws x (classes - 1)."""
    codes = np.asarray(y, dtype=np.intp)
    ends = np.concatenate(
        [np.full((len(thresholds), 1), -np.inf), thresholds, np.full((len(thresholds), 1), np.inf)], axis=1
    )
    upper, lower = ends[:, codes + 1].T - eta, ends[:, codes].T - eta
    with np.errstate(invalid="ignore"):
        # F(u) - F(l) = F(u) F(-l) (1 - exp(l - u))
        gap = np.where(np.isinf(upper) | np.isinf(lower), 0.0, np.log(-np.expm1(lower - upper)))
    density: Floats = log_expit(upper) + log_expit(-lower) + gap
    return density


def finish_projection(submodels: Submodels, projected: Projected) -> Submodels:
    """Return submodels in units of their own latent noise, which contains what they do not explain."""
    unexplained = (projected.targets - projected.means)[:, 0] ** 2 @ projected.sample_weight
    scale = np.sqrt(1 + unexplained / LATENT_VARIANCE)
    thresholds = (np.asarray(submodels.extra) - submodels.intercept) / scale[:, None]
    return Submodels(np.zeros_like(submodels.intercept), submodels.coef / scale[:, None, None], thresholds)


ORDINAL = Family(
    name="ordinal",
    kind="ordinal",
    predictor="log odds of a higher class",
    ratio="odds ratio",
    ordered=True,
    target=lambda y: ordinal_target(y)[0],
    contrasts=contrasts,
    null_model=null_model,
    # The latent response: the predictor plus logistic noise.
    projection=squared_error(variance=lambda thresholds: LATENT_VARIANCE, finish=finish_projection),
    sampler_model="ordinal",
    intercept=False,
    pseudo_deviation=lambda y, weights: float(np.sqrt(LATENT_VARIANCE)),
    samplers=lambda n_samples, n_features: ("nuts", "nuts"),
    extra="thresholds",
    monitored=("threshold", np.asarray),
    log_likelihood=log_likelihood,
)
