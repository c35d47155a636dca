"""Held-out predictions of a mixture, from those of its candidates: nothing is fitted again."""

from __future__ import annotations

import numpy as np

from ..foundation.arrays import Floats
from ..targets import Target
from ..targets.mixture_weights import concentrations, stacking_weights
from ..targets.samples import Prediction

CONCENTRATION = 1.5


def combined_predictions(
    target: Target, names: list[str], predictions: list[list[Prediction]], sample_weight: list[Floats] | None
) -> list[Prediction]:
    """Return the mixture of the candidates' predictions of each fold, with weights from all other folds.

    Parameters
    ----------
    target : Target
        Kind of target.
    names : list of str
        Names of the candidates.
    predictions : list of list of Prediction
        Predictions of the held-out samples, by fold and candidate, with log densities.
    sample_weight : list of ndarray or None
        Weights of the held-out samples of each fold.

    Returns
    -------
    mixtures : list of Prediction
        One for each fold. The outcomes of a fold have no part in its weights.
    """
    prior = concentrations(names, CONCENTRATION)
    densities = [np.column_stack([np.asarray(part.log_density) for part in row]) for row in predictions]
    mixtures = []
    for number, row in enumerate(predictions):
        others = [k for k in range(len(predictions)) if k != number]
        weight = None if sample_weight is None else np.concatenate([sample_weight[k] for k in others])
        weights = stacking_weights(np.concatenate([densities[k] for k in others]), prior, weight)
        mixtures.append(target.mix(row, weights))
    return mixtures
