"""The section on a panel: verdict, path, coefficients and groups."""

import json

import numpy as np
import pytest

from ispca.report import summarize, to_html, to_json, to_markdown, write_report
from ispca.report.charts import HEIGHT, chart_layout
from ispca.report.panel import panel_features
from ispca.report.report_inputs import Context
from panels import ACCURACY, AUC, DIFFERENCE, ERRORS, FEATURES, selector
from panels import path as made_up_path

HOSTILE = "</script><img src=x onerror=alert(1)>"


def panel_of(two, panel, **options):
    return summarize(*two, panel=panel, **options)["panel"]


def labels(table):
    return [column["label"] for column in table["columns"]]


def test_without_a_selection_there_is_no_section(two):
    assert "panel" not in summarize(*two)


def test_the_verdict_comes_first_and_the_tables_agree_with_the_selector(two):
    found = selector()
    section = panel_of(two, found)
    assert section["text"][0] == "The verdict."
    assert section["warnings"] == []
    panel, path = section["tables"]
    assert [row[1] for row in panel["rows"]] == ["(intercept)", *FEATURES[:2]]
    assert labels(panel)[:3] == ["Order", "Feature", "Stands for"]
    assert [row[2] for row in panel["rows"]] == [None, "sister of gene 7, gene 9", None]
    assert [row[labels(panel).index("Folds, %")] for row in panel["rows"]] == [None, 100, 90]
    coef = found.submodel(2)[-1].coef_.ravel()
    np.testing.assert_allclose([row[3] for row in panel["rows"][1:]], coef, rtol=1e-3)
    assert labels(panel)[3:] == ["Coefficient", "Folds, %"]
    column = {label: [row[place] for row in path["rows"]] for place, label in enumerate(labels(path))}
    assert (column["Difference from the reference"], column["Standard error"]) == (DIFFERENCE, ERRORS)
    assert (column["Accuracy, %"], column["AUC"]) == ([50, 80, 90, 92, 95], AUC)
    assert path["caption"].endswith("all features: accuracy 94%, AUC 0.96, log density \u22120.3")
    (chart,) = section["charts"]
    assert (chart["accuracy"], chart["auc"]) == (ACCURACY, AUC)


def test_the_report_leads_with_the_panel(two):
    summary = summarize(*two, panel=selector())
    assert list(summary)[2:4] == ["overview", "panel"]
    sentence, why = summary["overview"]["verdict"]
    assert sentence.startswith("Panel of 2 features: gene 7, gene 3. Held-out samples: accuracy 90%, AUC 0.93; ")
    assert sentence.endswith("features accuracy 94%, AUC 0.96.")
    assert why == "The verdict."
    # Measured in the folds of the selection, so no part of the report says otherwise.
    assert "not measured" not in to_html(summary).lower()
    assert summarize(*two, panel=selector(n_features=0))["overview"]["verdict"] == ["The verdict."]
    unvalidated = summarize(*two, panel=selector(validated=False))
    assert any("not measured" in line for line in unvalidated["overview"]["caveats"])


def test_a_selection_without_validation_is_marked(two):
    section = panel_of(two, selector(validated=False))
    assert section["warnings"][0].startswith("Not validated")
    panel, path = section["tables"]
    assert "Folds, %" not in labels(panel)
    assert labels(path) == ["Size", "Feature added", "Divergence explained, %"]
    assert "folds" not in json.dumps(section["text"]).lower()
    (chart,) = section["charts"]
    assert "not validated" in chart["y_label"]
    assert chart["reference"] == 1


def test_a_requested_size(two):
    section = panel_of(two, selector(), context=Context(panel_size=3))
    assert section["text"][1] == "The panel below has 3 features, as requested."
    panel = section["tables"][0]
    assert [row[1] for row in panel["rows"]] == ["(intercept)", *FEATURES[:3]]
    # Groups are those of the requested size, and only equivalent features belong to them.
    assert panel["rows"][1][2] == "gene 8"
    assert section["charts"][0]["suggested"] == 2


def test_size_zero_has_no_table_of_features(two):
    section = panel_of(two, selector(n_features=0))
    assert [table["key"] for table in section["tables"]] == ["panel-path"]


def test_costs(two):
    found = selector(costs=[1.0, 4.0, 2.0, 1.0])
    panel, path = panel_of(two, found)["tables"]
    assert [row[labels(panel).index("Cost")] for row in panel["rows"]] == [None, 1, 4]
    assert [row[labels(path).index("Cost")] for row in path["rows"]] == [0, 1, 5, 7, 8]


def test_dropped_features_have_a_column_if_there_are_any(two):
    found = selector()
    assert "Dropped" not in labels(panel_of(two, found)["tables"][1])
    found.path_ = made_up_path(dropped="gene 7")
    table = panel_of(two, found)["tables"][1]
    assert labels(table)[1:3] == ["Feature added", "Dropped"]
    assert [row[2] for row in table["rows"]] == [None] * 4 + ["gene 7"]


def test_costs_by_name():
    found = selector()
    found.costs = {"gene 3": 4.0}
    assert panel_features(found)["cost"].tolist()[1:] == [1, 4]


def test_each_class_has_its_coefficients(two):
    features = panel_features(selector(n_classes=3))
    assert features["order"].tolist() == [0, 1, 2] * 3
    assert features["target_class"].tolist() == ["0"] * 3 + ["1"] * 3 + ["2"] * 3
    panel = panel_of(two, selector(n_classes=3))["tables"][0]
    assert labels(panel)[3] == "Class"


def test_the_chart_is_to_scale(two):
    plot = chart_layout(panel_of(two, selector())["charts"][0])
    points = plot["points"]
    assert np.ptp(np.diff([point["x"] for point in points])) < 0.21
    ys, values = np.array([point["y"] for point in points]), np.array(DIFFERENCE)
    slope = (ys[1] - ys[0]) / (values[1] - values[0])
    np.testing.assert_allclose(ys, ys[0] + slope * (values - values[0]), atol=0.2)
    np.testing.assert_allclose(
        [point["low"] - point["y"] for point in points], -slope * np.array(ERRORS), atol=0.2
    )
    assert plot["suggested"] == points[2]
    assert abs(plot["reference_y"] - (ys[0] - slope * values[0])) < 0.2
    assert [tick["value"] for tick in plot["x_ticks"]][:2] == ["0", "1: gene 7"]
    assert plot["height"] > HEIGHT
    assert "suggested size 2" in plot["description"]


def test_all_formats(two, tmp_path):
    names = [HOSTILE, "x" * 5000, "$a$ & b", "plain"]
    summary = summarize(*two, panel=selector(names=names))
    assert json.loads(to_json(summary)) == summary
    page = to_html(summary)
    assert HOSTILE not in page
    assert 'class="suggested"' in page
    assert "style=" not in page.partition("<main")[2].partition("</main>")[0]
    assert "x" * 400 not in page
    text = to_markdown(summary)
    assert "## Panel" in text
    assert "The verdict." in text
    assert "<img" not in text
    path = write_report(*two, tmp_path / "report.html", panel=selector())
    assert 'id="panel"' in path.read_text(encoding="utf-8")


def test_something_else(two):
    with pytest.raises(ValueError, match="panel must be a fitted ProjectionSelector, got list"):
        summarize(*two, panel=[])
