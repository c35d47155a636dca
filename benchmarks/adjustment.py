"""Level of the permutation test where a covariate drives both the features and the target.

``python -m benchmarks.adjustment`` prints for each family how often the test of the largest score fires at 5%
although no feature has an effect of its own, without and with adjustment for the covariate.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from ispca import score_test

ALPHA = 0.05
# With 99 permutations, an exact test fires in exactly 5% of all cases.
N_PERMUTATIONS = 99
N_SAMPLES, N_FEATURES = 60, 40


def binary(eta, rng):
    return (eta + rng.logistic(size=len(eta)) > 0).astype(int)


def three_classes(eta, rng):
    return np.digitize(eta + rng.normal(size=len(eta)), [-1, 1])


def counts(eta, rng):
    return rng.poisson(np.exp(0.5 + eta))


def overdispersed_counts(eta, rng):
    return rng.poisson(np.exp(0.5 + eta) * rng.gamma(1, 1, len(eta)))


def survival(eta, rng):
    """Return exponential times of which about a third is censored."""
    time, censored = rng.exponential(np.exp(-eta)), rng.exponential(2, size=len(eta))
    return time <= censored, np.minimum(time, censored) + 1e-9


def grades(eta, rng):
    return np.digitize(eta + rng.logistic(size=len(eta)), [-1, 0, 1])


TARGETS = {
    "gaussian": lambda eta, rng: eta + rng.normal(size=len(eta)),
    "binomial": binary,
    "multinomial": three_classes,
    "poisson": counts,
    "negative-binomial": overdispersed_counts,
    "cox": survival,
    "ordinal": grades,
}


def make_confounded(family, rng):
    """Return features and a target that depend on a covariate, the last column, and on nothing in common else."""
    covariate = rng.normal(size=N_SAMPLES)
    features = rng.normal(size=(N_SAMPLES, N_FEATURES)) + 0.7 * covariate[:, None]
    return np.column_stack([features, covariate]), TARGETS[family](covariate, rng)


def p_values(family, seed):
    """Return the p-values of one data set: without the covariate, and adjusted for it."""
    X, y = make_confounded(family, np.random.default_rng([seed, len(family)]))
    options = {"kind": "maximum", "family": family, "n_permutations": N_PERMUTATIONS, "random_state": seed}
    return score_test(X[:, :-1], y, **options).p_value, score_test(X, y, adjust=[-1], **options).p_value


def firing_rates(family, n_trials, n_jobs=1):
    """Return how often the test fires without and with adjustment."""
    trial = partial(p_values, family)
    if n_jobs == 1:
        found = [trial(seed) for seed in range(n_trials)]
    else:
        with ProcessPoolExecutor(n_jobs) as pool:
            found = list(pool.map(trial, range(n_trials), chunksize=20))
    return (np.array(found) < ALPHA).mean(axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    error = np.sqrt(ALPHA * (1 - ALPHA) / args.trials)
    print(f"{args.trials} data sets, level {ALPHA:.0%}, standard error {error:.2%}\n")
    print("| family | not adjusted | adjusted |\n|---|---|---|")
    for family in TARGETS:
        ignored, adjusted = firing_rates(family, args.trials, args.jobs)
        print(f"| {family} | {ignored:.1%} | {adjusted:.1%} |", flush=True)


if __name__ == "__main__":
    main()
