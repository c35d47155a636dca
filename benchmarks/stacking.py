"""How well stacking predicts: 20 random splits of every data set, against each candidate alone.

    python -m benchmarks.stacking --out DIR [--splits 20] [--jobs 2] [NAME ...]

Each finished split is a file in DIR, so that an interrupted run goes on; the table is printed at the end.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from ispca import StackedClassifier
from ispca.datasets import load
from ispca.validation.corrected_interval import interval
from ispca.validation.stacking_candidates import default_candidates
from ispca.validation.stacking_weights import fit_inverse_temperature, stacking_weights, tempered

SMALL = ["ovarian", "colon", "prostate", "leukemia", "gravier", "glioma-4c", "chowdary", "gordon"]
SETS = [*SMALL, "arcene", "lung-5c-1543", "dexter", "pcmac", "basehock"]
SMALLEST = np.finfo(float).eps


def once(candidate: Any) -> Any:
    """Sample once, converged or not: a second attempt changes mean probabilities little, and takes hours."""
    return candidate.set_params(model__retry=False) if hasattr(candidate, "steps") else candidate


def one_split(name: str, number: int, train: Any, test: Any, out: Path) -> None:
    """Fit the stack on one training part, and keep the densities of all candidates, in and out of fold."""
    target = out / f"{name}-{number:03d}.npz"
    if target.exists():
        return
    data = load(name)
    X, y = data.data, np.asarray(data.target)
    start = time.perf_counter()
    with warnings.catch_warnings(), threadpool_limits(1), joblib.parallel_config(backend="sequential"):
        warnings.simplefilter("ignore")
        candidates = [(label, once(item)) for label, item in default_candidates(len(np.unique(y)))]
        stack = StackedClassifier(candidates, random_state=number).fit(X[train], y[train])
    seconds = time.perf_counter() - start
    code = np.searchsorted(stack.classes_, y[test])
    probabilities = np.array([item.predict_proba(X[test]) for item in stack.estimators_.values()])
    temporary = target.with_suffix(".part.npz")
    np.savez(
        temporary,
        candidates=np.array(list(stack.estimators_)),
        weights=stack.weights_,
        inverse_temperature=stack.inverse_temperature_,
        out_of_fold=stack._out_of_fold,
        out_of_fold_observed=np.searchsorted(stack.classes_, y[train][stack._held_out]),
        probabilities=probabilities,
        observed=code,
        n_train=len(train),
        seconds=seconds,
    )
    os.replace(temporary, target)


def densities(path: Path, concentration: float) -> tuple[list[str], np.ndarray]:
    """Return the methods, the stack last, and their mean log predictive density on one split.

    Weights and inverse temperature are computed again from the out-of-fold predictions, as StackedClassifier does.
    """
    with np.load(path) as file:
        parts, truth = file["out_of_fold"], file["out_of_fold_observed"]
        own = np.log(np.maximum(parts[:, np.arange(len(truth)), truth], SMALLEST)).T
        weights = stacking_weights(own, concentration)
        inverse_temperature = fit_inverse_temperature(np.tensordot(weights, parts, 1), truth)
        mixture = tempered(np.tensordot(weights, file["probabilities"], 1), inverse_temperature)
        observed = np.arange(len(file["observed"])), file["observed"]
        values = [np.log(np.maximum(p[observed], SMALLEST)).mean() for p in [*file["probabilities"], mixture]]
        return [*file["candidates"].tolist(), "stacking"], np.array(values)


def table(out: Path, names: list[str], concentration: float = 1.5) -> str:
    """Return a markdown table: means over the splits, and the stack against the best candidate of each set."""
    lines, means, methods = [], [], []
    for name in names:
        paths = sorted(out.glob(f"{name}-*[0-9].npz"))
        if not paths:
            continue
        results = [densities(path, concentration) for path in paths]
        methods = results[0][0]
        values = np.array([row for _, row in results])
        mean = values.mean(axis=0)
        means.append(mean)
        best = int(np.argmax(mean[:-1]))
        difference = interval(values[:, -1] - values[:, best], 0.25)
        cells = [f"**{value:.3f}**" if j == best else f"{value:.3f}" for j, value in enumerate(mean)]
        gain = f"{difference[0]:+.3f} ({difference[1]:+.3f} to {difference[2]:+.3f})"
        lines.append(f"| {name} | {len(paths)} | " + " | ".join(cells) + f" | {gain} |")
    average = np.mean(means, axis=0)
    best = int(np.argmax(average[:-1]))
    last = f"{average[-1] - average[best]:+.3f} against {methods[best]}"
    lines.append("| mean | | " + " | ".join(f"{value:.3f}" for value in average) + f" | {last} |")
    head = ["| set | splits | " + " | ".join(methods) + " | stacking against the best candidate (95 % interval) |"]
    head.append("|" + "---|" * (len(methods) + 3))
    return "\n".join(head + lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=SETS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tasks = []
    for name in options.names:
        data = load(name)
        splitter = StratifiedShuffleSplit(options.splits, test_size=0.2, random_state=1)
        for number, (train, test) in enumerate(splitter.split(np.zeros(len(data.target)), data.target)):
            tasks.append((number, joblib.delayed(one_split)(name, number, train, test, options.out)))
    # Split by split through all sets, so that an early look sees every set.
    tasks.sort(key=lambda task: task[0])
    joblib.Parallel(n_jobs=options.jobs, pre_dispatch=options.jobs)(task for _, task in tasks)
    print(table(options.out, options.names))


if __name__ == "__main__":
    main()
