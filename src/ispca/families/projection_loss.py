"""What projections onto submodels need of a family: divergences, slopes and information, in batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats


class Submodels(NamedTuple):
    """Submodels of several draws: one linear predictor for each output of a draw."""

    intercept: Floats  # draws x outputs
    coef: Floats  # draws x outputs x features
    extra: Floats | None  # draws first: what the likelihood needs beside the predictor


class Projected(NamedTuple):
    """The predictions of a reference and of its submodels, from which the rest of the submodels follows."""

    targets: Floats  # draws x outputs x samples: predictions of the reference
    means: Floats  # draws x outputs x samples: predictions of the submodels
    sample_weight: Floats  # samples; their sum is 1


def unchanged(submodels: Submodels, projected: Projected) -> Submodels:
    """Return submodels whose linear predictors say everything."""
    return submodels


def mean_extra(extra: Floats, weights: Floats, spread: Floats) -> Floats:
    """Return the mean of several draws."""
    mean: Floats = np.tensordot(weights, extra, axes=1)
    return mean


def mean_divergence(losses: Floats) -> Floats:
    """Return the mean divergence itself."""
    return losses


def noise_divergence(losses: Floats) -> Floats:
    """Return the divergence after the noise of the submodel has grown by what it does not explain.

    With ``losses`` the mean squared error over twice the variance of the noise, it is
    ``log(new deviation / old deviation)``.
    """
    return 0.5 * np.log1p(2 * losses)


@dataclass(frozen=True, kw_only=True)
class ProjectionLoss:
    """The Kullback-Leibler divergence from a reference's predictions, as a function of the linear predictors.

    Targets, predictors and means have the shape (problems, outputs, samples); extras have the problems first.
    """

    lasso_family: str  # family of the engine's lasso that proposes features
    # Mean predictions (samples x draws, or samples x draws x classes) -> targets, where every divergence is finite
    targets: Callable[[Floats], Floats]
    link: Callable[[Floats], Floats]  # targets -> linear predictors
    mean: Callable[[Floats], Floats]  # linear predictors -> means
    residual: Callable[[Floats, Floats, Any], Floats]  # targets, means, extra -> negative slopes of the divergence
    # Means, extra -> expected curvature, problems x outputs x outputs x samples
    information: Callable[[Floats, Any], Floats]
    losses: Callable[[Floats, Floats, Any], Floats]  # targets, predictors, extra -> divergence of each sample
    quadratic: bool = False  # whether one Newton step is exact
    divergence: Callable[[Floats], Floats] = mean_divergence  # mean losses -> divergences
    # Extra of some draws, their weights, mean spread of their targets -> extra of their cluster
    pooled: Callable[[Floats, Floats, Floats], Floats] = mean_extra
    finish: Callable[[Submodels, Projected], Submodels] = unchanged  # completes the submodels


def single_output(mean: Floats) -> Floats:
    """Return means (samples x draws) as targets with one output."""
    return np.ascontiguousarray(mean.T)[:, None, :]


def diagonal(curvature: Floats) -> Floats:
    """Return the curvature of a single output as information."""
    return curvature[:, :, None, :]


def column(extra: Floats) -> Floats:
    """Return one number per problem in a shape that goes with predictors."""
    return extra[:, None, None]


def squared_error(variance: Callable[[Any], Any], **others: Any) -> ProjectionLoss:
    """Return least squares, relative to the variance of the noise."""
    return ProjectionLoss(
        lasso_family="gaussian",
        targets=single_output,
        link=lambda targets: targets,
        mean=lambda eta: eta,
        residual=lambda targets, means, extra: targets - means,
        information=lambda means, extra: np.ones((*means.shape[:2], *means.shape[1:])),
        losses=lambda targets, eta, extra: 0.5 * ((targets - eta) ** 2 / variance(extra))[:, 0],
        quadratic=True,
        divergence=noise_divergence,
        **others,
    )
