"""Parquet files larger than the memory limit: read by groups of columns, with the same results as in memory."""

import numpy as np
import pytest

from ispca.cli import main
from ispca.persistence import load_model
from ispca.readers import TableError, read_table

polars = pytest.importorskip("polars")
N, N_FEATURES, LIMIT = 60, 2500, "1.1M"
SHORT = ["--bags=0", "--components", "3", "--draws", "60", "--permutations", "200", "--cv", "0"]


def columns(seed=0):
    X = np.random.default_rng(seed).normal(5.0, 1.0, (N, N_FEATURES))
    X[1::2, :30] += 1.5
    return {f"g{j}": X[:, j] for j in range(N_FEATURES)}


def described(**others):
    return {
        "sample": [f"s{i}" for i in range(N)],
        "state": ["ill" if i % 2 else "well" for i in range(N)],
        "age": np.arange(N) % 7 + 20.25,
        "batch": ["a", "b", "c"] * (N // 3),
        **others,
    }


@pytest.fixture
def path(tmp_path):
    # What describes the samples stands among the features.
    features = columns()
    first = dict(list(features.items())[:5])
    table = {"sample": described()["sample"], **first, **described(), **features}
    polars.DataFrame(table).write_parquet(tmp_path / "x.parquet", row_group_size=25)
    return tmp_path / "x.parquet"


def read_both(path, **options):
    return (
        read_table(path, max_bytes=1_100_000, block_memory=2**20, **options),
        read_table(path, max_bytes=10**9, **options),
    )


def test_blocks_and_memory_find_the_same_columns(path):
    columns_of_samples = {"target": "state", "drop": ("g1?",)}
    blocks, memory = read_both(path, **columns_of_samples)
    assert blocks.in_blocks
    assert not memory.in_blocks
    assert blocks.features.tolist() == memory.features.tolist()
    assert np.array_equal(blocks.X.take(slice(None)), memory.X)
    assert np.array_equal(blocks.ids, memory.ids)
    assert np.array_equal(blocks.target, memory.target)
    assert blocks.left_out == memory.left_out
    assert {name: list(texts) for name, texts in blocks.sheet.items()} == {
        name: list(texts) for name, texts in memory.sheet.items()
    }
    in_blocks = [note for note in blocks.notes if "in blocks" in note]
    assert [note for note in blocks.notes if note not in in_blocks] == memory.notes
    assert "Reading x.parquet in blocks of" in in_blocks[0]


@pytest.mark.parametrize("target", ["age", "g3", "flag"])
def test_targets_that_are_numbers(tmp_path, target):
    # Without names: the first column is a feature.
    table = {**columns(), "age": np.arange(N) % 7 + 20.25, "flag": [i % 2 == 0 for i in range(N)]}
    polars.DataFrame(table).write_parquet(tmp_path / "x.parquet")
    blocks, memory = read_both(tmp_path / "x.parquet", target=target)
    assert blocks.in_blocks
    assert (blocks.kind, blocks.features.tolist()) == (memory.kind, memory.features.tolist())
    assert np.array_equal(blocks.target, memory.target)
    assert np.array_equal(blocks.ids, memory.ids)


def test_samples_without_a_target_or_a_row_in_the_sheet(tmp_path):
    table = {"sample": [f"s{i}" for i in range(N)], **columns()}
    polars.DataFrame(table).write_parquet(tmp_path / "x.parquet")
    lines = [f"s{i},{'' if i == 4 else 'uv'[i % 2]}\n" for i in reversed(range(2, N))]
    (tmp_path / "sheet.csv").write_text("name,state\n" + "".join(lines))
    blocks, memory = read_both(tmp_path / "x.parquet", target="state", samples=tmp_path / "sheet.csv")
    assert blocks.in_blocks
    assert blocks.X.shape == memory.X.shape == (N - 3, N_FEATURES)
    assert np.array_equal(blocks.X.take([5, 0]), memory.X[:, [5, 0]])
    assert np.array_equal(blocks.ids, memory.ids)


def test_samples_in_columns_need_all_data_in_memory(tmp_path):
    features = columns()
    table = {"gene": [f"g{j}" for j in range(N_FEATURES)]}
    table |= {f"s{i}": [float(features[f"g{j}"][i]) for j in range(N_FEATURES)] for i in range(N)}
    polars.DataFrame(table).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(TableError, match=r"1\.\d+ MB of memory; the limit .* 1\.1 MB"):
        read_table(
            tmp_path / "x.parquet", transpose=True, max_bytes=1_100_000, block_memory=2**20, supervised=False
        )


def test_fit_and_predict(path, tmp_path, capsys):
    command = ["fit", str(path), "--target", "state", "--covariates", "age,batch", *SHORT]
    for memory, out in ((LIMIT, "blocks"), ("1G", "memory")):
        assert main([*command, "--memory", memory, "--out", str(tmp_path / out)]) == 0
        assert ("Reading x.parquet in blocks" in capsys.readouterr().err) == (out == "blocks")
    first, second = (load_model(tmp_path / name / "model.ispca")[0] for name in ("blocks", "memory"))
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-9)
    predicted = []
    for memory in (LIMIT, "1G"):
        assert main(["predict", str(tmp_path / "blocks"), str(path), "--memory", memory]) == 0
        printed = capsys.readouterr()
        assert "60 samples of x.parquet are training samples of the model" in printed.err.replace("60 of the ", "")
        predicted.append([[float(item) for item in row.split(",")[2:4]] for row in printed.out.splitlines()[1:]])
    np.testing.assert_allclose(*predicted, atol=1e-9)
