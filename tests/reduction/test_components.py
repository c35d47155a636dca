"""Principal components of what is left: hard spectra, both sides, all solvers."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA, SPCA
from ispca.reduction import components


def orthogonality(Z):
    correlation = Z.T @ Z / np.outer(*2 * [np.linalg.norm(Z, axis=0)])
    return np.abs(correlation - np.eye(len(correlation))).max()


def assert_consistent(ispca, X, tolerance=1e-8):
    Z = ispca.fit_transform(X)
    scale = np.abs(Z).max(axis=0)
    assert (np.abs(Z - ispca.transform(X)) / scale).max() < tolerance
    assert orthogonality(Z) < tolerance
    return Z


def test_equal_eigenvalues_lose_no_component():
    X = np.eye(20)[np.arange(80) % 20]
    y = (np.arange(80) % 20 < 10).astype(int)
    assert ISPCA(3, alpha=None).fit(X, y).n_components_ == 3
    assert ISPCA(50, n_supervised=0).fit(np.vstack([np.eye(500)] * 2)).n_components_ == 50


@pytest.mark.parametrize("shape", [(50, 200), (200, 50)])
@pytest.mark.parametrize("noise", [1e-3, 1e-5])
def test_weak_components_are_exact_too(shape, noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape[0], 5)) @ rng.normal(size=(5, shape[1])) + noise * rng.normal(size=shape)
    assert_consistent(ISPCA(30, n_supervised=0, whiten=True), X)


def test_all_solvers_agree(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 300)) / np.arange(1, 301) ** 0.5 + 3
    exact = assert_consistent(ISPCA(8, n_supervised=0, scale=False), X)
    monkeypatch.setattr(components, "SMALL_GRAM", 10)
    np.testing.assert_allclose(assert_consistent(ISPCA(8, n_supervised=0, scale=False), X), exact, atol=1e-8)
    np.testing.assert_allclose(
        assert_consistent(ISPCA(8, n_supervised=0, scale=False), sp.csr_array(X)), exact, atol=1e-8
    )
    monkeypatch.setattr(components, "LARGEST_GRAM", 20)
    np.testing.assert_allclose(assert_consistent(ISPCA(8, n_supervised=0, scale=False), X), exact, atol=1e-6)


def test_block_krylov_restarts_until_it_has_converged(monkeypatch):
    monkeypatch.setattr(components, "SMALL_GRAM", 10)
    monkeypatch.setattr(components, "LARGEST_GRAM", 20)
    X = np.random.default_rng(2).normal(size=(300, 400))
    Z = assert_consistent(ISPCA(4, n_supervised=0), X)
    monkeypatch.undo()
    np.testing.assert_allclose(Z, ISPCA(4, n_supervised=0).fit_transform(X), atol=1e-4)


def test_an_unselected_large_column_does_not_hide_the_selected_ones():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 8)) + y[:, None] * (np.arange(8) < 3)
    X[:, 5] *= 1e9
    spca = SPCA(n_supervised=3, n_features=3, scale=False).fit(X, y)
    assert spca.n_supervised_ == 3
