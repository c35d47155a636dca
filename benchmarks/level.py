"""Level and power of the permutation test with covariates, weights, offsets and groups, in 32 designs.

``python -m benchmarks.level`` prints how often the test of the largest score fires without any effect of the
features, at 5% and at 1%, and with an effect, at 5%. ``--only 3 7`` runs some of the designs, ``--seed 1`` other
data sets. The designs with even numbers served to choose the test, the others to confirm the choice.
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.adjustment import TARGETS
from ispca import score_test

# With 199 permutations, an exact test fires in exactly 5% and in exactly 1% of all cases.
N_PERMUTATIONS = 199
N_FACTORS = 5
# Places of the covariates: age, which is a number, and the indicators of two of three batches.
COVARIATES = {"": [], "age": [0], "batch": [1, 2], "age and batch": [0, 1, 2]}
SLOPES = np.array([1.0, 1.0, -1.0])


@dataclass(frozen=True)
class Design:
    """Data sets of one kind: features that are correlated through five factors, the first of which has the effect.

    ``weights`` are "random", "class" (3 for one class or for events, 1 for others), "precision" (one over the
    variance of the noise) or "variance" (that variance). Covariates are related to the features and the target.
    """

    family: str
    covariates: str = ""
    weights: str = ""
    offset: bool = False
    group_size: int = 0
    skewed: bool = False
    shift: float = 0.0
    n_samples: int = 40
    n_features: int = 150
    effect: float = 1.0

    def __str__(self):
        parts = [f"{self.covariates} adjusted for"] * bool(self.covariates)
        parts += [f"{self.weights} weights"] * bool(self.weights) + ["offset"] * self.offset
        parts += ["unbalanced"] * bool(self.shift) + ["skewed features"] * self.skewed
        return ", ".join([self.family, *parts, *[f"groups of {self.group_size}"] * bool(self.group_size)])


DESIGNS = [
    Design("gaussian", effect=0.7),
    Design("binomial"),
    Design("gaussian", covariates="age and batch", effect=0.7),
    Design("binomial", covariates="age and batch", effect=1.5),
    Design("gaussian", weights="random", effect=0.8),
    Design("binomial", weights="random"),
    Design("gaussian", weights="precision", effect=0.8),
    Design("gaussian", weights="variance", effect=0.8),
    Design("binomial", covariates="age", skewed=True, n_samples=60, n_features=300, effect=1.5),
    Design("binomial", covariates="batch", shift=-1.2, n_samples=60, effect=1.3),
    Design("binomial", weights="class"),
    Design("binomial", weights="class", shift=-1.2, n_samples=60),
    Design("binomial", offset=True, effect=1.3),
    Design("binomial", offset=True, skewed=True, n_samples=60),
    Design("binomial", covariates="age", group_size=6, n_samples=60, effect=1.5),
    Design("gaussian", weights="precision", group_size=6, n_samples=60),
    Design("multinomial", effect=1.3),
    Design("multinomial", covariates="age", effect=1.5),
    Design("multinomial", covariates="age and batch", n_samples=60, effect=1.5),
    Design("multinomial", weights="class", effect=1.3),
    Design("poisson", offset=True, effect=0.4),
    Design("poisson", covariates="age", skewed=True, effect=0.4),
    Design("poisson", covariates="batch", weights="random", effect=0.5),
    Design("poisson", offset=True, weights="random", skewed=True, effect=0.4),
    Design("negative-binomial", offset=True, effect=0.8),
    Design("negative-binomial", covariates="age", effect=0.8),
    Design("cox", effect=0.8),
    Design("cox", covariates="age and batch", skewed=True, n_samples=60),
    Design("cox", weights="random"),
    Design("cox", covariates="age", weights="class", n_samples=60, effect=0.8),
    Design("ordinal", covariates="age", skewed=True, effect=1.3),
    Design("ordinal", weights="class", offset=True, effect=1.3),
]


def four_classes(eta, rng):
    return np.digitize(eta + rng.logistic(size=len(eta)), [-1, 0, 1])


def data_set(design, seed, effect=0.0):
    """Return the arguments of ``score_test`` for one data set."""
    rng = np.random.default_rng(seed)
    n, d = design.n_samples, design.n_features
    factors = rng.normal(size=(n, N_FACTORS))
    batch, chosen = rng.integers(0, 3, n), COVARIATES[design.covariates]
    covariates = np.column_stack([rng.normal(size=n), batch == 1, batch == 2])[:, chosen]
    X = factors @ rng.normal(size=(N_FACTORS, d)) / 2 + rng.normal(size=(n, d))
    X += covariates @ rng.normal(size=(len(chosen), d))
    eta = covariates @ SLOPES[chosen] + design.shift + effect * factors[:, 0]
    offset = rng.normal(size=n) if design.offset else None
    eta = eta if offset is None else eta + offset
    groups = np.arange(n) // design.group_size if design.group_size else None
    if groups is not None:
        eta = eta + rng.normal(size=n)[groups]
        X += rng.normal(size=(n, d))[groups]
    weights = rng.gamma(2, 0.5, n) + 0.1 if design.weights else None
    if design.family == "multinomial":
        y = four_classes(eta, rng)
    elif design.weights in ("precision", "variance"):
        y = eta + rng.normal(size=n) * weights ** (0.5 if design.weights == "variance" else -0.5)
    else:
        y = TARGETS[design.family](eta, rng)
    if design.weights == "class":
        weights = np.where(y[0] if design.family == "cox" else y == np.max(y), 3.0, 1.0)
    return {
        "X": np.column_stack([np.exp(X / 2) if design.skewed else X, covariates]),
        "y": y,
        "family": design.family,
        "adjust": list(range(d, d + len(chosen))) or None,
        "sample_weight": weights,
        "offset": offset,
        "groups": groups,
    }


def p_value(number, with_effect, seed):
    """Return the p-value of one data set; NaN if the covariates explain the target exactly."""
    design = DESIGNS[number]
    arguments = data_set(design, [*seed, number], design.effect if with_effect else 0.0)
    try:
        return score_test(kind="maximum", n_permutations=N_PERMUTATIONS, random_state=seed[1], **arguments).p_value
    except ValueError:
        return np.nan


def p_values(number, with_effect, n_sets, seed=0, pool=None):
    """Return the p-values of many data sets of a design."""
    seeds = [(seed, trial) for trial in range(n_sets)]
    trial = partial(p_value, number, with_effect)
    found = np.array(list(pool.map(trial, seeds, chunksize=50) if pool else map(trial, seeds)))
    return found[~np.isnan(found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=4000, help="data sets without an effect; a quarter with one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*", default=range(len(DESIGNS)))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| | design | level at 5% | level at 1% | power at 5% |\n|---|---|---|---|---|")
    with ProcessPoolExecutor(args.jobs) as pool:
        for number in args.only:
            null, real = (p_values(number, real, args.sets // (1 + 3 * real), args.seed, pool) for real in (0, 1))
            rates = np.mean(null < 0.05), np.mean(null < 0.01), np.mean(real < 0.05)
            print(f"| {number} | {DESIGNS[number]} |", *(f"{rate:.1%} |" for rate in rates), flush=True)


if __name__ == "__main__":
    main()
