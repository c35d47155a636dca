"""The data sets and methods of beyond_classes.py: survival times, counts and a quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import GridSearchCV, RepeatedKFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ispca import ISPCA, HorseshoeCounts, HorseshoeRegressor, HorseshoeSurvival
from ispca.datasets import load, make_survival
from ispca.penalized import PenalizedCounts, PenalizedRegressor, PenalizedSurvival
from ispca.stacking import StackedRegressor, StackedSurvival
from ispca.stacking.candidates import kernel_method
from ispca.targets import COUNTS, QUANTITY, SURVIVAL
from ispca.validation import recommended_methods, standard_methods

# Sampled once, converged or not, so that the time of a method does not depend on luck.
ONCE = {"retry": False}
# Rows of count-blog in the training and the test part of a split.
N_ROWS = 1000
INNER_FOLDS = 5


class Problem(NamedTuple):
    """A data set, its splits, and methods by name."""

    X: Any
    y: Any
    kind: str
    splits: list[tuple[np.ndarray, np.ndarray]]
    methods: dict[str, Any]


class CoxnetCV(BaseEstimator):
    """scikit-survival's lasso, with the penalty of the best concordance in five folds, as in its user guide.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of the folds, which are stratified by event.
    """

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> CoxnetCV:
        """Choose the penalty from a path of 50, and fit to all samples."""
        from sksurv.linear_model import CoxnetSurvivalAnalysis
        from sksurv.metrics import concordance_index_censored

        self.scaler_ = StandardScaler().fit(X)
        path = CoxnetSurvivalAnalysis(l1_ratio=1.0, n_alphas=50, alpha_min_ratio=0.05).fit(self._scaled(X), y)
        folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.random_state)
        scores = np.zeros((INNER_FOLDS, len(path.alphas_)))
        for number, (train, test) in enumerate(folds.split(X, y["event"])):
            scaler = StandardScaler().fit(X[train])
            model = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=path.alphas_).fit(
                scaler.transform(X[train]), y[train]
            )
            for place, alpha in enumerate(path.alphas_):
                risk = model.predict(scaler.transform(X[test]), alpha=alpha)
                scores[number, place] = concordance_index_censored(y["event"][test], y["time"][test], risk)[0]
        self.alpha_ = path.alphas_[scores.mean(axis=0).argmax()]
        self.model_ = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=[self.alpha_], fit_baseline_model=True)
        self.model_.fit(self._scaled(X), y)
        return self

    def _scaled(self, X: Any) -> Any:
        return self.scaler_.transform(X)

    def predict(self, X: Any) -> Any:
        """Return the risk score."""
        return self.model_.predict(self._scaled(X))

    def predict_survival_function(self, X: Any) -> Any:
        """Return the survival function of each sample."""
        return self.model_.predict_survival_function(self._scaled(X))


def columns_of(X: Any, columns: Any) -> Any:
    """Return some columns of X."""
    return X[:, columns]


def survival_methods() -> dict[str, Any]:
    """Return the stack, kernels, reductions with the horseshoe model, penalized models, a forest and the curve."""
    from sksurv.ensemble import RandomSurvivalForest

    forest = RandomSurvivalForest(500, min_samples_leaf=3, max_features="sqrt")
    return {
        "combined prediction": StackedSurvival(n_jobs=1),
        "kernels": kernel_method("survival"),
        **horseshoe("survival", HorseshoeSurvival(**ONCE)),
        "lasso": PenalizedSurvival(choice="best"),
        "ridge": PenalizedSurvival(penalty="ridge", choice="best"),
        "Coxnet (scikit-survival)": CoxnetCV(),
        "random survival forest": forest,
        "Kaplan-Meier": SURVIVAL.base_rate(),
    }


def count_methods() -> dict[str, Any]:
    """Return reductions with negative-binomial and Poisson models, penalized models and boosting."""
    grid = {"alpha": np.logspace(-3, 3, 13)}
    search = GridSearchCV(
        PoissonRegressor(max_iter=1000), grid, scoring="neg_mean_poisson_deviance", cv=INNER_FOLDS
    )
    negative, poisson = (HorseshoeCounts(family=name, **ONCE) for name in ("negative-binomial", "poisson"))
    by_name = {
        **{f"{name}, negative binomial": item for name, item in horseshoe("count", negative).items()},
        **{f"{name}, Poisson": item for name, item in horseshoe("count", poisson, "poisson").items()},
    }
    chosen = [name for name in by_name if name.startswith(("ISPCA,", "ISPCA-cross", "PCA"))]
    return {
        **{name: by_name[name] for name in chosen},
        "lasso": PenalizedCounts(choice="best"),
        "ridge": PenalizedCounts(penalty="ridge", choice="best"),
        "PoissonRegressor (scikit-learn)": make_pipeline(StandardScaler(), search),
        "gradient boosting (scikit-learn)": HistGradientBoostingRegressor(loss="poisson"),
        "mean rate": COUNTS.base_rate(),
    }


def regression_methods() -> dict[str, Any]:
    """Return the stack, kernels, reductions with the horseshoe model, penalized models, PLS and the mean."""
    return {
        "combined prediction": StackedRegressor(n_jobs=1),
        "kernels": kernel_method("regression"),
        **horseshoe("regression", HorseshoeRegressor(**ONCE)),
        "lasso": PenalizedRegressor(choice="best"),
        "ridge": PenalizedRegressor(penalty="ridge", choice="best"),
        "PLS (scikit-learn)": standard_methods(regression=True)["PLS"],
        "mean": QUANTITY.base_rate(),
    }


def horseshoe(kind: str, model: Any, family: str | None = None) -> dict[str, Any]:
    """Return the recommended reductions with a model."""
    methods = recommended_methods(kind=kind, model=model)
    methods = {name: methods[name] for name in ("ISPCA", "ISPCA-cross-fitted", "SPCA", "PCA")}
    if family is not None:
        for method in methods.values():
            method["reduction"].set_params(family=family)
    return methods


def beer() -> Problem:
    """Return survival in lung cancer: few events."""
    data = load("surv-beer")
    return Problem(data.data, data.target, "survival", event_folds(data.target, 3), survival_methods())


def simulate() -> Problem:
    """Return simulated survival: 60 of 2,000 genes, in two modules, change the hazard; so do age and sex."""
    data = make_survival(150, 2000, random_state=1)
    relevant = FunctionTransformer(columns_of, kw_args={"columns": np.flatnonzero(data.relevant)})
    oracle = make_pipeline(relevant, ISPCA(2, n_supervised=0, whiten=True), HorseshoeSurvival(**ONCE))
    methods = survival_methods() | {"oracle: PCA of the relevant genes": oracle}
    return Problem(data.data, data.target, "survival", event_folds(data.target, 2), methods)


def event_folds(y: Any, n_repeats: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return repeated five folds, stratified by event."""
    splitter = RepeatedStratifiedKFold(n_splits=5, n_repeats=n_repeats, random_state=1)
    return list(splitter.split(np.zeros(len(y)), y["event"]))


def blog() -> Problem:
    """Return comments on blog posts; the features, whose tails are heavy, as signed logarithms."""
    data = load("count-blog")
    X = np.sign(data.data) * np.log1p(np.abs(data.data))
    return Problem(X, data.target, "count", list(days_apart(data.day, 5)), count_methods())


def days_apart(day: np.ndarray, n_splits: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows of a random half of the days and rows of the other half: repeated rows are mostly of one day."""
    rng = np.random.default_rng(1)
    days = np.unique(day)
    for _ in range(n_splits):
        first = np.isin(day, rng.permutation(days)[: len(days) // 2])
        yield (
            rng.choice(np.flatnonzero(first), N_ROWS, replace=False),
            rng.choice(np.flatnonzero(~first), N_ROWS, replace=False),
        )


def riboflavin() -> Problem:
    """Return riboflavin production: a quantity."""
    data = load("reg-riboflavin")
    splits = RepeatedKFold(n_splits=5, n_repeats=3, random_state=1).split(data.data)
    return Problem(data.data, data.target, "regression", list(splits), regression_methods())


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "surv-beer": beer,
    "simulated": simulate,
    "count-blog": blog,
    "reg-riboflavin": riboflavin,
}
