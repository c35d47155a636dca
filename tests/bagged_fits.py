"""Small data of each kind of target, and posteriors bagged over them."""

from functools import cache

import numpy as np
from sklearn.pipeline import make_pipeline

from ispca import (
    ISPCA,
    BaggedPosterior,
    HorseshoeClassifier,
    HorseshoeCounts,
    HorseshoeOrdinal,
    HorseshoeRegressor,
    HorseshoeSurvival,
)

GRADES = ["low", "medium", "high"]
MODELS = {
    "two classes": HorseshoeClassifier(),
    "three classes": HorseshoeClassifier(),
    "quantity": HorseshoeRegressor(),
    "counts": HorseshoeCounts(),
    "ordinal": HorseshoeOrdinal(categories=GRADES),
    "survival": HorseshoeSurvival(),
}
N_BAGS = 6


def draw(kind, n=60, seed=0):
    """Return features of which ten follow a factor, a target that follows it too, and the offset or None."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=n)
    X = rng.normal(size=(n, 80))
    X[:, :10] += 2 * factor[:, None]
    offset = 0.5 * rng.normal(size=n) if kind in ("counts", "survival") else None
    grades = np.digitize(factor + 0.2 * rng.normal(size=n), [-0.5, 0.5])
    if kind == "survival":
        life, end = rng.exponential(np.exp(-2 * factor - offset)), rng.exponential(4.0, size=n)
        y = np.empty(n, dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = life <= end, np.minimum(life, end) + 0.01
        return X, y, offset
    y = {
        "two classes": np.where(factor > 0, "b", "a"),
        "three classes": grades + 1,
        "quantity": 3 * factor + 0.3 * rng.normal(size=n),
        "counts": rng.poisson(np.exp(1 + factor + (0 if offset is None else offset))),
        "ordinal": np.array(GRADES)[grades],
    }[kind]
    return X, y, offset


def options(offset):
    """Return the offset as an argument, if there is one."""
    return {} if offset is None else {"offset": offset}


def unfitted(kind, **settings):
    """Return a bagged posterior of few bags."""
    pipeline = make_pipeline(ISPCA(5, whiten=True, n_permutations=100), MODELS[kind])
    return BaggedPosterior(pipeline, **{"n_bags": N_BAGS, "n_jobs": 1, "random_state": 0, **settings})


@cache
def fitted(kind):
    """Return a bagged posterior of the 60 samples of a kind; shared, never change it."""
    X, y, offset = draw(kind)
    return unfitted(kind).fit(X, y, **options(offset))


def linear_features(bagged, X):
    """Return what the model of all bags takes."""
    return bagged.pipeline_[:-1].transform(X)


def same(table, other):
    """Compare tables column by column, because records with NaN are never equal."""
    assert table.dtype == other.dtype
    for name in table.dtype.names:
        np.testing.assert_array_equal(table[name], other[name])
