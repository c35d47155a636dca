"""ISPCA on a Dask cluster: weak scaling from one worker process to two, and the constants of larger clusters.

python -m benchmarks.clusters [--samples 500] [--features 40000]

Each worker has as many features, one thread, and its part of X in memory. Efficiency is the time with one worker
divided by the time with two, which have twice the data: by the clock, and from the CPU seconds of all processes,
which do not depend on what else the machine is doing. The constants are per core: the product of X with permuted
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
from ispca.containers.dask_array import wrap
from ispca.reduction.design import make_design
from ispca.reduction.threads import workers

REPETITIONS = 3
MODEL = {"n_components": 10, "n_supervised": 3, "n_permutations": 1000, "random_state": 0}


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


def measure_time(n: int, n_features: int, n_workers: int) -> dict[str, float]:
    """Return wall-clock seconds and CPU seconds of a fit, the best of several."""
    width = wrap(da.zeros((n, n_features), dtype=np.float32)).width
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(__import__, "ispca")
        X, y = problem(n, n_features - n_features % width, width)
        found = []
        for _ in range(REPETITIONS):
            start, here, there = time.perf_counter(), time.process_time(), worker_seconds(client)
            model = ISPCA(**MODEL).fit(X, y)
            wall, own = time.perf_counter() - start, time.process_time() - here
            found.append({"wall": wall, "client": own, "workers": worker_seconds(client) - there})
        source, blocks = wrap(X), [slice(k, k + width) for k in range(0, X.shape[1], width)]
        start = time.process_time()
        for _ in range(5):
            list(source.map_blocks(nothing, blocks, [None] * len(blocks), None))
        empty = (time.process_time() - start) / 5
        best = {name: min(entry[name] for entry in found) for name in found[0]}
        best |= {"components": model.n_components_, "supervised": model.n_supervised_}
    return best | {"chunks": len(blocks), "per task": empty / len(blocks)}


def worker_seconds(client: Client) -> float:
    """Return the CPU seconds of all workers so far."""
    return sum(client.run(time.process_time).values())


def nothing(columns: Any, _: Any, __: Any) -> int:
    """A task that does nothing."""
    return len(columns)


def constants(n: int = 32_768, width: int = 512, count: int = 256) -> None:
    """Print the CPU seconds of one core, in the rates at which it works through the values of X."""
    rng = np.random.default_rng(0)
    packed = rng.integers(0, 256, (width, n // 4), dtype=np.uint8)
    table = np.array([0, 3, 1, 2], np.int8)[(np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3]
    vectors = rng.normal(size=(n, count))
    vectors -= vectors.mean(axis=0)
    with threadpool_limits(1), workers() as threads:
        X = np.take(table, packed, axis=0).reshape(width, n).T
        design = make_design(X, threads, center=True, scale=True)
        multiplier = np.ones(width)
        single = cpu_seconds(lambda: design.score_maxima([vectors], multiplier, threads, dtype=np.float32))
        one = cpu_seconds(lambda: design.t_dot(vectors[:, :1], threads))
        some = cpu_seconds(lambda: design.sample_gram_dot(vectors[:, :20], threads))
        decoding = cpu_seconds(lambda: np.take(table, packed, axis=0))
    print(f"permuted targets: {2 * X.size * count / single / 1e9:.1f} GFLOP/s, single precision")
    print(f"one vector: {X.size / one / 1e9:.3f} billion values per second")
    print(f"Gram matrix times 20 vectors: {X.size / some / 1e9:.4f} billion values per second")
    print(f"genotypes of two bits: {X.size / decoding / 1e9:.3f} billion decoded per second")


def cpu_seconds(run: Any) -> float:
    """Return the CPU seconds of the quickest of several runs."""
    found = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--features", type=int, default=40_000, help="per worker")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    constants()
    walls, idle = [], []
    for n_workers in (1, 2):
        found = measure_time(options.samples, options.features * n_workers, n_workers)
        walls.append(found["wall"])
        # What a quiet machine with a core for each process would take, if nothing overlaps.
        idle.append(found["client"] + found["workers"] / n_workers)
        print(f"{n_workers} worker(s):", {name: round(value, 4) for name, value in found.items()}, flush=True)
    print(f"weak scaling: {walls[0] / walls[1]:.0%} by the clock, {idle[0] / idle[1]:.0%} by CPU seconds")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
