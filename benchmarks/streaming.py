"""ISPCA on a file larger than memory: seconds, rate of reading and peak memory, and the floor of the same machine.

Run ``python -m benchmarks.streaming FOLDER`` for 1,000 samples and 5,000,000 features (a file of 20 GB, which is
deleted afterwards), or with ``--features 250000`` for a smaller one. The floor is what binds: reading the file as
often as the fit does, or one single-precision product of X with the permuted targets.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from ispca import ISPCA
from ispca.containers import wrap_container

SAMPLES, FEATURES, PERMUTATIONS = 1_000, 5_000_000, 1_000
# Features that follow the factor of the target.
RELATED = 200
BLOCK = 63 * 512
GB = 1e9


def write(path: Path, n_features: int) -> np.ndarray:
    """Write noise in which some features follow a factor, sample by sample; return the target."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=SAMPLES)
    with open(path, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (SAMPLES, n_features)}
        np.lib.format.write_array_header_1_0(file, header)
        for value in factor:
            row = rng.standard_normal(n_features, np.float32)
            row[:RELATED] += np.float32(value)
            file.write(row)
    return factor + rng.normal(size=SAMPLES)


def read_seconds(path: Path) -> float:
    """Return how long one pass over the file takes, from the disk as far as this can be arranged."""
    forget(path)
    source = wrap_container(np.load(path, mmap_mode="r"))
    start = time.perf_counter()
    for first in range(0, source.shape[1], BLOCK):
        source.read(slice(first, min(first + BLOCK, source.shape[1])))
    return time.perf_counter() - start


def forget(path: Path) -> None:
    """Ask the system to drop the file from its cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def product_seconds(n_features: int) -> tuple[float, float]:
    """Return wall-clock and CPU seconds of one permutation product on all cores, estimated from a part of it."""
    rng = np.random.default_rng(0)
    left = rng.standard_normal((512, SAMPLES), np.float32)
    right = rng.standard_normal((SAMPLES, PERMUTATIONS), np.float32)
    n_threads = len(os.sched_getaffinity(0))

    def multiply(_: int) -> None:
        for _ in range(10):
            left @ right

    best, least = np.inf, np.inf
    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        for _ in range(5):
            start, cpu = time.perf_counter(), time.process_time()
            list(pool.map(multiply, range(n_threads)))
            best, least = min(best, time.perf_counter() - start), min(least, time.process_time() - cpu)
    repeated = n_features / (10 * n_threads * len(left))
    return best * repeated, least * repeated


def peak_memory() -> float:
    """Return the largest memory of this process so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def fit(path: Path, budget: float, components: int | None) -> None:
    """Fit in this process, which has done nothing else, and print what it took."""
    y = np.load(path.with_suffix(".y.npy"))
    forget(path)
    memory, start, cpu = peak_memory(), time.perf_counter(), time.process_time()
    model = ISPCA(components, n_permutations=PERMUTATIONS, memory_budget=budget, random_state=0, verbose=1)
    model.fit(np.load(path, mmap_mode="r"), y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(
        f"fit: {seconds:.1f} s ({cpu:.1f} s of CPU time), peak memory {peak_memory() / GB:.2f} GB, of which "
        f"{memory / GB:.2f} GB before the fit",
        flush=True,
    )


def main() -> None:
    """Write the file, measure the floor, fit, and delete the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--features", type=int, default=FEATURES)
    parser.add_argument("--budget", type=float, default=2e9)
    parser.add_argument("--components", type=int, help="number of components, with unsupervised ones")
    parser.add_argument("--fit-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    path = options.folder / "streaming.npy"
    if options.fit_only:
        fit(path, options.budget, options.components)
        return
    needed = 4 * SAMPLES * options.features
    if shutil.disk_usage(options.folder).free < needed:
        sys.exit(f"The file needs {needed:,} bytes, and {options.folder} has too little space.")
    try:
        start = time.perf_counter()
        np.save(path.with_suffix(".y.npy"), write(path, options.features))
        print(f"wrote {needed / GB:.2f} GB in {time.perf_counter() - start:.0f} s", flush=True)
        read = read_seconds(path)
        print(f"one pass over the file: {read:.1f} s ({needed / GB / read:.2f} GB/s)")
        seconds, cpu = product_seconds(options.features)
        print(f"one permutation product: {seconds:.1f} s ({cpu:.1f} s of CPU time)", flush=True)
        arguments = ["--features", str(options.features), "--budget", str(options.budget)]
        if options.components is not None:
            arguments += ["--components", str(options.components)]
        subprocess.run(
            [sys.executable, "-m", "benchmarks.streaming", str(options.folder), "--fit-only", *arguments],
            check=True,
        )
    finally:
        for file in (path, path.with_suffix(".y.npy")):
            file.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
