"""Held-out predictions of a mixture, from those of its candidates: nothing is fitted again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..foundation.arrays import Floats
from ..kernels.base import KernelMethod
from ..targets import Target
from ..targets.mixture_weights import apply_inverse_temperature, fit_inverse_temperature, stacking_weights
from ..targets.samples import HeldOut, Prediction, log_class_probability

CONCENTRATION = 1.5
# Kernel methods predict well on almost all data sets, so their prior is larger.
KERNEL_CONCENTRATION = 5.0


def concentrations(candidates: Iterable[Any], concentration: float) -> Floats:
    """Return the parameter of the Dirichlet prior of each candidate: that of kernel methods is larger."""
    steps = [dict(item.steps).values() if isinstance(item, Pipeline) else [item] for item in candidates]
    kernels = [any(isinstance(step, KernelMethod) for step in part) for part in steps]
    return np.where(kernels, max(concentration, KERNEL_CONCENTRATION), concentration)


def combined_predictions(
    target: Target, prior: Floats, predictions: Sequence[list[Prediction]], observed: Sequence[HeldOut]
) -> list[Prediction]:
    """Return the mixture of the candidates' predictions of each fold, with weights from all other folds.

    ``prior`` has the `concentrations` of the candidates. ``predictions`` of the held-out samples, by fold and
    candidate, have log densities; ``observed`` is what was observed in each fold. The outcomes of a fold have no
    part in its weights.
    """
    densities = [np.column_stack([np.asarray(part.log_density) for part in row]) for row in predictions]
    mixtures = []
    for number, row in enumerate(predictions):
        others = [k for k in range(len(predictions)) if k != number]
        given = [observed[k].weight for k in others]
        unweighted = any(part is None for part in given)
        weight = None if unweighted else np.concatenate([np.asarray(part) for part in given])
        weights = stacking_weights(np.concatenate([densities[k] for k in others]), prior, weight)
        mixed = target.mix(row, weights)
        if target.has_classes:
            known = [target.mix(predictions[k], weights).probabilities for k in others]
            codes = np.concatenate([observed[k].observed for k in others])
            pooled = np.concatenate([np.asarray(part) for part in known])
            sharp = apply_inverse_temperature(
                np.asarray(mixed.probabilities), fit_inverse_temperature(pooled, codes, weight)
            )
            density = log_class_probability(sharp, observed[number].observed)
            mixed = replace(mixed, probabilities=sharp, log_density=density)
        mixtures.append(mixed)
    return mixtures
