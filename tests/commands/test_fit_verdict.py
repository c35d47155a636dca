"""The verdict of ``ispca fit``: the first thing it prints, and when there is none."""

import csv
import json
import re
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from ispca.cli import main
from ispca.foundation import progress as _progress
from ispca.persistence import load_model

TARGET = ["--target", "diagnosis", "--drop", "score"]
SMALL = ["--bags=0", "--components", "3", "--draws", "40", "--format", "markdown"]


@pytest.fixture(scope="module")
def two_folds(table_of, tmp_path_factory):
    """The folder of an analysis with two folds, which no test may change, and what it printed."""
    rows, write = table_of
    folder, printed = tmp_path_factory.mktemp("two_folds"), StringIO()
    data = write(folder / "data.csv", rows())
    with redirect_stdout(printed):
        assert main(["fit", str(data), *TARGET, *SMALL, "--cv", "2", "--out", str(folder / "out"), "--json"]) == 0
    return folder / "out", json.loads(printed.getvalue())


def test_the_answer_comes_first(data, tmp_path, capsys):
    command = ["fit", str(data), *TARGET, *SMALL]
    assert main([*command, "--out", str(tmp_path / "a")]) == 0
    first, second, third = capsys.readouterr().out.splitlines()[:3]
    assert first.startswith("Verdict: ")
    assert "classified correctly" in first
    assert "AUC " in first
    assert third == ""
    report = (tmp_path / "a" / "report.md").read_text(encoding="utf-8")
    assert "--cv 5" in report
    assert main([*command, "--out", str(tmp_path / "b"), "--json", "--quiet"]) == 0
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    assert f"Verdict: {verdict['sentence']}" == first
    chance = "" if verdict["components"]["better_than_baseline"] else ", which may be due to chance,"
    model = "Model: 1 supervised component, 2 unsupervised components"
    assert second.startswith(f"{model}; leading features{chance} gene")
    names = {"sentence", "measure", "value", "low", "high", "baseline_value", "n_held_out", "better_than_baseline"}
    assert names < verdict.keys()
    assert verdict["n_held_out"] == 40
    assert 0 <= verdict["low"] <= verdict["value"] <= verdict["high"] <= 1
    assert verdict["better_than_baseline"] == (verdict["low"] > verdict["baseline_value"])
    # The headline is what scikit-learn counts in the file beside it.
    with open(tmp_path / "b" / "held_out.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    observed = [row["observed"] for row in rows]
    assert verdict["value"] == pytest.approx(accuracy_score(observed, [row["prediction"] for row in rows]))
    chances = [float(row["p(well)"]) for row in rows]
    assert verdict["auc"] == pytest.approx(roc_auc_score(np.array(observed) == "well", chances))


def test_a_log_says_how_long_it_takes(data, tmp_path, capsys, monkeypatch):
    command = ["fit", str(data), *TARGET, *SMALL, "--cv", "2", "--out", str(tmp_path / "out"), "--force"]
    monkeypatch.setattr(_progress, "SECONDS_WORTH_A_LINE", 0.0)
    assert main(command) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len([line for line in lines if re.fullmatch(r"ispca: Cross-validating takes about \d+ s\.", line)]) == 1
    assert main([*command, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_no_cross_validation(data, tmp_path, capsys):
    command = ["fit", str(data), *TARGET, *SMALL, "--out", str(tmp_path / "out")]
    assert main([*command, "--cv", "1"]) == 2
    assert "at least 2 folds, or 0" in capsys.readouterr().err
    assert main([*command, "--cv", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] is None


@pytest.mark.parametrize(
    ("n_rare", "note", "n_held_out"),
    [
        (1, "Class 'rare' has only 1 sample, which cannot be both fitted and held out, so", None),
        (2, "Class 'rare' has only 2 samples, so the cross-validation uses 2 folds instead of 5.", 30),
    ],
)
def test_a_class_too_small_for_the_folds(tmp_path, capsys, n_rare, note, n_held_out):
    values = np.random.default_rng(0).normal(size=(30, 4))
    labels = ["rare"] * n_rare + ["common"] * (30 - n_rare)
    lines = [
        ",".join([*(f"{value:.3f}" for value in row), label]) for row, label in zip(values, labels, strict=True)
    ]
    path = tmp_path / "rare.csv"
    path.write_text("\n".join(["a,b,c,d,y", *lines]))
    assert main(["fit", str(path), "--target", "y", "--out", str(tmp_path / "out"), *SMALL, "--json"]) == 0
    captured = capsys.readouterr()
    assert f"ispca: warning: {note}" in captured.err
    verdict = json.loads(captured.out)["verdict"]
    assert (verdict and verdict["n_held_out"]) == n_held_out


def test_the_combined_prediction_comes_first(two_folds):
    out, found = two_folds
    verdict, alone = found["verdict"], found["verdict"]["components"]
    assert verdict["sentence"].endswith(alone["sentence"])
    assert alone["value"] == pytest.approx(verdict["value"] - alone["difference"])
    assert [Path(name).name for name in found["files"]][:2] == ["combined.ispca", "model.ispca"]
    combined = load_model(out / "combined.ispca")
    assert list(combined.estimators_) == ["components alone", "kernels", "lasso", "base rate"]
    # The numbers of the files are those of the headline.
    with (out / "held_out.csv").open() as file:
        rows = list(csv.DictReader(file))
    right = np.mean([row["observed"] == row["prediction"] for row in rows])
    assert right == pytest.approx(verdict["value"])
    report = (out / "report.md").read_text(encoding="utf-8")
    assert alone["sentence"] in report.replace("\\", "")


def test_new_samples_are_predicted_by_either(two_folds, data, tmp_path, capsys):
    out = shutil.copytree(two_folds[0], tmp_path / "out")
    found = {}
    for options in ((), ("--model", "combined"), ("--model", "components")):
        assert main(["predict", str(out), str(data), *options]) == 0
        found[options], notes = capsys.readouterr()
        said = "Predicted by the combined prediction. Pass --model components to predict by the" in notes
        assert said == (not options)
    assert found[()] == found["--model", "combined"]
    assert found[()] != found["--model", "components"]
    (out / "combined.ispca").unlink()
    assert main(["predict", str(out), str(data)]) == 0
    assert capsys.readouterr().out == found["--model", "components"]
    assert main(["predict", str(out), str(data), "--model", "combined"]) == 2
    assert "no combined.ispca. There is no combined prediction without cross-val" in capsys.readouterr().err
    assert main(["predict", str(out / "model.ispca"), str(data), "--model", "combined"]) == 2
    assert "--model combined needs the folder of a fit" in capsys.readouterr().err


def test_features_lead_by_their_largest_effect_as_in_the_report(tmp_path, capsys):
    rng, n = np.random.default_rng(0), 48
    X = rng.normal(size=(n, 12))
    X[np.arange(n), np.arange(n) % 4] += [9, 3, 3, 3] * (n // 4)
    rows = [[f"s{i}", *map(repr, X[i].tolist()), f"class{i % 4}"] for i in range(n)]
    header = ["id", *(f"g{j}" for j in range(12)), "state"]
    (tmp_path / "four.csv").write_text("\n".join(map(",".join, [header, *rows])) + "\n")
    command = ["fit", str(tmp_path / "four.csv"), "--target", "state", "--cv", "0", "--bags=0", "--draws", "100"]
    assert main([*command, "--format", "json", "--out", str(tmp_path / "out"), "--json", "--quiet"]) == 0
    strongest = json.loads(capsys.readouterr().out)["strongest_features"]
    report = json.loads((tmp_path / "out" / "report.json").read_text())["leading_features"]["tables"][0]["rows"]
    assert [row["feature"] for row in strongest] == [row[1] for row in report[:5]]
    assert [row["target_class"] for row in strongest] == [row[4] for row in report[:5]]
    assert len(strongest) > 2
