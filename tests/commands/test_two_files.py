"""``ispca`` on a matrix with a sample sheet and annotation, and the options that choose columns."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from ispca.cli import main
from ispca.foundation.block_settings import PROCESSES, limited_threads
from ispca.foundation.output_folder import default_output
from ispca.persistence import read_details
from ispca.readers import read_table
from ispca.reduction.threads import available_threads

SHORT = ["--bags=0", "--components", "3", "--draws", "40"]


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        header, *records = csv.reader(file)
    return header, records


@pytest.fixture
def files(tmp_path, monkeypatch, table_of):
    """A matrix with genes in rows and their symbols, a sheet, and the current folder."""
    rows, write = table_of
    header, *samples = rows()
    genes = [["probe", "Gene Symbol", *(sample[0] for sample in samples), "stray"]]
    for j in range(4, len(header)):
        genes.append([header[j], f"S{j}", *(sample[j] for sample in samples), "1.5"])
    write(tmp_path / "matrix.csv", genes)
    sheet = [["name", "tissue", "sex", "age"]]
    sheet += [[sample[0], sample[2], sample[1], str(40 + i % 13)] for i, sample in enumerate(samples)]
    write(tmp_path / "sheet.csv", [*sheet, ["absent", "ill", "m", "50"]])
    write(tmp_path / "genes.csv", [["gene", "place"], *([name, f"chr{j}"] for j, name in enumerate(header[4:]))])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_files_and_annotation(files, capsys):
    options = ["--samples", "sheet.csv", "--target", "tissue", "--annotation", "genes.csv"]
    options += ["--label", "Gene Symbol", "--covariates", "age", "--positive", "ill", "--cv", "2"]
    assert main(["fit", "matrix.csv", *options, *SHORT]) == 0
    told = capsys.readouterr().err
    assert "ispca: 40 samples of matrix.csv matched with column 'name' of sheet.csv." in told
    assert "ispca: 1 sample of matrix.csv not in sheet.csv, left out: stray." in told
    assert "ispca: 1 row of sheet.csv without a sample in matrix.csv: absent." in told
    out = files / "matrix-results"
    header, loadings = table(out / "loadings.csv")
    assert header[:4] == ["feature", "Gene Symbol", "place", "supervised_1"]
    assert loadings[0][:3] == ["gene0", "S4", "chr0"]
    assert loadings[-1][:3] == ["age", "", ""]
    header, coefficients = table(out / "coefficients.csv")
    assert header[:5] == ["feature", "target_class", "Gene Symbol", "place", "per_sd"]
    assert coefficients[0][0] == "(intercept)"
    assert coefficients[0][2:4] == ["", ""]
    assert {row[1] for row in coefficients} == {"ill"}
    for row in coefficients[1:]:
        if row[0] != "age":
            number = int(row[0].removeprefix("gene"))
            assert row[2:4] == [f"S{number + 4}", f"chr{number}"]
    details = read_details(out / "model.ispca")
    assert (details["label"], details["positive"]) == ("Gene Symbol", "ill")
    # The covariate of new samples is in their sheet.
    assert main(["predict", str(out / "model.ispca"), "matrix.csv", "--samples", "sheet.csv", "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 41
    # The results are there now.
    assert main(["fit", "matrix.csv", *options, *SHORT, "--quiet"]) == 2
    assert "matrix-results" in capsys.readouterr().err


def test_the_positive_class_may_be_the_first(data):
    for positive, first in (("well", False), ("ill", True), (None, False)):
        found = read_table(data, target="diagnosis", drop=("score",), positive=positive)
        assert found.positive_first == first
        assert list(found.class_counts) == ["ill", "well"]


def test_patterns_on_the_command_line(data, tmp_path, capsys):
    options = ["--target", "diagnosis", "--features", "gene*", "--drop", "gene2?", *SHORT, "--cv", "0", "--out"]
    assert main(["fit", str(data), *options, str(tmp_path / "out")]) == 0
    told = capsys.readouterr().err
    assert "20 features of 31 chosen by name." in told
    assert "ispca: 'gene*' (features) matches 30 columns: gene0, gene1, gene2, gene3, gene4 and 25 more." in told
    assert "ispca: 'gene2?' (drop) matches 10 columns: gene20, gene21, gene22, gene23, gene24 and 5 more." in told
    assert len(table(tmp_path / "out" / "loadings.csv")[1]) == 20
    assert (
        main(["fit", str(data), "--target", "diagnosis", "--drop", "scores*", "--out", str(tmp_path / "x")]) == 3
    )
    assert "matches 'scores*' (drop). Did you mean score?" in capsys.readouterr().err


def test_ids_that_do_not_match(files, one_line):
    (files / "sheet.csv").write_text("name,tissue\nA-1,ill\nA-2,well\nA-3,ill\nA-4,well\n")
    assert main(["fit", "matrix.csv", "--samples", "sheet.csv", "--target", "tissue"]) == 3
    line = one_line()
    assert "(A-1, A-2, A-3, ...)" in line
    assert "with --on COLUMN" in line
    assert not (files / "matrix-results").exists()


def test_the_default_folder():
    names = {"a.csv": "a", "x/a.b.tsv.gz": "a.b", "a.TXT.GZ": "a", ".csv": ".csv"}
    found = {name: str(default_output(Path(name))) for name in names}
    assert found == {name: f"{stem}-results" for name, stem in names.items()}


def test_threads_are_limited_and_restored(monkeypatch):
    monkeypatch.setenv(PROCESSES, "7")
    before = available_threads()
    with limited_threads(1):
        assert available_threads() == 1
        assert os.environ[PROCESSES] == "1"
    assert (available_threads(), os.environ[PROCESSES]) == (before, "7")
    monkeypatch.delenv(PROCESSES)
    with pytest.raises(KeyError), limited_threads(1):
        raise KeyError
    assert PROCESSES not in os.environ


def test_threads_do_not_change_the_results(data, tmp_path):
    options = ["--target", "diagnosis", "--drop", "score", *SHORT, "--cv", "2", "--quiet", "--out"]
    for n_threads in ("1", "2"):
        assert main(["fit", str(data), "--threads", n_threads, *options, str(tmp_path / n_threads)]) == 0
    one, two = (np.genfromtxt(tmp_path / name / "scores.csv", delimiter=",", skip_header=1) for name in "12")
    np.testing.assert_array_equal(one, two)
