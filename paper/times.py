"""Seconds of reduction and model for PCA, SPCA and ISPCA, and of the lasso, beside the paper's."""

from __future__ import annotations

import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from ispca.datasets import load
from ispca.plots.canvas import ACCENT, FAINT, INK, SECOND, load_pyplot

from .context import Context
from .experiment import methods_for
from .output import write_bytes, write_csv, write_figure
from .times_claims import METHODS, PAPER, Seconds, verdicts
from .verdicts import Verdict

N_RUNS = 5
# One stand-in each is enough for seconds.
BESIDE = {"glioma": "chowdary", "lung-5c": "lung-5c-1543"}


def run(context: Context) -> list[Verdict]:
    """Time five fits of every method on the whole of every set, write the table, and judge."""
    names = context.sets.of([*PAPER, *BESIDE.values()])
    seconds: Seconds = {name: time_set(name, context) for name in names}
    if names:
        table = [row for name in names for row in rows(name, seconds[name], context)]
        write_csv(context.out / "times.csv", table)
        write_figure(draw(seconds), context.out / "times")
    return verdicts(seconds, context)


def time_set(name: str, context: Context) -> dict[str, tuple[float, float]]:
    """Return mean seconds of reduction and model by method; finished fits are kept and not repeated."""
    path = context.out / "fits" / f"times-{name}-{context.draws}.json"
    done: dict[str, list[list[float]]] = json.loads(path.read_text()) if path.exists() else {}
    if any(len(done.get(method, [])) < N_RUNS for method in METHODS):
        data = load(name)
        methods = methods_for(len(np.unique(data.target)), context.draws)
        for method in METHODS:
            for seed in range(len(done.setdefault(method, [])), N_RUNS):
                context.say(f"{name}: {method}, fit {seed + 1} of {N_RUNS}")
                done[method].append(list(time_fit(methods[method], data.data, data.target, seed)))
                _keep(path, done)
    means = {method: np.mean(done[method][:N_RUNS], axis=0) for method in METHODS}
    return {method: (float(mean[0]), float(mean[1])) for method, mean in means.items()}


def _keep(path: Path, done: dict[str, list[list[float]]]) -> None:
    write_bytes(path, json.dumps(done).encode())


def time_fit(estimator: Any, X: Any, y: Any, seed: int) -> tuple[float, float]:
    """Fit on one thread; return the seconds of the reduction and of the model."""
    estimator = clone(estimator)
    changes = {key: seed for key in estimator.get_params() if key.rpartition("__")[2] == "random_state"}
    estimator.set_params(**changes)
    # Whether the chains have converged is told by the experiment, not here.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        if not isinstance(estimator, Pipeline):
            estimator.fit(X, y)
            return 0.0, time.perf_counter() - start
        Z = estimator["reduction"].fit_transform(X, y)
        middle = time.perf_counter()
        estimator["model"].fit(Z, y)
        return middle - start, time.perf_counter() - middle


def rows(name: str, seconds: dict[str, tuple[float, float]], context: Context) -> list[dict[str, Any]]:
    """Return one row per method, with the paper's numbers beside where the paper has the set."""
    found = []
    for method, (reduction, model) in seconds.items():
        row: dict[str, Any] = {"set": name, "method": method, "runs": N_RUNS, "threads": 1, "draws": context.draws}
        row |= {"seconds_reduction": reduction, "seconds_model": model, "seconds": reduction + model}
        row["percent_reduction"] = 100 * reduction / (reduction + model)
        if name in PAPER:
            paper, percent = PAPER[name][method]
            row |= {"paper_seconds": paper, "paper_percent_reduction": percent}
            row["ratio"] = paper / (reduction + model)
        found.append(row | {"cpus": os.cpu_count()})
    return found


def draw(seconds: Seconds) -> Any:
    """Draw a panel per set: bars of reduction and model on top of each other, the paper's seconds as a mark."""
    pyplot = load_pyplot()
    figure, axes = pyplot.subplots(
        1, len(seconds), figsize=(0.8 + 2.7 * len(seconds), 3.2), layout="constrained", squeeze=False
    )
    positions = np.arange(len(METHODS))
    for ax, (name, found) in zip(axes.flat, seconds.items(), strict=True):
        reduction, model = np.array([found[method] for method in METHODS]).T
        ax.barh(positions, reduction, color=SECOND, height=0.6, label="reduction")
        ax.barh(positions, model, left=reduction, color=ACCENT, height=0.6, label="model, or lasso")
        for position, total in zip(positions, reduction + model, strict=True):
            ax.text(total, position, f" {total:.2g} s", va="center", fontsize=8, color=INK)
        ax.set_xlim(0, 1.3 * (reduction + model).max())
        ax.set_yticks(positions, METHODS)
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
        beside = ", ".join(f"{PAPER[name][m][0]:g}" for m in METHODS) if name in PAPER else "not in the paper"
        ax.set_title(f"{name}\n", fontsize=10, loc="left", color=INK)
        note = f"paper: {beside} s" if name in PAPER else beside
        ax.text(0, 1.03, note, transform=ax.transAxes, fontsize=8, color=FAINT)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    title = f"seconds on the whole set, mean of {N_RUNS} fits on one thread"
    figure.suptitle(title, fontsize=10.5, x=0.01, ha="left", color=INK)
    return figure
