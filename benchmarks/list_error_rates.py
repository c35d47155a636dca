"""False features in the lists of stability: ``python -m benchmarks.list_error_rates`` (20 minutes on two cores).

Each data set has 60 samples and 2,000 features, of which 20 are associated with the target, or none. Features of
a block that drives the target all count as associated. A list consists of the features with an ``error_rate`` of
at most 10%, 20% or 30%; its fraction of false features is 0 if it is empty.
"""

import argparse
import warnings

import numpy as np

from ispca import ISPCA
from ispca.validation import stability

N, D, RELEVANT = 60, 2000, 20
RATES = (0.1, 0.2, 0.3)


def blocks(rng, size):
    """Return features in blocks with a correlation of one half, and their factors."""
    factors = rng.normal(size=(N, D // size))
    return np.repeat(factors, size, axis=1) + rng.normal(size=(N, D)), factors


def follow(rng, size, noise, limits=(0.5,)):
    """Return blocks, and classes that the first of them determine up to some noise; a quantity without limits."""
    X, factors = blocks(rng, size)
    score = factors[:, : RELEVANT // size].sum(axis=1) + noise * rng.normal(size=N)
    return X, np.digitize(score, np.quantile(score, limits)) if limits else score


def survive(rng):
    """Return blocks, and survival times that depend on the first."""
    X, factors = blocks(rng, 20)
    life, end = rng.exponential(np.exp(-1.5 * factors[:, 0])), rng.exponential(3.0, size=N)
    y = np.empty(N, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = life <= end, np.minimum(life, end) + 0.01
    return X, y


def shifted(rng, y, shift):
    """Return independent features, of which the first differ between the classes."""
    X = rng.normal(size=(N, D))
    X[:, :RELEVANT] += shift * y[:, None]
    return X, y


# Functions of a generator and of classes in random order.
DESIGNS = {
    "noise, independent": lambda rng, y: (rng.normal(size=(N, D)), y),
    "noise, blocks of 20": lambda rng, y: (blocks(rng, 20)[0], y),
    "independent, strong": lambda rng, y: shifted(rng, y, 1.6),
    "block of 20, strong": lambda rng, y: follow(rng, 20, 0.3),
    "noise, blocks of 100": lambda rng, y: (blocks(rng, 100)[0], y),
    "independent, weak": lambda rng, y: shifted(rng, y, 1.2),
    "block of 20, weak": lambda rng, y: follow(rng, 20, 1.0),
    "block of 20, quantity": lambda rng, y: follow(rng, 20, 0.5, ()),
    "two blocks of 10": lambda rng, y: follow(rng, 10, 0.5),
    "noise, blocks of 20, forced": lambda rng, y: (blocks(rng, 20)[0], y),
    "block of 20, three classes": lambda rng, y: follow(rng, 20, 0.3, (1 / 3, 2 / 3)),
    "block of 20, survival": lambda rng, y: survive(rng),
}


def trial(name, seed):
    """Return the number of features on each list, and of the associated ones among them."""
    rng = np.random.default_rng([seed, list(DESIGNS).index(name)])
    X, y = DESIGNS[name](rng, rng.permutation(np.tile([0, 1], N // 2)))
    reduction = ISPCA(1, alpha=None, n_supervised=1) if name.endswith("forced") else ISPCA()
    table = stability(reduction, X, y, n_jobs=1, random_state=seed).table
    chosen = [table["feature"][table["error_rate"] <= rate].astype(int) for rate in RATES]
    relevant = 0 if name.startswith("noise") else RELEVANT
    return [(len(features), np.count_nonzero(features < relevant)) for features in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20, help="data sets of each design")
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS), choices=list(DESIGNS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = " | ".join(f"false at {rate:.0%} (error), listed, associated" for rate in RATES)
    print(f"| design | {columns} | SD of false at 20% |")
    for name in options.designs:
        found = np.array([trial(name, seed) for seed in range(options.sets)])
        listed, right = found[..., 0], found[..., 1]
        false = (listed - right) / np.maximum(listed, 1)
        error = false.std(axis=0, ddof=1) / np.sqrt(len(false))
        means = zip(100 * false.mean(axis=0), 100 * error, listed.mean(axis=0), right.mean(axis=0), strict=True)
        cells = [f"{rate:.0f}% ({off:.0f}), {many:.1f}, {good:.1f}" for rate, off, many, good in means]
        print(f"| {name} | {' | '.join(cells)} | {100 * false[:, 1].std(ddof=1):.0f}% |", flush=True)


if __name__ == "__main__":
    main()
