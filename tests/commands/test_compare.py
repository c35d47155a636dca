"""``ispca compare``: a few methods, a few splits."""

import csv
import json

import pytest

from ispca.analysis import method_comparison
from ispca.cli import main

SMALL = ["--splits", "2", "--components", "3", "--draws", "60", "--jobs", "1"]


@pytest.mark.filterwarnings("ignore")
def test_the_table_and_the_picture(data, tmp_path, capsys):
    out = tmp_path / "out"
    options = ["--target", "diagnosis", "--drop", "score", "--methods", "pca", "ISPCA-small", "--out", str(out)]
    assert main(["compare", str(data), *options, *SMALL]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(
        "2 random splits with 20% of the samples held out, stratified by class (seed 0)\nmethod"
    )
    assert "ISPCA-small" in captured.out
    with open(out / "comparison.csv", newline="") as file:
        records = list(csv.DictReader(file))
    assert {row["method"] for row in records} == {"PCA", "ISPCA-small"}
    assert all(0 <= float(row["accuracy"]) <= 1 for row in records)
    assert "\nBest of 2 methods over all held-out samples: " in captured.out
    assert (out / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert main(["compare", str(data), *options, *SMALL]) == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("target", "name"), [("diagnosis", "PLS-DA"), ("score", "PLS")])
def test_standard_methods_can_be_named(data, capsys, target, name):
    columns = ["--target", target, "--drop", "score" if target == "diagnosis" else "diagnosis"]
    options = [*columns, "--methods", "svm", name, "--paper", "--json", "--quiet"]
    assert main(["compare", str(data), *options, *SMALL]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in result["methods"]} == {"SVM", name}
    assert not result["errors"]
    assert result["best"]["method"] in {"SVM", name}
    assert result["best"]["measure"] == "mlpd"
    assert result["best"]["low"] <= result["best"]["corrected"] <= result["best"]["high"]


@pytest.mark.filterwarnings("ignore")
def test_json_resume_and_regression(data, tmp_path, capsys):
    options = ["--target", "score", "--drop", "diagnosis", "--methods", "ISPCA-small", "--json", "--quiet"]
    options += ["--resume", str(tmp_path / "fits")]
    assert main(["compare", str(data), *options, *SMALL]) == 0
    captured = capsys.readouterr()
    first = json.loads(captured.out)
    assert captured.err == ""
    assert first["methods"][0]["method"] == "ISPCA-small"
    assert "rmse" in first["methods"][0]
    assert main(["compare", str(data), *options, *SMALL]) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_a_class_of_one_sample_cannot_be_split(table_of, tmp_path, capsys):
    """Samples of a rare class are left out, unless a single class would remain."""
    rows, write = table_of
    table = rows()
    table[1:] = [[*row[:2], "dead" if i == 0 else "ill", *row[3:]] for i, row in enumerate(table[1:])]
    path = write(tmp_path / "data.csv", table)
    assert main(["compare", str(path), "--target", "diagnosis"]) == 3
    told = capsys.readouterr().err
    assert "Class dead has a single sample" in told
    assert "cv" not in told.replace("--cv", "")


@pytest.mark.filterwarnings("ignore")
def test_failed_fits_are_told_without_advice_for_python(table_of, tmp_path, capsys):
    rows, write = table_of
    path = write(tmp_path / "data.csv", rows()[:5])
    options = ["--target", "diagnosis", "--methods", "lasso,random-forest", "--splits", "1", "--jobs", "1"]
    assert main(["compare", str(path), *options, "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "1 fit failed. Where a method failed" in told
    assert "nan" not in told


def test_errors(data, tmp_path, one_line, capsys):
    assert main(["compare", str(data), "--target", "diagnosis", "--methods", "ispc"]) == 2
    assert "There is no method 'ispc'. Did you mean ISPCA" in one_line()
    assert main(["compare", str(data), "--target", "diagnosis", "--jobs", "0"]) == 2
    assert "--jobs must not be 0" in one_line()
    assert main(["compare", str(data), "--target", "diagnoses"]) == 3
    assert "Did you mean diagnosis" in one_line()


@pytest.mark.parametrize("limit", [10, 5000])
def test_kernels_are_left_out_of_many_samples(data, monkeypatch, capsys, limit):
    seen = []

    def stop(methods, *data, **options):
        seen.extend(methods)
        raise ValueError("Enough.")

    monkeypatch.setattr(method_comparison, "MOST_SAMPLES", limit)
    monkeypatch.setattr(method_comparison, "compare", stop)
    assert main(["compare", str(data), "--target", "diagnosis", "--drop", "score", *SMALL]) != 0
    assert len(seen) == 19 - (limit == 10)
    assert ("it takes at most 10 samples: kernels." in capsys.readouterr().err) == (limit == 10)
    assert ("kernels" in seen) == (limit == 5000)
