"""Efficiency of samplers on the same posteriors, in one run: minimum bulk ESS per CPU second, warm-up included.

    python -m benchmarks.samplers --engines stan numpyro ispca --data leukemia prostate --splits 0 1 --out rows.csv

The inputs are whitened principal components of a random 4/5 of the samples; gaussian-50x800 means 50 simulated
samples of 800 features (docs/speed.md has the grid). The minimum is over the coefficients and intercepts
(softmax: their contrasts between classes) and log tau. Compilation is a column of its own, but for
numpyro-documented, where it recurs with every call and counts. All runs in one process pinned to one core, chains
one after another. Stan's time is that of its C++ process alone, without pystan's reading of the draws. Needs
arviz-stats, and pystan or numpyro for these engines; real data is read from ISPCA_DATA.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import re
import sys
import time
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "reference"))

import numpy as np
from arviz_stats.base import array_stats
from quantities import quantities

from problems import REAL, SIMULATED, Problem, problem, read, reduce, tau0

CHAINS = {"n_chains": 4, "n_warmup": 1000, "n_draws": 1000}
NOT_COUNTED = ("log_c2", "log_sigma", "log_lik")


def gaussian_problem(n: int, K: int, split: int) -> Problem:
    """Simulate n samples of K features, five of which have coefficient 1, with unit noise."""
    rng = np.random.default_rng([split, n, K])
    Z = rng.normal(size=(n, K))
    return Problem("gaussian", Z, Z[:, :5].sum(axis=1) + rng.normal(size=n))


def training_part(name: str, split: int) -> Problem:
    """Return the inputs and response of a random 4/5 of the samples, or of gaussian-50x800, say."""
    if size := re.fullmatch(r"gaussian-(\d+)x(\d+)", name):
        return gaussian_problem(int(size[1]), int(size[2]), split)
    whole = problem(name) if name in SIMULATED else None
    data, y = read(name) if whole is None else (whole.Z, whole.y)
    n = data.shape[0]
    rows = np.sort(np.random.default_rng(split).permutation(n)[: round(0.8 * n)])
    if whole is not None:
        return whole._replace(Z=data[rows], y=y[rows])
    K = REAL.get(name, 50 if len(np.unique(y)) == 2 else 20)
    return reduce(data[rows], y[rows], min(K, len(rows) - 1))


def stan(given: Problem, seed: int, delta: float = 0.8) -> tuple[dict, dict]:
    """Run Stan at its usual target acceptance."""
    return importlib.import_module("run_stan").run_stan(given, seed=seed, delta=delta, **CHAINS)


def numpyro(given: Problem, seed: int, call: str = "run") -> tuple[dict, dict]:
    """Run NumPyro at its usual target acceptance, in double precision."""
    return getattr(importlib.import_module("benchmarks.numpyro_models"), call)(given, seed=seed, **CHAINS)


def ispca(given: Problem, seed: int, sampler: str = "nuts") -> tuple[dict, dict]:
    """Run our engine with one thread."""
    engine = importlib.import_module("ispca._engine")
    settings = {"sampler": sampler, "tau0": tau0(given), "seed": seed, "n_threads": 1, **CHAINS}
    Z, y = np.ascontiguousarray(given.Z, dtype=float), given.y.astype(float)
    started = time.process_time()
    draws = engine.sample(given.model, Z, y, n_classes=given.n_classes, **settings)
    report = {"cpu_seconds": time.process_time() - started, "compile_seconds": 0.0}
    return draws, report | {"divergences": int(draws["divergent"].sum())}


ENGINES = {
    "stan": stan,
    "stan-0.95": lambda *arguments: stan(*arguments, delta=0.95),
    "numpyro": numpyro,
    "numpyro-documented": lambda *arguments: numpyro(*arguments, call="run_as_documented"),
    "ispca": ispca,
    "ispca-blocked": lambda *arguments: ispca(*arguments, sampler="blocked"),
}


def measure(engine: str, given: Problem, seed: int) -> dict:
    """Run one engine on one problem and return its row."""
    draws, report = ENGINES[engine](given, seed)
    found = quantities(draws, given)
    counted = {name: values for name, values in found.items() if name not in NOT_COUNTED}
    ess = {name: float(array_stats.ess(values, method="bulk")) for name, values in counted.items()}
    least = min(ess, key=ess.get)
    return {
        "min_ess": round(ess[least], 1),
        "least": least,
        "max_rhat": round(max(float(array_stats.rhat(values)) for values in counted.values()), 4),
        "cpu_seconds": round(report["cpu_seconds"], 4),
        "ess_per_second": round(ess[least] / report["cpu_seconds"], 2),
        "compile_seconds": round(report["compile_seconds"], 1),
        "divergences": report["divergences"],
    }


def write(row: dict, out: str | None) -> None:
    """Print one row and append it to the file."""
    print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if out:
        new = not Path(out).exists()
        with open(out, "a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if new:
                writer.writeheader()
            writer.writerow(row)


def main() -> None:
    """Measure all engines on all problems, then print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=["stan", "ispca"])
    parser.add_argument("--data", nargs="+", default=["leukemia", "prostate", "glioma-4c", "pcmac"])
    parser.add_argument("--splits", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--out", help="CSV file that the rows are appended to")
    parser.add_argument("--core", type=int, help="number of the core to run on (the last one it may use)")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if arguments.core is None else arguments.core})
    rates = defaultdict(list)
    for name in arguments.data:
        for split in arguments.splits:
            given = training_part(name, split)
            size = {"n": given.Z.shape[0], "K": given.Z.shape[1], "classes": given.n_classes}
            for seed in arguments.seeds:
                for engine in arguments.engines:
                    key = {"data": name, "split": split, "seed": seed, "engine": engine}
                    row = measure(engine, given, seed)
                    write(key | size | row, arguments.out)
                    rates[name, engine].append(row["ess_per_second"])
    print("\nmedian of the minimum bulk ESS per CPU second")
    for (name, engine), values in rates.items():
        print(f"{name:<14}{engine:<15}{np.median(values):>10.1f}  (from {min(values):.1f} to {max(values):.1f})")


if __name__ == "__main__":
    main()
