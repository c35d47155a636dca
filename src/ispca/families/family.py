"""The record of a family: everything the package knows about one distribution of the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._array_types import Floats


class Contrasts(NamedTuple):
    """The columns that the features are scored against, before centering; for classes also the labels."""

    columns: Floats  # samples x contrasts
    classes: Any = None  # sorted labels
    column_classes: tuple[Any, ...] = (None,)  # the class that each column stands for


@dataclass(frozen=True, kw_only=True)
class Family:
    """One distribution of the target.

    ``y`` contains numbers, or codes of the classes from 0 on. Batches of penalized models have the shape
    (samples, outputs, penalties), and draws of a posterior (samples, draws), followed by the classes if there is
    one linear predictor for each.
    """

    name: str  # also the name of the family in the engine's lasso
    classification: bool = False  # whether the target consists of class labels
    per_class: bool = False  # whether every class has its own linear predictor; otherwise there is one
    noise_scale: bool = False  # whether the spread around the mean is a parameter, sigma

    # Screening.
    contrasts: Callable[[Any], Contrasts]  # target as given -> pseudo-responses

    # Penalized models.
    outputs: Callable[[Any], Floats]  # y -> outputs x samples
    null_intercepts: Callable[[Floats], Floats]  # means of the outputs -> intercepts without features
    mean: Callable[[Floats], Floats]  # predictors -> means, of a batch
    loss: Callable[[Floats, Floats], Floats]  # outputs, predictors -> mean negative log likelihood per penalty
    curvature: Callable[[Floats, Floats], Floats]  # means, direction -> second derivative times direction
    mean_curvature: Callable[[Floats], Floats]  # means -> mean second derivative per penalty
    deviances: Callable[[Floats, Any], Floats]  # predictors (penalties x outputs x samples), y -> per sample
    deviance_log_density: Callable[[Floats], Floats]  # mean deviances -> mean log densities per sample

    # Horseshoe models.
    sampler_model: str  # name of the model in the engine's samplers
    pseudo_deviation: float  # standard deviation of an observation, in the scale of the predictor
    samplers: Callable[[int, int], tuple[str, str]]  # samples, features -> sampler, and that of a second attempt
    log_likelihood: Callable[[Floats, Any, Any], Floats]  # draws, y, sigma -> samples x draws
