"""Panels on simulated data: correlated blocks with five relevant features, and pure noise.

    python -m benchmarks.selection_simulation [--seeds 20] [--noise-seeds 40] [blocks] [noise]

Blocks: 2,000 features in 200 blocks of 10 with correlation 0.8 inside a block. One feature of each of five blocks
has an effect of the same size and a random sign. A panel is right if it has five features, one in each of these
blocks. For the fraction of false blocks, the lasso is taken at the largest penalty whose density on 2,000 new
samples reaches the panel's (where none does, at its highest density), at its best penalty and at that of one
standard error. Noise: no feature has an effect.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from ispca.families import FAMILIES
from ispca.penalized.cross_validation import cross_validated_path, random_folds
from ispca.penalized.problem import Problem
from ispca.selection import ProjectionSelector
from ispca.targets.samples import Samples
from ispca.validation import StackedClassifier, StackedRegressor, recommended_methods

N_BLOCKS, BLOCK_SIZE, CORRELATION, N_RELEVANT = 200, 10, 0.8, 5
N_SAMPLES = {"regression": 150, "classification": 300}  # a class tells less than a number
N_NOISE_SAMPLES, N_NOISE_FEATURES = 80, 1000
N_NEW = 2000
# The rules for the suggested size were chosen on smaller seeds.
FIRST_SEED = 1000
EXPLAINED = 0.8  # fraction of the variance of a quantity
SPREAD = 4.0  # standard deviation of the log odds


class BlockData(NamedTuple):
    """Simulated samples to learn from, new samples, and the relevant blocks."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray
    relevant: set[int]


def block_features(rng: np.random.Generator, n_samples: int, n_blocks: int = N_BLOCKS) -> np.ndarray:
    """Return features of variance 1 that are correlated inside their block."""
    shared = np.repeat(rng.normal(size=(n_samples, n_blocks)), BLOCK_SIZE, axis=1)
    own = rng.normal(size=(n_samples, n_blocks * BLOCK_SIZE))
    return np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * own


def block_data(kind: str, seed: int, n_samples: int | None = None, n_blocks: int = N_BLOCKS) -> BlockData:
    """Draw the samples of one seed."""
    rng = np.random.default_rng(seed)
    n_samples = N_SAMPLES[kind] if n_samples is None else n_samples
    X = block_features(rng, n_samples + N_NEW, n_blocks)
    blocks = rng.choice(n_blocks, N_RELEVANT, replace=False)
    signal = X[:, blocks * BLOCK_SIZE] @ rng.choice([-1.0, 1.0], N_RELEVANT) / np.sqrt(N_RELEVANT)
    if kind == "regression":
        y = np.sqrt(EXPLAINED) * signal + np.sqrt(1 - EXPLAINED) * rng.normal(size=len(signal))
    else:
        y = (rng.random(len(signal)) < expit(SPREAD * signal)).astype(int)
    return BlockData(X[:n_samples], y[:n_samples], X[n_samples:], y[n_samples:], set(blocks.tolist()))


def noise_data(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw features and a target that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_NOISE_SAMPLES, N_NOISE_FEATURES))
    y = rng.normal(size=len(X)) if kind == "regression" else rng.permutation(len(X)) % 2
    return X, y


def references(kind: str) -> dict[str, Any]:
    """Return the references by name."""
    methods = recommended_methods(kind=kind, random_state=0)
    stack = StackedRegressor if kind == "regression" else StackedClassifier
    named = {"lasso": "lasso-best", "ISPCA": "ISPCA", "ridge": "ridge-best"}
    found = {name: methods[method] for name, method in named.items()}
    return found | {"stack": stack(n_jobs=1, random_state=0)}


def false_fraction(features: Any, relevant: set[int]) -> float:
    """Return the fraction of the selected blocks that are not relevant; 0 if nothing is selected."""
    blocks = set((np.asarray(features, dtype=int) // BLOCK_SIZE).tolist())
    return len(blocks - relevant) / max(len(blocks), 1)


def lasso_points(data: BlockData, kind: str) -> tuple[np.ndarray, list[float], dict[str, int]]:
    """Return density on new samples and false blocks along the lasso's path, and the positions of its choices."""
    family = FAMILIES["gaussian" if kind == "regression" else "binomial"]
    strata = np.zeros(len(data.y), dtype=int) if kind == "regression" else data.y
    folds = random_folds(strata, 10, np.random.default_rng(0))
    path = cross_validated_path(Problem(Samples(data.X, data.y), family, 100), "lasso", folds)
    densities, false = [], []
    for position in range(len(path.lambdas)):
        coef, intercept = path.solution(position)
        eta = data.X_new @ coef.T + intercept
        densities.append(float(family.log_likelihood(eta, data.y_new, np.sqrt(path.mean[position])).mean()))
        false.append(false_fraction(np.flatnonzero(coef[0]), data.relevant))
    return np.array(densities), false, {"best": path.best, "one_standard_error": path.one_standard_error}


def block_trial(kind: str, reference: str, seed: int) -> dict[str, Any]:
    """Select a panel of one seed, and compare it with the truth and the lasso."""
    data = block_data(kind, seed)
    started = time.process_time()
    selector = ProjectionSelector(references(kind)[reference], n_jobs=1, random_state=seed).fit(data.X, data.y)
    seconds = time.process_time() - started
    panel = selector.panels_[selector.n_features_]
    model = selector.submodel()
    density = float(model[-1].log_predictive_density(model[:-1].transform(data.X_new), data.y_new).mean())
    densities, false, chosen = lasso_points(data, kind)
    reached = densities >= density
    equal = int(reached.argmax() if reached.any() else densities.argmax())
    blocks = set((panel // BLOCK_SIZE).tolist())
    return {
        "kind": kind,
        "reference": reference,
        "seed": seed,
        "size": len(panel),
        "blocks_found": len(blocks & data.relevant),
        "right": len(panel) == N_RELEVANT and blocks == data.relevant,
        "false": false_fraction(panel, data.relevant),
        "density": density,
        "lasso_equal": false[equal],
        "lasso_equal_density": densities[equal],
        "lasso_best": false[chosen["best"]],
        "lasso_one_standard_error": false[chosen["one_standard_error"]],
        "seconds": seconds,
    }


def noise_trial(kind: str, reference: str, seed: int) -> dict[str, Any]:
    """Select a panel where there is nothing to find."""
    X, y = noise_data(kind, seed)
    # Whether a panel is suggested at all does not depend on the largest size.
    selector = ProjectionSelector(references(kind)[reference], max_features=3, n_jobs=1, random_state=seed)
    selector.fit(X, y)
    return {"kind": kind, "reference": reference, "seed": seed, "size": int(selector.n_features_)} | {
        "gain": float(-selector.path_.difference[0]),
        "gain_error": float(selector.path_.difference_error[0]),
    }


def print_blocks(found: list[dict[str, Any]]) -> None:
    """Print one line for each kind of target and reference."""
    columns = ["target", "reference", "seeds", "right", "sizes", "false", "density"]
    columns += ["lasso: equal density", "best", "1 SE", "CPU s"]
    print("|", " | ".join(columns), "|\n" + "|---" * len(columns) + "|")
    for kind, reference in dict.fromkeys((trial["kind"], trial["reference"]) for trial in found):
        trials = [trial for trial in found if (trial["kind"], trial["reference"]) == (kind, reference)]

        def mean(name: str, trials: list[dict[str, Any]] = trials) -> float:
            return float(np.mean([trial[name] for trial in trials]))

        sizes, counts = np.unique([trial["size"] for trial in trials], return_counts=True)
        histogram = ", ".join(f"{size}: {count}" for size, count in zip(sizes, counts, strict=True))
        numbers = [f"{mean(name):.2f}" for name in ("false", "density", "lasso_equal", "lasso_best")]
        numbers += [f"{mean('lasso_one_standard_error'):.2f}", f"{mean('seconds'):.0f}"]
        right = sum(trial["right"] for trial in trials)
        print(f"| {kind} | {reference} | {len(trials)} | {right} | {histogram} |", " | ".join(numbers), "|")


def print_noise(found: list[dict[str, Any]]) -> None:
    """Print how often a panel was suggested."""
    print("| target | reference | seeds | panels suggested |\n|---|---|---|---|")
    for kind, reference in dict.fromkeys((trial["kind"], trial["reference"]) for trial in found):
        sizes = [trial["size"] for trial in found if (trial["kind"], trial["reference"]) == (kind, reference)]
        print(f"| {kind} | {reference} | {len(sizes)} | {np.count_nonzero(sizes)} |")


def main() -> None:
    """Run the trials that are not yet stored, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["blocks", "noise"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--noise-seeds", type=int, default=40)
    parser.add_argument("--kinds", nargs="+", default=["regression", "classification"])
    parser.add_argument("--references", nargs="+", default=["lasso", "ISPCA", "ridge", "stack"])
    parser.add_argument("--store", type=Path, default=Path("build/selection_simulation"), help="finished trials")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    args.store.mkdir(parents=True, exist_ok=True)
    trials = {
        "blocks": (block_trial, args.seeds, print_blocks),
        "noise": (noise_trial, args.noise_seeds, print_noise),
    }
    for what in args.what:
        trial, n_seeds, show = trials[what]
        found = []
        for kind, reference, seed in product(args.kinds, args.references, range(FIRST_SEED, FIRST_SEED + n_seeds)):
            file = args.store / f"{what}-{kind}-{reference}-{seed}.json"
            if not file.exists():
                file.write_text(json.dumps(trial(kind, reference, seed)))
            found.append(json.loads(file.read_text()))
        show(found)


if __name__ == "__main__":
    main()
