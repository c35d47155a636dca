"""``ispca fit`` leaves out columns or samples with missing values of a file in blocks as it does in memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.cli import main
from ispca.persistence import load_model

pytestmark = pytest.mark.slow

SHORT = ["--bags=0", "--components", "3", "--draws", "60", "--permutations", "200", "--cv", "0"]
# Larger than the limit below.
N, N_FEATURES, LIMIT = 60, 2500, "1.1M"
EMPTY = 11


def values():
    """Counts: four values are missing or infinite, and one column has a value only where there is no target."""
    rng = np.random.default_rng(0)
    mean = np.full((N, N_FEATURES), 3.0)
    mean[1::2, :30] += 5.0
    X = rng.poisson(mean).astype(np.float32)
    X[2, 7] = X[4, 7] = X[4, 2400] = np.nan
    X[9, 30] = np.inf
    X[:-1, EMPTY] = np.nan
    return X


@pytest.fixture
def fit(tmp_path, capsys):
    ages = [20 + 0.1 * ((7 * i) % 50) for i in range(N)]
    lines = [f"s{i},{'ill' if i % 2 else 'well'},{ages[i]}\n" for i in range(N - 1)]
    lines.append(f"s{N - 1},,{ages[-1]}\n")
    (tmp_path / "sheet.csv").write_text("sample,state,age\n" + "".join(lines))
    np.save(tmp_path / "x.npy", values())

    def run(memory, *options, out, code=0, path="x.npy"):
        given = ["fit", str(tmp_path / path), "--samples", str(tmp_path / "sheet.csv"), "--target", "state"]
        limits = ["--memory", memory, "--out", str(tmp_path / out)]
        assert main([*given, *SHORT, *limits, *options]) == code, capsys.readouterr().err
        notes = capsys.readouterr().err.splitlines()
        return [line for line in notes if "left out" in line or "Covariates" in line]

    return run


@pytest.mark.parametrize("missing", ["columns", "rows"])
@pytest.mark.parametrize("options", [[], ["--transform", "cpm-log", "--covariates", "age"]])
def test_blocks_leave_out_the_same_as_memory(fit, tmp_path, missing, options):
    in_blocks = fit(LIMIT, "--missing", missing, *options, out="blocks")
    assert in_blocks == fit("1G", "--missing", missing, *options, out="memory")
    assert f"ispca: 1 column without any value left out: feature {EMPTY + 1}." in in_blocks
    expected = {
        "columns": "3 columns with missing values left out: feature 8 (2), feature 31 (1), feature 2401 (1).",
        "rows": "3 samples with missing values left out.",
    }
    assert f"ispca: {expected[missing]}" in in_blocks
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("blocks", "memory"))
    assert first.feature_names_in_.tolist() == second.feature_names_in_.tolist()
    assert first.n_features_in_ == N_FEATURES - (4 if missing == "columns" else 1) + bool(options)
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-6)
    rows = (tmp_path / "blocks" / "scores.csv").read_text().splitlines()
    assert len(rows) - 1 == (N - 1 if missing == "columns" else N - 4)


def test_covariates_with_missing_values(fit, tmp_path):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(sheet.read_text().replace("s0,well,20.0", "s0,well,"))
    options = ["--covariates", "age", "--missing"]
    refused = fit(LIMIT, *options, "columns", out="blocks", code=3)
    assert refused[-1].endswith("Covariates contain missing values: age. Pass --missing mean or --missing rows.")
    assert "ispca: 4 samples with missing values left out." in fit(LIMIT, *options, "rows", out="blocks")


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("missing", ["columns", "rows"])
def test_sparse_cells(kind, missing, tmp_path, capsys):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    X = values()
    X[(X < 4) & np.isfinite(X)] = 0
    X[-1, EMPTY] = np.nan
    obs = pandas.DataFrame({"state": ["well", "ill"] * (N // 2)}, index=[f"c{i}" for i in range(N)])
    anndata.AnnData(kind(X), obs=obs).write_h5ad(tmp_path / "x.h5ad")
    command = ["fit", str(tmp_path / "x.h5ad"), "--target", "state", *SHORT, "--missing", missing]
    notes = []
    for memory, out in (("800k", "blocks"), ("1G", "memory")):
        assert main([*command, "--memory", memory, "--out", str(tmp_path / out)]) == 0
        printed = capsys.readouterr().err
        assert ("Reading x.h5ad in blocks" in printed) == (out == "blocks")
        notes.append([line for line in printed.splitlines() if "with missing values left out" in line])
    assert notes[0] == notes[1]
    assert len(notes[0]) == 1
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("blocks", "memory"))
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-6)
