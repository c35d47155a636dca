"""What the benchmarks of panels share: data sets, folds, references and their posterior draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from ispca.datasets import load
from ispca.validation import recommended_methods

SETS = ["colon", "leukemia", "prostate", "ovarian", "chowdary", "reg-riboflavin"]
N_FOLDS = 10
N_DRAWS = 400
N_SCREENED = 200


class PanelData(NamedTuple):
    """A data set with its kind of target and its folds."""

    X: np.ndarray
    y: np.ndarray
    kind: str
    folds: list[tuple[np.ndarray, np.ndarray]]

    @property
    def fold_of(self) -> np.ndarray:
        """Return the fold that holds out each sample."""
        numbers = np.empty(len(self.y), dtype=np.int32)
        for fold, (_, test) in enumerate(self.folds):
            numbers[test] = fold
        return numbers


class Draws(NamedTuple):
    """Posterior draws of a reference: linear predictors, samples x draws, and sigma of quantities."""

    predictor: np.ndarray
    sigma: np.ndarray | None


def panel_data(name: str) -> PanelData:
    """Return a data set with stratified folds; classes are 0 and 1."""
    data = load(name)
    X = np.asarray(data.data, dtype=np.float64)
    if name.startswith("reg-"):
        y = np.asarray(data.target, dtype=np.float64)
        return PanelData(X, y, "regression", list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X)))
    codes = np.unique(data.target, return_inverse=True)[1]
    splits = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, codes)
    return PanelData(X, codes, "classification", list(splits))


def reference_for(kind: str) -> Any:
    """Return the reference: ISPCA and a horseshoe model on its 50 components."""
    return recommended_methods(kind=kind, random_state=0)["ISPCA"]


def posterior_draws(model: Any, X: np.ndarray) -> Draws:
    """Return evenly spaced draws of a fitted reference for all samples."""
    posterior = model[-1].posterior_
    total = posterior.intercept.size
    kept = np.linspace(0, total, N_DRAWS, endpoint=False).astype(int)
    coef = posterior.coef.reshape(total, -1)[kept]
    predictor = model[:-1].transform(X) @ coef.T + posterior.intercept.reshape(-1)[kept]
    return Draws(predictor, None if posterior.sigma is None else posterior.sigma.reshape(-1)[kept])


def all_draws(data: PanelData) -> list[Draws]:
    """Return the draws of the reference fitted to the training samples of every fold and, last, to all samples."""
    reference = reference_for(data.kind)
    parts = [train for train, _ in data.folds] + [np.arange(len(data.y))]
    return [posterior_draws(clone(reference).fit(data.X[part], data.y[part]), data.X) for part in parts]


def screen(X: np.ndarray, draws: Draws, number: int = N_SCREENED) -> np.ndarray:
    """Return the features most correlated with the reference's mean linear predictor."""
    center = draws.predictor.mean(axis=1)
    deviation = X.std(axis=0)
    scores = np.abs((X - X.mean(axis=0)).T @ (center - center.mean())) / np.where(deviation > 0, deviation, np.inf)
    return np.argsort(-scores, kind="stable")[:number]


def write_for_r(folder: Path, data: PanelData, draws: list[Draws], features: np.ndarray) -> None:
    """Leave the problem where selection_projpred.R reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    np.array([len(data.y), len(features), N_DRAWS], dtype=np.int32).tofile(folder / "size")
    (folder / "family").write_text("binomial\n" if data.kind == "classification" else "gaussian\n")
    np.ascontiguousarray(data.X[:, features].T).tofile(folder / "x")
    np.asarray(data.y, dtype=np.float64).tofile(folder / "y")
    data.fold_of.tofile(folder / "folds")
    for name, part in zip([*map(str, range(len(data.folds))), "all"], draws, strict=True):
        np.ascontiguousarray(part.predictor.T).tofile(folder / f"predictor-{name}")
        if part.sigma is not None:
            np.ascontiguousarray(part.sigma).tofile(folder / f"sigma-{name}")
