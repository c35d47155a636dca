"""How well the stack, its candidates and standard methods predict on every data set.

    python -m benchmarks.predictions --out DIR [--splits 12] [--jobs 2] [--sets NAME ...] [--methods NAME ...]

Every finished fit is a file in DIR, so that an interrupted run continues, and more splits, sets or methods can be
added later. The tables and verdicts of prediction_rules.py are printed at the end.
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
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from benchmarks.prediction_rules import PAPER, SETS, STACK, TEXT, report
from ispca import KernelClassifier, PenalizedClassifier, StackedClassifier
from ispca.datasets import load
from ispca.kernels.kernel_functions import KERNELS, SCREENED
from ispca.models.base import Horseshoe
from ispca.stacking.candidates import N_COMPONENTS, N_COMPONENTS_MANY_CLASSES
from ispca.validation import paper_methods, standard_methods


def methods_for(n_classes: int, seed: int) -> dict[str, Any]:
    """Return the stack, which also gives the results of its candidates, the paper's ISPCA and standard methods."""
    count = N_COMPONENTS if n_classes == 2 else N_COMPONENTS_MANY_CLASSES
    paper = paper_methods(count, random_state=seed)
    return {
        STACK: StackedClassifier(n_jobs=1, random_state=seed),
        **{f"kernel {name}": KernelClassifier(kernels=(name,)) for name in (*KERNELS, *SCREENED)},
        "ridge": PenalizedClassifier(penalty="ridge", choice="average", random_state=seed),
        "PCA": once(paper["PCA"]),
        PAPER: once(paper["ISPCA"]),
        **standard_methods(random_state=seed),
    }


def once(method: Any) -> Any:
    """Sample once, converged or not: a second attempt changes mean probabilities little, and takes hours."""
    method = clone(method)
    for step in method.get_params(deep=True).values():
        if isinstance(step, Horseshoe):
            step.set_params(retry=False)
    return method


def fit_split(name: str, number: int, train: Any, test: Any, method: str, out: Path) -> None:
    """Fit a method to one training part, and store its probabilities; those of the stack's candidates, too."""
    target = out / f"{name}-{number:03d}-{method}.npz"
    if target.exists():
        return
    data = load(name)
    X, y = data.data, np.asarray(data.target)
    start = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1), joblib.parallel_config(backend="sequential"):
        warnings.simplefilter("ignore")
        try:
            model = methods_for(len(np.unique(y)), number)[method].fit(X[train], y[train])
        except ValueError:
            # Platt scaling needs five samples per class. A method that fails has the base rate, as in `compare`.
            model = DummyClassifier(strategy="prior").fit(X[train], y[train])
    seconds = time.process_time() - start
    found: dict[str, Any] = {"probabilities": model.predict_proba(X[test]), "seconds": seconds}
    found["observed"] = np.searchsorted(model.classes_, y[test])
    if method == STACK:
        found["candidates"] = np.array(list(model.estimators_))
        found["parts"] = np.array([item.predict_proba(X[test]) for item in model.estimators_.values()])
        # With these, other ways to combine the candidates can be tried without new fits.
        found["out_of_fold"] = model._out_of_fold
        found["out_of_fold_observed"] = np.searchsorted(model.classes_, y[train][model._held_out])
    temporary = target.with_suffix(".part.npz")
    np.savez(temporary, **found)
    os.replace(temporary, target)


def main() -> None:
    """Fit what is left to do, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the finished fits")
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="NAME")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="default: all")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    methods = options.methods or list(methods_for(2, 0))
    tasks = []
    for name in options.sets:
        y = np.asarray(load(name).target)
        splitter = StratifiedShuffleSplit(options.splits, test_size=0.2, random_state=1)
        # Of the texts, half of the splits: each takes a minute.
        last = options.splits // 2 if name in TEXT else options.splits
        for number, (train, test) in list(enumerate(splitter.split(np.zeros(len(y)), y)))[:last]:
            for method in methods:
                tasks.append((number, joblib.delayed(fit_split)(name, number, train, test, method, options.out)))
    # Split by split through all sets, so that an early look sees every set.
    tasks.sort(key=lambda task: task[0])
    joblib.Parallel(n_jobs=options.jobs, pre_dispatch=options.jobs)(task for _, task in tasks)
    print(report(options.out, options.sets))


if __name__ == "__main__":
    main()
