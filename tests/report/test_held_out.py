"""Held-out predictions: confusion matrix, curves with bands, errors linked to the picture; the external test."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from ispca.report import summarize, to_html, to_markdown
from ispca.report.charts import chart_layout
from ispca.report.held_out_predictions import precision_recall_curve, roc_curve
from ispca.report.report_inputs import Context
from ispca.validation import compare


def tables_of(section):
    return {table["key"]: table for table in section["tables"]}


def test_each_held_out_sample_counts_once(mislabeled):
    model, X, y, validation = mislabeled("two")
    summary = summarize(model, X, y, validation=validation)
    tables = tables_of(summary["held_out"])
    counts = np.array([row[1:3] for row in tables["confusion"]["rows"]])
    held_out = np.unique(np.concatenate([split.test for split in validation.splits]))
    assert counts.sum() == len(held_out)
    wrong = tables["misclassified"]["rows"]
    assert len(wrong) == counts.sum() - np.trace(counts)
    assert len(wrong) >= 1
    assert all(row[1] != row[2] and row[3] < 50 and 0 < row[4] <= row[5] for row in wrong)
    # The links lead to the samples themselves, and the picture marks the same ones.
    points = tables["misclassified"]["points"]
    assert [summary["score_plot"]["samples"][point] for point in points] == [row[0] for row in wrong]
    assert sorted(points) == summary["score_plot"]["misclassified"]


def test_rates_of_the_positive_class(mislabeled):
    model, X, y, validation = mislabeled("two")
    classes = [str(label) for label in np.unique(y)]
    rows = {}
    for positive in classes:
        context = Context(positive=positive)
        found = tables_of(summarize(model, X, y, validation=validation, context=context)["held_out"])["rates"]
        assert f"“{positive}” is the positive class" in found["caption"]
        rows[positive] = [row[2] for row in found["rows"]]
        assert all(0 <= end <= 100 for row in found["rows"] for end in row[2:])
    assert rows[classes[0]] == [rows[classes[1]][k] for k in (1, 0, 3, 2)]


@pytest.mark.parametrize("seed", range(3))
def test_curves_agree_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(200) < 0.3
    scores = np.round(positive + rng.normal(size=200), 1)
    roc, precision = roc_curve(scores, positive), precision_recall_curve(scores, positive)
    assert roc.area == pytest.approx(roc_auc_score(positive, scores))
    assert precision.area == pytest.approx(average_precision_score(positive, scores))
    for curve in (roc, precision):
        assert curve.area_low <= curve.area <= curve.area_high
        assert (curve.low >= 0).all()
        assert (curve.high <= 1).all()
        assert ((curve.low <= curve.value) & (curve.value <= curve.high)).all()
    assert np.mean(roc.high - roc.low) > 0.02
    assert (np.diff(roc.value) >= -1e-12).all()


def test_the_charts_stay_inside_their_frames(mislabeled, four, compared):
    model, X, y, validation = mislabeled("two")
    charts = summarize(model, X, y, validation=validation)["held_out"]["charts"]
    assert [chart["kind"] for chart in charts] == ["rates", "rates"]
    assert len(charts[0]["curves"]) == 1
    several = summarize(*four, validation=compared("four"))["held_out"]["charts"]
    assert len(several[0]["curves"]) == 4
    assert "low" not in several[0]["curves"][0]
    for chart in [*charts, *several]:
        drawn = chart_layout(chart)
        for curve in drawn["curves"]:
            for part in curve["line"].removeprefix("M").split("L"):
                x, y = map(float, part.split())
                assert drawn["left"] <= x <= drawn["right"]
                assert drawn["top"] <= y <= drawn["bottom"]


def test_quantities_have_errors_instead(quantity, compared):
    section = summarize(*quantity, validation=compared("quantity"))["held_out"]
    rows = section["tables"][0]["rows"]
    assert [abs(row[3]) for row in rows] == sorted((abs(row[3]) for row in rows), reverse=True)
    assert section["charts"][0]["kind"] == "agreement"
    assert len(chart_layout(section["charts"][0])["points"]) == len(section["charts"][0]["observed"])


def test_a_comparison_without_data_or_probabilities(two):
    from sklearn.svm import LinearSVC

    _, X, y = two
    result = compare({"svm": LinearSVC()}, X, y, cv=2, n_jobs=1, baseline="svm")
    assert "held_out" not in summarize(result, X, y)
    assert "held_out" not in summarize(result)


def test_the_external_test(two):
    wrong = {"id": "<p 7>", "observed": "a", "predicted": "b", "probability": 0.9}
    test = {"data": "new.csv", "target": "y", "kind": "classification", "samples": 24, "accuracy": 0.875}
    test |= {"log_density": -0.5, "auc": float("nan"), "majority": 0.5}
    test |= {"intervals": {"accuracy": [0.69, 0.957]}}
    test |= {"confusion": {"classes": ["a", "b"], "counts": [[10, 2], [1, 11]]}}
    test |= {"misclassified": [wrong, wrong | {"probability": None}]}
    assert "external_test" not in summarize(*two)
    summary = summarize(*two, context=Context(test=test))
    found = summary["external_test"]
    assert dict(found["facts"]) == {"File": "new.csv", "Samples": "24"}
    assert tables_of(found)["test-measures"]["rows"] == [
        ["Accuracy", 0.875, 0.69, 0.957],
        ["Mean log predictive density", -0.5, None, None],
        ["Accuracy of always predicting the largest class", 0.5, None, None],
    ]
    assert [row[:3] for row in tables_of(found)["test-confusion"]["rows"]] == [["a", 10, 2], ["b", 1, 11]]
    assert [row[3] for row in tables_of(found)["test-misclassified"]["rows"]] == [90, None]
    page = to_html(summary)
    assert "&lt;p 7&gt;" in page
    assert "<p 7>" not in page
    assert "External test" in to_markdown(summary)
    # Quantities have no classes.
    plain = summarize(*two, context=Context(test={"samples": 3, "r2": 0.5}))["external_test"]
    assert [table["key"] for table in plain["tables"]] == ["test-measures"]
