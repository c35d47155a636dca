"""How often the verdict calls a model better than the base rate: on pure noise, and with a signal.

``python -m benchmarks.verdict_level`` prints one line for each design. Fast stand-ins take the place of models:
ridge regression on all of 60 features (for survival times, on martingale residuals), or on the 5 with the largest
scores in the training part.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from ispca.families.survival_curves import censoring_curve
from ispca.foundation.splits import Split
from ispca.targets.samples import HeldOut, Prediction
from ispca.validation import verdict
from ispca.validation.comparison import Comparison

N_FEATURES, N_SCREENED, N_FOLDS = 60, 5, 5


def scores(X: Any, train: Any, test: Any, target: Any, screened: bool) -> Any:
    """Return the ridge predictions of a centered target, or of several, for the test part."""
    A, target = X[train] - X[train].mean(axis=0), target - target.mean(axis=0)
    used = np.arange(N_FEATURES)
    if screened:
        size = np.abs(A.T @ target).reshape(N_FEATURES, -1).max(axis=1)
        used = np.argsort(-size)[:N_SCREENED]
    A = A[:, used]
    weights = A.T @ np.linalg.solve(A @ A.T + len(used) * np.eye(len(A)), target)
    return (X[test] - X[train].mean(axis=0))[:, used] @ weights


def classes(y: Any, train: Any, test: Any, X: Any, screened: bool) -> tuple[HeldOut, Prediction, Prediction]:
    """Predict classes; the log odds of ridge scores around the class frequencies."""
    n_classes = int(y.max()) + 1
    happened = np.eye(n_classes)[y]
    base = np.tile(happened[train].mean(axis=0), (len(test), 1))
    chance = base * np.exp(4 * scores(X, train, test, happened[train], screened))
    chance /= chance.sum(axis=1, keepdims=True)
    own, rate = (Prediction(item.argmax(axis=1), item) for item in (chance, base))
    return HeldOut(y[test], n_classes), own, rate


def quantity(y: Any, train: Any, test: Any, X: Any, screened: bool) -> tuple[HeldOut, Prediction, Prediction]:
    """Predict a quantity."""
    mean = np.full(len(test), y[train].mean())
    own = Prediction(mean + scores(X, train, test, y[train], screened))
    return HeldOut(y[test]), own, Prediction(mean)


def survival(y: Any, train: Any, test: Any, X: Any, screened: bool) -> tuple[HeldOut, Prediction, Prediction]:
    """Predict risks from martingale residuals."""
    event, time = y["event"][train], y["time"][train]
    order = np.argsort(time)
    hazard = np.empty(len(train))
    hazard[order] = np.cumsum(event[order] / np.arange(len(train), 0, -1))
    own = Prediction(scores(X, train, test, event - hazard, screened))
    held_out = HeldOut(y[test], censoring=censoring_curve(event, time))
    return held_out, own, Prediction(np.zeros(len(test)))


KINDS = {"classification": classes, "regression": quantity, "survival": survival}


def data(rng: Any, kind: str, n: int, part: float, signal: float) -> tuple[Any, Any]:
    """Return features and target; ``part`` is the fraction of the second class or of events."""
    X = rng.normal(size=(n, N_FEATURES))
    direction = X[:, :N_SCREENED].sum(axis=1) / np.sqrt(N_SCREENED)
    if kind == "regression":
        return X, signal * direction + rng.normal(size=n)
    if kind == "classification":
        y = (np.arange(n) < round(part * n)).astype(np.intp)
        X[:, :N_SCREENED] += signal * y[:, None]
        return X, y
    y = np.zeros(n, dtype=[("event", bool), ("time", float)])
    y["time"] = rng.exponential(np.exp(-signal * direction))
    y["event"][rng.choice(n, round(part * n), replace=False)] = True
    return X, y


def is_called_better(rng: Any, kind: str, n: int, part: float, signal: float, screened: bool) -> bool | None:
    """Return whether the verdict calls the stand-in better than the base rate."""
    X, y = data(rng, kind, n, part, signal)
    strata = {"classification": y, "survival": y["event"] if kind == "survival" else None}.get(kind)
    folds = KFold if strata is None or np.bincount(strata).min() < 2 else StratifiedKFold
    n_folds = N_FOLDS if folds is KFold else int(min(N_FOLDS, np.bincount(strata).max()))
    made = folds(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
    splits = [Split(train, test) for train, test in made.split(X, strata)]
    found = [KINDS[kind](y, split.train, split.test, X, screened) for split in splits]
    parts: dict[str, Any] = {"observed": [item[0] for item in found], "rates": [item[2] for item in found]}
    name = "this model"
    better: bool | None = verdict(
        Comparison([name], name, {}, [[item[1]] for item in found], splits, kind=kind, **parts)
    )["better_than_baseline"]
    return better


def main(n_repeats: int = 200) -> None:
    """Print the percentage of models that are called better, and of those that are not judged."""
    warnings.filterwarnings("ignore", message="The least populated class")
    designs = [("classification", n, part) for n in (12, 20, 40, 80) for part in (0.5, 0.3, 0.15)]
    designs += [("regression", n, 0.0) for n in (12, 20, 40, 80)]
    designs += [("survival", n, events / n) for n, events in ((16, 3), (30, 2), (20, 16), (40, 12), (80, 60))]
    for signal in (0.0, 1.0, 2.0):
        for kind, n, part in designs:
            for screened in (False, True):
                rngs = (np.random.default_rng([seed, n, round(100 * part)]) for seed in range(n_repeats))
                found = [is_called_better(rng, kind, n, part, signal, screened) for rng in rngs]
                better = 100 * np.mean([item is True for item in found])
                silent = 100 * np.mean([item is None for item in found])
                method = "screened" if screened else "all features"
                name = f"{kind}, {n} samples, {100 * part:.0f}%, signal {signal:g}, {method}"
                print(f"{name:65s} better {better:5.1f}%, not judged {silent:3.0f}%", flush=True)


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:]))
