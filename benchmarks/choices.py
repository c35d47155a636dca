"""What choices change in the paper's experiment: the test of components, the splits, the values of words.

    python -m benchmarks.choices {test,splits,words} --out DIR [--jobs 2] [NAME ...]

``test``: supervised components alone under the paper's test and the residual one, and how many each finds.
``splits``: random splits that do not keep the shares of the classes.
``words``: texts by their counts, as in the paper, by log(1 + count), and by whether a word occurs.
DIR is that of ``make paper``: fits that are finished there are taken from it, and new ones are kept there.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from ispca import ISPCA
from ispca.datasets import load
from ispca.validation import Comparison, compare
from paper.experiment import methods_for
from paper.scores import set_scores

SETS = ["ovarian", "colon", "prostate", "leukemia", "glioma-4c", "arcene", "dexter", "basehock", "pcmac"]
STAND_INS = ["lung-5c-1543", "chowdary", "gordon", "gravier"]
SPLIT_METHODS = ["PCA", "SPCA", "ISPCA-naive", "ISPCA-small", "ISPCA", "lasso", "lasso-best"]
SPLIT_PAIRS = [("ISPCA", "PCA"), ("ISPCA", "SPCA"), ("ISPCA", "lasso"), ("ISPCA-naive", "ISPCA")]
N_SPLITS = 50
TEXTS = ["pcmac", "basehock", "dexter"]
TEXT_METHODS = ["PCA", "SPCA", "ISPCA", "lasso", "lasso-best"]
TEXT_SPLITS = 10


def counts(X: Any, y: Any, result: Comparison, test: str) -> np.ndarray:
    """Return how many supervised components a test finds in each training part, with a seed of its own."""
    found = [ISPCA(test=test, random_state=0).fit(X[split.train], y[split.train]) for split in result.splits]
    return np.array([reduction.n_supervised_ for reduction in found])


def compare_tests(name: str, out: Path, jobs: int) -> None:
    """Print what the residual test changes where there are supervised components only."""
    data = load(name)
    y = np.asarray(data.target)
    paper = methods_for(len(np.unique(y)))["ISPCA-small"]
    residual = clone(paper).set_params(reduction__test="residual")
    methods = {"ISPCA-small": paper, "ISPCA-small-residual": residual}
    result = compare(
        methods, data.data, y, cv=N_SPLITS, baseline="ISPCA-small", resume=out / "fits" / name, n_jobs=jobs
    )
    pair = ("ISPCA-small-residual", "ISPCA-small")
    measures = "; ".join(f"{m} {set_scores(name, result, m).estimate(*pair)}" for m in ("mlpd", "accuracy"))
    unconverged = {str(row["method"]): int(row["n_unconverged"]) for row in result.table}
    numbers = [counts(data.data, y, result, test) for test in ("paper", "residual")]
    spread = " and ".join(f"{n.mean():.1f} ({n.min()} to {n.max()})" for n in numbers)
    print(f"{name}: {measures}; components {spread}; not converged {unconverged}", flush=True)


def compare_splits(name: str, out: Path, jobs: int) -> None:
    """Print differences of methods with and without keeping the shares of the classes."""
    data = load(name)
    y = np.asarray(data.target)
    methods = {key: method for key, method in methods_for(len(np.unique(y))).items() if key in SPLIT_METHODS}
    ways = {"stratified": N_SPLITS, "plain": ShuffleSplit(N_SPLITS, test_size=0.2, random_state=0)}
    for way, cv in ways.items():
        result = compare(methods, data.data, y, cv=cv, resume=out / "fits" / name, n_jobs=jobs)
        found = set_scores(name, result, "mlpd")
        means = ", ".join(f"{method} {found.estimate(method).mean:.3f}" for method in result.methods)
        print(f"{name}, {way} splits: {means}", flush=True)
        for pair in SPLIT_PAIRS:
            print(f"  {pair[0]} minus {pair[1]}: {found.estimate(*pair)}", flush=True)


def compare_words(name: str, out: Path, jobs: int) -> None:
    """Print means, and SPCA's lead over the lasso, for three ways to count words; few splits: fits are long."""
    data = load(name)
    y = np.asarray(data.target)
    methods = {key: method for key, method in methods_for(2).items() if key in TEXT_METHODS}
    ways = {"counts": lambda x: x, "log(1 + count)": np.log1p, "occurs": np.ones_like}
    for way, change in ways.items():
        X = data.data.copy()
        X.data = change(X.data)
        result = compare(methods, X, y, cv=TEXT_SPLITS, resume=out / "fits" / name, n_jobs=jobs)
        for metric in ("mlpd", "accuracy"):
            found = set_scores(name, result, metric)
            means = ", ".join(f"{method} {found.estimate(method).mean:.3f}" for method in result.methods)
            lead = found.estimate("SPCA", "lasso")
            print(f"{name}, {way}, {metric}: {means}; SPCA minus lasso {lead}", flush=True)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=["test", "splits", "words"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    work, sets = {
        "test": (compare_tests, SETS + STAND_INS),
        "splits": (compare_splits, ["glioma-4c", "colon"]),
        "words": (compare_words, TEXTS),
    }[args.what]
    for name in args.names or sets:
        work(name, args.out, args.jobs)


if __name__ == "__main__":
    main()
