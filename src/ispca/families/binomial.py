"""Two classes: logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logit, xlogy

from ..foundation.arrays import Floats
from .classification import (
    LEAST_TARGET,
    ClassFamily,
    ClassLoss,
    class_contrasts,
    class_deviances,
    class_losses,
)
from .family import Contrasts, NullModel, ProjectionLoss, diagonal, samplers_by_size, single_output, weighted_means
from .null_glm import canonical_mean, check_unexplained


def contrasts(y: Any) -> Contrasts:
    """Return the indicator of the second class; that of the first has the same score."""
    both = class_contrasts(y)
    if len(both.classes) > 2:
        raise ValueError(
            f'family="binomial" needs 2 classes, but y has {len(both.classes)}: '
            'use family="multinomial" or "auto".'
        )
    return Contrasts(both.columns[:, 1:], both.classes, both.column_classes[1:])


def null_model(y: Any, covariates: Floats, offset: Floats, weights: Floats) -> NullModel:
    """Return ``y - p`` and the variance ``p (1 - p)`` of logistic regression."""
    second = contrasts(y).columns[:, 0]
    [intercept] = null_intercepts(np.atleast_1d(np.average(second, weights=weights)))
    p = canonical_mean(
        second,
        covariates,
        offset,
        weights,
        mean=expit,
        variance=lambda p: p * (1 - p),
        normalizer=lambda eta: np.logaddexp(0, eta),
        intercept=intercept,
    )
    check_unexplained(second - p)
    return NullModel((second - p)[:, None], p * (1 - p))


def null_intercepts(mean: Floats) -> Floats:
    """Return the log odds."""
    mean = np.clip(mean, 1e-8, 1 - 1e-8)
    return np.log(mean / (1 - mean))


def signed_predictor(eta: Floats, y: Any) -> Floats:
    """Return the predictor of the class that was observed."""
    return np.where(y == 1, eta, -eta)


def probabilities(eta: Floats) -> Floats:
    """Return the probabilities of both classes, averaged over the draws."""
    return np.column_stack([expit(-eta).mean(axis=1), expit(eta).mean(axis=1)])


def projection_losses(targets: Floats, eta: Floats, extra: Any) -> Floats:
    """Return ``t log(t / p) + (1 - t) log((1 - t) / (1 - p))``."""
    t, eta = targets[:, 0], eta[:, 0]
    return xlogy(t, t) + xlogy(1 - t, 1 - t) - t * log_expit(eta) - (1 - t) * log_expit(-eta)


BINOMIAL = ClassFamily(
    name="binomial",
    kind="classification",
    predictor="log odds",
    ratio="odds ratio",
    contrasts=contrasts,
    null_model=null_model,
    projection=ProjectionLoss(
        lasso_family="binomial",
        targets=lambda mean: np.clip(single_output(mean), LEAST_TARGET, 1 - LEAST_TARGET),
        link=logit,
        mean=expit,
        residual=lambda targets, means, extra: targets - means,
        information=lambda means, extra: diagonal(means * (1 - means)),
        losses=projection_losses,
    ),
    penalized=ClassLoss(
        outputs=lambda y: np.array(y, dtype=np.float64)[None, :],
        null_intercepts=lambda target, offset, weights: null_intercepts(weighted_means(target, weights)),
        state=lambda eta, target, weights: expit(eta),
        losses=lambda target, eta, weights: class_losses(np.logaddexp(0, eta), target, eta),
        curvature=lambda mean, direction, target, weights: mean * (1 - mean) * direction,
        deviances=lambda predictors, y, weights=None: class_deviances(
            expit(signed_predictor(predictors[:, 0], y))
        ),
    ),
    sampler_model="logistic",
    samplers=samplers_by_size,
    log_likelihood=lambda eta, y, sigma: log_expit(signed_predictor(eta, y[:, None])),
    probabilities=probabilities,
    log_probabilities=lambda eta: log_expit(np.column_stack([-eta[:, 0], eta[:, 0]])),
)
