"""Sparse designs: as exact as dense ones, also for columns far from zero."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("seed", range(5))
def test_a_large_mean_costs_no_digits(offset, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 30)) + offset, rng.normal(size=40)
    dense = ISPCA(5, alpha=0.5, random_state=0).fit(X, y)
    sparse = ISPCA(5, alpha=0.5, random_state=0).fit(sp.csr_array(X), y)
    assert [step.p_value for step in dense.steps_] == [step.p_value for step in sparse.steps_]
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-7)


def test_a_constant_column_is_left_out():
    X = sp.csc_array(np.column_stack([np.full(10_000, 0.1), np.arange(10_000) % 7]))
    assert ISPCA(1, n_supervised=0).fit(X).feature_mask_.tolist() == [False, True]


def test_the_callers_matrix_is_left_alone():
    duplicated = sp.coo_array(([1.0, 2, 3, 4, 5], ([0, 0, 1, 2, 3], [0, 0, 1, 0, 1])), shape=(6, 2)).tocsc()
    raw = sp.csc_array((np.ones(4), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(6, 2))
    for X in (duplicated, raw):
        before = X.data.copy(), X.indices.copy(), X.indptr.copy()
        ISPCA(1, n_supervised=0).fit(X)
        for kept, now in zip(before, (X.data, X.indices, X.indptr), strict=True):
            np.testing.assert_array_equal(kept, now)


def test_weights_of_features_that_are_present_or_absent():
    # No stored value lies below its mean.
    X = (np.random.default_rng(0).uniform(size=(40, 30)) < 0.3).astype(float)
    y, weights = np.arange(40) % 2, 1.0 + np.arange(40) % 3
    dense, sparse = (ISPCA(3, random_state=0).fit(part, y, sample_weight=weights) for part in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-9)
