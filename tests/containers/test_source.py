"""Sources of columns: what they refuse, and what they count."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA, SPCA
from ispca.containers import ColumnSource, open_array, wrap_container
from ispca.containers.anndata_backed import CompressedColumns
from ispca.containers.derived import ChosenColumns, MatchedColumns
from ispca.reduction.design import partitioned


class Changing(ColumnSource):
    """A source that breaks at a given column."""

    def __init__(self, X, fails_at=None, changed=None):
        self.X, self.shape, self.dtype, self.label = X, X.shape, X.dtype, "a test array"
        self.fails_at, self.changed = fails_at, changed

    def load(self, columns):
        columns = np.arange(self.shape[1])[columns]
        if self.fails_at in columns:
            raise RuntimeError("checksum mismatch")
        block = self.X[:, columns]
        return block if self.changed not in columns else block[:-1]


X = np.random.default_rng(0).normal(size=(30, 3000))
y = np.arange(30) % 2


def test_ordinary_arrays_are_not_wrapped():
    assert wrap_container(X) is X


def test_an_unreadable_block_is_named():
    with pytest.raises(OSError, match="Could not read columns 1,024 to 1,535 of a test array: checksum mismatch"):
        ISPCA(2, memory_budget=2**20).fit(Changing(X, fails_at=1100), y)


def test_data_that_change_are_refused():
    with pytest.raises(ValueError, match="expected 30 samples of float64, but read 29"):
        ISPCA(2, memory_budget=2**20).fit(Changing(X, changed=2999), y)


def test_columns_that_are_read_are_counted():
    source = Changing(X)
    source.take([7, 3, 3])
    assert source.n_columns_read == 2
    np.testing.assert_array_equal(source[[4, 1], :][:, 5], X[[4, 1], 5])


def test_a_fit_reads_no_more_than_it_must():
    values = np.random.default_rng(1).normal(size=(60, 4000))
    target = np.arange(60) % 2
    values[:, :30] += 2 * target[:, None]
    source = Changing(values)
    model = ISPCA(random_state=0, memory_budget=2**23).fit(source, target)
    assert model.n_supervised_ == 1
    # Moments and products with the target, the first test, a deflation, and at most one for the test that fails.
    assert 3 * 4000 < source.n_columns_read < 4.2 * 4000
    source = Changing(values)
    ISPCA(3, random_state=0, memory_budget=2**23).fit(source, target)
    # One more for the unsupervised directions: the Gram matrix of the samples comes from the first pass.
    assert 4 * 4000 < source.n_columns_read < 5.2 * 4000


SETTINGS = {
    "plain": (ISPCA(4, random_state=0), {}),
    "unsupervised": (ISPCA(n_supervised=0), {}),
    "covariates": (ISPCA(4, n_supervised=1, adjust=[5], exclude=[7, 2900], random_state=0), {}),
    "weights": (ISPCA(4, random_state=0), {"sample_weight": np.arange(30) % 3}),
    "screened": (SPCA(4, n_supervised=2, n_features=50), {}),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_first_pass_gives_the_gram_matrix(setting, sparse, monkeypatch):
    values = np.where(np.random.default_rng(2).uniform(size=X.shape) < 0.2, X, 0.0)
    # A feature that one sample decides takes no part.
    values[:, 20] = np.arange(30) == 4
    model, weights = SETTINGS[setting]
    model.set_params(memory_budget=2**21)
    sources = [Changing(sp.csc_array(values) if sparse else values) for _ in range(2)]
    for source in sources:
        source.sparse = sparse
    found = model.fit(sources[0], y, **weights).components_
    monkeypatch.setattr(partitioned, "_gram_fits", lambda *_: False)
    np.testing.assert_array_equal(found, model.fit(sources[1], y, **weights).components_)
    assert sources[0].n_columns_read == sources[1].n_columns_read - 3000


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (ISPCA(), False),
        (ISPCA(3), True),
        (ISPCA(3, alpha=None), False),
        (ISPCA(3, alpha=None, n_supervised=2), True),
        (ISPCA(n_supervised=0), True),
        (SPCA(3), False),
        (SPCA(3, n_supervised=1), True),
    ],
)
def test_the_gram_matrix_is_computed_only_if_it_will_be_used(model, expected, monkeypatch):
    asked, describe = set(), partitioned.blockwise.describe

    def note(columns, argument, workers, **settings):
        asked.add(argument[1] is not None)
        return describe(columns, argument, workers, **settings)

    monkeypatch.setattr(partitioned.blockwise, "describe", note)
    model.set_params(memory_budget=2**21).fit(Changing(np.where(y[:, None] == 1, X + 2, X)), y)
    assert asked == {expected}


def test_candidates_of_all_classes_are_read_together():
    labels = np.arange(30) % 5
    source = Changing(X)
    ISPCA(n_supervised=1, alpha=None, max_features=50, memory_budget=2**23).fit(source, labels)
    # Moments and products, a deflation, and each candidate once.
    candidates = source.n_columns_read - 2 * 3000
    assert 150 < candidates <= 250
    model = ISPCA(n_supervised=1, alpha=None, max_features=50).fit(X, labels)
    whole = ISPCA(n_supervised=1, alpha=None, max_features=50).fit(Changing(X), labels)
    np.testing.assert_allclose(whole.components_, model.components_, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_are_matched_in_any_order_with_constants_for_others(sparse, tmp_path):
    X = np.arange(60, dtype=np.float32).reshape(5, 12) + 0.1
    if sparse:
        source = CompressedColumns(*_parts(sp.csc_array(X)), X.shape, "cells")
    else:
        np.save(tmp_path / "x.npy", X)
        source = open_array(tmp_path / "x.npy")
    order = np.array([7, 2, 3, 4, 11, 0])
    assert np.array_equal(_dense(ChosenColumns(source, order).read(slice(1, 5))), X[:, order[1:5]])
    places, constants = np.array([7, -1, 2, 3, -1, 4]), np.array([0, 0.1, 0, 0, 0.2, 0])
    matched = MatchedColumns(source, places, constants, list("abcdef"))
    expected = X.astype(np.float64)[:, places]
    expected[:, [1, 4]] = 0.1, 0.2
    for block in (slice(0, 6), slice(2, 4), np.array([1, 4]), np.array([0, 1, 5])):
        assert np.array_equal(_dense(matched.read(block)), expected[:, block])


def _parts(X):
    return X.data, X.indices, X.indptr


def _dense(block):
    return block.toarray() if sp.issparse(block) else block
