"""Warnings about the data: printed before the work, stored for the report, and no reason to stop."""

import json

import pytest

from ispca.analysis import analyze, result_files
from ispca.cli import main
from ispca.persistence import load_model, read_details

SHORT = ["--target", "diagnosis", "--drop", "score", "--components", "3", "--draws", "60"]


@pytest.fixture
def command(data, tmp_path):
    return ["fit", str(data), *SHORT, "--bags=0", "--out", str(tmp_path / "out")]


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
    real = analyze.fit_model

    def fit_model(*args):
        told.append(capsys.readouterr().err)
        return real(*args)

    monkeypatch.setattr(analyze, "fit_model", fit_model)
    assert main([*command, "--cv", "0", "--json"]) == 0
    assert "ispca: warning: Feature 'code' nearly determines the target" in told[0]
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["kind"] == "leak"


def test_a_substitute_outside_the_range_is_a_warning(data, tmp_path, command, capsys):
    change(data, None, "marker", lambda number, _: str(5 + number / 7) if number else "<0.5")
    assert main([*command, "--cv", "0"]) == 0
    said = "Substitutes outside the range of the other values: marker (0.25; others 5.14"
    assert capsys.readouterr().err.count(f"ispca: warning: {said}") == 1
    assert said in (tmp_path / "out" / "report.html").read_text()


def test_a_class_of_one_sample_is_left_out(data, tmp_path, command, capsys):
    change(data, 2, "diagnosis", lambda number, diagnosis: diagnosis if number else "dead")
    assert main([*command, "--cv", "5"]) == 0
    told = capsys.readouterr()
    note = "In 'diagnosis', 1 sample left out, of classes too rare to learn: 'dead' (1: a single sample)."
    assert f"ispca: {note}" in told.err.splitlines()
    assert "39 samples" in told.out
    assert "classified correctly" in told.out
    assert list(load_model(tmp_path / "out" / "model.ispca")[-1].classes_) == ["ill", "well"]


def test_spellings_are_merged_on_request(data, tmp_path, command, capsys):
    change(data, 2, "diagnosis", lambda number, diagnosis: diagnosis if number > 1 else diagnosis.upper())
    model = tmp_path / "out" / "model.ispca"
    assert main([*command, "--cv", "0"]) == 0
    told = capsys.readouterr().err
    assert "(1: probably another spelling of " in told
    assert told.count("Pass --merge to merge them into the most common one.") == 1
    assert main([*command, "--cv", "0", "--merge", "--exclude-samples", "p7,p1?", "--force"]) == 0
    told = capsys.readouterr()
    assert "29 samples" in told.out
    assert "11 samples left out by name: p7, p10, p11, p12, p13 and 6 more." in told.err
    assert "'p1?' (--exclude-samples) matches 10 samples" in told.err
    assert list(load_model(model)[-1].classes_) == ["ill", "well"]
    # The panel is searched in the same samples.
    assert main(["select", str(model), str(data), "--folds", "0", "--exclude-samples", "p7,p1?", "--json"]) == 0
    told = capsys.readouterr()
    assert "other spellings were merged into class" in told.err
    assert read_details(tmp_path / "out" / "panel" / "panel.ispca")["n_samples"] == 29


@pytest.mark.parametrize(("n_samples", "sizes"), [(4, "2 samples"), (5, "2 or 3 samples")])
def test_no_verdict_without_a_fitted_fold(tmp_path, capsys, n_samples, sizes):
    rows = ["a,ill,1,2,3.5", "b,ill,1.5,2.2,3", "c,well,0.2,2.5,1", "d,well,0.3,2.9,1.2", "e,well,0.1,2.8,1.3"]
    path = tmp_path / "four.csv"
    path.write_text("\n".join(["sample,state,g1,g2,g3", *rows[:n_samples]]) + "\n")
    command = ["fit", str(path), "--target", "state", "--bags=0", "--draws", "60", "--out", str(tmp_path / "out")]
    assert main([*command, "--format", "markdown"]) == 0
    told = capsys.readouterr()
    reason = f"No fold could be fitted, because the training parts have only {sizes}."
    assert told.out.startswith(f"Verdict: {reason} So nothing is known about predictions of new samples")
    assert "%" not in told.out.splitlines()[0]
    assert "held_out.csv" not in told.out
    report = (tmp_path / "out" / "report.md").read_text()
    assert reason in report
    assert "This needs more samples" in report
    assert "classified correctly" not in report


def test_a_sorted_file_is_a_warning(data, command, capsys):
    header, *rows = data.read_text().splitlines()
    rows.sort(key=lambda row: row.split(",")[2])
    data.write_text("\n".join([header, *rows]) + "\n")
    assert main([*command, "--cv", "0"]) == 0
    told = capsys.readouterr().err
    assert told.count("warning:") == 1
    assert "warning: The samples are sorted by class: if they were also processed in this order, " in told


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
    monkeypatch.setattr(result_files, "write_report", lambda *args, context, **options: contexts.append(context))
    assert main([*command, "--cv", "0", "--quiet"]) == 0
    (finding,) = contexts[0].findings
    assert (finding.kind, finding.columns) == ("leak", (30,))


@pytest.mark.parametrize("value", ["P{}", "{}"])
def test_the_advice_about_repeated_patients_can_be_followed(data, command, tmp_path, capsys, value):
    # A column of text, and one of numbers, which would be a feature.
    change(data, None, "patient no", lambda number, diagnosis: value.format(number // 2))
    assert main([*command, "--cv", "2"]) == 0
    advice = (
        "Pass column 'patient no' as --groups to hold out all samples of one patient together, and to count 20 "
    )
    advice += "patients"
    told = capsys.readouterr().err
    assert "warning: Column 'patient no' has 20 values in 40 samples. Samples of one patient resemble" in told
    assert advice in told
    assert told.count("warning:") == 1
    assert advice in (tmp_path / "out" / "report.html").read_text().replace("&#39;", "'")
    assert main([*command, "--cv", "2", "--groups", "patient no", "--force"]) == 0
    assert "warning:" not in capsys.readouterr().err
