"""Other ways to a panel on the same folds: lasso, stability selection, and R's projpred."""

from __future__ import annotations

import csv
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ispca.families import FAMILIES
from ispca.penalized import PenalizedClassifier, PenalizedRegressor, lasso
from ispca.penalized.problem import Problem
from ispca.targets.samples import Samples

from .selection_data import PanelData, all_draws, screen, write_for_r

N_SUBSAMPLES = 50
# Features of a subsample that count: the first that enter the lasso's path.
N_ENTERED = 10


class Peer(NamedTuple):
    """Number of features on all samples, held-out log density of each sample, and CPU seconds of everything."""

    size: float
    density: list[float]
    seconds: float


def lasso_peer(data: PanelData, choice: str) -> Peer:
    """Fit the lasso with its own folds to all samples, and to the training samples of each fold."""
    estimator = PenalizedClassifier if data.kind == "classification" else PenalizedRegressor
    started, density = time.process_time(), np.empty(len(data.y))
    model = estimator(choice=choice, random_state=0)
    size = model.fit(data.X, data.y).n_nonzero_
    for train, test in data.folds:
        model.fit(data.X[train], data.y[train])
        density[test] = model.log_predictive_density(data.X[test], data.y[test])
    return Peer(int(size), density.tolist(), time.process_time() - started)


def stability_peer(data: PanelData, size: int) -> Peer:
    """Choose the features that enter the lasso's path most often in halves of the samples."""
    started, density = time.process_time(), np.empty(len(data.y))
    most_frequent(data.X, data.y, data.kind, size)
    for train, test in data.folds:
        chosen = most_frequent(data.X[train], data.y[train], data.kind, size)
        parts = data.X[np.ix_(train, chosen)], data.y[train], data.X[np.ix_(test, chosen)], data.y[test]
        density[test] = weak_ridge_density(*parts, data.kind)
    return Peer(size, density.tolist(), time.process_time() - started)


def most_frequent(X: np.ndarray, y: np.ndarray, kind: str, size: int) -> np.ndarray:
    """Return the features most often among the first to enter the path of a random half of the samples."""
    family = FAMILIES["binomial" if kind == "classification" else "gaussian"]
    fit = partial(lasso.fit_lasso, Problem(Samples(X, y), family, 100), lasso.make_design(X))
    rng, counts = np.random.default_rng(0), np.zeros(X.shape[1])
    for _ in range(N_SUBSAMPLES):
        half = np.zeros(len(y), dtype=bool)
        for stratum in np.unique(y) if kind == "classification" else [None]:
            members = np.arange(len(y)) if stratum is None else np.flatnonzero(y == stratum)
            half[rng.permutation(members)[: len(members) // 2]] = True
        path = fit(half, None)
        entered = np.zeros(X.shape[1], dtype=bool)
        for position in range(len(path.lambdas)):
            entered |= path.solution(position)[0][0] != 0
            if entered.sum() >= N_ENTERED:
                break
        counts += entered
    return np.argsort(-counts, kind="stable")[:size]


def weak_ridge_density(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray, kind: str) -> Any:
    """Return the log densities of new samples under a regression with a weak ridge penalty."""
    if kind == "classification":
        if not X.shape[1]:
            return np.log(np.where(y_new == 1, y.mean(), 1 - y.mean()))
        model = make_pipeline(StandardScaler(), LogisticRegression(C=1.0)).fit(X, y)
        return model.predict_log_proba(X_new)[np.arange(len(y_new)), y_new]
    if not X.shape[1]:
        return norm.logpdf(y_new, y.mean(), y.std(ddof=1))
    model = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(X, y)
    deviation = np.sqrt(np.square(y - model.predict(X)).sum() / (len(y) - X.shape[1] - 1))
    return norm.logpdf(y_new, model.predict(X_new), deviation)


def export(folder: Path, data: PanelData) -> None:
    """Fit the reference to all samples and in all folds, and leave its draws where projpred reads them."""
    draws = all_draws(data)
    write_for_r(folder, data, draws, screen(data.X, draws[-1]))


def projpred(folder: Path, method: str, largest: int) -> dict[str, float]:
    """Run projpred once; its output is kept in the folder."""
    output = folder / f"done-{method}-{largest}"
    if not output.exists():
        script = Path(__file__).with_name("selection_projpred.R")
        command = ["Rscript", script, folder, method, str(largest)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        output.write_text(found)
        (folder / f"path-{method}.csv").rename(folder / f"path-{method}-{largest}.csv")
    cpu, elapsed, suggested = output.read_text().splitlines()[-1].split()
    with open(folder / f"path-{method}-{largest}.csv") as file:
        densities = [float(row["mlpd.kfold"]) for row in csv.DictReader(file)]
    size = largest if suggested == "NA" else int(suggested)
    return {"size": size, "density": densities[size], "seconds": float(cpu), "elapsed": float(elapsed)}
