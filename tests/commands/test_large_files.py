"""``ispca fit`` of matrices in files: in blocks or in memory, with the same result."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA
from ispca.analysis import large_data
from ispca.cli import main
from ispca.containers import array_api
from ispca.persistence import load_model

SHORT = ["--bags=0", "--components", "3", "--draws", "60", "--permutations", "200"]
# Larger than the limit below.
N, N_FEATURES, LIMIT = 60, 2500, "1.1M"


@pytest.fixture
def sheet(tmp_path):
    lines = [f"s{i},{'ill' if i % 2 else 'well'},{20 + (7 * i) % 50},{i // 2}\n" for i in range(N)]
    (tmp_path / "sheet.csv").write_text("sample,state,age,family\n" + "".join(lines))
    return tmp_path / "sheet.csv"


def genotypes():
    rng = np.random.default_rng(0)
    frequency = np.full((N, N_FEATURES), 0.3)
    frequency[1::2, :30] += 0.5
    return rng.binomial(2, frequency)


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "x.npy", genotypes().astype(np.int8))
    return tmp_path / "x.npy"


@pytest.fixture
def bed(tmp_path):
    """Genotypes, of which one is missing."""
    codes = np.array([3, 2, 0], dtype=np.uint8)[genotypes()].T.copy()
    codes[7, 5] = 1
    packed = (codes.reshape(N_FEATURES, -1, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2)
    path = tmp_path / "x.bed"
    path.write_bytes(bytes([0x6C, 0x1B, 1]) + packed.astype(np.uint8).tobytes())
    path.with_suffix(".fam").write_text("".join(f"f s{i} 0 0 0 -9\n" for i in range(N)))
    path.with_suffix(".bim").write_text("".join(f"1 rs{j} 0 {j} A G\n" for j in range(N_FEATURES)))
    return path


@pytest.fixture
def fit(sheet, tmp_path, capsys):
    def run(path, *options, code=0, out="out"):
        given = ["fit", str(path), "--samples", str(sheet), "--target", "state", *SHORT, *options]
        assert main([*given, "--out", str(tmp_path / out)]) == code, capsys.readouterr().err
        return capsys.readouterr()

    return run


def test_blocks_and_memory_give_the_same_components(fit, npy, tmp_path):
    in_blocks = fit(npy, "--memory", LIMIT, "--cv", "0", out="blocks").err
    assert re.search(
        r"Reading x.npy in blocks of [\d.]+ kB: its 1.86 MB exceed the memory limit of 1.1 MB\.", in_blocks
    )
    assert "Left out, because this needs all data in memory: the checks of the data." in in_blocks
    in_memory = fit(npy, "--memory", "2G", "--cv", "0", out="memory").err
    assert "Reading x.npy into memory: its 1.86 MB are within the limit of 2 GB." in in_memory
    assert "Left out" not in in_memory
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("blocks", "memory"))
    assert first.n_supervised_ == second.n_supervised_ == 1
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-9)
    for name in ("scores.csv", "loadings.csv", "coefficients.csv", "report.html"):
        assert (tmp_path / "blocks" / name).stat().st_size > 1000


def test_the_cross_validation_leaves_out_the_lasso(fit, npy, tmp_path):
    printed = fit(npy, "--memory", LIMIT, "--cv", "3", "--covariates", "age", "--json", "--format", "json")
    assert (
        "the checks of the data and kernels, the lasso and the combined prediction in the cross-validation."
        in printed.err
    )
    found = json.loads(printed.out)
    assert "classified correctly" in json.dumps(found["verdict"])
    report = (tmp_path / "out" / "report.json").read_text()
    assert '"base rate"' in report
    assert '"lasso"' not in report
    assert "--memory 1.1M" in report


@pytest.mark.slow
def test_genotypes_with_missing_values(fit, bed, tmp_path, capsys):
    refused = fit(bed, "--memory", LIMIT, "--cv", "0", code=3).err.splitlines()[-1]
    assert "1 value in 1 column, rs7 (1). Drop those rows, or pass --missing mean." in refused
    fit(bed, "--memory", LIMIT, "--cv", "0", "--missing", "mean", out="blocks")
    fit(bed, "--cv", "0", "--missing", "mean", out="memory")
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("blocks", "memory"))
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-6)
    assert first.feature_names_in_[:2].tolist() == ["rs0", "rs1"]
    assert main(["predict", str(tmp_path / "blocks"), str(bed), "--missing", "mean"]) == 0
    rows = capsys.readouterr().out.splitlines()
    right = sum(row.split(",")[1] == ("ill" if i % 2 else "well") for i, row in enumerate(rows[1:]))
    assert right > 0.8 * N


@pytest.mark.slow
@pytest.mark.parametrize("transform", ["log1p", "cpm-log", "binary"])
def test_transformations_and_chosen_features_in_blocks(fit, npy, tmp_path, transform):
    options = ["--transform", transform, "--drop", "feature 2?", "--cv", "0"]
    fit(npy, "--memory", LIMIT, *options, out="blocks")
    fit(npy, *options, out="memory")
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("blocks", "memory"))
    assert first.n_features_in_ == N_FEATURES - 10
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-9)


def test_arrays_without_names_need_a_sheet_of_their_length(fit, npy, sheet, tmp_path, capsys):
    assert "its rows are those of sheet.csv, in order" in fit(npy, "--cv", "0").err
    lines = sheet.read_text().splitlines(keepends=True)
    sheet.write_text("".join(lines[:-1]))
    message = fit(npy, code=3, out="other").err
    assert "its 60 samples must be the rows of sheet.csv in the same order, but that has 59." in message
    assert main(["fit", str(npy), "--target", "state", "--out", str(tmp_path / "other")]) == 3
    assert "x.npy contains features only, but no column 'state' (target)" in capsys.readouterr().err


def test_nothing_is_combined_in_blocks(fit, npy, tmp_path):
    fit(npy, "--memory", LIMIT, "--cv", "2", "--covariates", "age", "--threads", "1")
    assert (tmp_path / "out" / "model.ispca").is_file()
    assert not (tmp_path / "out" / "combined.ispca").exists()


def test_bags_need_data_in_memory(npy, sheet, tmp_path, capsys):
    command = ["fit", str(npy), "--samples", str(sheet), "--target", "state", "--memory", LIMIT, "--bags", "5"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 2
    assert "--bags needs data in memory, but they are read in blocks. Pass --bags 0." in capsys.readouterr().err


@pytest.mark.parametrize("size", ["2", "G", "-1G", "0M", "2X", "1e3M", "lots", "9999999T"])
def test_bad_sizes_are_refused(size, npy, capsys):
    assert main(["fit", str(npy), "--target", "state", f"--memory={size}"]) == 2
    assert f"must be a size such as 500M or 2G, got '{size}'" in capsys.readouterr().err


def test_a_device_without_a_library_is_refused_before_any_work(fit, npy, monkeypatch):
    monkeypatch.setattr(large_data, "find_spec", lambda name: None)
    message = fit(npy, "--device", "cuda", code=2).err
    assert "needs a GPU and CuPy, PyTorch or JAX, but CuPy, PyTorch and JAX are not installed" in message
    assert "Reading" not in message


@pytest.mark.slow
def test_the_results_of_a_device_come_back(fit, npy, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    tensors = {"torch": (lambda torch: True, lambda torch, X: torch.from_numpy(X))}
    monkeypatch.setattr(large_data, "LIBRARIES", tensors)
    printed = fit(npy, "--device", "cuda", "--cv", "0", out="device").err
    assert "Finding components on cuda with PyTorch, in the fit.\n" in printed
    fit(npy, "--cv", "0", out="memory")
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("device", "memory"))
    assert isinstance(first.components_, np.ndarray)
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-9)


@pytest.mark.slow
def test_the_cross_validation_uses_the_device(fit, npy, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    tensors = {"torch": (lambda torch: True, lambda torch, X: torch.from_numpy(X))}
    monkeypatch.setattr(large_data, "LIBRARIES", tensors)
    seen, real = [], ISPCA.fit_transform

    def record(self, X, y, **options):
        seen.append((type(X), len(X)))
        return real(self, X, y, **options)

    monkeypatch.setattr(ISPCA, "fit_transform", record)
    options = ["--cv", "2", "--covariates", "age", "--draws", "400"]
    printed = fit(npy, "--device", "cuda", *options, out="device").err
    assert "Finding components on cuda with PyTorch, in the fit and in the cross-validation.\n" in printed
    assert seen == [(torch.Tensor, N), (array_api.DeviceArray, N // 2), (array_api.DeviceArray, N // 2)]
    fit(npy, *options, out="memory")
    first, second = (held_out(tmp_path / name / "held_out.csv") for name in ("device", "memory"))
    assert len(first) == N
    # Rounding changes the draws.
    np.testing.assert_allclose(first, second, atol=0.1)
    assert np.abs(first - second).mean() < 0.02


def held_out(path):
    """Return the probabilities of the class "ill"."""
    header, *lines = (line.split(",") for line in path.read_text().splitlines())
    place = next(i for i, name in enumerate(header) if "ill" in name)
    return np.array([float(line[place]) for line in lines])


@pytest.mark.slow
def test_zarr_arrays_by_row_are_copied_once(fit, tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3")
    group = zarr.create_group(str(tmp_path / "x.zarr"))
    X = genotypes().astype(np.float32)
    group.create_array("X", shape=X.shape, dtype=X.dtype, chunks=(5, N_FEATURES))[:] = X
    printed = fit(tmp_path / "x.zarr", "--memory", LIMIT, "--cv", "2", out="blocks").err
    assert "Reading x.zarr in blocks of" in printed
    assert "Reading x.zarr into memory" in fit(tmp_path / "x.zarr", "--cv", "0", out="memory").err
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("blocks", "memory"))
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-9)


@pytest.mark.slow
@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_cells_are_read_in_blocks(kind, tmp_path, capsys):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    X = np.where(genotypes() < 2, 0, genotypes()).astype(np.float32)
    cells = {"state": ["well", "ill"] * (N // 2), "donor": np.arange(N) % 7}
    obs = pandas.DataFrame(cells, index=[f"c{i}" for i in range(N)])
    anndata.AnnData(kind(X), obs=obs).write_h5ad(tmp_path / "x.h5ad")
    size = LIMIT if kind is np.asarray else "800k"
    command = ["fit", str(tmp_path / "x.h5ad"), "--target", "state", *SHORT, "--cv", "0", "--transform", "log1p"]
    for memory, out in ((size, "blocks"), ("1G", "memory")):
        assert main([*command, "--memory", memory, "--out", str(tmp_path / out)]) == 0
        assert ("Reading x.h5ad in blocks" in capsys.readouterr().err) == (out == "blocks")
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("blocks", "memory"))
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-9)
    assert first.feature_names_in_[:2].tolist() == ["0", "1"]
