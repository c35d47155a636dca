"""The problems to measure: real data where ISPCA_DATA points to it, simulated data of the same shape elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

# name: samples, features, classes, share of nonzeros (None: dense)
SHAPES = {
    "ovarian": (54, 1536, 2, None),
    "colon": (62, 2000, 2, None),
    "prostate": (102, 5966, 2, None),
    "leukemia": (72, 7129, 2, None),
    "chowdary": (104, 22283, 2, None),
    "gordon": (181, 12533, 2, None),
    "glioma-4c": (50, 4434, 4, None),
    "lung-5c-1543": (203, 1543, 5, None),
    "arcene": (200, 10000, 2, None),
    "dexter": (600, 20000, 2, 0.0047),
    "pcmac": (1943, 3289, 2, 0.0146),
    "basehock": (1993, 4862, 2, 0.0139),
}


@dataclass(frozen=True)
class Problem:
    name: str
    X: Any
    y: np.ndarray
    real: bool

    @property
    def n_columns(self) -> int:
        """Columns of the response: one for two classes, else one per class."""
        n_classes = len(np.unique(self.y))
        return 1 if n_classes == 2 else n_classes

    @property
    def n_components(self) -> int:
        """Components in the paper's experiments: 50 for two classes, 20 for more."""
        return 50 if self.n_columns == 1 else 20


def load(name: str) -> Problem:
    """Return one problem, in double precision as a user would hold it."""
    directory = os.environ.get("ISPCA_DATA")
    path = Path(directory) / f"{name}.npz" if directory else None
    if path is None or not path.exists():
        return simulate(name)
    with np.load(path, allow_pickle=False) as arrays:
        if "indptr" in arrays:
            parts = arrays["data"].astype(float), arrays["indices"], arrays["indptr"]
            X = sp.csr_array(parts, shape=tuple(arrays["shape"]))
        else:
            X = arrays["X"].astype(float)
        return Problem(name, X, arrays["y"], True)


def simulate(name: str) -> Problem:
    """Return data of the same shape: a few features follow the classes."""
    n, n_features, n_classes, density = SHAPES[name]
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % n_classes)
    if density is None:
        X = rng.normal(size=(n, n_features))
        X[:, :30] += rng.normal(size=(n_classes, 1))[y]
        return Problem(name, X, y, False)
    X = sp.random_array((n, n_features), density=density, rng=rng, format="lil")
    X[:, :30] = rng.poisson(0.2 + 0.4 * (y[:, None] == np.arange(30) % n_classes))
    return Problem(name, X.tocsr(), y, False)
