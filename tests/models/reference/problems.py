"""The problems with reference posteriors: scores of real data (folder ISPCA_DATA) and simulated inputs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ispca import ISPCA

# name: number of components
REAL = {"leukemia": 50, "prostate": 50, "glioma-4c": 20, "pcmac": 50}
SIMULATED = ("sim-logistic", "sim-softmax", "sim-gaussian")


def problem(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Return inputs Z (n x K), the response y and the number of classes (0: y is a number).

    Raises
    ------
    FileNotFoundError
        If the problem is made of real data that is not there.
    """
    return simulate(name) if name in SIMULATED else reduce(*read(name), REAL[name])


def model_of(n_classes: int) -> str:
    """Return the name of the model: of the Stan program and of the engine's."""
    return {0: "gaussian", 2: "logistic"}.get(n_classes, "softmax")


def tau0(n: int, K: int, n_classes: int, p0: int = 1) -> float:
    """Return the scale of the prior of tau; in units of sigma for the Gaussian model."""
    return p0 / max(K - p0, 1) * (2 if n_classes else 1) / np.sqrt(n)


def fingerprint(Z: np.ndarray) -> np.ndarray:
    """Return one number per column, so that a test can see whether Z and the signs of its columns are the same."""
    return np.cos(np.arange(len(Z))) @ Z


def reduce(X, labels: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return whitened principal components, the number of each sample's class, and the number of classes."""
    classes, y = np.unique(labels, return_inverse=True)
    return ISPCA(n_components=K, n_supervised=0, whiten=True).fit_transform(X), y, len(classes)


def read(name: str):
    """Return X and the labels of a real data set."""
    path = Path(os.environ.get("ISPCA_DATA", "ISPCA_DATA is not set")) / f"{name}.npz"
    with np.load(path, allow_pickle=False) as arrays:
        if "indptr" in arrays:
            parts = arrays["data"].astype(float), arrays["indices"], arrays["indptr"]
            return sp.csr_array(parts, shape=tuple(arrays["shape"])), arrays["y"]
        return arrays["X"].astype(float), arrays["y"]


def simulate(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Return a problem that needs no data; the same numbers on every machine."""
    if name == "sim-logistic":  # three effects, strong enough that half of the samples are certain
        rng = np.random.default_rng(101)
        Z = rng.normal(size=(80, 20))
        effects = 4 * Z[:, 0] - 3 * Z[:, 1] + 2 * Z[:, 2]
        return Z, (rng.logistic(size=80) < 0.5 + effects).astype(int), 2
    if name == "sim-softmax":
        rng = np.random.default_rng(102)
        Z = rng.normal(size=(60, 6))
        coef = np.zeros((6, 3))
        coef[:2] = [[2.0, -1.0, -1.0], [0.0, 1.5, -1.5]]
        return Z, np.argmax(Z @ coef + rng.gumbel(size=(60, 3)), axis=1), 3
    rng = np.random.default_rng(103)
    Z = rng.normal(size=(50, 10))
    return Z, 1.5 + 2 * Z[:, 0] - Z[:, 1] + 0.5 * Z[:, 2] + 0.7 * rng.normal(size=50), 0
