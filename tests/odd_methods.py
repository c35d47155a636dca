"""Small estimators that tell what happens to them; a plain module, so that worker processes can import it."""

import os
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from threadpoolctl import threadpool_info


def note(path, text):
    """Append a line at once, whoever else does so too."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{text}\n".encode())
    os.close(handle)


class Noted(ClassifierMixin, BaseEstimator):
    """Predicts random probabilities, and notes each fit in a file: marker, process, BLAS threads, samples seen."""

    def __init__(self, path, marker="", pause=0.0, random_state=None):
        self.path = path
        self.marker = marker
        self.pause = pause
        self.random_state = random_state

    def fit(self, X, y):
        threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
        seen = " ".join(str(int(value)) for value in np.asarray(X)[:, 0])
        note(self.path, f"{self.marker}|{os.getpid()}|{threads}|{seen}")
        time.sleep(self.pause)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        rng = np.random.default_rng(self.random_state)
        return rng.dirichlet(np.ones(len(self.classes_)), len(X))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails where the sample with this number is in the training part; with no number always."""

    def __init__(self, number=None):
        self.number = number

    def fit(self, X, y):
        if self.number is None or self.number in np.asarray(X)[:, 0]:
            raise ArithmeticError(f"cannot stand sample {self.number}")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class InColumns(RegressorMixin, BaseEstimator):
    """Predicts the first feature, as a column."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, :1]


class NotANumber(RegressorMixin, BaseEstimator):
    """Gives a density that is not a number."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X, return_std=False):
        mean = np.full(len(X), np.nan)
        return (mean, np.ones(len(X))) if return_std else mean
