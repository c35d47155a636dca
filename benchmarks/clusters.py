"""ISPCA on a Dask cluster: weak scaling from one worker process to two, and the constants of larger clusters.

python -m benchmarks.clusters [--samples 500] [--features 40000]

Each worker has as many features, one thread, and its part of X in memory. Efficiency is the time with one worker
divided by the time with two, which have twice the data. The constants are per core: the product of X with permuted
targets, decoding of genotypes in two bits, and what an operation costs besides the work on the chunks.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from threadpoolctl import threadpool_limits

from ispca import ISPCA
from ispca.containers.dask_array import DaskArray, wrap

REPETITIONS = 3
# A fit with a fixed number of supervised and unsupervised components, so that both sizes do the same steps.
MODEL = {"n_components": 10, "n_supervised": 3, "n_permutations": 1000, "alpha": None, "random_state": 0}
TESTED = {**MODEL, "alpha": 0.01}


def chunk(block: tuple[int, int], n: int, width: int, target: np.ndarray) -> np.ndarray:
    """Return noise in which every tenth feature of a block follows the target."""
    X = np.random.default_rng(block[1]).standard_normal((n, width), dtype=np.float32)
    X[:, ::10] += np.float32(0.3) * target[:, None].astype(np.float32)
    return X


def problem(n: int, n_features: int, width: int) -> tuple[Any, np.ndarray]:
    """Return X, made and kept on the workers, and a target."""
    y = np.random.default_rng(1).normal(size=n)
    make = dask.delayed(chunk, pure=True)
    parts = [
        da.from_delayed(make((0, k), n, width, y), (n, width), dtype=np.float32)
        for k in range(n_features // width)
    ]
    X = da.concatenate(parts, axis=1).persist()
    wait(X)
    return X, y


def timed(n: int, n_features: int, n_workers: int) -> tuple[float, dict[str, float]]:
    """Return the seconds of the quickest fit, and what its operations took together."""
    width = wrap(da.zeros((n, n_features), dtype=np.float32)).width
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(__import__, "ispca")
        X, y = problem(n, n_features - n_features % width, width)
        found = []
        for _ in range(REPETITIONS):
            operations: list[float] = []
            compute = DaskArray._results

            def measured(
                self: Any, tasks: Any, compute: Any = compute, operations: list[float] = operations
            ) -> Any:
                start = time.perf_counter()
                result = compute(self, tasks)
                operations.append(time.perf_counter() - start)
                return result

            DaskArray._results = measured
            start = time.perf_counter()
            model = ISPCA(**TESTED).fit(X, y)
            seconds = time.perf_counter() - start
            DaskArray._results = compute
            found.append((seconds, {"operations": len(operations), "on the workers": sum(operations)}))
        source, blocks = wrap(X), [slice(k, k + width) for k in range(0, X.shape[1], width)]
        start = time.perf_counter()
        for _ in range(5):
            list(source.map_blocks(nothing, blocks, [None] * len(blocks), None))
        overhead = (time.perf_counter() - start) / 5
        best = min(found, key=lambda entry: entry[0])
        best[1].update({"supervised": model.n_supervised_, "chunks": len(blocks), "empty operation": overhead})
    return best


def nothing(columns: Any, _: Any, __: Any) -> int:
    """A task that does nothing."""
    return len(columns)


def constants(n: int = 4096, width: int = 4096, count: int = 1024) -> None:
    """Print the rates of one core."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, width), dtype=np.float32)
    vectors = rng.standard_normal((n, count), dtype=np.float32)
    packed = rng.integers(0, 256, (width, n // 4), dtype=np.uint8)
    table = np.array([0, 3, 1, 2], np.float32)[(np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3]
    with threadpool_limits(1):
        product, decoding = (
            min(seconds(run) for _ in range(3)) for run in (lambda: X.T @ vectors, lambda: table[packed])
        )
    print(f"product: {2 * n * width * count / product / 1e9:.0f} GFLOP/s a core, single precision")
    print(f"genotypes: {n * width / decoding / 1e9:.2f} billion decoded per second and core")


def seconds(run: Any) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--features", type=int, default=40_000, help="per worker")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    constants()
    times = []
    for n_workers in (1, 2):
        taken, details = timed(options.samples, options.features * n_workers, n_workers)
        times.append(taken)
        print(f"{n_workers} worker(s): {taken:.2f} s", {k: round(v, 3) for k, v in details.items()}, flush=True)
    print(f"weak scaling: {times[0] / times[1]:.0%}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
