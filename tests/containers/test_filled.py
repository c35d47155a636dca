"""Missing values outside of memory: replaced when columns are read, without a pass over the data of their own."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA, SPCA
from ispca.containers import ColumnSource
from ispca.inputs.missing_values import fill_by_means
from ispca.reduction.reuse import share_results

rng = np.random.default_rng(0)
y = np.arange(40) % 2
COMPLETE = rng.normal(size=(40, 2000)) + 1.5 * y[:, None] * (np.arange(2000) < 30)
X = np.where(rng.uniform(size=COMPLETE.shape) < 0.02, np.nan, COMPLETE)
WEIGHTS = np.where(np.arange(40) < 4, 0.0, 1.0 + np.arange(40) % 3)


class Columns(ColumnSource):
    """An array, dense or sparse, that is read by column."""

    def __init__(self, X):
        self.X, self.shape, self.dtype, self.label = X, X.shape, X.dtype, "a test array"
        self.sparse = sp.issparse(X)

    def load(self, columns):
        return self.X[:, columns].copy()


def fitted(X, **settings):
    weights = {"sample_weight": settings.pop("sample_weight")} if "sample_weight" in settings else {}
    kind = settings.pop("kind", ISPCA)
    return kind(missing="mean", memory_budget=2**21, random_state=0, **settings).fit(X, y, **weights)


@pytest.mark.parametrize("make", [np.asarray, lambda X: sp.csc_array(np.where(COMPLETE > 1, X, 0.0))])
@pytest.mark.parametrize(
    "settings",
    [{}, {"n_components": 4}, {"sample_weight": WEIGHTS}, {"adjust": [1500]}, {"cross_fit": 3}, {"kind": SPCA}],
    ids=["plain", "unsupervised", "weights", "covariates", "cross-fit", "screened"],
)
def test_results_are_those_of_memory(make, settings):
    expected, found = fitted(make(X), **settings), fitted(Columns(make(X)), **settings)
    assert found.n_missing_ == expected.n_missing_ > 200
    np.testing.assert_allclose(found.fill_values_, expected.fill_values_, rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)
    np.testing.assert_allclose(found.transform(Columns(make(X))), expected.transform(make(X)), atol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"n_components": 4}, {"kind": SPCA}])
def test_no_pass_is_added(settings):
    filled, complete = Columns(X), Columns(COMPLETE)
    fitted(filled, **settings)
    fitted(complete, **settings)
    # The single columns that are read differ between these data.
    assert filled.n_columns_read < complete.n_columns_read + 1000


def test_columns_without_values_are_named_all_at_once():
    holes = X.copy()
    holes[:, [3, 1999]] = np.nan
    holes[0, 7] = np.inf
    with pytest.raises(ValueError, match="2 columns with only missing values, which have no mean: '3', '1999'"):
        fitted(Columns(holes))
    with pytest.raises(ValueError, match="X has a column with only missing values, which have no mean: '3'"):
        fitted(Columns(holes), adjust=[3], sample_weight=WEIGHTS)
    holes[:, [3, 1999]] = 0.0
    with pytest.raises(ValueError, match=r"X contains infinity: 1 value in 1 column, 7 \(1\)"):
        fitted(Columns(holes))


def test_columns_are_the_same_before_and_after_all_are_known():
    source = fill_by_means(Columns(X), None, None, range(2000))
    chosen = [1999, 5, 600]
    before = source.take(chosen)
    assert not source.complete
    total = source.sum_blocks(_sums, [slice(0, 1000), slice(1000, 2000)], [None, None], None)
    assert source.complete
    np.testing.assert_allclose(source.take(chosen), before, rtol=1e-14)
    np.testing.assert_allclose(total, np.where(np.isnan(X), np.nanmean(X, axis=0), X).sum(axis=1))
    n_columns_read = source.source.n_columns_read
    source.learn()
    assert source.source.n_columns_read == n_columns_read


def _sums(columns, argument, workers):
    return columns.sum(axis=1)


def test_a_fit_that_reuses_another_knows_the_values_too():
    source, model = Columns(X), ISPCA(missing="mean", random_state=0)
    with share_results(source):
        expected = model.fit(source, y).fill_values_
        np.testing.assert_array_equal(model.fit(source, y).fill_values_, expected)


def test_the_values_come_back_from_a_scheduler():
    array = pytest.importorskip("dask.array").from_array(X, chunks=(-1, 333))
    expected, found = fitted(X), fitted(array)
    assert found.n_missing_ == expected.n_missing_
    np.testing.assert_allclose(found.fill_values_, expected.fill_values_, rtol=1e-14, atol=1e-16)
