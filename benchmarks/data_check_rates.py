"""Rates of false alarms and of detections of the data checks: ``python -m benchmarks.data_check_rates`` (minutes).

The data were not used to choose the limits of the checks: simulations with fresh seeds, and random parts of the
data sets of scikit-learn, in random order.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)

from ispca.data_checks import KINDS, check_data
from ispca.datasets import make_counts, make_expression, make_survival, make_text

FIRST_SEED = 5000


class Data(NamedTuple):
    """Features, target, kind of the target and sample sheet of one analysis."""

    X: Any
    y: Any
    kind: str
    sheet: dict[str, Any] | None = None


def expression(rng: np.random.Generator) -> Data:
    """Simulate expression data of a random size, number of classes and strength of the signal."""
    made = make_expression(
        int(rng.integers(40, 150)),
        int(rng.integers(300, 2000)),
        n_classes=int(rng.integers(2, 4)),
        signal=float(rng.choice([0.5, 1.0, 2.0])),
        random_state=rng,
    )
    return Data(made.data, made.target, "classification", {"batch": rng.integers(0, 4, len(made.target))})


def survival(rng: np.random.Generator) -> Data:
    """Simulate expression data with survival times."""
    made = make_survival(100, 500, random_state=rng)
    return Data(made.data, made.target, "survival", {"batch": made.covariates["batch"]})


def counts(rng: np.random.Generator) -> Data:
    """Simulate expression data with counts as the target."""
    made = make_counts(100, 500, random_state=rng)
    return Data(made.data, made.target, "count", {"batch": made.covariates["batch"]})


def text(rng: np.random.Generator) -> Data:
    """Simulate sparse word counts."""
    made = make_text(150, 1500, random_state=rng)
    return Data(made.data, made.target, "classification")


def spectra(rng: np.random.Generator) -> Data:
    """Simulate smooth spectra of two classes: peaks of random heights, and noise."""
    n, position = 80, np.linspace(0, 1, 400)
    centers, width = rng.uniform(0, 1, 12), rng.uniform(0.03, 0.1, 12)
    peaks = np.exp(-(((position - centers[:, None]) / width[:, None]) ** 2) / 2)
    y = rng.integers(0, 2, n)
    heights = rng.gamma(4.0, 0.25, (n, 12))
    heights[:, 0] += y
    return Data(heights @ peaks + 0.02 * rng.normal(size=(n, 400)), y, "classification")


def part_of(load: Callable[..., Any], kind: str = "classification") -> Callable[[np.random.Generator], Data]:
    """Return a function that takes random samples of a data set of scikit-learn, in random order."""
    X, y = load(return_X_y=True)

    def take(rng: np.random.Generator) -> Data:
        rows = rng.permutation(len(y))[: min(100, 2 * len(y) // 3)]
        return Data(X[rows], y[rows], kind, {"run": rng.integers(0, 5, len(rows))})

    return take


def two_digits(rng: np.random.Generator) -> Data:
    """Take images of two random digits."""
    X, y = load_digits(return_X_y=True)
    rows = rng.permutation(np.flatnonzero(np.isin(y, rng.choice(10, 2, replace=False))))[:120]
    return Data(X[rows], y[rows], "classification")


def informative(rng: np.random.Generator) -> Data:
    """Simulate a few informative features of very different strengths, and mixtures of them."""
    n_features = int(rng.integers(8, 60))
    X, y = make_classification(
        100,
        n_features,
        n_informative=n_features // 4,
        n_redundant=n_features // 4,
        n_clusters_per_class=1,
        class_sep=float(rng.choice([1.0, 2.0, 3.0])),
        random_state=int(rng.integers(2**31)),
    )
    return Data(X, y, "classification")


# Word counts are raw, so this finding is right.
RIGHT = {"text": {"scale"}}
CLEAN: dict[str, tuple[Callable[[np.random.Generator], Data], int]] = {
    "expression": (expression, 200),
    "survival": (survival, 100),
    "counts": (counts, 100),
    "text": (text, 50),
    "spectra": (spectra, 100),
    "make_classification": (informative, 200),
    "breast cancer": (part_of(load_breast_cancer), 100),
    "wine": (part_of(load_wine), 100),
    "iris": (part_of(load_iris), 100),
    "diabetes": (part_of(load_diabetes, "regression"), 100),
    "digits": (two_digits, 100),
}


def numbers(data: Data) -> np.ndarray:
    """Return the target as standardized numbers."""
    y = np.unique(data.y, return_inverse=True)[1] if data.kind == "classification" else np.asarray(data.y)
    return np.asarray((y - y.mean()) / y.std())


def with_column(data: Data, column: Any) -> Data:
    """Replace the last feature."""
    X = np.array(data.X, dtype=np.float64)
    X[:, -1] = column
    return data._replace(X=X)


def score(explained: float) -> Callable[[Data, np.random.Generator], Data]:
    """Return a function that adds a score derived from the target, which explains a given fraction of it."""

    def plant(data: Data, rng: np.random.Generator) -> Data:
        noise = np.sqrt(1 / explained - 1) * rng.normal(size=len(data.y))
        return with_column(data, 8 + numbers(data) + noise)

    return plant


def recode(errors: float) -> Callable[[Data, np.random.Generator], Data]:
    """Return a function that adds the class with a given fraction of errors."""

    def plant(data: Data, rng: np.random.Generator) -> Data:
        codes = np.unique(data.y, return_inverse=True)[1]
        wrong = rng.permutation(len(codes))[: round(errors * len(codes))]
        codes[wrong] = (codes[wrong] + 1) % (codes.max() + 1)
        return with_column(data, codes)

    return plant


def like_a_feature(data: Data, rng: np.random.Generator) -> Data:
    """Add an independent column with location and spread of a random feature."""
    other = data.X[:, rng.integers(data.X.shape[1] - 1)]
    return with_column(data, other.mean() + other.std() * rng.normal(size=len(other)))


def outlier(data: Data, rng: np.random.Generator) -> Data:
    """Add noise to a sample: five standard deviations of each feature."""
    X = data.X.copy()
    X[rng.integers(len(X))] += 5 * X.std(axis=0) * rng.normal(size=X.shape[1])
    return data._replace(X=X)


def duplicate(noise: float) -> Callable[[Data, np.random.Generator], Data]:
    """Return a function that replaces a sample by a copy of another one with noise."""

    def plant(data: Data, rng: np.random.Generator) -> Data:
        X, (first, second) = data.X.copy(), rng.permutation(len(data.y))[:2]
        X[second] = X[first] + noise * X.std(axis=0) * rng.normal(size=X.shape[1])
        return data._replace(X=X)

    return plant


def batch(flipped: float) -> Callable[[Data, np.random.Generator], Data]:
    """Return a function that adds a batch that equals the first class or not, except for some samples."""

    def plant(data: Data, rng: np.random.Generator) -> Data:
        same = (data.y == data.y[0]) ^ (rng.random(len(data.y)) < flipped)
        return data._replace(sheet={"batch": np.where(same, "A", "B")})

    return plant


def drift(strength: float) -> Callable[[Data, np.random.Generator], Data]:
    """Return a function that sorts samples by class and adds a drift of that many standard deviations in all."""

    def plant(data: Data, rng: np.random.Generator) -> Data:
        order = np.argsort(data.y, kind="stable")
        X = data.X[order]
        slope = strength * X.std(axis=0) * rng.normal(size=X.shape[1])
        return data._replace(X=X + np.outer(np.linspace(-0.5, 0.5, len(X)), slope), y=data.y[order])

    return plant


def raw_intensities(data: Data, rng: np.random.Generator) -> Data:
    """Undo the logarithm."""
    return data._replace(X=2.0 ** (data.X + 1))


def raw_reads(data: Data, rng: np.random.Generator) -> Data:
    """Draw counts of reads with different library sizes."""
    sizes = rng.uniform(0.5, 2.0, (len(data.X), 1))
    return data._replace(X=rng.poisson(sizes * 2.0 ** np.minimum(data.X - 3, 20)).astype(float))


Base = Callable[[np.random.Generator], Data]
Plant = Callable[[Data, np.random.Generator], Data]
breast, quantity = part_of(load_breast_cancer), part_of(load_diabetes, "regression")
# What is planted, the kind of finding, the words it must contain, the data, and the change.
PLANTED: dict[str, tuple[str, str, tuple[Base, ...], Plant]] = {
    **{
        f"score, {100 * r:.0f}%": ("leak", "", (expression, breast, quantity), score(r))
        for r in (0.95, 0.9, 0.8, 0.7)
    },
    **{
        f"class with {100 * e:.0f}% errors": ("leak", "", (expression, breast), recode(e))
        for e in (0.03, 0.06, 0.1)
    },
    "sex": (
        "odd_features",
        "",
        (expression, spectra),
        lambda data, rng: with_column(data, rng.integers(0, 2, len(data.y))),
    ),
    "age": (
        "odd_features",
        "",
        (expression, spectra),
        lambda data, rng: with_column(data, rng.integers(20, 90, len(data.y))),
    ),
    "weight": (
        "odd_features",
        "",
        (expression, spectra),
        lambda data, rng: with_column(data, rng.normal(75, 12, len(data.y))),
    ),
    "column on the scale of the others": ("odd_features", "", (expression, spectra), like_a_feature),
    "noisy sample": ("outliers", "", (expression, spectra), outlier),
    **{
        f"copy with noise of {s:g} sd": ("duplicates", "", (expression, spectra), duplicate(s))
        for s in (0.0, 0.05, 0.1)
    },
    **{
        f"batch, {100 * f:.0f}% exceptions": ("batch", "", (expression, breast), batch(f)) for f in (0.0, 0.1, 0.2)
    },
    "sorted by class": ("file_order", "", (expression, breast), drift(0.0)),
    **{
        f"drift of {s:g} sd": ("file_order", "drift along", (expression, breast), drift(s))
        for s in (1.0, 2.0, 3.0)
    },
    "raw intensities": ("scale", "", (expression,), raw_intensities),
    "raw counts": ("scale", "", (expression,), raw_reads),
}


def findings(data: Data) -> Iterator[tuple[str, str]]:
    """Return kinds and sentences of all findings."""
    for finding in check_data(data.X, data.y, data.kind, sheet=data.sheet, n_folds=2):
        yield finding.kind, finding.sentence


def false_alarms(scale: float) -> None:
    """Print how often each kind is found in data without any defect."""
    print("| data | trials | false alarms |\n|---|---|---|")
    total: Counter[str] = Counter()
    n_trials = 0
    for name, (make, number) in CLEAN.items():
        found: Counter[str] = Counter()
        number = max(1, round(scale * number))
        for seed in range(FIRST_SEED, FIRST_SEED + number):
            kinds = {kind for kind, _ in findings(make(np.random.default_rng(seed)))}
            found.update(kinds - RIGHT.get(name, set()))
        total, n_trials = total + found, n_trials + number
        words = ", ".join(f"{kind} {found[kind]}" for kind in KINDS if found[kind])
        print(f"| {name} | {number} | {words or 'none'} |", flush=True)
    print(
        f"| all | {n_trials} | {', '.join(f'{kind} {total[kind]}' for kind in KINDS if total[kind]) or 'none'} |"
    )


def detections(number: int) -> None:
    """Print how often planted defects are found."""
    print("\n| planted | found by | data | found |\n|---|---|---|---|")
    for name, (kind, words, bases, plant) in PLANTED.items():
        for base in bases:
            found = 0
            for seed in range(FIRST_SEED, FIRST_SEED + number):
                rng = np.random.default_rng(seed)
                found += any(kind == k and words in sentence for k, sentence in findings(plant(base(rng), rng)))
            label = {breast: "breast cancer", quantity: "diabetes"}.get(base, base.__name__)
            print(f"| {name} | {kind} | {label} | {found} of {number} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50, help="planted defects of each sort")
    chosen = parser.parse_args()
    false_alarms(chosen.count / 50)
    detections(chosen.count)
