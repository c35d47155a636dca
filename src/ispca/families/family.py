"""The record of a family: everything the package knows about one distribution of the target, and its losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..foundation.arrays import Floats


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


def keep_submodels(submodels: Submodels, projected: Projected) -> Submodels:
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
    finish: Callable[[Submodels, Projected], Submodels] = keep_submodels  # completes the submodels


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


# Samples, and samples per feature, from which the blocked sampler is faster (docs/speed.md).
BLOCKED_SAMPLES = 200
BLOCKED_SAMPLES_PER_FEATURE = 12


class Contrasts(NamedTuple):
    """The columns that the features are scored against, before centering; for classes also the labels."""

    columns: Floats  # samples x contrasts
    classes: Any = None  # sorted labels
    column_classes: tuple[Any, ...] = (None,)  # the class that each column stands for


class NullModel(NamedTuple):
    """What the features are screened against: the model of covariates and offset only, without any feature.

    Residuals and weights are per unit of sample weight, and only their ratios between samples matter.
    """

    residuals: (
        Floats  # samples x contrasts: slopes of the log likelihood in the linear predictor, such as y - mean
    )
    weights: Floats  # samples: its expected curvature, such as the variance of y
    # Samples: the linear predictor, if permutations exchange only samples of similar predictors
    risk: Floats | None = None


def samplers_by_size(n_samples: int, n_features: int) -> tuple[str, str]:
    """Return the sampler measured to be faster; what does not mix blockwise may do so jointly."""
    many = n_samples >= max(BLOCKED_SAMPLES, BLOCKED_SAMPLES_PER_FEATURE * n_features)
    return "blocked" if many else "nuts", "nuts"


def weighted_means(target: Floats, weights: Floats | None) -> Floats:
    """Return the mean of each output (samples x outputs)."""
    means: Floats = np.average(target, axis=0, weights=weights)
    return means


def target_minus_mean(target: Floats, mean: Floats) -> Floats:
    """Return the residuals of a model with canonical link."""
    return target - mean


@dataclass(frozen=True, kw_only=True)
class PenalizedLoss:
    """What penalized models need. Batches have the shape (samples, outputs, penalties).

    ``state`` is what residuals and curvatures are computed from, such as the means. Weights are (samples, 1, 1),
    or None if all are equal; only a loss that compares samples with each other uses them.
    """

    outputs: Callable[[Any], Floats]  # y -> outputs x samples
    # Outputs (samples x outputs), offset, weights (samples, or None) -> intercepts without features
    null_intercepts: Callable[[Floats, Floats | None, Floats | None], Floats]
    state: Callable[[Floats, Floats, Floats | None], Floats]  # predictors, outputs, weights -> state
    residual: Callable[[Floats, Floats], Floats] = target_minus_mean  # outputs, state -> slopes
    # State, direction, outputs, weights -> second derivative times direction
    curvature: Callable[[Floats, Floats, Floats, Floats | None], Floats]
    mean_curvature: Callable[[Floats], Floats]  # state -> mean second derivative per penalty
    losses: Callable[[Floats, Floats, Floats | None], Floats]  # outputs, predictors, weights -> per sample
    # predictors (penalties x outputs x samples), y, weights or None -> per sample
    deviances: Callable[..., Floats]
    deviance_log_density: Callable[[Floats], Floats]  # mean deviances -> mean log densities per sample


@dataclass(frozen=True, kw_only=True)
class Family:
    """One distribution of the target.

    ``y`` contains numbers, codes of the classes from 0 on, or events and times. Draws of a posterior have the
    shape (samples, draws), followed by the classes if there is one linear predictor for each.
    """

    name: str  # also the name of the family in the engine's lasso
    classification: bool = False  # whether the target consists of class labels
    per_class: bool = False  # whether every class has its own linear predictor; otherwise there is one
    ordered: bool = False  # whether the target consists of ordered classes, separated by thresholds
    kind: str = "regression"  # the kind of target
    predictor: str = "target"  # what a coefficient changes, in words
    ratio: str = ""  # what the exponential of a coefficient is called; empty if it means nothing
    noise_scale: bool = False  # whether the spread around the mean is a parameter, sigma
    target: Callable[[Any], Any] = np.asarray  # target as users pass it -> array with one entry per sample

    # Screening.
    contrasts: Callable[[Any], Contrasts]  # target as given -> pseudo-responses, or what is wrong with it
    # Target as given, covariates (the constant first), offset and sample weights -> residuals and weights.
    null_model: Callable[[Any, Floats, Floats, Floats], NullModel]
    constant_weights: bool = True  # whether the null model without covariates and offset has equal weights
    unbounded_variance: bool = False  # whether the variance grows with the mean, so that residuals need units

    # Projection onto submodels.
    projection: ProjectionLoss

    # Penalized models; None if there are none.
    penalized: PenalizedLoss | None = None

    # Horseshoe models.
    sampler_model: str  # name of the model in the engine's samplers
    engine_target: Callable[[Any], Any] = np.asarray  # y -> one number per sample, as the engine needs it
    intercept: bool = True  # whether the linear predictor has an intercept
    # y, sample weights -> standard deviation of an observation, in units of the predictor
    pseudo_deviation: Callable[[Any, Floats], float]
    samplers: Callable[[int, int], tuple[str, str]]  # samples, features -> sampler, and that of a second attempt
    extra: str = ""  # what the likelihood needs beside the predictor, a field of Posterior
    # What the convergence of its draws is assessed by: a name, and a function of the draws.
    monitored: tuple[str, Callable[[Floats], Floats]] | None = None
    log_likelihood: Callable[[Floats, Any, Any], Floats]  # draws, y, those of extra -> samples x draws
