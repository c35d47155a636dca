"""What the families of class labels share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..foundation.arrays import Floats
from .family import Contrasts, Family, PenalizedLoss

# A held-out sample never costs more than this probability does, as in cv.glmnet.
LEAST_PROBABILITY = 1e-5
# A reference that is certain is projected as one that is almost certain, because no coefficient is large enough.
LEAST_TARGET = 1e-9


def class_contrasts(y: Any) -> Contrasts:
    """Return an indicator of each class."""
    try:
        classes = np.unique(y)
    except TypeError:
        raise ValueError(
            "y mixes labels of different types, such as text and numbers. Convert all of them to strings."
        ) from None
    if len(classes) == 1:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}); "
            "a classification target needs samples of 2 classes or more."
        )
    return Contrasts((y[:, None] == classes).astype(np.float64), classes, tuple(classes.tolist()))


def class_losses(normalizer: Floats, target: Floats, eta: Floats) -> Floats:
    """Return the negative log probabilities; the normalizer is the log of the sum of exponentials."""
    losses: Floats = normalizer - (target * eta).sum(axis=1, keepdims=True)
    return losses


def class_deviances(probabilities: Floats) -> Floats:
    """Return minus twice the log of the probabilities of what was observed."""
    return -2 * np.log(np.clip(probabilities, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))


def class_log_density(deviance: Floats) -> Floats:
    """Return the mean log probability that belongs to a mean deviance."""
    return -0.5 * deviance


def class_mean_curvature(mean: Floats) -> Floats:
    """Return the mean variance of the indicators, kept away from zero."""
    return np.maximum((mean * (1 - mean)).mean(axis=(0, 1)), 1e-8)


@dataclass(frozen=True, kw_only=True)
class ClassLoss(PenalizedLoss):
    """The loss of penalized models of a class label."""

    mean_curvature: Callable[[Floats], Floats] = class_mean_curvature
    deviance_log_density: Callable[[Floats], Floats] = class_log_density


@dataclass(frozen=True, kw_only=True)
class ClassFamily(Family):
    """The distribution of a class label."""

    classification: bool = True
    contrasts: Callable[[Any], Contrasts] = class_contrasts
    # Of a binary observation (Piironen and Vehtari, 2017).
    pseudo_deviation: Callable[[Any, Floats], float] = lambda y, weights: 2.0
    probabilities: Callable[[Floats], Floats]  # draws -> samples x classes, averaged over the draws
    log_probabilities: Callable[[Floats], Floats]  # predictors, samples x outputs -> samples x classes
