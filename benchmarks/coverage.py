"""Coverage of 90% credible intervals in simulations, with and without cross-fitting.

    python -m benchmarks.coverage --out DIR [--count 100] [--jobs 2]

Simulates data whose true coefficients are known, fits ISPCA with a horseshoe model, and prints Markdown tables:
how often intervals contain the truth, how wide they are, and how well new samples are predicted (about 12 minutes
on one core). The quantities are defined in docs/coverage.md. Finished batches are stored in DIR, so that an
interrupted run continues.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import special  # as a module: workers cannot load a ufunc of the main module
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from ispca import ISPCA, HorseshoeClassifier, HorseshoeRegressor
from ispca.models.coefficients import coefficients_by_column
from ispca.targets.measures import HeldOut, calibration_error
from ispca.targets.samples import Prediction

from .factor_data import Design, Truth, make_truth

N_SAMPLES, N_NEW = 60, 200
N_COMPONENTS = 50
CHAINS: dict[str, Any] = {"n_chains": 2, "n_warmup": 500, "n_draws": 500, "retry": False, "n_jobs": 1}
TAILS = [0.05, 0.95]
# Data sets that are measured and stored together.
BATCH = 25

Seed = tuple[int, int]
Scores = dict[str, dict[str, float]]
Results = dict[str, dict[str, np.ndarray]]

TRUTH = "truth"
# A reference nobody can reach: the model learns from 60 more samples, which the components do not know.
FRESH = "fresh samples"
PAPER = "paper"
METHODS: dict[str, dict[str, Any]] = {
    PAPER: {},
    "cross-fitted": {"cross_fit": 10},
    "cross-fitted, residual": {"cross_fit": 10, "test": "residual"},
}
COVERED = {
    "mean": "mean of new samples",
    "best_mean": "best mean of the components",
    "supervised": "supervised components",
    "unsupervised": "unsupervised components",
    "effect": "features with an effect",
    "no_effect": "features without",
}
DESIGNS = [
    Design("Gaussian, strong", False, np.sqrt(0.8)),
    Design("Gaussian, weak", False, np.sqrt(0.4)),
    Design("Gaussian, noise", False, 0.0),
    Design("Gaussian, noise, forced", False, 0.0, forced=True),
    Design("classes, strong", True, 4.0),
    Design("classes, weak", True, 1.5),
    Design("classes, noise", True, 0.0),
    Design("classes, noise, forced", True, 0.0, forced=True),
]


def methods_for(design: Design) -> dict[str, dict[str, Any]]:
    """Return the options of ISPCA; without a test, there is one cross-fitted method."""
    if not design.forced:
        return METHODS
    options = {"alpha": None, "n_supervised": 1}
    return {name: METHODS[name] | options for name in (PAPER, "cross-fitted")}


def interval_scores(
    name: str, ends: np.ndarray, truth: np.ndarray, change: Callable[[np.ndarray], np.ndarray] | None = None
) -> dict[str, float]:
    """Return coverage and mean width of intervals, NaN if there are none; ``change`` precedes the width."""
    if not len(truth):
        return {f"{name}_covered": np.nan, f"{name}_width": np.nan}
    covered = (ends[0] <= truth) & (truth <= ends[1])
    low, high = ends if change is None else change(ends)
    return {f"{name}_covered": float(covered.mean()), f"{name}_width": float((high - low).mean())}


def calibration(y: np.ndarray, probability: np.ndarray) -> float:
    both = np.column_stack([1 - probability, probability])
    found = calibration_error(HeldOut(y.astype(int), 2), Prediction(value=None, probabilities=both))
    assert found is not None
    return found


def truth_scores(truth: Truth, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return how well the true model predicts: nothing can do better on average."""
    eta = X @ truth.coef
    if truth.design.classes:
        p = special.expit(eta)
        return {"mlpd": float(np.log(np.where(y, p, 1 - p)).mean()), "calibration_error": calibration(y, p)}
    return {"mlpd": float(norm.logpdf(y, eta, truth.noise).mean())}


def fit_scores(model: Any, truth: Truth, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return coverages, widths and predictive measures of a fitted pipeline."""
    reduction, regression = model
    Z, posterior = reduction.transform(X), regression.posterior_
    best, intercept, kept = truth.best(reduction)
    eta, coef = posterior.linear_predictor(Z), posterior.flat("coef").T
    change = special.expit if truth.design.classes else None
    k = reduction.n_supervised_
    ends = np.quantile(eta, TAILS, axis=1)
    scores = interval_scores("mean", ends, X @ truth.coef, change)
    scores |= interval_scores("best_mean", ends, Z @ best + intercept, change)
    ends = np.quantile(coef, TAILS, axis=1)
    scores |= interval_scores("supervised", ends[:, :k], best[:k])
    scores |= interval_scores("unsupervised", ends[:, k:], best[k:])
    table, effect = coefficients_by_column(model)[1:], truth.coef != 0
    ends = np.array([table["q5"], table["q95"]])
    scores |= interval_scores("effect", ends[:, effect], truth.coef[effect])
    scores |= interval_scores("no_effect", ends[:, ~effect], truth.coef[~effect])
    scores |= {"n_supervised": k, "kept": kept, "converged": float(regression.diagnostics_.converged)}
    scores["unsupervised_truth"] = float(np.abs(best[k:]).mean())
    scores["first_truth"], scores["first_estimate"] = (best[0], coef[0].mean()) if k else (np.nan, np.nan)
    scores["mlpd"] = float(regression.log_predictive_density(Z, y).mean())
    if truth.design.classes:
        scores["calibration_error"] = calibration(y, regression.predict_proba(Z)[:, 1])
    return scores


Samples = tuple[np.ndarray, np.ndarray]


def simulate(design: Design, seed: Seed) -> tuple[Truth, Samples, Samples, Samples]:
    """Return a truth, the samples to learn from, new ones to predict, and as many as the first for a reference."""
    rng = np.random.default_rng(seed)
    truth = make_truth(design, rng)
    return truth, truth.draw(rng, N_SAMPLES), truth.draw(rng, N_NEW), truth.draw(rng, N_SAMPLES)


def fit_model(design: Design, reduction: ISPCA, Z: np.ndarray, y: np.ndarray, seed: Seed) -> Any:
    """Return the pipeline of a fitted reduction and a model that learns from the scores Z."""
    regression = HorseshoeClassifier if design.classes else HorseshoeRegressor
    return make_pipeline(reduction, regression(**CHAINS, random_state=seed[1]).fit(Z, y))


def measure(design: Design, seed: Seed) -> Scores:
    """Simulate one data set and return the scores of every method, and of the truth."""
    truth, (X, y), new, _ = simulate(design, seed)
    scores = {TRUTH: truth_scores(truth, *new)}
    known: dict[bytes, dict[str, float]] = {}
    for name, options in methods_for(design).items():
        reduction = ISPCA(N_COMPONENTS, whiten=True, random_state=seed[1], **options)
        Z = reduction.fit_transform(X, y)
        # Methods that agree on the training scores agree on everything.
        if Z.tobytes() not in known:
            known[Z.tobytes()] = fit_scores(fit_model(design, reduction, Z, y, seed), truth, *new)
        scores[name] = known[Z.tobytes()]
        # Both tests are the same for the first component, and there is nothing to cross-fit without it.
        if reduction.n_supervised_ == 0:
            return scores | dict.fromkeys(methods_for(design), scores[name])
    return scores


def measure_fresh(design: Design, seed: Seed) -> Scores:
    """Return the scores of the paper's components with a model that learns from samples they were not found in."""
    truth, train, new, (X, y) = simulate(design, seed)
    reduction = ISPCA(N_COMPONENTS, whiten=True, random_state=seed[1], **methods_for(design)[PAPER]).fit(*train)
    return {FRESH: fit_scores(fit_model(design, reduction, reduction.transform(X), y, seed), truth, *new)}


def quietly(measured: Callable[[Design, Seed], Scores], design: Design, seed: Seed) -> Scores:
    """Measure on one thread, without warnings of short chains."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return measured(design, seed)


def run(measured: Callable[[Design, Seed], Scores], design: Design, start: int, jobs: int, out: Path) -> Results:
    """Return the scores of a batch of data sets, by method and quantity; finished ones are read from a file."""
    path = out / f"{design.name.replace(', ', '-')}-{measured.__name__}-{start}.json"
    if not path.is_file():
        seeds = [(DESIGNS.index(design), start + index) for index in range(BATCH)]
        sets = Parallel(n_jobs=jobs)(delayed(quietly)(measured, design, seed) for seed in seeds)
        found = {m: {name: [scores[m][name] for scores in sets] for name in sets[0][m]} for m in sets[0]}
        path.write_text(json.dumps(found))
        print(f"{path.stem} done", flush=True)
    stored = json.loads(path.read_text())
    return {m: {name: np.array(values) for name, values in of.items()} for m, of in stored.items()}


def run_all(designs: list[Design], count: int, jobs: int, out: Path) -> dict[str, Results]:
    """Return the results of all designs; batch by batch, so that all advance together."""
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, Results] = {design.name: {} for design in designs}
    for start in range(0, count, BATCH):
        for measured in (measure, measure_fresh):
            for design in designs:
                for method, scores in run(measured, design, start, jobs, out).items():
                    parts = results[design.name].setdefault(method, {})
                    for name, values in scores.items():
                        parts[name] = np.concatenate([parts.get(name, np.empty(0)), values])
    return results


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean over data sets and its Monte Carlo error, leaving out those without a value."""
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return np.nan, np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def coverage_cell(scores: dict[str, np.ndarray], name: str) -> str:
    """Return coverage, its Monte Carlo error and the mean width."""
    mean, error = mean_and_error(scores[f"{name}_covered"])
    width, _ = mean_and_error(scores[f"{name}_width"])
    return "-" if np.isnan(mean) else f"{100 * mean:.0f} ± {100 * error:.1f} ({width:.2g})"


def coverage_table(results: dict[str, Results]) -> str:
    """Return a Markdown table of coverages in percent, with widths in parentheses."""
    lines = [f"| data | ISPCA | sets | {' | '.join(COVERED.values())} |", "|---" * (len(COVERED) + 3) + "|"]
    for design, found in results.items():
        for method, scores in found.items():
            if method != TRUTH:
                cells = [coverage_cell(scores, name) for name in COVERED]
                lines.append(f"| {design} | {method} | {len(scores['mlpd'])} | {' | '.join(cells)} |")
    return "\n".join(lines)


def number_cell(scores: dict[str, np.ndarray], name: str, form: str) -> str:
    """Return a mean and its Monte Carlo error."""
    mean, error = mean_and_error(scores.get(name, np.empty(0)))
    return "-" if np.isnan(mean) else f"{mean:{form}} ± {error:{form.lstrip('+')}}"


def prediction_table(results: dict[str, Results]) -> str:
    """Return a Markdown table of predictive measures, and of the coefficient of the first component."""
    names = (
        "log density",
        "minus paper",
        "calibration error",
        "supervised",
        "found, %",
        "kept, %",
        "true",
        "estimated",
    )
    lines = [f"| data | ISPCA | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for design, found in results.items():
        for method, scores in found.items():
            # An interrupted run has fewer data sets of the reference.
            difference = {"mlpd": scores["mlpd"] - found[PAPER]["mlpd"][: len(scores["mlpd"])]}
            n_supervised = scores.get("n_supervised", np.empty(0))
            cells = [
                number_cell(scores, "mlpd", ".3f"),
                "-" if method == PAPER else number_cell(difference, "mlpd", "+.3f"),
                number_cell(scores, "calibration_error", ".3f"),
                f"{n_supervised.mean():.2f}" if len(n_supervised) else "-",
                f"{100 * np.mean(n_supervised > 0):.0f}" if len(n_supervised) else "-",
                f"{100 * scores['kept'].mean():.0f}" if np.isfinite(scores.get("kept", np.nan)).all() else "-",
                number_cell(scores, "first_truth", ".2f"),
                number_cell(scores, "first_estimate", ".2f"),
            ]
            lines.append(f"| {design} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results of finished batches")
    parser.add_argument("--count", type=int, default=100, help="data sets for each design, in batches of 25")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    results = run_all(DESIGNS, options.count, options.jobs, options.out)
    print("\n" + coverage_table(results) + "\n\n" + prediction_table(results))


if __name__ == "__main__":
    main()
