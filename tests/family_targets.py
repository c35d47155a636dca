"""A target of every family that depends on features and covariates, for tests of all of them."""

import numpy as np

N_SAMPLES, N_FEATURES = 40, 50
COVARIATES = [N_FEATURES, N_FEATURES + 1]


def make_targets(seed=0):
    """Return features with two covariates in the last columns, and a target for each family."""
    rng = np.random.default_rng(seed)
    covariates = np.column_stack([rng.normal(size=N_SAMPLES), rng.integers(0, 2, N_SAMPLES)])
    X = rng.normal(size=(N_SAMPLES, N_FEATURES)) + np.outer(covariates[:, 0], rng.normal(size=N_FEATURES) / 2)
    X[rng.random(X.shape) < 0.4] = 0.0
    X = np.column_stack([X, covariates])
    eta = X[:, :3].sum(axis=1) + covariates[:, 0]
    noisy = eta + rng.normal(size=N_SAMPLES)
    rates = np.exp(eta / 3)
    time = np.round(rng.exponential(np.exp(-eta / 2)) + 0.05, 2)
    return X, {
        "gaussian": noisy,
        "binomial": (eta + rng.logistic(size=N_SAMPLES) > 0).astype(int),
        "multinomial": np.digitize(noisy, [-1, 1]),
        "poisson": rng.poisson(rates),
        "negative-binomial": rng.poisson(rates * rng.gamma(2, 0.5, N_SAMPLES)),
        "cox": np.array(list(zip(rng.random(N_SAMPLES) < 0.8, time, strict=True)), [("e", bool), ("t", float)]),
        "ordinal": np.digitize(noisy, [-1, 0, 1]),
    }
