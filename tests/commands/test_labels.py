"""Labels such as gene symbols, and the positive class, in the terminal and in every table."""

import csv
import json
import shutil

import pytest

from ispca.analysis.feature_labels import labelled_names, separate_names, show_all, shown_names
from ispca.cli import main
from ispca.readers import read_table

FIT = ["--target", "tissue", "--bags=0", "--components", "3", "--draws", "40", "--cv", "0"]
LABEL = ["--annotation", "genes.csv", "--label", "symbol"]
SELECT = ["--size", "2", "--max-size", "2", "--folds", "0", "--draws", "20"]
# Two probes of one gene, one without a symbol, and one whose symbol is the name of another.
SYMBOLS = {"gene0": "TP53", "gene1": "TP53", "gene2": "", "gene3": "gene4"}


def symbol(name):
    return SYMBOLS.get(name, f"S{name.removeprefix('gene')}")


def shown(name):
    text = symbol(name)
    return name if not text else f"{text} ({name})" if text in ("TP53", "gene4") else text


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def study(tmp_path_factory, table_of):
    """A table, its annotation, and a fit in which the class that comes first in the alphabet is positive."""
    rows, write = table_of
    folder = tmp_path_factory.mktemp("labels")
    header, *samples = rows()
    columns = ["sample", "tissue", *header[4:]]
    write(folder / "data.csv", [columns, *([row[0], row[2], *row[4:]] for row in samples)])
    write(folder / "genes.csv", [["id", "symbol", "place"], *([g, symbol(g), f"chr-{g}"] for g in header[4:])])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["fit", "data.csv", *FIT, *LABEL, "--positive", "ill", "--out", "out", "--quiet"]) == 0
        assert main(["fit", "data.csv", *FIT, "--out", "plain", "--quiet"]) == 0
    return folder


@pytest.fixture
def here(study, monkeypatch):
    monkeypatch.chdir(study)
    return study


def test_labels_are_shown_with_names_where_they_are_ambiguous(here):
    table = read_table("data.csv", target="tissue", annotation="genes.csv", label="symbol")
    names = shown_names(table)
    assert show_all(table.features.tolist(), names) == [shown(name) for name in table.features]
    assert labelled_names(table)[1:5] == ["TP53 (gene1)", "gene2", "gene4 (gene3)", "S4 (gene4)"]
    assert shown_names(read_table("data.csv", target="tissue", annotation="genes.csv")) == {}
    assert separate_names("a, b", {"a", "b"}) == ["a", "b"]
    assert separate_names("a, b", {"a, b"}) == ["a, b"]


def test_fit_prints_labels_and_the_positive_class_last(here, capsys, tmp_path):
    command = ["fit", "data.csv", *FIT, *LABEL, "--positive", "ill"]
    assert main([*command, "--out", str(tmp_path / "text")]) == 0
    text = capsys.readouterr().out
    assert "target 'tissue': classes well (" in text
    assert main([*command, "--json", "--out", str(tmp_path / "json")]) == 0
    values = json.loads(capsys.readouterr().out)
    assert list(values["classes"]) == ["well", "ill"]
    strongest = values["strongest_features"]
    assert [row["label"] for row in strongest] == [shown(row["feature"]) for row in strongest]
    assert f"leading features {', '.join(shown(row['feature']) for row in strongest)}." in text
    assert f"  {shown(strongest[0]['feature'])}: {strongest[0]['per_sd']:+.3g} for ill, " in text
    first = values["steps"][0]
    assert f"({', '.join(map(shown, first['features']))}" in text


def test_coefficients_and_predictions_of_the_positive_class(here, capsys, table_of):
    mirrored, plain = (read(here / out / "coefficients.csv") for out in ("out", "plain"))
    for row, other in zip(mirrored, plain, strict=True):
        assert (row["feature"], row["target_class"], other["target_class"]) == (other["feature"], "ill", "well")
        assert float(row["mean"]) == -float(other["mean"])
        assert float(row["q5"]) == -float(other["q95"])
    capsys.readouterr()
    evaluations = {}
    header, *samples = (line.split(",") for line in (here / "data.csv").read_text().splitlines())
    moved = [[f"new{row[0]}", row[1], *(f"{float(value) + 0.1:.5f}" for value in row[2:])] for row in samples]
    table_of[1](here / "new.csv", [header, *moved])
    for out, classes in (("out", ["well", "ill"]), ("plain", ["ill", "well"])):
        assert main(["predict", out, "new.csv", "--json"]) == 0
        values = json.loads(capsys.readouterr().out)
        assert list(values["predictions"][0]) == ["id", "prediction", *(f"p({name})" for name in classes)]
        evaluations[out] = values["evaluation"]
        assert evaluations[out]["confusion"]["classes"] == classes
    counts = [evaluations[out]["confusion"]["counts"] for out in ("out", "plain")]
    assert counts[0] == [row[::-1] for row in counts[1][::-1]]
    assert evaluations["out"]["auc"] == evaluations["plain"]["auc"]


def test_the_panel_has_labels_annotation_and_the_positive_class(here, capsys, tmp_path):
    panel = tmp_path / "panel"
    assert main(["select", "out", "data.csv", "--annotation", "genes.csv", *SELECT, "--out", str(panel)]) == 0
    captured = capsys.readouterr()
    rows = read(panel / "panel.csv")
    assert list(rows[0])[:5] == ["order", "feature", "target_class", "symbol", "place"]
    assert (rows[0]["feature"], rows[0]["symbol"], rows[0]["place"]) == ("(intercept)", "", "")
    assert {row["target_class"] for row in rows} == {"ill"}
    for row in rows[1:]:
        assert (row["symbol"], row["place"]) == (symbol(row["feature"]), f"chr-{row['feature']}")
        assert f"  {row['order']}. {shown(row['feature'])}" in captured.out
    path = read(panel / "path.csv")
    assert path[1]["place"] == f"chr-{path[1]['feature']}"
    report = (panel / "report.html").read_text(encoding="utf-8")
    first = rows[1]["feature"]
    assert f"{symbol(first)} ({first})" in report or not symbol(first)
    assert f"chr-{first}" in report
    plain = tmp_path / "plain"
    assert main(["select", "plain", "data.csv", *SELECT, "--out", str(plain), "--quiet"]) == 0
    for row, other in zip(rows, read(plain / "panel.csv"), strict=True):
        assert (row["feature"], other["target_class"]) == (other["feature"], "well")
        assert float(row["mean"]) == -float(other["mean"])
        assert "symbol" not in other


def test_a_panel_without_the_annotation_of_the_fit(here, capsys, tmp_path):
    shutil.copytree(here / "out", tmp_path / "out")
    assert main(["select", str(tmp_path / "out"), "data.csv", *SELECT]) == 0
    note = "The fit labeled features by 'symbol'. Pass --annotation FILE to label them here."
    assert note in capsys.readouterr().err
    assert "symbol" not in read(tmp_path / "out" / "panel" / "panel.csv")[0]


def test_odds_ratios_of_covariates_are_those_of_the_positive_class(here, capsys, tmp_path):
    found = {}
    for positive in ("ill", "well"):
        options = ["--covariates", "gene9", "--positive", positive, "--json", "--out", str(tmp_path / positive)]
        assert main(["fit", "data.csv", *FIT, *options]) == 0
        (found[positive],) = json.loads(capsys.readouterr().out)["covariates"]
    ill, well = found["ill"], found["well"]
    assert (ill["target_class"], well["target_class"]) == ("ill", "well")
    assert [ill[name] for name in ("effect", "q5", "q95")] == pytest.approx(
        [1 / well[name] for name in ("effect", "q95", "q5")]
    )


def test_one_column_of_names_labels_features_and_finds_them(here, capsys, tmp_path):
    genes = enumerate(read(here / "genes.csv"))
    lines = [f"{row['id']},{row['symbol']},chr{place % 3},{place}" for place, row in genes]
    (tmp_path / "genes.csv").write_text("\n".join(["id,symbol,chromosome,start", *lines]) + "\n")
    note = "Features are labeled by 'symbol', the only column of names that describes them."
    table = read_table("data.csv", target="tissue", annotation=tmp_path / "genes.csv")
    assert (table.label, note in table.notes) == ("symbol", True)
    # Two columns of names: nobody knows which one is meant.
    assert read_table("data.csv", target="tissue", annotation="genes.csv").label is None
    select = ["select", "plain", "data.csv", *SELECT, "--annotation", str(tmp_path / "genes.csv"), "--out"]
    assert main([*select, str(tmp_path / "few"), "--always", "S7,gene9", "--never", "S8", "--json"]) == 0
    captured = capsys.readouterr()
    assert note in captured.err
    assert {row["feature"] for row in json.loads(captured.out)["panel"]} >= {"gene7", "gene9"}
    assert main([*select, str(tmp_path / "more"), "--always", "TP53"]) == 2
    assert "'TP53' is the label of 2 features (--always): gene0, gene1. Name those" in capsys.readouterr().err
    assert main([*select, str(tmp_path / "more"), "--always", "TP54"]) == 2
    assert "no feature 'TP54' (--always). Did you mean TP53?" in capsys.readouterr().err
