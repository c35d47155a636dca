"""Raw scales on the command line: advice, transformations stored with the model, and tables on another scale."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from ispca.analysis.scale_and_missing_values import sample_quartiles, scale_difference, survey
from ispca.cli import main
from ispca.persistence import read_details

SHORT = ["--bags=0", "--components", "3", "--draws", "60"]


def raw_counts(n=40, D=60, seed=0):
    """Counts, of which the first ten columns follow the class."""
    rng = np.random.default_rng(seed)
    ill = np.arange(n) % 2
    means = rng.lognormal(4, 1.5, (1, D)) * rng.uniform(0.5, 2.0, (n, 1))
    means[:, :10] *= np.where(ill == 1, 3.0, 1.0)[:, None]
    return rng.poisson(means * rng.gamma(10, 0.1, (n, D))), ill


def write(path, X, ill=None, age=None):
    names = [f"g{j}" for j in range(X.shape[1])]
    rows = [["id", *names, *(["state"] if ill is not None else []), *(["age"] if age is not None else [])]]
    for i, values in enumerate(X.tolist()):
        row = [f"s{i}", *values]
        row += [] if ill is None else [["well", "ill"][ill[i]]]
        rows.append(row + ([] if age is None else [age[i]]))
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def of_counts(tmp_path_factory):
    """The folder of a model of counts that are transformed, with a covariate."""
    folder = tmp_path_factory.mktemp("counts")
    X, ill = raw_counts()
    data = write(folder / "counts.csv", X, ill, np.arange(40) * 7 % 31 + 0.5)
    options = ["--target", "state", "--covariates", "age", "--transform", "cpm-log", "--out", str(folder / "out")]
    assert main(["fit", data, *options, *SHORT, "--cv", "2", "--quiet"]) == 0
    return folder


@pytest.mark.slow
def test_raw_scales_get_advice(tmp_path, capsys):
    X, ill = raw_counts()
    command = [
        "fit",
        write(tmp_path / "counts.csv", X, ill),
        "--target",
        "state",
        *SHORT,
        "--format",
        "json",
        "--force",
    ]
    command += ["--format", "json", "--force", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    advice = "Pass --transform cpm-log, or log1p"
    error = capsys.readouterr().err
    assert "The features look like raw counts (integers up to" in error
    assert advice in error
    for name in ("none", "log1p"):
        assert main([*command, "--transform", name]) == 0
        assert "look like raw counts" not in capsys.readouterr().err
    assert "--transform log1p" in (tmp_path / "out" / "report.json").read_text()
    logarithms = write(tmp_path / "logs.csv", np.log2(X + 1), ill)
    assert main(["fit", logarithms, *command[2:]]) == 0
    assert "look like" not in capsys.readouterr().err


def test_negative_values_are_refused(tmp_path, one_line):
    X, ill = raw_counts()
    X[0, 0] = -1
    command = ["fit", write(tmp_path / "d.csv", X, ill), "--target", "state", "--out", str(tmp_path / "out")]
    assert main([*command, "--transform", "cpm-log"]) == 3
    assert "negative values, such as -1, which have no logarithm. Leave out --transform cpm-log." in one_line()


def probabilities(text):
    return np.array([row["p(ill)"] for row in json.loads(text)["predictions"]])


def test_the_transformation_is_applied_to_new_data(of_counts, tmp_path, capsys):
    details = read_details(of_counts / "out" / "model.ispca")
    assert details["transform"] == "cpm-log"
    command = ["predict", str(of_counts / "out")]
    assert main([*command, str(of_counts / "counts.csv"), "--json"]) == 0
    captured = capsys.readouterr()
    assert "another scale" not in captured.err
    expected = probabilities(captured.out)
    # Unknown columns do not count for the library sizes, and sequencing depth does not matter.
    X, _ = raw_counts()
    age = np.arange(40) * 7 % 31 + 0.5
    more = write(tmp_path / "more.csv", np.column_stack([3 * X, 10**6 + X]), age=age)
    assert main([*command, more, "--json"]) == 0
    captured = capsys.readouterr()
    np.testing.assert_allclose(probabilities(captured.out), expected)
    assert "another scale" not in captured.err


def test_values_that_are_already_transformed(of_counts, tmp_path, capsys):
    X, _ = raw_counts()
    logarithms = write(tmp_path / "logs.csv", np.log2(X + 1), age=np.full(40, 30.5))
    assert main(["predict", str(of_counts / "out"), logarithms]) == 0
    error = capsys.readouterr().err
    assert "warning: logs.csv is on another scale than the training data: a sample has mean" in error
    assert "The model applies --transform cpm-log itself: pass values without it." in error


def test_panels_of_counts(of_counts, tmp_path, capsys):
    out = tmp_path / "panel"
    command = ["select", str(of_counts / "out"), str(of_counts / "counts.csv"), "--size", "2", "--folds", "0"]
    assert main([*command, "--max-size", "3", "--out", str(out)]) == 0
    assert "panel.ispca will take log2(counts per million + 1)" in capsys.readouterr().err
    details = read_details(out / "panel.ispca")
    assert details["transform"] == "none"
    of_all = read_details(of_counts / "out" / "model.ispca")
    assert details["training_location"] != of_all["training_location"]


NORMAL = np.random.default_rng(0).normal(8, 2, (60, 200)) + np.random.default_rng(1).normal(0, 2, 200)
MOMENTS = {"means": NORMAL.mean(axis=0), "scales": NORMAL.std(axis=0)}


def difference(X, **moments):
    found = sample_quartiles(NORMAL)
    return scale_difference(
        survey(X), tuple(found["training_location"]), tuple(found["training_spread"]), **moments
    )


def test_other_scales_are_found():
    new = np.random.default_rng(2).normal(8, 2, (20, 200)) + np.random.default_rng(1).normal(0, 2, 200)
    others = {
        "raw": 2.0**new,
        "natural logarithm": new * np.log(2),
        "centered": new - new.mean(axis=0),
        "standardized": (new - new.mean(axis=0)) / new.std(axis=0),
        "a thousand times as large": 1000 * new,
        "shifted": new + 10,
    }
    assert [name for name, X in others.items() if "a sample has mean" not in difference(X)] == []
    # Samples agree as a whole, but the features do not.
    mixed = new[:, ::-1] * 1.0
    assert "half of the features are at least" in difference(mixed + 6 * np.tile([1, -1], 100), **MOMENTS)
    assert "standard deviation of the features is 0" in difference(np.tile(NORMAL.mean(axis=0), (9, 1)), **MOMENTS)


def test_the_same_scale_is_not_reported():
    offsets = np.random.default_rng(1).normal(0, 2, 200)
    rng = np.random.default_rng(3)
    same = {
        "new samples": rng.normal(8, 2, (20, 200)) + offsets,
        "one sample": rng.normal(8, 2, (1, 200)) + offsets,
        "one class": rng.normal(8, 2, (20, 200)) + offsets + 2 * (np.arange(200) < 40),
        "a small batch effect": rng.normal(8, 2, (20, 200)) + offsets + rng.normal(0, 1, 200),
        "more noise": rng.normal(8, 3, (20, 200)) + offsets,
        "nothing": np.zeros((0, 200)),
    }
    assert {name: difference(X, **MOMENTS) for name, X in same.items()} == dict.fromkeys(same, "")
    assert scale_difference(survey(1000 * NORMAL), None, None) == ""


def test_sparse_tables_are_compared_alike():
    dense, found = sample_quartiles(NORMAL), sample_quartiles(csr_array(NORMAL))
    np.testing.assert_allclose(list(found.values()), list(dense.values()))
    for X in (NORMAL, 5 * NORMAL, NORMAL - NORMAL.mean(axis=0)):
        assert difference(csr_array(X), **MOMENTS) == difference(X, **MOMENTS)


def test_a_few_missing_features_are_replaced(fitted, table_of, tmp_path, capsys):
    rows, write_rows = table_of
    table = rows()
    values = np.array([row[-1] for row in table[1:]], dtype=float)
    filled = [[*row[:-1], str(values.mean()) if i else row[-1]] for i, row in enumerate(table)]
    assert main(["predict", str(fitted), str(write_rows(tmp_path / "filled.csv", filled))]) == 0
    expected = capsys.readouterr().out.splitlines()
    assert main(["predict", str(fitted), str(write_rows(tmp_path / "few.csv", [row[:-1] for row in table]))]) == 0
    captured = capsys.readouterr()
    found = captured.out.splitlines()
    assert found[0] == expected[0]
    for line, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(float(line.split(",")[2]), float(other.split(",")[2]))
    assert "few.csv lacks 1 of the 30 features of the model, which carries 0." in captured.err
    assert "of its weight: gene29 (0." in captured.err
    assert "It is replaced by the mean of the training data." in captured.err


def test_folders_of_results(fitted, data, tmp_path, one_line, capsys):
    assert main(["predict", str(fitted), str(data), "--quiet"]) == 0
    expected = capsys.readouterr().out
    assert main(["predict", str(fitted / "model.ispca"), str(data), "--quiet"]) == 0
    assert capsys.readouterr().out == expected
    for command in ("predict", "select"):
        assert main([command, str(tmp_path), str(data)]) == 3
        assert f"The folder {tmp_path} contains no model.ispca. Pass a folder written by ispca fit." in one_line()


@pytest.mark.parametrize("sparse", [False, True])
def test_features_that_a_transformation_makes_constant(tmp_path, capsys, sparse):
    X, ill = raw_counts()
    path = tmp_path / ("counts.npz" if sparse else "counts.csv")
    if sparse:
        stored = csr_array(X + 1.0)
        parts = {name: getattr(stored, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(path, y=ill, **parts)
    else:
        write(path, X + 1, ill)
    options = [*([] if sparse else ["--target", "state"]), "--transform", "binary", "--out", str(tmp_path / "out")]
    assert main(["fit", str(path), *options]) == 3
    reason = "Every feature has the same value in all samples after --transform binary, so nothing can be learned."
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
