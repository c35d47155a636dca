"""The verdict of ``ispca fit``: the first thing it prints, and when there is none."""

import json

import numpy as np
import pytest

from ispca.cli import main

TARGET = ["--target", "diagnosis", "--drop", "score"]
SMALL = ["--components", "3", "--draws", "40", "--format", "markdown"]


def test_the_answer_comes_first(data, tmp_path, capsys):
    command = ["fit", str(data), *TARGET, *SMALL]
    assert main([*command, "--out", str(tmp_path / "a")]) == 0
    first, second, third = capsys.readouterr().out.splitlines()[:3]
    assert first.startswith("Verdict: ")
    assert "% of held-out samples are classified correctly (95% interval " in first
    assert "by always predicting the most common class; AUC " in first
    assert second.startswith("Model: 1 supervised component, 2 unsupervised components; leading features gene")
    assert third == ""
    report = (tmp_path / "a" / "report.md").read_text(encoding="utf-8")
    assert "--cv 5" in report
    assert main([*command, "--out", str(tmp_path / "b"), "--json", "--quiet"]) == 0
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    assert f"Verdict: {verdict['sentence']}" == first
    names = {"sentence", "measure", "value", "low", "high", "baseline_value", "n_held_out", "better_than_baseline"}
    assert names < verdict.keys()
    assert verdict["n_held_out"] == 40
    assert 0 <= verdict["low"] <= verdict["value"] <= verdict["high"] <= 1
    assert verdict["better_than_baseline"]


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
