"""Backed AnnData and sparse matrices in files: how rows become columns, and what is refused."""

import shutil

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA
from ispca.containers import anndata_backed, open_array, scratch, wrap_container
from ispca.containers.anndata_backed import CompressedColumns, CompressedRows

anndata = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr", minversion="3")

N, D = 80, 1500
DENSE = np.where(np.random.default_rng(0).uniform(size=(N, D)) < 0.1, 1.0, 0.0) * np.arange(1, D + 1)
Y = np.arange(N) % 3


def backed(folder, X, name="cells"):
    path = folder / f"{name}.h5ad"
    adata = anndata.AnnData(X)
    adata.var_names = [f"gene {j}" for j in range(X.shape[1])]
    adata.write_h5ad(path)
    return anndata.read_h5ad(path, backed="r")


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_names_come_from_var(tmp_path, make):
    adata = backed(tmp_path, make(DENSE))
    model = ISPCA(2, random_state=0).fit(adata, Y)
    assert model.feature_names_in_[3] == "gene 3"
    assert model.transform(adata).shape == (N, 2)
    other = backed(tmp_path, make(DENSE[:, ::-1]), "other")
    other.var_names = adata.var_names[::-1]
    with pytest.raises(ValueError, match="in the same order"):
        model.transform(other)


@pytest.mark.parametrize("memory", [2**28, 2**14])
def test_rows_become_columns_in_one_pass(tmp_path, memory):
    source = wrap_container(backed(tmp_path, sp.csr_matrix(DENSE)))
    assert isinstance(source, CompressedRows)
    by_column = source.arrange(memory)
    assert source.n_columns_read == pytest.approx(D)
    assert ("memory" in by_column.label) == (memory > 2**20)
    for columns in (slice(0, D), slice(700, 1212), np.array([0, 1, 5, 1499]), np.array([], int)):
        np.testing.assert_array_equal(by_column.read(columns).toarray(), DENSE[:, columns])
    assert by_column.names[7] == "gene 7"


def test_rows_are_projected_in_one_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(anndata_backed, "PIECE_ENTRIES", 2000)
    monkeypatch.setattr(CompressedRows.pieces, "__defaults__", (2000,))
    adata = backed(tmp_path, sp.csr_matrix(DENSE))
    model = ISPCA(2, random_state=0).fit(DENSE, Y)
    source = wrap_container(adata.X)
    np.testing.assert_allclose(model.transform(source), model.transform(DENSE), atol=1e-10)
    assert source.n_columns_read == pytest.approx(D)


def test_samples_without_a_target_are_left_out_of_the_rows(tmp_path):
    source = wrap_container(backed(tmp_path, sp.csr_matrix(DENSE)))
    some = np.flatnonzero(Y < 2)
    found = ISPCA(2, random_state=0, memory_budget=2**20).fit(source[some], Y[some])
    expected = ISPCA(2, random_state=0).fit(sp.csr_array(DENSE)[some], Y[some])
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)


def test_a_full_disk_is_named_before_anything_is_written(tmp_path, monkeypatch):
    source = wrap_container(backed(tmp_path, sp.csr_matrix(DENSE)))
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(OSError, match=r"stored by row, needs scratch files of .* too little space"):
        source.arrange(2**14)


def test_an_interrupted_copy_leaves_no_file(tmp_path, monkeypatch):
    source = wrap_container(backed(tmp_path, sp.csr_matrix(DENSE)))
    opened = []

    class Interrupted(scratch.ScratchArray):
        def __init__(self, file, dtype):
            super().__init__(file, dtype)
            opened.append(self)

        def append(self, values):
            if opened[2].shape[0]:
                raise KeyboardInterrupt
            super().append(values)

    monkeypatch.setattr(scratch, "ScratchArray", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        source.arrange(2**14)
    assert len(opened) == 4
    assert all(array._file.closed for array in opened)


def test_damaged_matrices_are_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        anndata.io.write_elem(file, "X", sp.csc_matrix(DENSE))
        file["X/indices"][5] = N
        source = wrap_container(file["X"])
        assert isinstance(source, CompressedColumns)
        with pytest.raises(
            OSError, match=r"Could not read columns 0 to 9 of /X of x.h5: an index is out of range"
        ):
            source.read(slice(0, 10))
        file["X/indptr"][3] = 10**6
        with pytest.raises(ValueError, match="damaged: its indptr"):
            wrap_container(file["X"])


@pytest.mark.parametrize(("chunk", "span", "n_reads"), [(4096, 2**26, 1), (16, 2**26, 3), (4096, 2**14, 9)])
def test_columns_in_the_same_chunk_are_read_together(tmp_path, monkeypatch, chunk, span, n_reads):
    monkeypatch.setattr(anndata_backed, "LARGEST_SPAN", span)
    matrix, columns = sp.csc_matrix(DENSE), np.array([*range(0, D, 2)] if chunk > 16 else [0, 1, 700, 702, 1400])
    with h5py.File(tmp_path / "x.h5", "w") as file:
        anndata.io.write_elem(file, "X", matrix, dataset_kwargs={"chunks": (chunk,)})
        source = wrap_container(file["X"])
        reads, entries = [], source.entries
        monkeypatch.setattr(source, "entries", lambda *ends: reads.append(ends) or entries(*ends))
        np.testing.assert_array_equal(source.read(columns).toarray(), DENSE[:, columns])
    assert len(reads) == n_reads


@pytest.fixture(params=[sp.csr_matrix, sp.csc_matrix])
def in_zarr(tmp_path, request):
    """Return the matrix of an AnnData object in a Zarr folder."""
    anndata.AnnData(request.param(DENSE)).write_zarr(tmp_path / "cells.zarr")
    return zarr.open(str(tmp_path / "cells.zarr"), mode="r")["X"]


def test_sparse_matrices_in_zarr(tmp_path, in_zarr):
    expected = ISPCA(3, random_state=0).fit(sp.csc_array(DENSE), Y)
    for X in (in_zarr, anndata.io.sparse_dataset(in_zarr), open_array(tmp_path / "cells.zarr")):
        source = wrap_container(X)
        assert source.sparse
        assert source.label == "Zarr group cells.zarr/X"
        np.testing.assert_array_equal(source.take([3, 1400, 3]), DENSE[:, [3, 1400, 3]])
        found = ISPCA(3, random_state=0, memory_budget=2**20).fit(X, Y)
        np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)
        np.testing.assert_allclose(found.transform(X), expected.transform(DENSE), atol=1e-8)


def test_rows_in_zarr_may_not_fit_into_memory(tmp_path):
    anndata.AnnData(sp.csr_matrix(DENSE)).write_zarr(tmp_path / "cells.zarr")
    by_column = open_array(tmp_path / "cells.zarr").arrange(2**14)
    assert by_column.label == "the scratch copy of Zarr group cells.zarr/X by column"
    np.testing.assert_array_equal(by_column.take(slice(None)), DENSE)


def test_a_zarr_group_that_disappears(tmp_path, in_zarr):
    source = wrap_container(in_zarr)
    shutil.rmtree(tmp_path / "cells.zarr")
    with pytest.raises(OSError, match=r"Could not read .* of Zarr group cells\.zarr/X: .* no longer exists"):
        ISPCA(2, memory_budget=2**20).fit(source, Y)


def test_views_and_repeated_names_are_refused(tmp_path):
    adata = backed(tmp_path, sp.csr_matrix(DENSE))
    with pytest.raises(ValueError, match="view of a backed AnnData"):
        ISPCA(2).fit(adata[:40], Y[:40])
    adata.var_names = ["gene"] * D
    with pytest.raises(ValueError, match="appear more than once"):
        ISPCA(2).fit(adata, Y)
