"""``ispca compare`` with matrices that stay in their file: reductions in blocks, with the same numbers."""

import json

import numpy as np
import pytest

from ispca.cli import main

pytestmark = pytest.mark.slow

N, N_FEATURES, LIMIT = 60, 2500, "1.1M"
SHORT = ["--components", "3", "--draws", "40", "--splits", "2", "--target", "state"]


@pytest.fixture
def compare(tmp_path, capsys):
    X = np.random.default_rng(0).normal(5.0, 1.0, (N, N_FEATURES)).astype(np.float32)
    X[1::2, :30] += 1.5
    np.save(tmp_path / "x.npy", X)
    lines = [f"s{i},{'ill' if i % 2 else 'well'},{3 * (i % 2) + i % 5}\n" for i in range(N)]
    (tmp_path / "sheet.csv").write_text("sample,state,visits\n" + "".join(lines))

    def run(*options, code=0):
        command = ["compare", tmp_path / "x.npy", "--samples", tmp_path / "sheet.csv", *SHORT, *options]
        assert main([str(part) for part in command]) == code, capsys.readouterr().err
        return capsys.readouterr()

    return run


def test_reductions_have_the_same_scores_in_blocks(compare, tmp_path):
    given = ["--methods", "ISPCA", "PCA", "--json"]
    blocks = compare("--memory", LIMIT, *given, "--out", tmp_path / "out", "--resume", tmp_path / "fits")
    memory = compare("--jobs", "1", *given)
    assert "Reading x.npy in blocks" in blocks.err
    assert "Left out, because this needs all data in memory: the checks of the data." in blocks.err
    assert (tmp_path / "out" / "comparison.csv").stat().st_size > 100
    first, second = (json.loads(part.out) for part in (blocks, memory))
    assert not first["errors"]
    for one, other in zip(first["methods"], second["methods"], strict=True):
        assert one["method"] == other["method"]
        assert one["mlpd"] == pytest.approx(other["mlpd"], abs=1e-6)
    # Finished fits are found again.
    again = compare("--memory", LIMIT, *given, "--resume", tmp_path / "fits")
    assert json.loads(again.out)["methods"] == first["methods"]


def test_other_methods_are_left_out_or_refused_before_any_fit(compare):
    for given, said in (
        (["--methods", "ISPCA", "lasso", "SVM"], "--methods lasso SVM needs all data in memory, 1.86 MB."),
        (["--jobs", "2"], "--jobs 2 needs all data in memory, 1.86 MB."),
    ):
        assert f"{said} Leave it out, or raise the limit" in compare("--memory", LIMIT, *given, code=2).err


def test_by_default_the_reductions_are_compared(compare):
    printed = compare("--memory", LIMIT, "--splits", "1", "--draws", "4")
    assert (
        "Methods left out, because they need all data in memory (1.86 MB): ridge, ridge-best, lasso" in printed.err
    )
    assert "ISPCA" in printed.out
    assert "lasso" not in printed.out


def test_the_base_rate_of_counts_needs_no_features(compare):
    printed = compare("--memory", LIMIT, "--splits", "1", "--draws", "4", "--target", "visits", "--kind", "count")
    assert "base rate" in printed.out
    assert "failed" not in printed.out + printed.err
