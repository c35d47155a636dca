"""``ispca predict`` and ``ispca fit --test`` with matrices that stay in their file: the same as in memory."""

import csv
import io
import json

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.cli import main

N, N_FEATURES, LIMIT = 60, 2500, "1.1M"
SHORT = ["--bags=0", "--components", "3", "--draws", "60", "--permutations", "200", "--cv", "0"]


def values(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(5.0, 1.0, (N, N_FEATURES)).astype(np.float32)
    X[1::2, :30] += 1.5
    return X


@pytest.fixture
def sheet(tmp_path):
    lines = [f"s{i},{'ill' if i % 2 else 'well'},{20.1 + (7 * i) % 50 / 3}\n" for i in range(N)]
    (tmp_path / "sheet.csv").write_text("sample,state,age\n" + "".join(lines))
    return tmp_path / "sheet.csv"


@pytest.fixture
def run(tmp_path, sheet, capsys):
    def run(*command, code=0):
        assert main([*map(str, command), "--samples", str(sheet)]) == code, capsys.readouterr().err
        return capsys.readouterr()

    return run


@pytest.fixture
def fitted(tmp_path, run):
    def fit(*options, data=None):
        np.save(tmp_path / "train.npy", values() if data is None else data)
        run("fit", tmp_path / "train.npy", "--target", "state", *SHORT, *options, "--out", tmp_path / "out")
        return tmp_path / "out"

    return fit


@pytest.fixture
def both(run):
    """Predict in blocks and in memory; compare both tables, and return what was printed."""

    def both(model, path, *options, memory=LIMIT):
        printed = [run("predict", model, path, "--memory", size, *options) for size in (memory, "1G")]
        tables = [list(csv.reader(io.StringIO(part.out))) for part in printed]
        first, second = ([[row[0], *map(float, row[2:4])] for row in table[1:]] for table in tables)
        # Names, and whether they are training samples.
        texts = [[[row[0], *row[4:]] for row in table] for table in tables]
        assert texts[0] == texts[1]
        difference = np.subtract([row[1:] for row in first], [row[1:] for row in second])
        assert np.abs(difference).max() < 1e-9
        return printed[0].err, printed[1].err

    return both


@pytest.mark.parametrize("options", [(), ("--covariates", "age"), ("--transform", "log1p")])
def test_blocks_and_memory_give_the_same_predictions(fitted, both, tmp_path, options):
    model = fitted(*options)
    np.save(tmp_path / "new.npy", values(1))
    in_blocks, in_memory = both(model, tmp_path / "new.npy")
    assert "Reading new.npy in blocks" in in_blocks
    assert "Reading new.npy into memory" in in_memory
    # The same evaluation, and no warning about the scale.
    assert in_blocks.splitlines()[2:] == in_memory.splitlines()[2:]
    assert "Evaluation on 60 samples" in in_blocks
    assert "warning" not in in_blocks


@pytest.mark.slow
def test_counts_per_million_and_cells(fitted, both, tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    counts, new = (
        np.random.default_rng(seed).poisson(np.where(values() > 6, 5.0, 0.1)).astype(np.float32) for seed in (0, 1)
    )
    model = fitted("--transform", "cpm-log", data=counts)
    # Columns in another order, one that the model does not use, and some that are lacking.
    names = [f"feature {j + 1}" for j in range(N_FEATURES)]
    kept = np.random.default_rng(1).permutation(np.arange(40, N_FEATURES))
    kept = np.concatenate([np.arange(35), kept])
    var = pandas.DataFrame(index=[*(names[j] for j in kept), "other"])
    X = sp.csr_matrix(np.column_stack([new[:, kept], np.ones(N, np.float32)]))
    anndata.AnnData(X, obs=pandas.DataFrame(index=[f"s{i}" for i in range(N)]), var=var).write_h5ad(
        tmp_path / "new.h5ad"
    )
    in_blocks, in_memory = both(model, tmp_path / "new.h5ad", memory="700k")
    assert "Reading new.h5ad in blocks" in in_blocks
    assert "new.h5ad lacks 5 of the 2,500 features of the model" in in_blocks
    assert "1 column of new.h5ad ignored" in in_blocks
    assert in_blocks.splitlines()[1:] == in_memory.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["mean", "rows"])
def test_missing_values_of_new_samples(fitted, run, both, tmp_path, how):
    model, X = fitted(), values(1)
    X[3, [7, 2000]] = np.nan
    X[5, 8] = np.inf
    np.save(tmp_path / "new.npy", X)
    for size in (LIMIT, "1G"):
        refused = run("predict", model, tmp_path / "new.npy", "--memory", size, code=3).err
        assert "3 missing or infinite values in 3 columns: feature 8 (1), feature 9 (1)" in refused
    in_blocks, in_memory = both(model, tmp_path / "new.npy", "--missing", how)
    assert in_blocks.splitlines()[2:] == in_memory.splitlines()[2:]
    assert ("2 samples with missing values left out" in in_blocks) == (how == "rows")


def test_models_that_fill_missing_values_themselves(fitted, both, tmp_path):
    X = values()
    X[3, 7] = np.nan
    # Fitted in blocks, so that the model has the treatment.
    model = fitted("--missing", "mean", "--memory", LIMIT, data=X)
    in_blocks, in_memory = both(model, tmp_path / "train.npy")
    assert in_blocks.splitlines()[2:] == in_memory.splitlines()[2:]


def test_another_scale_is_noticed_in_blocks(fitted, both, tmp_path):
    model = fitted()
    for factor, said in ((100, "a sample has mean"), (1.0, "")):
        np.save(tmp_path / "new.npy", values(1) * np.float32(factor))
        in_blocks, in_memory = both(model, tmp_path / "new.npy")
        assert in_blocks.splitlines()[2:] == in_memory.splitlines()[2:]
        assert said in in_blocks


def test_a_model_with_few_features_reads_only_these(fitted, both, run, tmp_path):
    model = fitted("--features", "feature 1?", "feature 2?")
    np.save(tmp_path / "new.npy", values(1))
    in_blocks, _ = both(model, tmp_path / "new.npy")
    assert "Reading only the features of the model from new.npy: its 1.86 MB exceed" in in_blocks


def test_models_without_a_reduction_say_how_much_memory_they_need(tmp_path, run, sheet):
    from ispca.penalized import PenalizedClassifier
    from ispca.persistence import save_model

    X = values()
    model = PenalizedClassifier(random_state=0).fit(X, np.array(["well", "ill"] * (N // 2)))
    model.feature_names_in_ = np.array([f"feature {j + 1}" for j in range(N_FEATURES)], dtype=object)
    save_model(model, tmp_path / "lasso.ispca", {})
    np.save(tmp_path / "new.npy", X)
    message = run("predict", tmp_path / "lasso.ispca", tmp_path / "new.npy", "--memory", LIMIT, code=3).err
    assert "Those of new.npy take 1.86 MB; the limit is 1.1 MB. Raise it with --memory." in message
    run("predict", tmp_path / "lasso.ispca", tmp_path / "new.npy", "--memory", "3M")


@pytest.mark.slow
def test_test_samples_in_blocks(run, tmp_path):
    np.save(tmp_path / "train.npy", values())
    np.save(tmp_path / "new.npy", values(1))
    command = [
        "fit",
        tmp_path / "train.npy",
        "--target",
        "state",
        *SHORT,
        "--test",
        tmp_path / "new.npy",
        "--json",
    ]
    printed = [
        run(*command, "--memory", size, "--out", tmp_path / name) for size, name in ((LIMIT, "a"), ("1G", "b"))
    ]
    assert "new.npy: Reading new.npy in blocks" in printed[0].err
    assert printed[0].err.count("the search for training samples") == 1
    first, second = (json.loads(part.out)["test"] for part in printed)
    assert first["accuracy"] == second["accuracy"] > 0.8


def test_intervals_of_bags(run, fitted, tmp_path):
    model, new = fitted("--bags", "4"), tmp_path / "new.npy"
    np.save(new, values(seed=9))
    tables = [
        list(csv.reader(io.StringIO(run("predict", model, new, "--memory", size).out))) for size in (LIMIT, "1G")
    ]
    assert tables[0][0][-1] == "prediction_set"
    first, second = (np.array([row[2:-1] for row in table[1:]], dtype=float) for table in tables)
    np.testing.assert_allclose(first, second, rtol=1e-5)
    assert [row[-1] for row in tables[0]] == [row[-1] for row in tables[1]]
