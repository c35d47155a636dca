"""Random shapes, types and settings: arrays of other libraries give what NumPy gives, or the same error.

``ISPCA_RANDOM_PROBLEMS=500`` runs more of them.
"""

import os
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from ispca import ISPCA, SPCA
from ispca.containers.array_api import on_host

pytestmark = pytest.mark.slow

N_PROBLEMS = int(os.environ.get("ISPCA_RANDOM_PROBLEMS", "30"))
TYPES = ("float64", "float32", "float16", "int64", "int8", "uint8", "bool")


def torch_tensor(X, layout):
    tensor = pytest.importorskip("torch").from_numpy(X.copy())
    return {"C": tensor, "F": tensor.T.contiguous().T, "strided": tensor.repeat_interleave(2, 1)[:, ::2]}[layout]


def strict_array(X, layout):
    if X.dtype == np.float16:
        pytest.skip("the standard has no float16")
    return pytest.importorskip("array_api_strict").asarray(X)


def jax_array(X, layout):
    jax = pytest.importorskip("jax")
    # It compiles its functions for each shape and keeps them.
    jax.clear_caches()
    with jax.enable_x64(True):
        return jax.numpy.asarray(X)


def chosen(rng, *values):
    return values[rng.integers(len(values))]


def random_problem(seed):
    """Return an estimator, X, y and options of fit."""
    rng = np.random.default_rng([2026, seed])
    n, D = int(rng.integers(5, 45)), int(rng.integers(1, 90))
    X, dtype = rng.normal(size=(n, D)), chosen(rng, *TYPES)
    y = rng.permutation(np.arange(n) % chosen(rng, 2, 2, 3))
    X[:, : 1 + D // 5] += chosen(rng, 0, 2) * y[:, None]
    X = X > 0 if dtype == "bool" else (4 * X + 20).round() if dtype[0] in "iu" else X
    y = chosen(rng, y, y, y + rng.normal(size=n))
    both = {
        "n_components": chosen(rng, None, 1, 2, 5),
        "n_supervised": chosen(rng, None, None, 0, 1),
        "whiten": chosen(rng, False, True),
        "center": chosen(rng, True, True, True, False),
        "scale": chosen(rng, True, False, rng.uniform(1, 2, D)),
        "shrink_scores": chosen(rng, False, True),
        "cross_fit": chosen(rng, None, None, 3),
        "adjust": chosen(rng, None, None, [0]),
        "exclude": chosen(rng, None, None, [D - 1]),
        "missing": chosen(rng, "error", "mean"),
        "n_permutations": 50,
        "random_state": 0,
    }
    own = {"alpha": chosen(rng, None, 0.05, 0.2), "test": chosen(rng, "paper", "residual")}
    estimator = chosen(rng, ISPCA(**both, **own), SPCA(**both, n_features=chosen(rng, 1, 5)))
    if dtype == "bool" or both["n_components"] is None:
        # Held-out scores on components of equal variance, or on all that a fold has, depend on rounding.
        estimator.set_params(cross_fit=None)
    X = X.astype(dtype)
    if both["missing"] == "mean" and dtype[0] == "f":
        X[rng.integers(n), rng.integers(D)] = np.nan
    weights = chosen(rng, None, None, rng.integers(0, 3, n))
    groups = chosen(rng, None, None, np.arange(n) // 2)
    return estimator, X, y, {"sample_weight": weights, "groups": groups}


def outcome(estimator, X, y, fit):
    """Return the results, or what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = estimator.fit_transform(X, y, **fit)
        names = ("components_", "mean_", "scale_", "explained_variance_")
        results = [Z, estimator.transform(X[:1, ...]), *(getattr(estimator, name) for name in names)]
        return [np.asarray(on_host(part), dtype=np.float64) for part in results]
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("make", [torch_tensor, strict_array, jax_array])
@pytest.mark.parametrize("seed", range(N_PROBLEMS))
def test_other_libraries_agree_with_numpy(make, seed):
    estimator, X, y, fit = random_problem(seed)
    expected = outcome(clone(estimator), X, y, fit)
    found = outcome(estimator, make(X, ("C", "F", "strided")[seed % 3]), y, fit)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    # Single precision is kept.
    tolerance = 2e-4 if X.dtype == np.float32 else 1e-8
    for part, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, other, atol=tolerance * max(1, np.abs(other).max(initial=0)))
