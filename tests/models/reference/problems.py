"""The problems with reference posteriors: scores of real data (folder ISPCA_DATA) and simulated inputs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from simulated_problems import SIMULATIONS

from ispca import ISPCA

# name: number of components
REAL = {"leukemia": 50, "prostate": 50, "glioma-4c": 20, "pcmac": 50}
# name: model, file of the data set, number of components
OTHER_TARGETS = {
    "beer-cox": ("cox", "surv-beer", 20),
    "blog-poisson": ("poisson", "count-blog", 10),
    "blog-negative-binomial": ("negative_binomial", "count-blog", 15),
    "riboflavin-ordinal": ("ordinal", "reg-riboflavin", 15),
}
SIMULATED = tuple(SIMULATIONS)
# Standard deviation of an observation in units of the linear predictor, roughly: it scales the prior of tau.
DEVIATIONS = {
    "gaussian": 1.0,
    "logistic": 2.0,
    "softmax": 2.0,
    "poisson": 1.0,
    "negative_binomial": 1.0,
    "cox": 2.0,
    "ordinal": 2.0,
}


class Problem(NamedTuple):
    """Data of one posterior."""

    model: str  # name of the Stan program and of the engine's model
    Z: np.ndarray  # n x K
    y: np.ndarray  # for survival: a structured array of events and times
    n_classes: int = 0  # 0: y does not consist of classes
    weights: np.ndarray | None = None
    offset: np.ndarray | None = None
    # Per column: 0 under the horseshoe, otherwise the standard deviation of the normal prior of its coefficient.
    fixed_scale: np.ndarray | None = None


def problem(name: str) -> Problem:
    """Return a problem by its name.

    Raises
    ------
    FileNotFoundError
        If the problem is made of real data that is not there.
    """
    if name in SIMULATIONS:
        return Problem(**SIMULATIONS[name]())
    if name in OTHER_TARGETS:
        return other_target(*OTHER_TARGETS[name])
    return reduce(*read(name), REAL[name])


def tau0(problem: Problem, p0: int = 1) -> float:
    """Return the scale of the prior of tau; in units of sigma for the Gaussian model."""
    n, K = problem.Z.shape
    return p0 / max(K - p0, 1) * DEVIATIONS[problem.model] / np.sqrt(n)


def fingerprint(Z: np.ndarray) -> np.ndarray:
    """Return one number per column, so that a test can see whether Z and the signs of its columns are the same."""
    return np.cos(np.arange(len(Z))) @ Z


def components(X, K: int) -> np.ndarray:
    """Return whitened principal components."""
    return ISPCA(n_components=K, n_supervised=0, whiten=True).fit_transform(X)


def reduce(X, labels: np.ndarray, K: int) -> Problem:
    """Return the problem of classes given principal components."""
    classes, y = np.unique(labels, return_inverse=True)
    return Problem("logistic" if len(classes) == 2 else "softmax", components(X, K), y, len(classes))


def other_target(model: str, name: str, K: int) -> Problem:
    """Return the problem of survival times, counts or ordered classes given principal components.

    Counts are those of the first two days, or of one for the Poisson model, which would otherwise leave so little
    doubt that Stan needs trees of the greatest depth. Ordered classes are the fifths of a quantity.
    """
    with np.load(data_file(name), allow_pickle=False) as arrays:
        X = arrays["X"].astype(float)
        if model == "cox":
            y = np.empty(len(X), dtype=[("event", bool), ("time", float)])
            y["event"], y["time"] = arrays["event"], arrays["time"]
            return Problem(model, components(X, K), y)
        y = arrays["y"]
        if model == "ordinal":
            limits = np.quantile(y, [0.2, 0.4, 0.6, 0.8])
            return Problem(model, components(X, K), np.searchsorted(limits, y), 5)
        rows = arrays["day"] < (1 if model == "poisson" else 2)
    X = X[rows]
    # The columns have different units and long tails.
    return Problem(model, components(np.sign(X) * np.log1p(np.abs(X)), K), y[rows])


def data_file(name: str) -> Path:
    """Return the file of a real data set."""
    return Path(os.environ.get("ISPCA_DATA", "ISPCA_DATA is not set")) / f"{name}.npz"


def read(name: str):
    """Return X and the labels of a real data set."""
    with np.load(data_file(name), allow_pickle=False) as arrays:
        if "indptr" in arrays:
            parts = arrays["data"].astype(float), arrays["indices"], arrays["indptr"]
            return sp.csr_array(parts, shape=tuple(arrays["shape"])), arrays["y"]
        return arrays["X"].astype(float), arrays["y"]
