"""Coverage of bagged intervals in simulations whose truth is known, beside that of plain posteriors.

    python -m benchmarks.bagged_coverage --out DIR [--count 24] [--bags 50] [--jobs 2] [--designs NAME ...]

The designs of benchmarks/coverage.py, and others: in the number of samples and features, with correlated
features, three classes, counts and survival times. Rule for the settings of the bags, fixed before the first run:
with a signal, 90% intervals cover the mean of new samples in 85% to 95%, in noise in at least 85%, and the
coefficients of features with an effect in at least 80%; of the settings that do, the narrowest. Decided on other
data sets of the first four designs, confirmed on the rest. Each data set is stored in DIR, so that an interrupted
run continues.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import special  # as a module: workers cannot load a ufunc of the main module
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from ispca import (
    ISPCA,
    BaggedPosterior,
    HorseshoeClassifier,
    HorseshoeCounts,
    HorseshoeOrdinal,
    HorseshoeRegressor,
    HorseshoeSurvival,
)
from ispca.models.coefficients import coefficients_by_column

N_FACTORS, FACTOR_SIZE, N_NEW = 10, 30, 200
LEVELS = (0.05, 0.95)
# Thresholds of the ordered classes.
CUTS = (-1.5, 1.5)
# Time at which the chance of survival is predicted: 0.5 is about the median.
HORIZON = 0.5
CHAINS: dict[str, Any] = {"n_chains": 2, "n_warmup": 500, "n_draws": 500, "retry": False, "n_jobs": 1}
MODELS = {
    "Gaussian": HorseshoeRegressor,
    "classes": HorseshoeClassifier,
    "three classes": HorseshoeClassifier,
    "ordinal": HorseshoeOrdinal,
    "counts": HorseshoeCounts,
    "survival": HorseshoeSurvival,
}


@dataclass(frozen=True)
class Design:
    """One kind of data; ``signal`` is the standard deviation of the linear predictor.

    A Gaussian target has variance 1. ``correlated`` features share noise with their neighbors (AR(1), 0.8).
    """

    name: str
    kind: str
    signal: float
    n_samples: int = 60
    n_features: int = 600
    correlated: bool = False
    forced: bool = False


DESIGNS = [
    Design("Gaussian, strong", "Gaussian", np.sqrt(0.8)),
    Design("Gaussian, weak", "Gaussian", np.sqrt(0.4)),
    Design("classes, strong", "classes", 4.0),
    Design("classes, weak", "classes", 1.5),
    Design("Gaussian, noise", "Gaussian", 0.0),
    Design("classes, noise", "classes", 0.0),
    Design("Gaussian, noise, forced", "Gaussian", 0.0, forced=True),
    Design("classes, noise, forced", "classes", 0.0, forced=True),
    Design("Gaussian, 40 samples", "Gaussian", np.sqrt(0.6), n_samples=40),
    Design("Gaussian, 150 samples", "Gaussian", np.sqrt(0.6), n_samples=150),
    Design("classes, 40 samples", "classes", 2.5, n_samples=40),
    Design("classes, 150 samples", "classes", 2.5, n_samples=150),
    Design("Gaussian, 5,000 features", "Gaussian", np.sqrt(0.6), n_features=5000),
    Design("classes, 5,000 features", "classes", 2.5, n_features=5000),
    Design("Gaussian, correlated", "Gaussian", np.sqrt(0.6), correlated=True),
    Design("classes, correlated", "classes", 2.5, correlated=True),
    Design("three classes", "three classes", 2.5, n_samples=90),
    Design("ordered classes", "ordinal", 2.5, n_samples=90),
    Design("counts", "counts", 0.7),
    Design("survival", "survival", 1.5, n_samples=90),
]


class Truth:
    """Features are ``factors @ loadings.T + noise``; linear predictors are ``X @ coef``, one column per output."""

    def __init__(self, design: Design, rng: np.random.Generator) -> None:
        self.design = design
        self.loadings = np.zeros((design.n_features, N_FACTORS))
        for factor in range(N_FACTORS):
            part = slice(factor * FACTOR_SIZE, (factor + 1) * FACTOR_SIZE)
            self.loadings[part, factor] = rng.uniform(0.5, 1.0, FACTOR_SIZE) * rng.choice([-1.0, 1.0], FACTOR_SIZE)
        self.rho = 0.8 if design.correlated else 0.0
        targets = [[0, 1]] if design.kind != "three classes" else [[0], [1], [2]]
        # The best prediction of the factors from the features, with their own noise taken as independent.
        inner = self.loadings.T @ self.loadings + np.eye(N_FACTORS)
        coef = (self.loadings @ np.linalg.inv(inner))[:, :3]
        coef = np.column_stack([coef[:, columns].sum(axis=1) for columns in targets])
        spread = self.features(rng, 2000) @ coef
        coef *= design.signal / spread.std(axis=0).mean()
        self.coef = coef - coef.mean(axis=1, keepdims=True) if coef.shape[1] > 1 else coef

    def features(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return n samples."""
        noise = rng.normal(size=(n, self.design.n_features))
        if self.rho:
            for j in range(1, noise.shape[1]):
                noise[:, j] = self.rho * noise[:, j - 1] + np.sqrt(1 - self.rho**2) * noise[:, j]
        return rng.normal(size=(n, N_FACTORS)) @ self.loadings.T + noise

    def draw(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, Any]:
        """Return n samples and their targets."""
        X, kind = self.features(rng, n), self.design.kind
        eta = X @ self.coef
        if kind == "Gaussian":
            return X, eta[:, 0] + np.sqrt(1 - self.design.signal**2) * rng.normal(size=n)
        if kind == "classes":
            return X, (rng.uniform(size=n) < special.expit(eta[:, 0])).astype(int)
        if kind == "three classes":
            return X, (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
        if kind == "ordinal":
            return X, np.digitize(eta[:, 0] + rng.logistic(size=n), CUTS)
        if kind == "counts":
            return X, rng.poisson(np.exp(1.5 + eta[:, 0]) * rng.gamma(5.0, 0.2, size=n))
        death, end = rng.exponential(np.exp(-eta[:, 0])), rng.exponential(3.0, size=n)
        return X, (death < end, np.minimum(death, end))

    def mean(self, X: np.ndarray, center: np.ndarray) -> np.ndarray:
        """Return the true means of new samples; for survival times the predictor relative to the center."""
        eta, kind = X @ self.coef, self.design.kind
        if kind in ("classes", "three classes"):
            both = np.column_stack([np.zeros(len(X)), eta]) if kind == "classes" else eta
            return special.softmax(both, axis=1)
        if kind == "ordinal":
            below = special.expit(np.array([-np.inf, *CUTS, np.inf]) - eta)
            return np.diff(below, axis=1)
        if kind == "counts":
            return np.exp(1.5 + eta[:, 0])
        return eta[:, 0] - (center @ self.coef[:, 0] if kind == "survival" else 0.0)


def coverage(ends: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Return the fraction of intervals that contain the truth, and their mean width."""
    inside = (ends[..., 0] <= truth) & (truth <= ends[..., 1])
    return float(inside.mean()), float((ends[..., 1] - ends[..., 0]).mean())


def of_coefficients(name: str, model: Any, truth: Truth) -> dict[str, float]:
    """Return the coverage of the coefficients of features with and without an effect."""
    table = coefficients_by_column(model)
    ends = np.column_stack([table["q5"], table["q95"]]).reshape(truth.coef.shape[1], -1, 2)[:, 1:]
    effect = np.abs(truth.coef).sum(axis=1) > 0
    found = {}
    for label, chosen in (("effect", effect), ("no_effect", ~effect)):
        if chosen.any():
            found[f"{name}_{label}"] = coverage(ends[:, chosen], truth.coef.T[:, chosen])[0]
    return found


def measure(design: Design, number: int, n_bags: int) -> dict[str, float]:
    """Simulate one data set; return coverages and log densities of the bagged and of the plain posterior."""
    rng = np.random.default_rng([DESIGNS.index(design), number])
    truth = Truth(design, rng)
    (X, y), (X_new, y_new) = truth.draw(rng, design.n_samples), truth.draw(rng, N_NEW)
    mean, kind = truth.mean(X_new, X.mean(axis=0)), design.kind
    options: dict[str, Any] = {"alpha": None, "n_supervised": 1} if design.forced else {"test": "residual"}
    reduction = ISPCA(50, whiten=True, random_state=number, **options)
    model = MODELS[kind]()
    bagged = BaggedPosterior(make_pipeline(reduction, model), n_bags=n_bags, n_jobs=1, random_state=number)
    bagged.fit(X, y)
    found: dict[str, float] = {}
    found["bagged_mean"], found["bagged_width"] = coverage(bagged.mean_interval(X_new), mean)
    found |= of_coefficients("bagged", bagged, truth)
    found["bagged_mlpd"] = float(bagged.log_predictive_density(X_new, y_new).mean())
    found["supervised"] = float(bagged.n_supervised_.mean())
    if kind in ("classes", "three classes", "ordinal"):
        sets = bagged.predict_set(X_new)
        found["set"] = float(np.mean([sets[y_new == c, c].mean() for c in range(sets.shape[1])]))
        found["set_size"] = float(sets.sum(axis=1).mean())
    elif kind == "survival":
        curves = bagged.survival_curves(X_new, [HORIZON])
        ends = np.stack([curves.lower, curves.upper], axis=-1)[:, 0]
        found["interval"], found["interval_width"] = coverage(
            ends, np.exp(-HORIZON * np.exp(X_new @ truth.coef[:, 0]))
        )
    else:
        ends = bagged.predict_interval(X_new)
        found["interval"], found["interval_width"] = coverage(ends, y_new)
    plain = make_pipeline(reduction.set_params(test="paper"), model.set_params(**CHAINS, random_state=number))
    plain.fit(X, y)
    found |= of_coefficients("plain", plain, truth)
    found["plain_mlpd"] = float(plain[-1].log_predictive_density(plain[:-1].transform(X_new), y_new).mean())
    if kind in ("Gaussian", "classes"):
        eta = plain[-1].posterior_.linear_predictor(plain[:-1].transform(X_new))
        ends = np.quantile(eta, LEVELS, axis=1).T
        ends = special.expit(ends) if kind == "classes" else ends
        found["plain_mean"], found["plain_width"] = coverage(ends, mean[:, 1] if kind == "classes" else mean)
    return found


def stored(design: Design, number: int, n_bags: int, out: Path) -> dict[str, float]:
    """Return the scores of one data set, from a file if they are known."""
    path = out / f"{design.name.replace(', ', '-').replace(' ', '_')}-{n_bags}-{number}.json"
    if not path.is_file():
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            path.write_text(json.dumps(measure(design, number, n_bags)))
    return dict(json.loads(path.read_text()))


def cell(sets: list[dict[str, float]], name: str, percent: bool = True) -> str:
    """Return mean and standard error over data sets."""
    values = np.array([scores[name] for scores in sets if name in scores])
    if not len(values):
        return "-"
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{100 * mean:.0f} ± {100 * error:.1f}" if percent else f"{mean:.3f} ± {error:.3f}"


COLUMNS = {
    "mean of new samples": ("bagged_mean", True),
    "width": ("bagged_width", False),
    "features with an effect": ("bagged_effect", True),
    "features without": ("bagged_no_effect", True),
    "sets": ("set", True),
    "size": ("set_size", False),
    "new observations": ("interval", True),
    "log density": ("bagged_mlpd", False),
    "plain: mean": ("plain_mean", True),
    "plain: effect": ("plain_effect", True),
    "plain: log density": ("plain_mlpd", False),
    "components": ("supervised", False),
}


def main() -> None:
    """Run what is not stored, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--bags", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--designs", nargs="*", default=[design.name for design in DESIGNS])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    print("| data | sets | " + " | ".join(COLUMNS) + " |")
    print("|---|---|" + "---|" * len(COLUMNS))
    for design in DESIGNS:
        if design.name in args.designs:
            jobs = (delayed(stored)(design, number, args.bags, args.out) for number in range(args.count))
            sets = Parallel(n_jobs=args.jobs)(jobs)
            cells = [cell(sets, name, percent) for name, percent in COLUMNS.values()]
            print(f"| {design.name} | {len(sets)} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
