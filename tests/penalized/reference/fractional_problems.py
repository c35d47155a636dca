"""Problems with fractional targets and penalty factors that glmnet and our tests solve."""

import numpy as np

NAMES = ["gaussian", "binomial", "multinomial", "poisson"]
N_LAMBDAS, RATIO = 60, 0.01


def simulate(name):
    """Return X, the target (outputs x samples), the offset and the penalty factors of a problem."""
    rng = np.random.RandomState(sum(map(ord, name)))
    X = rng.normal(size=(70, 90)) * rng.uniform(0.2, 5, 90) + rng.normal(0, 3, 90)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    factors = rng.uniform(0.3, 3, 90)
    factors[[1, 20]] = 0
    offset = rng.normal(0, 0.5, 70) if name == "poisson" else None
    eta = 1.5 * standard[:, :4] - standard[:, 10:14] + 0.3 * rng.normal(size=(70, 4))
    if name == "gaussian":
        outputs = eta[:, :1].T
    elif name == "binomial":
        outputs = 1 / (1 + np.exp(-eta[:, :1].T))
    elif name == "multinomial":
        outputs = (np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)).T
    else:
        outputs = np.exp(0.5 * eta[:, :1].T + offset)
    return X, np.ascontiguousarray(outputs), offset, factors
