"""Small problems for the engine, and its draws."""

import numpy as np

from ispca._engine_loader import load_engine

engine = load_engine()


def problem(model, classes, n=23, k=7, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, k)) + 0.3
    y = rng.normal(size=n) + X[:, 0] if model == "gaussian" else rng.permutation(np.arange(n) % classes)
    return X, y.astype(float)


def draws(model, classes, X, y, **kwargs):
    settings = {"n_classes": classes, "tau0": 0.1, "n_warmup": 200, "n_draws": 100, "seed": 5, **kwargs}
    return engine.sample(model, X, y, **settings)
