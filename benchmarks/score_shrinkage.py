"""How well the predicted shrinkage of scores agrees with that of new samples, in simulations and on real sets.

    python -m benchmarks.score_shrinkage [--seeds 5] [--splits 4]

The first 20 principal components of standardized features, with ``shrink_scores=True``. The actual ratio is the
standard deviation of the scores of new samples over that of the training samples: 500 fresh samples in the
simulations, the other half of the samples of real sets (a small half knows it to about 0.15 only). The tables
give the mean of ``|log(rho / actual)|`` with the predicted rho, with one from ten-fold cross-validation, and
without a correction, where rho is 1; and the mean of ``log(rho / actual)``, which is above 0 if too little is
shrunken. About half a minute on one core.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from benchmarks.prediction_rules import SETS
from ispca import ISPCA
from ispca.datasets import load

N_SAMPLES, N_NEW = 60, 500
N_COMPONENTS, N_FOLDS = 20, 10
# Features for each sample.
RATIOS = [0.5, 2, 10, 100, 1000]


def noise(D: int, rng: np.random.Generator) -> np.ndarray:
    """Return loadings of no factor."""
    return np.zeros((0, D))


def spikes(D: int, rng: np.random.Generator) -> np.ndarray:
    """Return directions whose variances lie around the smallest that can be found with so many samples."""
    directions = np.linalg.qr(rng.normal(size=(D, 6)))[0].T
    detectable = np.sqrt(D / N_SAMPLES)
    return directions * np.sqrt(detectable * np.array([[16.0], [8.0], [4.0], [2.0], [1.0], [0.5]]))


def factors(D: int, rng: np.random.Generator) -> np.ndarray:
    """Return loadings of ten factors on a tenth of the features each, as groups of genes have them."""
    active = rng.uniform(size=(10, D)) < 0.1
    return active * rng.normal(size=(10, D)) * rng.uniform(0.3, 1.0, size=(10, 1))


DESIGNS = {"noise": noise, "spikes": spikes, "factors": factors}


def cross_validated(X: Any) -> np.ndarray:
    """Return the standard deviations of whitened scores on components that were found without each sample."""
    squares = []
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=0).split(np.zeros(X.shape[0])):
        reduction = ISPCA(N_COMPONENTS, n_supervised=0, whiten=True).fit(X[train])
        squares += list(reduction.transform(X[test]) ** 2)
    count = min(map(len, squares))
    return np.sqrt(np.mean([row[:count] for row in squares], axis=0))


def agreement(train: Any, new: Any) -> np.ndarray:
    """Return mean absolute errors of both predictions and without any, and the mean errors of both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reduction = ISPCA(N_COMPONENTS, n_supervised=0, whiten=True, shrink_scores=True).fit(train)
        found = cross_validated(train)
    actual = np.log(reduction.transform(new).std(axis=0, ddof=1))[: len(found)]
    predicted, other = np.log(reduction.score_shrinkage_[: len(found)]) - actual, np.log(found) - actual
    absolute = [np.abs(error).mean() for error in (predicted, other, actual)]
    return np.array([*absolute, predicted.mean(), other.mean()])


def simulate(design: str, ratio: float, seed: int) -> np.ndarray:
    """Return the agreement for one simulated data set."""
    rng = np.random.default_rng([list(DESIGNS).index(design), round(10 * ratio), seed])
    D = round(ratio * N_SAMPLES)
    loadings = DESIGNS[design](D, rng)
    X = rng.normal(size=(N_SAMPLES + N_NEW, D))
    X += rng.normal(size=(len(X), len(loadings))) @ loadings
    return agreement(X[:N_SAMPLES], X[N_SAMPLES:])


def real(name: str, n_splits: int) -> np.ndarray:
    """Return the mean agreement over random halves of a real set."""
    data = load(name)
    y = np.asarray(data.target)
    splitter = StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0)
    halves = splitter.split(np.zeros(len(y)), y)
    return np.mean([agreement(data.data[train], data.data[test]) for train, test in halves], axis=0)


def row(name: str, found: np.ndarray) -> str:
    """Return a line of a Markdown table."""
    cells = [f"{value:.2f}" for value in found[:3]] + [f"{value:+.2f}" for value in found[3:]]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS, metavar="NAME")
    options = parser.parse_args()
    head = "| {} | predicted | cross-validated | without | bias, predicted | bias, cross-validated |\n"
    head += "|---" * 6 + "|"
    with threadpool_limits(1):
        print(head.format("simulation, D / n"))
        for design in DESIGNS:
            for ratio in RATIOS:
                found = [simulate(design, ratio, seed) for seed in range(options.seeds)]
                print(row(f"{design}, {ratio:g}", np.mean(found, axis=0)), flush=True)
        print("\n" + head.format("real set, halves"))
        means = []
        for name in options.sets:
            means.append(real(name, options.splits))
            print(row(name, means[-1]), flush=True)
        if means:
            print(row("mean", np.mean(means, axis=0)))


if __name__ == "__main__":
    main()
