"""Small stacks that fit quickly, and data for them."""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import ARDRegression, BayesianRidge, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from ispca import StackedClassifier, StackedRegressor
from ispca.targets.base_rates import BaseRateRegressor

QUICK = [("logistic", LogisticRegression()), ("bayes", GaussianNB()), ("base rate", DummyClassifier())]
NORMAL = [("ridge", BayesianRidge()), ("ard", ARDRegression()), ("base rate", BaseRateRegressor())]


def classifier(estimators=QUICK, **options):
    return StackedClassifier(estimators, **{"n_jobs": 1, "random_state": 0, **options})


def regressor(estimators=NORMAL, **options):
    return StackedRegressor(estimators, **{"n_jobs": 1, "random_state": 0, **options})


def make_classes(rng):
    """The first feature is the number of the sample."""
    X = rng.normal(size=(60, 6))
    y = np.where(X[:, 1] + 0.5 * rng.normal(size=60) > 0, "sick", "healthy")
    X[:, 0] = np.arange(60)
    return X, y


def make_values(rng):
    X = rng.normal(size=(80, 4))
    return X, 3 + X[:, 0] + 0.5 * rng.normal(size=80)
