"""Two classes with the positive one first in the alphabet: every part of the report speaks for the same class."""

import csv
import json

import numpy as np
import pytest

from ispca.cli import main
from ispca.datasets import make_expression
from ispca.report import summarize
from ispca.report.leading_features import fold_change
from ispca.report.report_inputs import Context


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The report and the coefficients of the same fit, with either class as the positive one."""
    folder = tmp_path_factory.mktemp("positive")
    data = make_expression(n_samples=40, n_features=30, signal=2.5, random_state=0)
    tissue = np.where(data.target == data.target[0], "normal", "tumor")
    age = np.where(tissue == "tumor", 60, 50) + np.random.default_rng(0).normal(0, 8, size=40).round()
    names = [f"g{j}" for j in range(30)]
    for name, rows in (("train", range(30)), ("test", range(30, 40))):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "tissue", "age", *names])
            writer.writerows([f"s{i}", tissue[i], age[i], *data.data[i].round(4)] for i in rows)
    found = {}
    for positive in ("normal", "tumor"):
        out = folder / positive
        words = ["fit", folder / "train.csv", "--target", "tissue", "--test", folder / "test.csv", "--out", out]
        words += ["--positive", positive, "--format", "json", "--covariates", "age"]
        words += ["--bags=0", "--draws", "60", "--components", "3", "--cv", "2", "--seed", "0", "--quiet"]
        assert main([str(word) for word in words]) == 0
        with (out / "coefficients.csv").open(encoding="utf-8-sig") as file:
            rows = [row for row in csv.DictReader(file) if row["feature"] in names]
        report = json.loads((out / "report.json").read_text(encoding="utf-8"))
        found[positive] = report, {row["feature"]: row for row in rows}
    return found


def table_of(report, section, key):
    [found] = [table for table in report[section]["tables"] if table["key"] == key]
    return found, [column["label"] for column in found["columns"]]


@pytest.mark.parametrize("positive", ["normal", "tumor"])
def test_effects_are_those_of_the_coefficients_file(results, positive):
    report, rows = results[positive]
    assert {row["target_class"] for row in rows.values()} == {positive}
    table, _ = table_of(report, "coefficients", "coefficients")
    assert f"the log odds of “{positive}”" in report["coefficients"]["text"][0]
    for feature, effect, low, high, _ in table["rows"]:
        assert effect == pytest.approx(float(rows[feature]["per_sd"]), rel=1e-3, abs=1e-9)
        assert low <= effect <= high
    table, labels = table_of(report, "leading_features", "leading")
    assert f"toward “{positive}”" in report["leading_features"]["text"][0]
    negative = {"normal": "tumor", "tumor": "normal"}[positive]
    places = [labels.index(f"Mean in {name}") for name in (negative, positive)]
    change = labels.index(f"Difference, {positive} minus {negative}")
    for row in table["rows"]:
        assert row[labels.index("Effect")] == pytest.approx(float(rows[row[1]]["per_sd"]), rel=1e-2, abs=1e-9)
        assert row[change] == pytest.approx(row[places[1]] - row[places[0]], abs=0.11)
    strongest = table["rows"][0]
    assert strongest[change] * strongest[labels.index("Effect")] > 0


def test_the_positive_class_comes_last(results):
    for positive, (report, _) in results.items():
        table, labels = table_of(report, "held_out", "confusion")
        assert table["rows"][-1][0] == positive
        assert labels[2] == f"Predicted {positive}"
        assert table_of(report, "external_test", "test-confusion")[0]["rows"][-1][0] == positive
        assert table_of(report, "data", "classes")[0]["rows"][-1][0] == positive
        assert report["score_plot"]["colors"][0]["classes"][-1] == positive
        assert report["held_out"]["charts"][0]["curves"][0]["name"].startswith(f"{positive}: AUC")


def test_the_same_samples_are_misclassified(results):
    reports = [results[positive][0] for positive in ("normal", "tumor")]
    first, second = (table_of(report, "held_out", "misclassified")[0]["rows"] for report in reports)
    assert first == second
    counts = [
        np.array([row[1:3] for row in table_of(report, "held_out", "confusion")[0]["rows"]]) for report in reports
    ]
    np.testing.assert_array_equal(counts[0], counts[1][::-1, ::-1])
    assert reports[0]["score_plot"]["misclassified"] == reports[1]["score_plot"]["misclassified"]


def test_odds_ratios_of_covariates_are_inverted(results):
    ratios = []
    for positive in ("normal", "tumor"):
        table, labels = table_of(results[positive][0], "covariates", "effects")
        assert f"Odds ratio for “{positive}”" in table["caption"]
        place = labels.index("Odds ratio")
        assert all(row[place + 1] <= row[place] <= row[place + 2] for row in table["rows"])
        ratios.append(table["rows"][0][place])
    assert ratios[0] * ratios[1] == pytest.approx(1, abs=0.02)


def test_classes_that_are_numbers(two):
    model, X, y = two
    labels = np.unique(y, return_inverse=True)[1]
    from sklearn.base import clone

    fitted = clone(model).fit(X, labels)
    plain, turned = (summarize(fitted, X, labels, context=Context(positive=name)) for name in ("1", "0"))
    effects = [report["coefficients"]["tables"][0]["rows"][0][1] for report in (plain, turned)]
    assert effects[0] == -effects[1] != 0


def test_fold_changes_go_from_the_first_to_the_second():
    assert fold_change(np.array([1.0]), np.array([3.0]), np.array([[1.0]]), None)[1] == 2
