"""References of every kind on simulated data, with predictions to project."""

from functools import cache

import numpy as np

from ispca import (
    HorseshoeClassifier,
    HorseshoeCounts,
    HorseshoeOrdinal,
    HorseshoeRegressor,
    HorseshoeSurvival,
)
from ispca.families.survival_target import survival_target
from ispca.selection.reference import reference_predictions
from ispca.targets import find_target
from ispca.targets.samples import Samples

SHORT = {"n_warmup": 300, "n_draws": 100, "retry": False, "random_state": 0}
KINDS = ("gaussian", "binomial", "multinomial", "poisson", "negative-binomial", "ordinal", "cox")
NONE = np.array([], dtype=np.intp)


def features(n_samples=120, n_features=6, seed=0):
    """Return independent features; the target depends on the first two."""
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def make_target(kind, Z, seed=1):
    """Return a target of a kind, its description and an offset or None."""
    rng, n = np.random.default_rng(seed), len(Z)
    signal, offset = Z[:, 0] - Z[:, 1], 0.3 * rng.normal(size=n)
    if kind == "gaussian":
        return signal + rng.normal(size=n), find_target("regression"), None
    if kind == "binomial":
        return (signal + rng.logistic(size=n) > 0).astype(int), find_target("classification", np.arange(2)), None
    if kind == "multinomial":
        scores = np.column_stack([signal, Z[:, 2], np.zeros(n)]) + rng.gumbel(size=(n, 3))
        return scores.argmax(axis=1), find_target("classification", np.arange(3)), None
    if kind == "poisson":
        return rng.poisson(np.exp(0.5 * signal + offset)), find_target("count"), offset
    if kind == "negative-binomial":
        return rng.poisson(np.exp(0.5 * signal) * rng.gamma(2, 0.5, n)), find_target("count"), None
    if kind == "ordinal":
        return np.digitize(2 * signal + rng.logistic(size=n), [-1, 1]), find_target("ordinal", np.arange(3)), None
    death, end = rng.exponential(np.exp(-signal)), rng.exponential(2, size=n)
    return survival_target((death < end, np.minimum(death, end))), find_target("survival"), None


def model_of(kind):
    """Return the horseshoe model of a kind."""
    return {
        "gaussian": HorseshoeRegressor,
        "binomial": HorseshoeClassifier,
        "multinomial": HorseshoeClassifier,
        "poisson": HorseshoeCounts,
        "negative-binomial": lambda **options: HorseshoeCounts(family="negative-binomial", **options),
        "ordinal": HorseshoeOrdinal,
        "cox": HorseshoeSurvival,
    }[kind](**SHORT)


def reference_of(kind, Z, n_draws=50):
    """Return a fitted reference and its predictions."""
    y, target, offset = make_target(kind, Z)
    model = _fit(kind, Z.shape, Z.tobytes())
    return model, reference_predictions(model, Samples(Z, y, None, None, offset), target, n_draws)


@cache
def _fit(kind, shape, content):
    Z = np.frombuffer(content).reshape(shape)
    y, _, offset = make_target(kind, Z)
    return model_of(kind).fit(Z, y, **({} if offset is None else {"offset": offset}))
