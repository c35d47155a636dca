"""How things are measured: best of a few runs, and the peak of what was allocated."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp


def seconds(task: Callable[[], Any], repeats: int = 5) -> float:
    """Return the shortest of a few runs: noise on a shared machine only ever adds."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best


def peak_bytes(task: Callable[[], Any]) -> int:
    """Return the most memory that was allocated at once beyond what was there before."""
    gc.collect()
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def nbytes(X: Any) -> int:
    """Return the size of X in memory."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes


def float32_bytes(X: Any) -> int:
    """Return the size of a single-precision copy of X."""
    return nbytes(X) - 4 * X.nnz if sp.issparse(X) else 4 * X.size


def floor(X: Any, n_columns: int) -> float:
    """Return the time of the one product that the permutation test cannot do without."""
    vectors = np.random.default_rng(0).normal(size=(X.shape[0], 1000 * n_columns)).astype(np.float32)
    transpose = sp.csr_array(X.T).astype(np.float32) if sp.issparse(X) else X.astype(np.float32).T
    return seconds(lambda: transpose @ vectors)


def import_seconds(module: str, repeats: int = 5) -> float:
    """Return the time of an import in a fresh process, less an empty one's."""

    def run(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), repeats)

    return run(f"import {module}") - run("pass")
