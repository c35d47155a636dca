"""Warnings about the data: printed before the work, stored for the report, and no reason to stop."""

import json

import pytest

from ispca.cli import main
from ispca.commands import _fit_files, fit
from ispca.persistence import load_model

SHORT = ["--target", "diagnosis", "--drop", "score", "--components", "3", "--draws", "60"]


@pytest.fixture
def command(data, tmp_path):
    return ["fit", str(data), *SHORT, "--out", str(tmp_path / "out")]


def change(data, place, name, value):
    """Replace a column of the file, or add one, by the diagnosis of each row."""
    header, *rows = [line.split(",") for line in data.read_text().splitlines()]
    lines = [[*header, name], *([*row, value(number, row[2])] for number, row in enumerate(rows))]
    if place is not None:
        lines = [[*row[:place], row[-1], *row[place + 1 : -1]] for row in lines]
    data.write_text("\n".join(",".join(row) for row in lines) + "\n")


def test_clean_data_give_no_warning(command, capsys):
    assert main([*command, "--cv", "0"]) == 0
    assert "warning:" not in capsys.readouterr().err


def test_a_leak_is_told_before_the_fit(data, command, capsys, monkeypatch):
    change(data, None, "code", lambda number, diagnosis: "1" if diagnosis == "ill" else "0")
    told = []
    real = fit.fit_model

    def fit_model(*args):
        told.append(capsys.readouterr().err)
        return real(*args)

    monkeypatch.setattr(fit, "fit_model", fit_model)
    assert main([*command, "--cv", "0", "--json"]) == 0
    assert "ispca: warning: Feature 'code' nearly determines the target" in told[0]
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["kind"] == "leak"


def test_a_class_of_one_sample_is_fitted_without_cross_validation(data, tmp_path, command, capsys):
    change(data, 2, "diagnosis", lambda number, diagnosis: diagnosis if number else "dead")
    assert main([*command, "--cv", "5"]) == 0
    told = capsys.readouterr()
    assert "warning: Class 'dead' has only 1 sample, which cannot be both fitted and held out" in told.err
    assert "cv=" not in told.err + told.out
    assert list(load_model(tmp_path / "out" / "model.ispca")[-1].classes_) == ["dead", "ill", "well"]


def test_a_sorted_file_is_a_warning(data, command, capsys):
    header, *rows = data.read_text().splitlines()
    rows.sort(key=lambda row: row.split(",")[2])
    data.write_text("\n".join([header, *rows]) + "\n")
    assert main([*command, "--cv", "0"]) == 0
    told = capsys.readouterr().err
    assert told.count("warning:") == 1
    assert "warning: The samples are sorted by class. If they were also processed in this order, " in told


def test_compare_warns_too(data, capsys):
    header, *rows = data.read_text().splitlines()
    data.write_text("\n".join([header, *rows, "copy," + rows[4].split(",", 1)[1]]) + "\n")
    options = ["--methods", "PCA", "--splits", "1", "--jobs", "1"]
    assert main(["compare", str(data), *SHORT, *options]) == 0
    assert (
        "warning: 2 samples are copies, or nearly copies, of each other: 'p4' = 'copy'." in capsys.readouterr().err
    )


def test_the_report_gets_the_findings(data, command, monkeypatch):
    change(data, None, "code", lambda number, diagnosis: "1" if diagnosis == "ill" else "0")
    contexts = []
    monkeypatch.setattr(_fit_files, "write_report", lambda *args, context, **options: contexts.append(context))
    assert main([*command, "--cv", "0", "--quiet"]) == 0
    (finding,) = contexts[0].findings
    assert (finding.kind, finding.columns) == ("leak", (30,))
