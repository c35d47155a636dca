"""Small data of each kind of target, for the tests of comparisons and stacks."""

import numpy as np


def features(rng, n=80):
    """Return features of which the first drives the target."""
    return rng.normal(size=(n, 4))


def survival_data(rng, n=80):
    """Return features and a structured array of events and times."""
    X = features(rng, n)
    life, end = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2.0, size=n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = life <= end, np.minimum(life, end) + 0.01
    return X, y


def count_data(rng, n=80):
    """Return features and counts."""
    X = features(rng, n)
    return X, rng.poisson(np.exp(1 + 0.7 * X[:, 0]))


def ordinal_data(rng, n=80):
    """Return features and grades from 1 to 3."""
    X = features(rng, n)
    return X, 1 + np.digitize(2 * X[:, 0] + rng.logistic(size=n), [-1, 1])
