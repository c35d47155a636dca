"""Selections from X outside of memory: the same panels, and missing values named before any search."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.containers import open_array
from ispca.containers.anndata_backed import CompressedColumns
from ispca.selection import ProjectionSelector

# The short chains of the tests need not converge.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
N, N_FEATURES = 40, 1200
y = np.arange(N) % 2


def values():
    X = np.random.default_rng(0).normal(size=(N, N_FEATURES))
    X[y == 1, :5] += 1.5
    return np.where(np.abs(X) < 1, 0.0, X)


def reference():
    return make_pipeline(
        ISPCA(n_components=2, n_permutations=100, random_state=0),
        HorseshoeClassifier(n_draws=40, n_warmup=60, random_state=0),
    )


def selector(cv=None):
    return ProjectionSelector(reference(), max_features=2, cv=cv, n_draws=8, n_jobs=1, random_state=0)


def opened(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    return open_array(tmp_path / "x.npy")


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
def test_panels_are_those_of_an_array(sparse, tmp_path):
    X = values()
    cells = sp.csc_array(X)
    source = opened(X, tmp_path)
    if sparse:
        source = CompressedColumns(cells.data, cells.indices, cells.indptr, X.shape, "cells")
    source.width = 512
    cv = None if sparse else 2
    first, second = selector(cv).fit(source, y), selector(cv).fit(X, y)
    assert [panel.tolist() for panel in first.panels_] == [panel.tolist() for panel in second.panels_]
    np.testing.assert_allclose(first.path_.divergence, second.path_.divergence, atol=1e-8)
    table, other = (
        first.alternatives(int(first.panels_[2][0]), 2),
        second.alternatives(int(second.panels_[2][0]), 2),
    )
    assert table.feature.tolist() == other.feature.tolist()
    model, same = first.submodel(2), second.submodel(2)
    np.testing.assert_allclose(model.predict_proba(source), same.predict_proba(X), atol=1e-8)
    # Not all of X is in memory, but it is read only a few times.
    assert source.n_columns_read < (20 if cv is None else 60) * N_FEATURES


def test_missing_values_are_named(tmp_path):
    X = values()
    X[3, 7] = np.nan
    with pytest.raises(ValueError, match=r"1 value in 1 column, 7 \(1\).*rule these columns out with never"):
        selector().fit(opened(X, tmp_path), y)
