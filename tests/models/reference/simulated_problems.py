"""Simulated problems with reference posteriors: the same numbers on every machine."""

from __future__ import annotations

import numpy as np


def logistic() -> dict:
    """Three effects, strong enough that half of the samples are certain."""
    rng = np.random.default_rng(101)
    Z = rng.normal(size=(80, 20))
    effects = 4 * Z[:, 0] - 3 * Z[:, 1] + 2 * Z[:, 2]
    y = (rng.logistic(size=80) < 0.5 + effects).astype(int)
    return {"model": "logistic", "Z": Z, "y": y, "n_classes": 2}


def softmax() -> dict:
    """Three classes."""
    rng = np.random.default_rng(102)
    Z = rng.normal(size=(60, 6))
    coef = np.zeros((6, 3))
    coef[:2] = [[2.0, -1.0, -1.0], [0.0, 1.5, -1.5]]
    y = np.argmax(Z @ coef + rng.gumbel(size=(60, 3)), axis=1)
    return {"model": "softmax", "Z": Z, "y": y, "n_classes": 3}


def gaussian() -> dict:
    """Three effects and little noise."""
    rng = np.random.default_rng(103)
    Z = rng.normal(size=(50, 10))
    y = 1.5 + 2 * Z[:, 0] - Z[:, 1] + 0.5 * Z[:, 2] + 0.7 * rng.normal(size=50)
    return {"model": "gaussian", "Z": Z, "y": y}


def poisson() -> dict:
    """Counts with an exposure, and samples of different weights."""
    rng = np.random.default_rng(104)
    Z = rng.normal(size=(80, 8))
    offset = rng.normal(0, 0.7, size=80)
    y = rng.poisson(np.exp(0.5 + 0.8 * Z[:, 0] - 0.5 * Z[:, 1] + offset))
    return {"model": "poisson", "Z": Z, "y": y, "offset": offset, "weights": rng.choice([0.5, 1.0, 2.0], 80)}


def negative_binomial() -> dict:
    """Counts with twice the spread of the Poisson ones, an exposure, weights and an unpenalized column."""
    rng = np.random.default_rng(105)
    Z = rng.normal(size=(100, 8))
    offset = rng.normal(0, 0.7, size=100)
    mu = np.exp(1.0 + 0.8 * Z[:, 0] - 0.5 * Z[:, 1] + offset)
    return {
        "model": "negative_binomial",
        "Z": Z,
        "y": rng.poisson(mu * rng.gamma(1.5, 1 / 1.5, size=100)),
        "weights": rng.choice([0.5, 1.0, 2.0], 100),
        "offset": offset,
        "fixed_scale": fixed_scales(8, 1),
    }


def cox() -> dict:
    """Survival times in whole months, so that many are tied, a third of them censored; one unpenalized column."""
    rng = np.random.default_rng(106)
    Z = rng.normal(size=(90, 8))
    survival = rng.exponential(10 / np.exp(Z[:, 0] - 0.6 * Z[:, 1]))
    censoring = rng.exponential(25, size=90)
    y = np.empty(90, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = survival <= censoring, np.ceil(np.minimum(survival, censoring))
    return {"model": "cox", "Z": Z, "y": y, "fixed_scale": fixed_scales(8, 1)}


def ordinal() -> dict:
    """Four ordered classes, weights and an unpenalized column."""
    rng = np.random.default_rng(107)
    Z = rng.normal(size=(90, 8))
    latent = 1.5 * Z[:, 0] - Z[:, 1] + rng.logistic(size=90)
    y = np.searchsorted([-1.5, 0.0, 2.0], latent)
    weights = rng.choice([0.5, 1.0, 2.0], 90)
    return {
        "model": "ordinal",
        "Z": Z,
        "y": y,
        "n_classes": 4,
        "weights": weights,
        "fixed_scale": fixed_scales(8, 1),
    }


def fixed_scales(K: int, column: int) -> np.ndarray:
    """Return the scales of unpenalized columns: 10 for one of them."""
    scale = np.zeros(K)
    scale[column] = 10.0
    return scale


SIMULATIONS = {
    "sim-logistic": logistic,
    "sim-softmax": softmax,
    "sim-gaussian": gaussian,
    "sim-poisson": poisson,
    "sim-negative-binomial": negative_binomial,
    "sim-cox": cox,
    "sim-ordinal": ordinal,
}
