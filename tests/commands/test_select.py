"""``ispca select``: the panel, its files, what it can be asked for, and what it refuses."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from ispca import PenalizedClassifier
from ispca.analysis.file_names import PANEL_FILES
from ispca.cli import main
from ispca.commands import select
from ispca.fitting import runner
from ispca.persistence import load_model, read_details, save_model

QUICK = ["--max-size", "3", "--folds", "3", "--draws", "40"]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def command(fitted, data, tmp_path):
    """The command up to its options, and the folder of its results."""
    out = tmp_path / "panel"
    return ["select", str(fitted / "model.ispca"), str(data), "--out", str(out), *QUICK], out


@pytest.fixture(scope="module")
def selection(fitted, table_of, tmp_path_factory):
    """The results of one selection, and what it printed as JSON."""
    rows, write = table_of
    folder = tmp_path_factory.mktemp("select")
    data = write(folder / "data.csv", rows())
    out = folder / "panel"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", text := io.StringIO())
        assert (
            main(
                [
                    "select",
                    str(fitted / "model.ispca"),
                    str(data),
                    "--out",
                    str(out),
                    *QUICK,
                    "--seed",
                    "1",
                    "--json",
                ]
            )
            == 0
        )
    return out, data, json.loads(text.getvalue())


def test_the_files_agree(selection):
    out, _, values = selection
    assert sorted(path.name for path in out.iterdir()) == sorted(PANEL_FILES)
    assert [str(out / name) for name in PANEL_FILES] == values["files"]
    assert not list(out.parent.glob(".panel*")), "neither finished folds nor a lock remain"
    path = read(out / "path.csv")
    assert [int(row["size"]) for row in path] == [0, 1, 2, 3]
    np.testing.assert_allclose(
        [float(row["difference"]) for row in path], [row["difference"] for row in values["path"]], rtol=5e-6
    )
    assert values["validated"]
    assert values["size"] == values["suggested_size"] >= 1
    panel = read(out / "panel.csv")
    assert [row["feature"] for row in panel[1:]] == [row["feature"] for row in path[1 : values["size"] + 1]]
    assert panel[0]["feature"] == "(intercept)"
    assert "q5" not in panel[0]
    assert all(float(row["mean"]) for row in panel)
    # The eight genes of one factor can replace each other.
    first = panel[1]
    assert first["feature"] in {f"gene{j}" for j in range(8)}
    assert all(float(row["fraction"]) <= 1 for row in panel[1:])
    assert values["panel"][1]["stands_for"] == [name for name in first["stands_for"].split("; ") if name]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert 'id="panel"' in page
    assert values["message"].partition(" (")[0] in page


def test_the_panel_alone_predicts(selection, tmp_path, capsys):
    out, data, _ = selection
    names = [row["feature"] for row in read(out / "panel.csv")[1:]]
    model = load_model(out / "panel.ispca")
    assert list(model.feature_names_in_) == names
    assert read_details(out / "panel.ispca")["target"] == "diagnosis"
    whole = read(data)
    few = tmp_path / "few.csv"
    with open(few, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", *reversed(names), "other"])
        writer.writerows([row["sample"], *(row[name] for name in reversed(names)), 1] for row in whole)
    assert main(["predict", str(out / "panel.ispca"), str(few)]) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    X = np.array([[float(row[name]) for name in names] for row in whole])
    del model.feature_names_in_
    np.testing.assert_allclose([float(row["p(well)"]) for row in found], model.predict_proba(X)[:, 1], rtol=5e-6)
    correct = np.mean([a["prediction"] == b["diagnosis"] for a, b in zip(found, whole, strict=True)])
    assert correct > 0.7


def test_what_is_printed(command, capsys):
    line, out = command
    assert main([*line, "--folds", "0"]) == 0
    printed = capsys.readouterr()
    assert "40 samples, 30 features, target 'diagnosis'." in printed.out
    assert "NOT validated" in printed.out
    assert "\n*" in printed.out, "the size of the panel is marked"
    assert f"{out}/panel.csv" in printed.out
    assert "valid feature names" not in printed.err
    assert "Not validated" in (out / "report.html").read_text(encoding="utf-8")
    assert "difference" not in read(out / "path.csv")[0]


def test_wanted_unwanted_and_expensive_features(command, tmp_path):
    line, out = command
    costs = tmp_path / "costs.csv"
    genes = [f"gene{j}" for j in range(8)]
    costs.write_text("feature,price\n" + "".join(f"{name},50\n" for name in genes[:7]), encoding="utf-8")
    options = ["--folds", "0", "--always", "gene20", "--never", "gene21,gene22", "--costs", str(costs)]
    assert main([*line, *options, "--size", "2", "--quiet"]) == 0
    panel = read(out / "panel.csv")
    assert [row["feature"] for row in panel[1:]] == ["gene20", "gene7"], "the cheap gene of the factor"
    assert [float(row["cost"]) for row in panel[1:]] == [1, 1]
    assert "as requested" in (out / "report.html").read_text(encoding="utf-8")


def test_size_zero(command, data, capsys):
    line, out = command
    assert main([*line, "--folds", "0", "--size", "0", "--quiet"]) == 0
    assert [row["feature"] for row in read(out / "panel.csv")] == ["(intercept)"]
    assert main(["predict", str(out / "panel.ispca"), str(data)]) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len({row["p(ill)"] for row in found}) == 1


def test_the_results_are_beside_the_model_unless_told_otherwise(fitted, data, tmp_path):
    model = tmp_path / "model.ispca"
    model.write_bytes((fitted / "model.ispca").read_bytes())
    line = ["select", str(model), str(data), *QUICK, "--folds", "0", "--quiet"]
    assert main(line) == 0
    assert (tmp_path / "panel" / "panel.csv").is_file()


def test_existing_results_are_kept_unless_forced(command, one_line):
    line, out = command
    out.mkdir()
    (out / "panel.csv").write_text("mine")
    assert main(line) == 2
    assert "already exists" in one_line()
    assert (out / "panel.csv").read_text() == "mine"
    assert main([*line, "--folds", "0", "--force", "--quiet"]) == 0
    assert (out / "panel.csv").read_text() != "mine"


def test_an_interrupted_selection_continues(command, monkeypatch, capsys):
    line, out = command
    store = out.parent / ".panel.folds"
    work = select.ProjectionSelector.fit

    def interrupted(self, *args, **options):
        work(self, *args, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(select.ProjectionSelector, "fit", interrupted)
        assert main(line) == 130
    assert "interrupted. 3 finished folds kept in" in capsys.readouterr().err
    assert len(list(store.glob("*.json"))) == 3
    assert not out.exists()
    monkeypatch.setattr(runner, "_evaluate", lambda *_: pytest.fail("a finished fold was fitted again"))
    assert main([*line, "--quiet"]) == 0
    assert not store.exists()
    assert len(read(out / "path.csv")) == 4


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--always", "gene99"], 2, "The model has no feature 'gene99' (--always). Did you mean"),
        (["--never", "nothing"], 2, "The model has no feature 'nothing' (--never)."),
        (["--always", "gene1", "--never", "gene1"], 2, "'gene1' is given to --always and to --never."),
        (["--size", "31"], 2, "--size 31 is too large: there are 30 features"),
        (["--target", "disease"], 3, "data.csv has no column 'disease' (target)."),
        (["--costs", "no.csv"], 3, "There is no file no.csv."),
    ],
)
def test_wrong_requests_are_refused_before_the_work(command, one_line, options, code, text, monkeypatch):
    monkeypatch.setattr(select.ProjectionSelector, "fit", lambda *_, **__: pytest.fail("too late"))
    line, out = command
    # What was assumed about the file precedes the error.
    assert main([*line, *options, "--quiet"]) == code
    assert text in one_line()
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (["--size", "many"], "must be auto or an integer of at least 0, got 'many'"),
        (["--folds", "1"], "must be 0 or an integer of at least 2, got '1'"),
        (["--max-size", "0"], "must be an integer of at least 1, got '0'"),
    ],
)
def test_options_that_cannot_be_parsed(command, capsys, option, text):
    assert main([*command[0], *option]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("feature,price\ngene1,0\n", "The cost of 'gene1' in costs.csv is 0. Costs are positive numbers."),
        ("feature,price\ngeneX,2\n", "costs.csv names no feature of the model."),
        ("feature,price,weight\ngene1,2,3\n", "costs.csv has 2 numeric columns. It needs two columns"),
        ("feature,price\ngene1,cheap\n", "costs.csv has no numeric columns left"),
    ],
)
def test_unusable_costs(command, tmp_path, one_line, content, text):
    (tmp_path / "costs.csv").write_text(content, encoding="utf-8")
    assert main([*command[0], "--costs", str(tmp_path / "costs.csv"), "--quiet"]) == 3
    assert text in one_line()


def test_data_without_the_target_or_with_other_columns(fitted, table_of, tmp_path, one_line):
    rows, write = table_of
    line = ["select", str(fitted / "model.ispca"), "--out", str(tmp_path / "out"), *QUICK, "--quiet"]
    without = write(tmp_path / "without.csv", [[*row[:2], *row[3:]] for row in rows()])
    assert main([*line, str(without)]) == 3
    assert "without.csv has no column 'diagnosis' (target)" in one_line()
    few = write(tmp_path / "few.csv", [row[:-3] for row in rows()])
    assert main([*line, str(few)]) == 3
    assert "few.csv lacks 3 of the 30 features of the model" in one_line()
    renamed = rows()
    renamed[0][2] = "state"
    again = write(tmp_path / "renamed.csv", renamed)
    assert main([*line, str(again), "--target", "state", "--folds", "0"]) == 0
    other = [[*row[:2], row[2].replace("ill", "odd"), *row[3:]] for row in rows()]
    assert main([*line, str(write(tmp_path / "other.csv", other)), "--force"]) == 1
    assert "fitted to the classes ill, well, but y contains odd, well" in one_line()


def test_missing_values(fitted, table_of, tmp_path, one_line):
    rows, write = table_of
    holes = rows()
    holes[3][7] = "NA"
    data = write(tmp_path / "holes.csv", holes)
    line = ["select", str(fitted / "model.ispca"), str(data), "--out", str(tmp_path / "out"), *QUICK, "--quiet"]
    assert main(line) == 3
    assert "in 1 column: gene3" in one_line()
    for treatment, samples in (("mean", 40), ("rows", 39)):
        assert main([*line, "--folds", "0", "--missing", treatment, "--force"]) == 0
        assert read_details(tmp_path / "out" / "panel.ispca")["n_samples"] == samples


def penalized(tmp_path, data, details, named=True):
    """Save a lasso without a reduction."""
    records = read(data)
    X = np.array([[float(row[f"gene{j}"]) for j in range(30)] for row in records])
    model = make_pipeline(PenalizedClassifier()).fit(X, [row["diagnosis"] for row in records])
    if named:
        model[0].feature_names_in_ = np.array([f"gene{j}" for j in range(30)], dtype=object)
    save_model(model, tmp_path / "lasso.ispca", details)
    return tmp_path / "lasso.ispca"


def test_models_from_python(data, tmp_path, one_line, capsys):
    options = [str(data), *QUICK, "--folds", "0", "--out", str(tmp_path / "out"), "--quiet"]
    line = ["select", str(penalized(tmp_path, data, None)), *options]
    assert main(line) == 3
    assert "does not contain the name of its target. Pass --target COLUMN." in one_line()
    assert main([*line[:-1], "--target", "diagnosis"]) == 0
    printed = capsys.readouterr()
    assert "report.html is not written" in printed.err
    assert "report.html" not in printed.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["panel.csv", "panel.ispca", "path.csv"]


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ({"target": 7}, "is damaged: its description is unusable"),
        ({"target": "diagnosis", "kind": "magic"}, "is damaged: its description is unusable"),
        ({"target": "months", "kind": "survival"}, "does not contain the name of its event column"),
    ],
)
def test_descriptions_that_are_unusable(data, tmp_path, one_line, details, text):
    path = penalized(tmp_path, data, details)
    assert main(["select", str(path), str(data), "--out", str(tmp_path / "out"), "--quiet"]) == 3
    assert text in one_line()


def test_models_that_are_none(fitted, data, tmp_path, one_line):
    out = ["--out", str(tmp_path / "out")]
    assert main(["select", str(data), str(data), *out]) == 3
    assert "Could not load" in one_line()
    assert main(["select", str(tmp_path / "none.ispca"), str(data), *out]) == 3
    assert "There is no model file" in one_line()
    unnamed = penalized(tmp_path, data, {"target": "diagnosis"}, named=False)
    assert main(["select", str(unnamed), str(data), *out]) == 3
    assert "does not contain feature names" in one_line()
    assert not (tmp_path / "out").exists()
