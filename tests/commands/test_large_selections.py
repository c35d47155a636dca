"""``ispca select`` with matrices that stay in their file: only candidates are in memory, with the same panel."""

import csv

import numpy as np
import pytest

from ispca.cli import main

pytestmark = pytest.mark.slow

N, N_FEATURES, LIMIT = 60, 2500, "1.1M"
SHORT = ["--bags=0", "--components", "3", "--draws", "60", "--permutations", "200", "--cv", "0", "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, and data with a column that it does not use."""
    folder = tmp_path_factory.mktemp("study")
    X = np.random.default_rng(0).normal(5.0, 1.0, (N, N_FEATURES)).astype(np.float32)
    X[1::2, :6] += 1.2
    np.save(folder / "x.npy", X)
    X[3, 7] = np.nan
    np.save(folder / "missing.npy", X)
    lines = [f"s{i},{'ill' if i % 2 else 'well'},{20 + (7 * i) % 50}\n" for i in range(N)]
    (folder / "sheet.csv").write_text("sample,state,age\n" + "".join(lines))
    given = [str(folder / "x.npy"), "--samples", str(folder / "sheet.csv"), "--target", "state"]
    given += ["--covariates", "age", "--drop", "feature 2499"]
    assert main(["fit", *given, *SHORT, "--out", str(folder / "fit")]) == 0
    return folder


@pytest.fixture
def select(folder, tmp_path, capsys):
    def run(*options, data="x.npy", memory=LIMIT, out="blocks", code=0):
        given = [str(folder / "fit"), str(folder / data), "--samples", str(folder / "sheet.csv"), "--draws", "8"]
        given += ["--threads", "1", "--memory", memory, "--max-size", "2", *options, "--out", str(tmp_path / out)]
        assert main(["select", *given]) == code, capsys.readouterr().err
        return capsys.readouterr().err, tmp_path / out

    return run


def rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.reader(file))


def assert_same(first, second):
    for one, other in zip(rows(first), rows(second), strict=True):
        for a, b in zip(one, other, strict=True):
            try:
                assert float(a) == pytest.approx(float(b), abs=1e-5)
            except ValueError:
                assert a == b


def test_blocks_and_memory_select_the_same_panel(select):
    given = ["--folds", "2", "--size", "1", "--never", "feature 1"]
    printed, blocks = select(*given)
    _, memory = select(*given, memory="1G", out="memory")
    assert "Reading x.npy in blocks" in printed
    for name in ("panel.csv", "path.csv"):
        assert_same(blocks / name, memory / name)
    assert (blocks / "report.html").stat().st_size > 1000


def test_missing_values(select):
    given = {"data": "missing.npy"}
    message, _ = select("--folds", "0", code=3, **given)
    assert "in 1 column: feature 8 (1)." in message
    _, blocks = select("--folds", "0", "--missing", "mean", **given)
    _, memory = select("--folds", "0", "--missing", "mean", memory="1G", out="memory", **given)
    assert_same(blocks / "panel.csv", memory / "panel.csv")
