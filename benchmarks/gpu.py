"""ISPCA with X on a GPU: seconds, memory and agreement with NumPy, for PyTorch, CuPy and JAX.

Run ``python -m benchmarks.gpu`` on a machine with a GPU; each library runs in a process of its own. The floor is
one single-precision product of X with the permuted targets on the same device.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from ispca import ISPCA

LIBRARIES = ("torch", "cupy", "jax")
# Samples, features, factors of the target.
LARGE, SMALL = (2_000, 1_000_000, 8), (200, 20_000, 2)
PERMUTATIONS, COMPONENTS, SUPERVISED = 1_000, 50, 5
GB = 1e9


def problem(n: int, n_features: int, n_factors: int, torch: Any) -> tuple[Any, np.ndarray]:
    """Make noise in which blocks of 200 features follow factors, and a target that is their sum."""
    generator = torch.Generator(device="cuda").manual_seed(0)
    X = torch.empty((n, n_features), device="cuda")
    for start in range(0, n_features, 2**16):
        part = X[:, start : start + 2**16]
        part.normal_(generator=generator)
    factors = torch.randn((n, n_factors), device="cuda", generator=generator)
    for k in range(n_factors):
        X[:, 200 * k : 200 * (k + 1)] += factors[:, k : k + 1]
    noise = torch.randn(n, device="cuda", generator=generator)
    return X, (factors.sum(axis=1) + noise).cpu().numpy().astype(np.float64)


def convert(X: Any, library: str) -> Any:
    """Return the tensor as an array of another library, without a copy."""
    if library == "cupy":
        import cupy

        return cupy.from_dlpack(X)
    if library == "jax":
        import jax

        return jax.dlpack.from_dlpack(X)
    return X


def measure_time(run: Any, torch: Any) -> tuple[float, Any]:
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = run()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def floor_seconds(X: Any, torch: Any) -> float:
    """Return the seconds of one permutation product, block by block."""
    vectors = torch.randn((X.shape[0], PERMUTATIONS), device="cuda")

    def product() -> None:
        for start in range(0, X.shape[1], 2**14):
            (X[:, start : start + 2**14].T @ vectors).amax()

    product()
    return measure_time(product, torch)[0]


def peak_bytes(library: str, X: Any, torch: Any) -> float:
    """Return the most memory in use at any moment beside X; CuPy does not count it."""
    if library == "torch":
        return float(torch.cuda.max_memory_allocated() - X.nbytes)
    if library == "jax":
        import jax

        return float(jax.devices()[0].memory_stats()["peak_bytes_in_use"])
    return float("nan")


def estimator() -> ISPCA:
    return ISPCA(COMPONENTS, n_supervised=SUPERVISED, n_permutations=PERMUTATIONS, random_state=0)


def accepted_features(model: ISPCA) -> list[list[int]]:
    return [step.features.tolist() for step in model.steps_ if step.accepted]


def measure(library: str) -> dict[str, Any]:
    """Return what one library needs on the large problem, and how it agrees on the small one."""
    import torch

    X, y = problem(*SMALL, torch)
    here = convert(X, library)
    estimator().fit(here, y)  # compile and load kernels
    small, model = measure_time(lambda: estimator().fit(here, y), torch)
    host = X.cpu().numpy()
    estimator().fit(host, y)
    cpu, expected = measure_time(lambda: estimator().fit(host, y), torch)
    Z, Z_expected = model.transform(here), expected.transform(host)
    Z = Z.get() if library == "cupy" else np.asarray(Z.cpu() if library == "torch" else Z)
    result: dict[str, Any] = {
        "library": library,
        "small_seconds": small,
        "small_cpu_seconds": cpu,
        "same_features": accepted_features(model) == accepted_features(expected),
        "largest_difference": float(np.abs(Z - Z_expected).max() / np.abs(Z_expected).max()),
    }
    X, y = problem(*LARGE, torch)
    result["floor_seconds"] = floor_seconds(X, torch)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.mem_get_info()[0]
    here = convert(X, library)
    result["first_seconds"], model = measure_time(lambda: estimator().fit(here, y), torch)
    # The pools of all three libraries keep what they have used, and more than was in use at any moment.
    result["pool_gb"] = (before - torch.cuda.mem_get_info()[0]) / GB
    result["peak_gb"] = peak_bytes(library, X, torch) / GB
    result["seconds"], model = measure_time(lambda: estimator().fit(here, y), torch)
    result["supervised"] = model.n_supervised_
    model.transform(here)
    result["transform_seconds"] = measure_time(lambda: model.transform(here), torch)[0]
    return result


def main() -> None:
    """Measure every library, or the one that is named."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
        return
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    for library in LIBRARIES:
        command = [sys.executable, "-m", "benchmarks.gpu", library]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        print(done.stdout.strip() or f"{library}: failed\n{done.stderr[-2000:]}", flush=True)


if __name__ == "__main__":
    main()
