"""Missing values of X: counted, and replaced by column means."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.inputs.missing_values import fill_missing, missing_counts, observed_means, refuse_empty_columns

CONTAINERS = pytest.mark.parametrize(
    "container", [np.asarray, sp.csr_array, sp.csc_array], ids=lambda f: f.__name__
)


@pytest.fixture
def data(rng):
    X = rng.normal(3.0, 1.0, (20, 700)) * (rng.random((20, 700)) < 0.5)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@CONTAINERS
def test_counts_and_means_agree_with_numpy(data, container):
    X = container(data)
    np.testing.assert_array_equal(missing_counts(X), np.isnan(data).sum(axis=0))
    np.testing.assert_allclose(observed_means(X), np.nanmean(data, axis=0), rtol=1e-12)


@CONTAINERS
def test_a_weight_of_two_equals_a_duplicated_row(data, container):
    weights = np.where(np.arange(20) < 5, 2.0, 1.0)
    repeated = np.repeat(data, weights.astype(int), axis=0)
    np.testing.assert_allclose(observed_means(container(data), weights), np.nanmean(repeated, axis=0), rtol=1e-12)


@CONTAINERS
def test_only_missing_values_change(data, container):
    X = container(data)
    values = np.arange(700.0)
    filled = fill_missing(X, values)
    dense = filled.toarray() if sp.issparse(filled) else filled
    np.testing.assert_array_equal(dense, np.where(np.isnan(data), values, data))
    assert missing_counts(X).sum() == np.isnan(data).sum(), "the caller's X is unchanged"
    assert fill_missing(filled, values) is filled
    if sp.issparse(X):
        assert filled.nnz == X.nnz


def test_integers_have_no_missing_values():
    assert not missing_counts(np.ones((3, 2), dtype=int)).any()


def test_columns_without_values_are_refused():
    with pytest.raises(ValueError, match="a column with only missing values, which have no mean: 'age'"):
        refuse_empty_columns(np.array([3, 2]), 3, ["age", "sex"])
    with pytest.raises(ValueError, match="2 columns with only missing values"):
        refuse_empty_columns(np.array([3, 3]), 3, ["age", "sex"])
    refuse_empty_columns(np.array([2, 0]), 3, ["age", "sex"])
