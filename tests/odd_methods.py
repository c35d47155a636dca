"""Small estimators that tell what happens to them; a plain module, so that worker processes can import it."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import BayesianRidge, LogisticRegression
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


class GroupsNoted(Noted):
    """Notes the groups it is given for its own folds, instead of the samples."""

    def fit(self, X, y, groups=None):
        note(self.path, "none" if groups is None else " ".join(map(str, groups)))
        self.classes_ = np.unique(y)
        return self


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


class Impossible(ClassifierMixin, BaseEstimator):
    """A good classifier whose predictions are impossible where the first feature is above a bound."""

    def __init__(self, kind, above=-np.inf):
        self.kind = kind
        self.above = above

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_.astype(object)
        if self.kind == "unknown class":
            self.classes_[0] = "perhaps"
        if self.kind == "repeated class":
            self.classes_[0] = self.classes_[1]
        return self

    def predict_proba(self, X):
        P = self.model_.predict_proba(X)
        row = np.flatnonzero(np.asarray(X)[:, 0] > self.above)[:1]
        if self.kind == "five":
            # The column of the more probable class: what came true mostly gets "probability" 5.
            P[np.asarray(X)[:, 0] > self.above] = 5.0
        if self.kind == "shape":
            P = np.column_stack([P, P[:, :1]])
        if self.kind == "masked":
            P = np.ma.masked_less(P, 0.2)
        P[row, 0] = {"infinite": np.inf, "one NaN": np.nan, "negative": -0.1}.get(self.kind, P[row, 0])
        P[row] *= 1.01 if self.kind == "sum" else 1.0
        return P.astype(complex) if self.kind == "complex" else P

    def predict(self, X):
        labels = self.model_.predict(X).astype(object)
        if self.kind == "unknown label":
            labels[0] = "perhaps"
        return np.column_stack([labels] * 2) if self.kind == "square" else labels


class ImpossibleValues(RegressorMixin, BaseEstimator):
    """A good regression whose predictions are impossible where the first feature is above a bound."""

    def __init__(self, kind, above=-np.inf):
        self.kind = kind
        self.above = above

    def fit(self, X, y):
        self.model_ = BayesianRidge().fit(X, y)
        return self

    def _change(self, values, kind, new, X):
        row = np.flatnonzero(np.asarray(X)[:, 0] > self.above)[:1]
        if self.kind == kind:
            values[row] = new
        return values

    def predict(self, X, return_std=False):
        mean, spread = self.model_.predict(X, return_std=True)
        mean, spread = self._change(mean, "mean", np.nan, X), self._change(spread, "spread", 0.0, X)
        return (mean, spread) if return_std else mean

    def log_predictive_density(self, X, y):
        density = norm.logpdf(y, *self.model_.predict(X, return_std=True))
        return self._change(density, "density", np.inf, X)

    def predict_interval(self, X, probability=0.9):
        mean, spread = self.model_.predict(X, return_std=True)
        ends = np.column_stack([mean - 2 * spread, mean + 2 * spread])
        ends = self._change(ends, "ends", [1.0, 0.0], X)
        ends = self._change(ends, "NaN ends", [np.nan, 0.0], X)
        return self._change(ends, "wide", [-np.inf, np.inf], X)


class Shy(LogisticRegression):
    """Raises where it is not sure enough of the samples it is asked about."""

    def __init__(self, sure=0.8):
        super().__init__()
        self.sure = sure

    def predict_proba(self, X):
        P = super().predict_proba(X)
        if P.max(axis=1).mean() < self.sure:
            raise ArithmeticError("not sure")
        return P


class ShyValues(BayesianRidge):
    """Raises where the sample with this number is among those it is asked about."""

    def __init__(self, number=0):
        super().__init__()
        self.number = number

    def predict(self, X, return_std=False):
        if self.number in np.asarray(X)[:, 0]:
            raise ArithmeticError("not sure")
        return super().predict(X, return_std)


class Hanging(Noted):
    """Does not come back where the sample with this number is in the training part; with no number never."""

    def __init__(self, path, number=None, how="sleep", marker="", pause=0.0, random_state=None):
        super().__init__(path, marker, pause, random_state)
        self.number = number
        self.how = how

    def fit(self, X, y):
        super().fit(X, y)
        if self.number is not None and self.number not in np.asarray(X)[:, 0]:
            return self
        if self.how == "sleep":
            time.sleep(3600)
        if self.how == "compiled":
            # One call into C that holds the interpreter and hears no signal from it.
            pow(3, 10**9)
        if self.how == "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.run(["sleep", "3600"], check=True)
        if self.how == "dies":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.how == "exits":
            sys.exit(3)
        return self


@dataclass(frozen=True)
class TrainingMeans:
    """A record of an evaluation other than a prediction."""

    means: np.ndarray
    seed: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class MeansOfTraining:
    """Notes each call, and records the mean of each feature in the training part, times a factor."""

    path: str
    factor: float = 1.0

    def __call__(self, estimator, train, test, target):
        note(self.path, str(len(train.y)))
        if not len(np.intersect1d(train.X[:, 0], 0.0)):
            raise ArithmeticError("sample 0 is missing")
        means = self.factor * np.asarray(train.X).mean(axis=0)
        return TrainingMeans(means, estimator.random_state, ("first", target.name))
