"""The predictions of held-out samples that ``ispca fit`` and ``ispca compare`` write."""

import csv

import numpy as np
import pytest

from ispca.cli import main

SHORT = ["--bags=0", "--components", "3", "--draws", "40", "--cv", "2", "--quiet", "--out"]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_each_sample_once_with_its_fold_and_probabilities(data, table_of, tmp_path):
    options = ["--target", "diagnosis", "--drop", "score", "--positive", "ill", *SHORT]
    assert main(["fit", str(data), *options, str(tmp_path / "out")]) == 0
    rows = read(tmp_path / "out" / "held_out.csv")
    assert list(rows[0]) == ["id", "fold", "observed", "prediction", "p(well)", "p(ill)"]
    samples = table_of[0]()[1:]
    assert [(row["id"], row["observed"]) for row in rows] == [(sample[0], sample[2]) for sample in samples]
    folds = np.array([int(row["fold"]) for row in rows])
    assert np.bincount(folds).tolist() == [0, 20, 20]
    ill, well = ([float(row[f"p({name})"]) for row in rows] for name in ("ill", "well"))
    np.testing.assert_allclose(np.add(ill, well), 1, atol=1e-6)
    assert [row["prediction"] for row in rows] == np.where(np.greater(ill, well), "ill", "well").tolist()
    # They are those of the verdict, not of the fit to all samples.
    right = np.mean([row["prediction"] == row["observed"] for row in rows])
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"{right:.0%}" in report


def test_quantities_have_intervals(data, tmp_path):
    options = ["--target", "score", "--drop", "diagnosis", *SHORT]
    assert main(["fit", str(data), *options, str(tmp_path / "out")]) == 0
    rows = read(tmp_path / "out" / "held_out.csv")
    assert list(rows[0]) == ["id", "fold", "observed", "prediction", "q5", "q95"]
    assert all(float(row["q5"]) < float(row["prediction"]) < float(row["q95"]) for row in rows)
    observed, predicted = ([float(row[name]) for row in rows] for name in ("observed", "prediction"))
    assert np.corrcoef(observed, predicted)[0, 1] > 0.5


def test_survival_times_and_grades(data, table_of, tmp_path):
    header, *samples = table_of[0]()
    more = [[str(3 + i % 17), str(int(i % 3 > 0)), f"G{i % 3 + 2}"] for i in range(40)]
    more = [["months", "died", "grade"], *more]
    rows = [[*new, *(row[:1] + row[4:])] for new, row in zip(more, [header, *samples], strict=True)]
    path = table_of[1](tmp_path / "more.csv", rows)
    survival = ["--time", "months", "--event", "died", "--drop", "grade", "--id", "sample", *SHORT]
    assert main(["fit", str(path), *survival, str(tmp_path / "survival")]) == 0
    first = read(tmp_path / "survival" / "held_out.csv")[1]
    assert list(first) == ["id", "fold", "observed_time", "observed_event", "risk"]
    assert (first["id"], first["observed_time"], first["observed_event"]) == ("p1", "4", "1")
    ordinal = ["--target", "grade", "--kind", "ordinal", "--drop", "months", "died", "--id", "sample", *SHORT]
    assert main(["fit", str(path), *ordinal, str(tmp_path / "ordinal")]) == 0
    first = read(tmp_path / "ordinal" / "held_out.csv")[1]
    assert list(first) == ["id", "fold", "observed", "prediction", "p(2)", "p(3)", "p(4)"]
    assert first["observed"] == "3"


def test_no_file_without_folds(fitted):
    assert not (fitted / "held_out.csv").exists()


@pytest.mark.filterwarnings("ignore")
def test_a_comparison_has_all_methods_and_splits(data, tmp_path):
    options = ["--target", "diagnosis", "--drop", "score", "--methods", "PCA", "SVM", "--splits", "2"]
    options += ["--components", "3", "--draws", "40", "--jobs", "1", "--quiet", "--out", str(tmp_path / "out")]
    assert main(["compare", str(data), *options]) == 0
    rows = read(tmp_path / "out" / "held_out.csv")
    assert list(rows[0]) == ["method", "id", "split", "observed", "prediction", "p(ill)", "p(well)"]
    assert len(rows) == 2 * 2 * 8
    assert {(row["method"], row["split"]) for row in rows} == {(m, s) for m in ("PCA", "SVM") for s in "12"}
    table = {row["method"]: row for row in read(tmp_path / "out" / "comparison.csv")}
    for name in ("PCA", "SVM"):
        right = np.mean([row["prediction"] == row["observed"] for row in rows if row["method"] == name])
        assert right == pytest.approx(float(table[name]["accuracy"]))
