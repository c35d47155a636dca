"""The problems that glmnet and our tests solve: simulated with NumPy's frozen generator, or real."""

import numpy as np
import scipy.sparse as sp


def simulate(name):
    """Return X, y and the folds of a simulated problem."""
    rng = np.random.RandomState(sum(map(ord, name)))
    if name == "binomial":
        X = rng.normal(size=(60, 150)) * rng.uniform(0.2, 5, 150) + rng.normal(0, 3, 150)
        X[:, 5:15] += 2 * rng.normal(size=(60, 1))
        y = (X[:, 5] - X[:, 5].mean() + rng.normal(size=60) > 0).astype(int)
    elif name == "multinomial":
        X = rng.normal(size=(90, 80))
        y = (X[:, :4] * 1.5 + rng.gumbel(size=(90, 4))).argmax(axis=1)
    elif name == "gaussian":
        X = rng.normal(size=(80, 30)) + rng.normal(size=(80, 1))
        y = 40 + 5 * X[:, 0] - 3 * X[:, 1] + 4 * rng.normal(size=80)
    elif name == "gaussian-wide":
        X = rng.normal(size=(40, 100)) + rng.normal(size=(40, 1))
        y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=40)
    elif name == "words":
        X = rng.poisson(0.15, size=(120, 200)).astype(float)
        y = (X[:, :8].sum(axis=1) - X[:, 8:16].sum(axis=1) + rng.normal(size=120) > 0).astype(int)
        X = sp.csr_array(X)
    elif name == "poisson":
        X = rng.normal(size=(80, 120)) * rng.uniform(0.2, 5, 120) + rng.normal(0, 3, 120)
        standard = (X - X.mean(axis=0)) / X.std(axis=0)
        y = rng.poisson(np.exp(1 + standard[:, 0] - 0.5 * standard[:, 1]))
    elif name == "cox":
        X = rng.normal(size=(80, 120)) * rng.uniform(0.2, 5, 120)
        standard = X / X.std(axis=0)
        death, end = rng.exponential(np.exp(standard[:, 1] - standard[:, 0])), rng.exponential(2, 80)
        y = np.empty(80, dtype=[("event", bool), ("time", float)])
        # Rounded, so that there are ties, also of events with censored times.
        y["event"], y["time"] = death < end, np.ceil(20 * np.minimum(death, end)) / 20
    return X, y, folds_of(y, X.shape[0])


def folds_of(y, n, n_folds=10):
    """Return the fold of each sample, from 0 on, classes spread evenly."""
    groups = y if y.dtype.kind in "iu" else np.zeros(n, dtype=int)
    order = np.argsort(groups, kind="stable")
    folds = np.empty(n, dtype=int)
    folds[order] = np.arange(n) % n_folds
    return folds


SIMULATED = ["binomial", "multinomial", "gaussian", "gaussian-wide", "words", "poisson"]
# cv.glmnet has another held-out deviance than we for these, so only the path is compared.
PATH_ONLY = ["cox"]
# Name, and penalties that glmnet solves tightly in a minute.
REAL = {"colon": ["lasso", "ridge"], "pcmac": ["lasso"]}


def family_of(name):
    """Return the family of a problem."""
    return {"gaussian-wide": "gaussian", "words": "binomial"}.get(name, "binomial" if name in REAL else name)
