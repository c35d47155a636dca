"""What the choice of the penalty changes: glmnet's path, the extended path, and the average over penalties.

    python -m benchmarks.penalties [--splits 20] [NAME ...]

Prints mean log predictive densities over random stratified splits with one fifth held out, and on how many splits
the smallest cross-validated deviance is that of the last penalty of glmnet's path.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from ispca.datasets import load
from ispca.families import class_family
from ispca.penalized import PenalizedClassifier
from ispca.penalized.cross_validation import cross_validated_path, make_folds
from ispca.penalized.problem import Problem
from ispca.reduction.reuse import share_results
from ispca.targets.samples import Samples

SETS = ["colon", "leukemia", "prostate", "arcene", "gravier", "glioma-4c", "chowdary", "ovarian", "basehock"]
COLUMNS = [
    "ridge, glmnet's path", "ridge, extended", "ridge, averaged", "lasso, best", "lasso, averaged"
]  # fmt: skip


def glmnet_density(X: Any, codes: np.ndarray, X_new: Any, codes_new: np.ndarray) -> tuple[float, bool]:
    """Return the mean log density at the best ridge penalty of glmnet's path, and whether it is the last."""
    family = class_family(int(codes.max()) + 1)
    folds = make_folds(10, X, codes, None, True, 0)
    path = cross_validated_path(Problem(Samples(X, codes), family, 100), "ridge", folds)
    coef, intercept = path.solution(path.best)
    logs = family.log_probabilities(np.asarray(X_new @ coef.T + intercept))
    return float(logs[np.arange(len(codes_new)), codes_new].mean()), path.best == len(path.lambdas) - 1


def split_densities(X: Any, codes: np.ndarray, train: Any, test: Any) -> tuple[list[float], bool, bool]:
    """Return the densities of all columns on one split, and whether ridge and lasso end on the edge."""
    (X, codes), (X_new, codes_new) = (X[train], codes[train]), (X[test], codes[test])
    first, ridge_edge = glmnet_density(X, codes, X_new, codes_new)
    found = [first]
    with share_results(X):
        for penalty, choice in product(("ridge", "lasso"), ("best", "average")):
            model = PenalizedClassifier(penalty=penalty, choice=choice, random_state=0).fit(X, codes)
            found.append(float(model.log_predictive_density(X_new, codes_new).mean()))
    return found, ridge_edge, model.lambda_best_ == model.lambdas_[-1]


def main() -> None:
    """Print one line per data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=SETS, metavar="NAME")
    parser.add_argument("--splits", type=int, default=20)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # the edge is counted
    print("| set | splits |", " | ".join(COLUMNS), "| edge: ridge | edge: lasso |")
    for name in args.names:
        data = load(name)
        codes = np.unique(data.target, return_inverse=True)[1]
        splits = StratifiedShuffleSplit(args.splits, test_size=0.2, random_state=0).split(codes, codes)
        results = [split_densities(data.data, codes, train, test) for train, test in splits]
        means = np.mean([result[0] for result in results], axis=0)
        edges = [sum(result[at] for result in results) for at in (1, 2)]
        numbers = " | ".join(f"{mean:.3f}" for mean in means)
        print(f"| {name} | {args.splits} | {numbers} | {edges[0]} | {edges[1]} |", flush=True)


if __name__ == "__main__":
    main()
