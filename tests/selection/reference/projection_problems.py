"""The problems that projpred and this package both solve: posterior draws of a reference, and features."""

import numpy as np

N_SAMPLES, N_FEATURES, N_DRAWS = 60, 5, 25
SIZES = (0, 2, N_FEATURES)  # the submodels have the first features


def problem(family):
    """Return X, y, linear predictors (samples x draws) that features cannot reproduce, and sigma or None."""
    rng = np.random.default_rng({"gaussian": 1, "binomial": 2}[family])
    X = rng.normal(size=(N_SAMPLES, N_FEATURES)) * [1, 2, 0.5, 10, 1] + [0, 1, 5, -3, 0]
    hidden = rng.normal(size=(N_SAMPLES, 3))
    slopes = rng.normal(size=(N_FEATURES, 1)) / [[1], [2], [0.5], [10], [1]]
    slopes = slopes * rng.normal(1, 0.3, (N_FEATURES, N_DRAWS))
    unexplained = hidden @ rng.normal(size=(3, N_DRAWS))
    predictor = rng.normal(0.3, 0.3, N_DRAWS) + (X - X.mean(axis=0)) @ slopes + unexplained
    sigma = rng.gamma(20, 0.05, N_DRAWS) if family == "gaussian" else None
    center = predictor.mean(axis=1)
    if family == "gaussian":
        return X, center + rng.normal(size=N_SAMPLES), predictor, sigma
    return X, (rng.random(N_SAMPLES) < 1 / (1 + np.exp(-center))).astype(float), predictor, sigma
