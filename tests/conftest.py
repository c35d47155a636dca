"""Fixtures for all tests: reference values, real data, and every container X may come in."""

import os
import signal
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import settings
from sklearn.base import clone

from ispca import ISPCA, SPCA

HERE = Path(__file__).parent
# The literal transcription of the paper (naive.py) is a plain module beside the tests.
sys.path.insert(0, str(HERE))

# A shell starts background jobs with Ctrl-C ignored, which the processes that the tests interrupt would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ispca", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("ispca")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark all but every n-th case of the tests with ``grid(n)`` as slow, before slow ones are left out."""
    cases = Counter()
    for item in items:
        if grid := item.get_closest_marker("grid"):
            name = item.nodeid.partition("[")[0]
            if cases[name] % grid.args[0]:
                item.add_marker(pytest.mark.slow)
            cases[name] += 1


CONTAINERS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
    "coo_array": sp.coo_array,
    "lil_matrix": sp.lil_matrix,
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
}


# The variants of the paper, on a smaller scale.
VARIANTS = {
    "ISPCA": ISPCA(n_components=8, random_state=0),
    "ISPCA-small": ISPCA(random_state=0),
    "ISPCA-naive": ISPCA(n_components=8, alpha=None),
    "PCA": ISPCA(n_components=8, n_supervised=0),
    "SPCA": SPCA(n_components=8, alpha=0.01, random_state=0),
    "PSPCA": SPCA(n_components=8, n_supervised=4, alpha=0.01, random_state=0),
}


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS.keys())
def estimator(request):
    """One of the variants of the paper."""
    return clone(request.param)


def up_to_sign(found, expected, **tolerance):
    """Compare the columns of two matrices whose signs may differ."""
    signs = np.where((found * expected).sum(axis=0) < 0, -1.0, 1.0)
    np.testing.assert_allclose(found * signs, expected, **tolerance)


@pytest.fixture(params=CONTAINERS.values(), ids=CONTAINERS.keys())
def container(request):
    """A function that puts a dense array into one of the containers ISPCA accepts."""
    return request.param


@pytest.fixture(scope="session")
def reference():
    """Load a file of reference values by its name."""

    def load(name):
        with np.load(HERE / "reference" / f"{name}.npz") as file:
            return dict(file)

    return load


@pytest.fixture(scope="session")
def real_data():
    """Load X and y of a real data set by its name; skip the test where it is not there."""

    def load(name):
        folder = os.environ.get("ISPCA_DATA")
        if not folder:
            pytest.skip("real data: set ISPCA_DATA to the folder with the .npz files")
        path = Path(folder) / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"real data: {path} is not there")
        with np.load(path, allow_pickle=False) as file:
            if "indptr" in file:
                parts = (file["data"].astype(float), file["indices"], file["indptr"])
                X = sp.csr_array(parts, shape=tuple(file["shape"]))
            else:
                X = file["X"].astype(float)
            return X, file["y"]

    return load


@pytest.fixture(scope="session")
def shared_fit(tmp_path_factory):
    """Return the one analysis of a kind of target ("classes", "survival", ...) that tests only look at."""
    import shared_fits

    return cache(lambda kind: shared_fits.fit(kind, tmp_path_factory.mktemp("shared")))


@pytest.fixture
def rng():
    return np.random.default_rng(20180409)


@pytest.fixture
def expression():
    """Forty samples of 120 features with two groups that follow a factor; a two-class and a numeric target."""
    return make_factors(seed=1)


def make_factors(seed, n=40, D=120, strength=2.0):
    """Return X with two correlated groups of ten, labels that follow one factor, numbers that follow both."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, n))
    X = rng.normal(size=(n, D))
    X[:, :10] += strength * first[:, None]
    X[:, 10:20] += strength * second[:, None]
    X = X * rng.uniform(0.5, 3.0, D) + rng.normal(0, 5, D)
    labels = np.where(first + 0.3 * rng.normal(size=n) > 0, "sick", "healthy")
    numbers = first + second + 0.3 * rng.normal(size=n)
    return X, labels, numbers
