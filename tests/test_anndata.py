"""``ispca.anndata``: results where scanpy users look for them, and through an h5ad file."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from ispca import ISPCA, PenalizedClassifier, StackedClassifier, feature_scores
from ispca.anndata import ispca
from ispca.containers import ColumnSource
from ispca.readers import read_table
from ispca.validation import compare

anndata = pytest.importorskip("anndata")


@pytest.fixture
def adata():
    rng = np.random.default_rng(2)
    factor = rng.normal(size=50)
    X = rng.poisson(np.exp(np.outer(factor, np.r_[np.ones(10), np.zeros(30)]))).astype(np.float32)
    kinds = np.where(factor > 0, "T cell", "B cell")
    obs = pd.DataFrame({"cell_type": pd.Categorical(kinds), "depth": factor, "reads": np.arange(50)})
    obs.index = [f"cell{i}" for i in range(50)]
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(40)]))


def test_where_the_results_are(adata):
    assert ispca(adata, target="cell_type", n_components=6) is None
    model = ISPCA(6, random_state=0).fit(adata.X, np.asarray(adata.obs["cell_type"]).astype(str))
    np.testing.assert_array_equal(adata.obsm["X_ispca"], model.transform(adata.X))
    np.testing.assert_array_equal(adata.varm["ISPCA"], model.components_.T)
    found = adata.uns["ispca"]
    assert found["n_supervised"] == model.n_supervised_ == 1
    assert found["params"]["target"] == "cell_type"
    assert found["steps"]["accepted"].tolist() == [True, False]
    assert found["steps"]["features"]["1"].tolist() == model.steps_[0].features.tolist()
    assert found["classes"].tolist() == ["B cell", "T cell"]


def test_cross_fitted_scores_of_the_cells_in_the_fit(adata):
    kinds = np.asarray(adata.obs["cell_type"]).astype(str)
    adata.obs["cell_type"] = adata.obs["cell_type"].where(np.arange(50) > 3)
    ispca(adata, "cell_type", n_components=4, cross_fit=5)
    model = ISPCA(4, random_state=0, cross_fit=5).fit(adata.X[4:], kinds[4:])
    np.testing.assert_allclose(adata.obsm["X_ispca"][4:], model.training_scores_, rtol=1e-6)
    np.testing.assert_array_equal(adata.obsm["X_ispca"][:4], model.transform(adata.X[:4]))
    assert adata.uns["ispca"]["cross_fitted"]
    for settings in ({}, {"shrink_scores": True}):
        ispca(adata, "cell_type", n_components=4, **settings)
        assert not adata.uns["ispca"]["cross_fitted"]


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_sparse_stays_sparse(adata, kind):
    dense = ispca(adata, "cell_type", n_components=4, copy=True)
    adata.X = kind(adata.X)
    ispca(adata, "cell_type", n_components=4)
    assert sp.issparse(adata.X)
    np.testing.assert_allclose(adata.obsm["X_ispca"], dense.obsm["X_ispca"], atol=1e-4)


@pytest.mark.parametrize("target", ["cell_type", "depth"])
def test_through_a_file(adata, tmp_path, target):
    adata.X = sp.csr_matrix(adata.X)
    adata.obs["cell_type"] = adata.obs["cell_type"].where(np.arange(50) > 3)
    ispca(adata, target, n_components=5, alpha=0.05)
    adata.write_h5ad(tmp_path / "data.h5ad")
    back = anndata.read_h5ad(tmp_path / "data.h5ad")
    np.testing.assert_array_equal(back.obsm["X_ispca"], adata.obsm["X_ispca"])
    np.testing.assert_array_equal(back.varm["ISPCA"], adata.varm["ISPCA"])
    np.testing.assert_array_equal(back.uns["ispca"]["steps"]["score"], adata.uns["ispca"]["steps"]["score"])
    assert back.uns["ispca"]["params"]["alpha"] == 0.05
    assert back.uns["ispca"]["n_supervised"] == adata.uns["ispca"]["n_supervised"]
    table = read_table(tmp_path / "data.h5ad", target=target)
    assert table.X.shape == (46 if target == "cell_type" else 50, 40)
    assert table.features.tolist() == list(adata.var_names)


def test_cells_without_a_label_get_components_all_the_same(adata):
    unlabelled = np.arange(50) % 5 == 0
    adata.obs["cell_type"] = adata.obs["cell_type"].where(~unlabelled)
    ispca(adata, "cell_type", n_components=4)
    assert adata.obsm["X_ispca"].shape == (50, 4)
    assert np.isfinite(adata.obsm["X_ispca"]).all()
    assert adata.uns["ispca"]["n_obs_left_out"] == 10
    model = ISPCA(4, random_state=0)
    model.fit(adata.X[~unlabelled], np.asarray(adata.obs["cell_type"][~unlabelled]).astype(str))
    np.testing.assert_array_equal(adata.varm["ISPCA"], model.components_.T)


def test_layers_raw_keys_and_copies(adata):
    adata.layers["log"] = np.log1p(adata.X)
    adata.raw = adata.copy()
    narrow = adata[:, :20].copy()
    copy = ispca(narrow, "cell_type", n_components=3, layer="log", key_added="logged", copy=True)
    assert "X_logged" not in narrow.obsm
    assert copy.obsm["X_logged"].shape == (50, 3)
    assert copy.varm["LOGGED"].shape == (20, 3)
    ispca(narrow, "cell_type", n_components=3, use_raw=True)
    assert narrow.uns["ispca"]["loadings"].shape == (40, 3)
    assert "ISPCA" not in narrow.varm


def test_numbers_as_targets(adata):
    ispca(adata, "reads", n_components=3)
    assert adata.uns["ispca"]["params"]["family"] == "gaussian"
    assert "classes" not in adata.uns["ispca"]
    adata.obs["batch"] = np.arange(50) % 2
    ispca(adata, "batch", n_components=3)
    assert adata.uns["ispca"]["classes"].tolist() == [0, 1]
    adata.obs["treated"] = adata.obs["depth"] > 0
    ispca(adata, "treated", n_components=99)
    assert adata.obsm["X_ispca"].shape[1] <= 40


def test_wrong_input(adata):
    with pytest.raises(ValueError, match=r"no column 'cel_type'. Did you mean cell_type"):
        ispca(adata, "cel_type")
    with pytest.raises(ValueError, match="no layer 'counts'"):
        ispca(adata, "cell_type", layer="counts")
    with pytest.raises(ValueError, match=r"adata\.raw is None"):
        ispca(adata, "cell_type", use_raw=True)
    with pytest.raises(ValueError, match="exclude each other"):
        ispca(adata, "cell_type", use_raw=True, layer="log")
    adata.obs["empty"] = pd.Series([None] * 50, index=adata.obs_names, dtype=object)
    with pytest.raises(ValueError, match="has no values"):
        ispca(adata, "empty")


@pytest.fixture
def in_file(adata, tmp_path):
    """Return a function that writes the object with X of some kind, and opens the file."""

    def opened(make=np.asarray, mode="r"):
        adata.X = make(adata.X)
        adata.write_h5ad(tmp_path / "cells.h5ad")
        return anndata.read_h5ad(tmp_path / "cells.h5ad", backed=mode)

    return opened


@pytest.mark.parametrize("some", [False, True], ids=["all", "some"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_backed_objects_get_the_results_of_those_in_memory(adata, in_file, tmp_path, make, some):
    if some:
        adata.obs["cell_type"] = adata.obs["cell_type"].where(np.arange(50) > 3)
    backed = in_file(make)
    content = (tmp_path / "cells.h5ad").read_bytes()
    ispca(adata, "cell_type", n_components=5, cross_fit=5 if some else None)
    ispca(backed, "cell_type", n_components=5, cross_fit=5 if some else None)
    np.testing.assert_allclose(backed.obsm["X_ispca"], adata.obsm["X_ispca"], atol=1e-9)
    np.testing.assert_allclose(backed.varm["ISPCA"], adata.varm["ISPCA"], atol=1e-9)
    found, expected = backed.uns["ispca"], adata.uns["ispca"]
    assert found.keys() == expected.keys()
    assert found["params"] == expected["params"]
    assert found["n_supervised"] == expected["n_supervised"] == 1
    assert found["n_obs_left_out"] == (4 if some else 0)
    np.testing.assert_array_equal(found["steps"]["features"]["1"], expected["steps"]["features"]["1"])
    assert backed.isbacked
    assert (tmp_path / "cells.h5ad").read_bytes() == content


def test_some_cells_of_a_file_are_not_read_at_once(adata, in_file, monkeypatch):
    adata.obs["cell_type"] = adata.obs["cell_type"].where(np.arange(50) > 3)
    backed = in_file(sp.csr_matrix)
    seen = []
    fit = ISPCA.fit
    monkeypatch.setattr(ISPCA, "fit", lambda self, X, y: fit(self, seen.append(X) or X, y))
    ispca(backed, "cell_type", n_components=3)
    assert isinstance(seen[0], ColumnSource)


def test_results_reach_the_file_when_it_is_written(adata, in_file, tmp_path):
    backed = in_file(sp.csr_matrix, "r+")
    ispca(backed, "cell_type", n_components=4)
    scores = backed.obsm["X_ispca"]
    backed.write()
    backed.file.close()
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(back.obsm["X_ispca"], scores)
    np.testing.assert_array_equal(back.X.toarray(), adata.X.toarray())
    assert back.uns["ispca"]["n_supervised"] == 1


def test_backed_objects_that_cannot_take_results(in_file):
    backed = in_file()
    with pytest.raises(ValueError, match=r"backed by a file and cannot be copied\. Omit copy"):
        ispca(backed, "cell_type", copy=True)
    with pytest.raises(ValueError, match=r"view of an AnnData object backed by a file.*view\.to_memory\(\)"):
        ispca(backed[:40], "cell_type")


@pytest.mark.parametrize("sparse", [False, True])
def test_an_object_in_place_of_x_is_refused_at_once_with_what_to_do(sparse, rng):
    X, y = rng.normal(size=(30, 8)), np.arange(30) % 2
    adata = anndata.AnnData(sp.csr_matrix(X) if sparse else X)
    for fit in (
        ISPCA().fit,
        PenalizedClassifier().fit,
        StackedClassifier({"a": LogisticRegression()}).fit,
        feature_scores,
        partial(compare, LogisticRegression()),
    ):
        with pytest.raises(
            ValueError, match=r"X is an AnnData object. Pass X=adata.to_df\(\).*ispca.anndata.ispca"
        ):
            fit(adata, y)
    found = ISPCA(2, alpha=None).fit(adata.to_df(), y)
    assert found.feature_names_in_.tolist() == adata.var_names.tolist()
