"""Evaluation of predictions for samples whose target is known: ``predict`` and ``fit --test``."""

import json

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, r2_score, roc_auc_score

from ispca.analysis.predictions import target_columns
from ispca.cli import main
from ispca.commands.fit import evaluation_text
from ispca.datasets import make_expression

SHORT = ["--bags=0", "--components", "4", "--draws", "60"]


@pytest.fixture
def result(capsys):
    """Return the JSON of a prediction and what was printed to standard error."""

    def run(model, data, *options):
        assert main(["predict", str(model), str(data), "--json", *options]) == 0
        captured = capsys.readouterr()
        return json.loads(captured.out), captured.err

    return run


def test_classes(fitted, table_of, tmp_path, result):
    rows, write = table_of
    new = write(tmp_path / "new.csv", rows(60, seed=5))
    found = result(fitted, new)[0]
    labels = [row[2] for row in rows(60, seed=5)[1:]]
    predicted = [row["prediction"] for row in found["predictions"]]
    measured = found["evaluation"]
    assert (measured["data"], measured["target"], measured["samples"]) == ("new.csv", "diagnosis", 60)
    assert measured["confusion"]["classes"] == ["ill", "well"]
    assert measured["confusion"]["counts"] == confusion_matrix(labels, predicted).tolist()
    assert measured["accuracy"] == pytest.approx(np.mean(np.array(labels) == predicted))
    probabilities = [row["p(well)"] for row in found["predictions"]]
    assert measured["auc"] == pytest.approx(roc_auc_score(np.array(labels) == "well", probabilities))
    given = [row[f"p({label})"] for row, label in zip(found["predictions"], labels, strict=True)]
    assert measured["log_density"] == pytest.approx(np.log(given).mean())
    assert measured["majority"] == max(labels.count("ill"), labels.count("well")) / 60
    assert 0 <= measured["calibration_error"] < 0.5
    wrong = [
        row["id"] for row, label in zip(found["predictions"], labels, strict=True) if row["prediction"] != label
    ]
    assert [row["id"] for row in measured["misclassified"]] == wrong


def test_quantities(fitted_regression, table_of, tmp_path, result):
    rows, write = table_of
    found = result(fitted_regression, write(tmp_path / "new.csv", rows(60, seed=5)))[0]
    observed = np.array([row[3] for row in rows(60, seed=5)[1:]], dtype=float)
    mean, low, high = (np.array([row[name] for row in found["predictions"]]) for name in ("mean", "q5", "q95"))
    measured = found["evaluation"]
    assert measured["r2"] == pytest.approx(r2_score(observed, mean))
    assert measured["rmse"] == pytest.approx(np.sqrt(np.mean((observed - mean) ** 2)))
    assert measured["coverage"] == pytest.approx(np.mean((low <= observed) & (observed <= high)))
    assert "confusion" not in measured


def test_predictions_stay_alone_on_standard_output(fitted, table_of, tmp_path, capsys):
    rows, write = table_of
    data = write(tmp_path / "data.csv", rows(seed=5))
    assert main(["predict", str(fitted), str(data)]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0].startswith("id,prediction,p(ill),p(well),p(ill)_q5,")
    assert len(captured.out.splitlines()) == 41
    assert "ispca: Evaluation on 40 samples of data.csv with a known 'diagnosis':" in captured.err
    assert main(["predict", str(fitted), str(data), "--quiet"]) == 0
    assert capsys.readouterr() == (captured.out, "")
    out = tmp_path / "predictions.csv"
    assert main(["predict", str(fitted), str(data), "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "  accuracy: " in told.out
    assert "Evaluation" not in told.err
    assert out.read_text() == captured.out


def test_only_samples_with_a_known_class_count(fitted, table_of, tmp_path, result):
    rows, write = table_of
    table = rows(seed=5)
    table[1][2], table[2][2], table[3][2] = "", "unclear", "NA"
    found, error = result(fitted, write(tmp_path / "some.csv", table))
    assert len(found["predictions"]) == 40
    assert found["evaluation"]["samples"] == 37
    note = "1 sample of some.csv belongs to classes that the model does not know (unclear; it knows ill, well)"
    assert note in error
    # A single class has no AUC, and other columns of that name no classes at all.
    ill = [table[0], *(row for row in table[4:] if row[2] == "ill")]
    measured = result(fitted, write(tmp_path / "ill.csv", ill))[0]["evaluation"]
    assert measured["auc"] is None
    assert measured["accuracy"] > 0.5
    numbers = [table[0], *([*row[:2], "7", *row[3:]] for row in table[1:])]
    found, error = result(fitted, write(tmp_path / "numbers.csv", numbers))
    assert found["evaluation"] is None
    assert "40 samples of numbers.csv belong to classes that the model does not know (7; it knows" in error
    without = [[row[0], *row[4:]] for row in table]
    assert result(fitted, write(tmp_path / "without.csv", without))[0]["evaluation"] is None


def test_text_in_place_of_a_quantity(fitted_regression, table_of, tmp_path, result):
    rows, write = table_of
    table = [[*row[:3], row[3] if i != 2 else "high", *row[4:]] for i, row in enumerate(rows())]
    found, error = result(fitted_regression, write(tmp_path / "text.csv", table))
    assert found["evaluation"] is None
    assert "The predictions are not evaluated. The target 'score' contains text (high)" in error


def test_targets_in_matrices(tmp_path, result):
    data = make_expression(80, 60, n_modules=3, signal=3.0, random_state=0)
    codes = (np.asarray(data.target) == np.unique(data.target)[1]).astype(int)
    for name, half in (("data", slice(40)), ("new", slice(40, 80))):
        np.savez(tmp_path / f"{name}.npz", X=data.data[half], y=codes[half], classes=np.array(["a", "b"]))
    out = str(tmp_path / "out")
    assert main(["fit", str(tmp_path / "data.npz"), "--out", out, *SHORT, "--cv", "0", "--quiet"]) == 0
    measured = result(out, tmp_path / "new.npz")[0]["evaluation"]
    assert measured["samples"] == 40
    assert measured["confusion"]["classes"] == ["a", "b"]
    assert measured["accuracy"] > 0.8


def test_fit_and_test_in_one_go(data, table_of, tmp_path, capsys, result):
    rows, write = table_of
    new = write(tmp_path / "new.csv", rows(50, seed=5))
    command = ["fit", str(data), "--target", "diagnosis", "--drop", "score", *SHORT, "--cv", "2"]
    command += ["--format", "json"]
    assert main([*command, "--test", str(new), "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr()
    assert "Evaluation on 50 samples of new.csv with a known 'diagnosis':" in told.out
    assert "confusion matrix (rows: observed, columns: predicted):" in told.out
    assert "another scale" not in told.err
    assert f"--test {new}" in (tmp_path / "out" / "report.json").read_text()
    raw = [[*row[:4], *(str(2 ** float(item)) if i else item for item in row[4:])] for i, row in enumerate(rows())]
    other = ["--test", str(write(tmp_path / "raw.csv", raw)), "--out", str(tmp_path / "two"), "--json"]
    assert main([*command, *other]) == 0
    told = capsys.readouterr()
    assert "warning: raw.csv is on another scale than the training data" in told.err
    assert json.loads(told.out)["test"] == result(tmp_path / "out", tmp_path / "raw.csv")[0]["evaluation"]


def test_a_test_file_without_a_target_is_refused_before_the_fit(data, table_of, tmp_path, capsys):
    rows, write = table_of
    new = write(tmp_path / "new.csv", [[row[0], *row[4:]] for row in rows()])
    command = ["fit", str(data), "--target", "diagnosis", "--test", str(new), "--out", str(tmp_path / "out")]
    assert main(command) == 3
    assert "new.csv (--test) does not contain the target: it has no column diagnosis." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_columns_of_the_target():
    assert target_columns({"kind": "survival", "target": "months", "event": "died"}) == ("months", "died")
    assert target_columns({"kind": "count", "target": "relapses", "event": None}) == ("relapses",)
    for unusable in ({}, {"kind": "class", "target": "x"}, {"kind": "survival", "target": "x"}, {"target": "x"}):
        assert target_columns(unusable) == ()


def test_text_of_an_evaluation():
    values = {
        "data": "new.csv",
        "target": "state",
        "samples": 7,
        "accuracy": 5 / 7,
        "auc": None,
        "majority": 4 / 7,
    }
    values["confusion"] = {"classes": ["a", "a very long name of a class"], "counts": [[3, 1], [1, 2]]}
    assert evaluation_text(values).splitlines() == [
        "Evaluation on 7 samples of new.csv with a known 'state':",
        "  accuracy: 0.714 (always the largest class: 0.571)",
        "  confusion matrix (rows: observed, columns: predicted):",
        "                             a  a very long name ...",
        "    a                        3                     1",
        "    a very long name ...     1                     2",
    ]
