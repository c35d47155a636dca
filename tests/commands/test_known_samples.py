"""Predictions of training samples: recognized, replaced by held-out predictions, marked, and not evaluated."""

import csv
import json

import pytest

from ispca.cli import main
from ispca.persistence import load_model, read_details, save_model

SHORT = ["--bags=0", "--components", "4", "--draws", "60", "--cv", "2", "--quiet"]
MARK, HELD_OUT, FITTED = "training_sample", "held-out prediction", "fitted prediction"
BAD_SUMS = {"names": ["a"], "values": ["ab" * 4], "sums": [[1.0, "2"]]}
RECORDS = [1, {}, {"names": ["a"], "values": []}, {"names": [1], "values": ["ab"]}, BAD_SUMS]
TARGETS = {
    "diagnosis": ["--drop", "score"],
    "score": ["--drop", "diagnosis"],
    "score as survival": ["--time", "time", "--event", "died", "--drop", "diagnosis", "score"],
}


def with_times(rows):
    header, *samples = rows
    timed = ([*row, f"{abs(float(row[3])) + 0.1:.3f}", str(i % 2)] for i, row in enumerate(samples))
    return [[*header, "time", "died"], *timed]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module", params=TARGETS)
def model(request, table_of, tmp_path_factory):
    """The folder of a cross-validated fit, and the table it was fitted to."""
    folder = tmp_path_factory.mktemp("model")
    rows, write = table_of
    options = TARGETS[request.param]
    options = options if "--time" in options else ["--target", request.param, *options, "--drop", "time", "died"]
    path = write(folder / "data.csv", with_times(rows()))
    assert main(["fit", str(path), *options, *SHORT, "--out", str(folder / "out")]) == 0
    return folder / "out"


def test_mixed_samples(model, table_of, tmp_path, capsys):
    rows, write = table_of
    new, known = with_times(rows(30, seed=5)), with_times(rows())
    # A training sample, one under another name, and one with other values.
    known[1][0], known[2][0] = "p39", "renamed"
    new[1][0] = "p7"
    table = [known[0], known[8], known[2], *new[1:]]
    out = tmp_path / "predictions.csv"
    assert main(["predict", str(model), str(write(tmp_path / "new.csv", table)), "--json", "--out", str(out)]) == 0
    told = capsys.readouterr()
    result = json.loads(told.out)
    found = read(out)
    assert [row[MARK] for row in found] == [HELD_OUT, HELD_OUT, *["no"] * 30]
    held_out = {row["id"]: row for row in read(model / "held_out.csv")}
    for row, name in ((found[0], "p7"), (found[1], "p1")):
        for column in {"prediction", "risk", "p(ill)", "q5", "q95"} & set(row):
            expected = held_out[name][column]
            assert row[column] == expected or float(row[column]) == pytest.approx(float(expected), rel=1e-4)
    assert result["evaluation"]["samples"] == 30
    assert [row[MARK] for row in result["predictions"]] == [row[MARK] for row in found]
    assert "2 of the 32 samples of new.csv are training samples of the model (p7, renamed), 1 of them" in told.err
    assert "so they are not evaluated. Their predictions are those of the cross-validation" in told.err
    assert (
        "30 samples of new.csv have names of training samples but other values, and count as new: p7" in told.err
    )
    assert "only rounded or processed in another way, remove them from the file" in told.err


def test_nothing_is_left_to_evaluate(model, capsys):
    assert main(["predict", str(model), str(model.parent / "data.csv"), "--json"]) == 0
    told = capsys.readouterr()
    result = json.loads(told.out)
    assert result["evaluation"] is None
    assert {row[MARK] for row in result["predictions"]} == {HELD_OUT}
    assert "40 of the 40 samples of data.csv are training samples of the model" in told.err


def test_without_cross_validation_they_are_marked_only(fitted, data, capsys):
    assert main(["predict", str(fitted), str(data), "--json"]) == 0
    told = capsys.readouterr()
    result = json.loads(told.out)
    assert {row[MARK] for row in result["predictions"]} == {FITTED}
    assert result["evaluation"] is None
    assert "cross-validation" not in told.err


def test_new_samples_have_no_such_column(fitted, table_of, tmp_path, capsys):
    rows, write = table_of
    new = [[f"n{row[0]}" if i else row[0], *row[1:]] for i, row in enumerate(rows(seed=5))]
    assert main(["predict", str(fitted), str(write(tmp_path / "new.csv", new))]) == 0
    told = capsys.readouterr()
    assert MARK not in told.out
    assert "training sample" not in told.err


def test_rounded_copies_are_training_samples(fitted, table_of, tmp_path, capsys):
    rows, write = table_of
    header, *known = rows()
    place = header.index("score") + 1
    rounded = [[f"n{row[0]}", *row[1:place], *(f"{float(cell):.2f}" for cell in row[place:])] for row in known[:9]]
    new = [[f"m{row[0]}", *row[1:]] for row in rows(seed=5)[1:]]
    assert main(["predict", str(fitted), str(write(tmp_path / "new.csv", [header, *rounded, *new]))]) == 0
    told = capsys.readouterr()
    assert "9 of the 49 samples of new.csv are training samples of the model" in told.err
    assert [line.endswith(f",{FITTED}") for line in told.out.splitlines()[1:]] == [True] * 9 + [False] * 40


def test_the_panel_of_a_model_knows_its_samples(fitted, data, tmp_path, user):
    command = f"ispca select {fitted} {data} --size 3 --folds 0 --out {tmp_path / 'panel'}"
    user(command)
    answer = user(f"ispca predict {tmp_path / 'panel' / 'panel.ispca'} {data}")
    assert "40 of the 40 samples of data.csv are training samples of the model" in answer.err


@pytest.mark.parametrize("record", RECORDS)
def test_a_damaged_record_is_an_error(fitted, data, tmp_path, one_line, record):
    path = tmp_path / "model.ispca"
    details = read_details(fitted / "model.ispca") | {"training_samples": record}
    save_model(load_model(fitted / "model.ispca"), path, details)
    assert main(["predict", str(path), str(data), "--quiet"]) == 3
    assert "its record of training samples is unusable. Fit the model again." in one_line()
