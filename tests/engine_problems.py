"""Small problems for the engine, its draws, and likelihoods written down from the formulas."""

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


def outputs(model, classes):
    return classes if model == "softmax" else 1


def log1pexp(x):
    positive = x.real > 0
    return np.where(positive, x, 0) + np.log(1 + np.exp(np.where(positive, -x, x)))


def log_likelihood(model, y, f, log_sigma):
    """Return the log likelihood of predictors f (samples x outputs) without tricks; they may be complex."""
    if model == "gaussian":
        return -len(y) * log_sigma - ((y - f[:, 0]) ** 2).sum() / (2 * np.exp(2 * log_sigma))
    if model == "logistic":
        return -log1pexp(-(2 * y - 1) * f[:, 0]).sum()
    top = f.real.max(1, keepdims=True)
    picked = np.take_along_axis(f - top, y.astype(int)[:, None], 1).sum()
    return picked - np.log(np.exp(f - top).sum(1)).sum()


def complex_step(function, q):
    """Return the gradient of a function that accepts complex numbers."""
    step = 1e-30
    return np.array([function(q + 1j * step * unit).imag / step for unit in np.eye(len(q))])
