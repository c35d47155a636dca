"""Three or more classes: softmax regression, with a linear predictor for each class."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax, xlogy

from ..foundation.arrays import Floats
from .classification import (
    LEAST_TARGET,
    ClassFamily,
    ClassLoss,
    class_contrasts,
    class_deviances,
    class_losses,
)
from .family import NullModel, Projected, ProjectionLoss, Submodels, weighted_means
from .null_glm import check_unexplained, maximize


def outputs(y: Any) -> Floats:
    """Return the indicators of the classes."""
    return (y == np.arange(y.max() + 1)[:, None]).astype(np.float64)


def null_model(y: Any, covariates: Floats, offset: Floats, weights: Floats) -> NullModel:
    """Return ``y_c - p_c`` of each class c, and the variance ``p_c (1 - p_c)`` averaged over the classes.

    One set of weights serves all classes, so that there is one weighted matrix of features. An offset shifts the
    predictors of all classes alike, which changes nothing.
    """
    indicators = class_contrasts(y).columns
    n_classes, size = indicators.shape[1], covariates.shape[1]

    def predictors(gamma: Floats) -> Floats:
        # The first class is the reference.
        return np.column_stack([np.zeros(len(covariates)), covariates @ gamma.reshape(size, -1)])

    def likelihood(gamma: Floats) -> float:
        return float(weights @ (indicators * log_softmax(predictors(gamma), axis=1)).sum(axis=1))

    def slopes(gamma: Floats) -> tuple[Floats, Floats]:
        p = softmax(predictors(gamma), axis=1)[:, 1:]
        gradient = covariates.T @ (weights[:, None] * (indicators[:, 1:] - p))
        spread = p[:, :, None] * (np.eye(n_classes - 1) - p[:, None, :])
        information = np.einsum("i,ij,icd,ik->jckd", weights, covariates, spread, covariates, optimize=True)
        return gradient.ravel(), information.reshape(gradient.size, gradient.size)

    frequencies = np.average(indicators, axis=0, weights=weights)
    start = np.zeros((size, n_classes - 1))
    start[0] = np.log(frequencies[1:] / frequencies[0])
    p = softmax(predictors(maximize(likelihood, slopes, start.ravel(), weights.sum())), axis=1)
    check_unexplained(indicators - p)
    return NullModel(indicators - p, (p * (1 - p)).mean(axis=1))


def null_intercepts(mean: Floats) -> Floats:
    """Return the log frequencies, with a mean of zero over the classes."""
    logs = np.log(np.clip(mean, 1e-8, 1 - 1e-8))
    return logs - logs.mean()


def log_normalizer(eta: Floats, axis: int) -> Floats:
    """Return the log of the sum of exponentials over the classes."""
    # A loop over the classes is several times as fast as reductions over a short axis.
    classes = list(np.moveaxis(eta, axis, 0))
    largest = reduce(np.maximum, classes)
    with np.errstate(invalid="ignore"):  # of infinite predictors
        total = sum(np.exp(part - largest) for part in classes)
    result: Floats = largest + np.log(total)
    return result


def curvature(mean: Floats, direction: Floats, target: Floats, weights: Floats | None) -> Floats:
    """Return the covariance of the indicators times a direction."""
    return mean * (direction - np.einsum("ick,ick->ik", mean, direction)[:, None])


def deviances(predictors: Floats, y: Any, weights: Floats | None = None) -> Floats:
    """Return the deviance of each sample at each penalty."""
    return class_deviances(softmax(predictors, axis=1)[:, y, np.arange(len(y))])


def log_likelihood(eta: Floats, y: Any, sigma: Any) -> Floats:
    """Return the log probability of the class of each sample under each draw."""
    chosen = np.take_along_axis(eta, np.asarray(y)[:, None, None], axis=2)[:, :, 0]
    return chosen - log_normalizer(eta, 2)


def projection_targets(mean: Floats) -> Floats:
    """Return the probabilities of all classes but the first, which is the reference."""
    clipped = np.maximum(mean, LEAST_TARGET)
    targets = clipped / clipped.sum(axis=2, keepdims=True)
    return np.ascontiguousarray(targets.transpose(1, 2, 0)[:, 1:])


def first_class(probabilities: Floats) -> Floats:
    """Return the probability that the others leave to the first class."""
    return np.maximum(1 - probabilities.sum(axis=1), LEAST_TARGET / 2)


def projection_mean(eta: Floats) -> Floats:
    """Return the probabilities of all classes but the first, whose predictor is 0."""
    largest = np.maximum(eta.max(axis=1, keepdims=True), 0)
    relative = np.exp(eta - largest)
    means: Floats = relative / (relative.sum(axis=1, keepdims=True) + np.exp(-largest))
    return means


def projection_information(means: Floats, extra: Any) -> Floats:
    """Return the covariance of the indicators of all classes but the first."""
    information = -means[:, :, None] * means[:, None]
    diagonal = np.arange(means.shape[1])
    information[:, diagonal, diagonal] += means
    return information


def projection_losses(targets: Floats, eta: Floats, extra: Any) -> Floats:
    """Return the sum over the classes of ``t log(t / p)``."""
    first = first_class(targets)
    entropy = xlogy(targets, targets).sum(axis=1) + xlogy(first, first)
    zero = np.zeros_like(eta[:, :1])
    loss: Floats = entropy - (targets * eta).sum(axis=1) + log_normalizer(np.concatenate([zero, eta], axis=1), 1)
    return loss


def finish_projection(submodels: Submodels, projected: Projected) -> Submodels:
    """Add the first class, and make the mean over the classes zero."""
    intercept = np.pad(submodels.intercept, [(0, 0), (1, 0)])
    coef = np.pad(submodels.coef, [(0, 0), (1, 0), (0, 0)])
    return submodels._replace(
        intercept=intercept - intercept.mean(axis=1, keepdims=True), coef=coef - coef.mean(axis=1, keepdims=True)
    )


MULTINOMIAL = ClassFamily(
    name="multinomial",
    kind="classification",
    predictor="log odds",
    ratio="odds ratio",
    per_class=True,
    null_model=null_model,
    projection=ProjectionLoss(
        lasso_family="multinomial",
        targets=projection_targets,
        link=lambda targets: np.log(targets) - np.log(first_class(targets))[:, None],
        mean=projection_mean,
        residual=lambda targets, means, extra: targets - means,
        information=projection_information,
        losses=projection_losses,
        finish=finish_projection,
    ),
    penalized=ClassLoss(
        outputs=outputs,
        null_intercepts=lambda target, offset, weights: null_intercepts(weighted_means(target, weights)),
        state=lambda eta, target, weights: softmax(eta, axis=1),
        losses=lambda target, eta, weights: class_losses(log_normalizer(eta, 1)[:, None], target, eta),
        curvature=curvature,
        deviances=deviances,
    ),
    sampler_model="softmax",
    samplers=lambda n_samples, n_features: ("nuts", "nuts"),
    log_likelihood=log_likelihood,
    probabilities=lambda eta: softmax(eta, axis=2).mean(axis=1),
    log_probabilities=lambda eta: log_softmax(eta, axis=1),
)
