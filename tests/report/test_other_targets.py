"""Reports of survival times, counts, ordered classes and covariates."""

import json
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import ispca.validation
from ispca import ISPCA, HorseshoeCounts, HorseshoeOrdinal, HorseshoeSurvival
from ispca.datasets import make_counts, make_survival
from ispca.plots import kaplan_meier_table
from ispca.report import summarize, to_html, to_json, to_markdown
from ispca.report.charts import chart_layout
from ispca.report.held_out_predictions import mean_risk
from ispca.report.report_inputs import Context
from ispca.validation import compare_with_baselines

SHORT = {"n_warmup": 60, "n_draws": 60, "retry": False, "n_jobs": 1, "random_state": 0}
ADJUSTED = {"adjust": [-2, -1], "keep_adjusted": True}


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **options)


def with_covariates(data):
    return np.column_stack([data.data, data.covariates["age"], data.covariates["batch"] == "B"])


def pipeline(model, **options):
    reduction = ISPCA(3, whiten=True, n_permutations=200, random_state=0, **ADJUSTED, **options)
    return make_pipeline(reduction, model(unpenalized=[-2, -1], **SHORT))


@pytest.fixture(scope="module")
def survival():
    """A fit of survival times, and a cross-validation of it."""
    data = make_survival(100, 40, signal=2.0, random_state=0)
    X, y = with_covariates(data), data.target
    model = quietly(pipeline(HorseshoeSurvival).fit, X, y)
    return model, X, y, quietly(compare_with_baselines, model, X, y, cv=3, n_jobs=1)


@pytest.fixture(scope="module")
def counts():
    data = make_counts(80, 40, random_state=0)
    X, y, offset = with_covariates(data), data.target, data.offset
    model = pipeline(HorseshoeCounts, family="negative-binomial")
    parameters = {f"{step}__offset": offset for step in ("ispca", "horseshoecounts")}
    quietly(model.fit, X, y, **parameters)
    options = {"kind": "count", "offset": offset, "cv": 2, "n_jobs": 1}
    return model, X, y, offset, quietly(compare_with_baselines, model, X, y, **options)


def test_survival_speaks_of_events(survival):
    model, X, y, validation = survival
    summary = summarize(model, X, y, validation=validation, target_name="months")
    assert json.loads(to_json(summary)) == summary
    facts = dict(summary["data"]["facts"])
    assert facts["Target"] == "months: survival times"
    assert facts["Events"] == "60 (60%)"
    assert facts["Censored"] == "40"
    assert float(facts["Median follow-up"]) > 0
    assert facts["Features"] == "40"
    assert "is a correlation with the martingale residuals" in summary["components"]["tables"][0]["caption"]
    [sentence] = summary["overview"]["verdict"]
    assert sentence.startswith("Concordance index 0.")
    assert "the one with the earlier event has the higher risk in" in sentence
    assert "Only samples that were held out together are compared" in " ".join(summary["prediction"]["text"])
    assert "log hazard" in summary["coefficients"]["text"][0]
    labels = [choice["label"] for choice in summary["score_plot"]["colors"]]
    assert labels[:2] == ["months (time)", "event"]
    text = to_markdown(summary) + to_html(summary)
    assert "ccuracy" not in text.replace("balanced_accuracy", "")
    assert "lassified correctly" not in text


def test_leading_features_of_survival_explain_only_what_is_shown(survival):
    model, X, y, _ = survival
    shown = summarize(model, X, y)["leading_features"]
    assert [column["label"] for column in shown["tables"][0]["columns"]] == ["Rank", "Feature", "Group", "Effect"]
    assert not any("describe each feature alone" in text for text in shown["text"])
    (heatmap,) = shown["charts"]
    assert ("a letter on the right" in heatmap["caption"]) == bool(heatmap["groups"])


def test_risk_groups_are_those_of_held_out_samples(survival):
    model, X, y, validation = survival
    scores = {name: values[:-1] for name, values in validation.scores.items()}
    names = ("splits", "predictions", "observed", "rates")
    fewer = {name: getattr(validation, name)[:-1] for name in names} | {"scores": scores}
    validation = replace(validation, **fewer)
    section = summarize(model, X, y, validation=validation)["risk_groups"]
    found = mean_risk(validation)
    held_out = np.unique(np.concatenate([split.test for split in validation.splits]))
    np.testing.assert_array_equal(found.samples, held_out)
    assert f"{len(y) - len(held_out)} samples were never held out" in section["text"][-1]
    table = kaplan_meier_table(found.values, y[found.samples])
    [panel] = section["charts"]
    for curve in panel["curves"]:
        rows = table[table["group"] == curve["name"]]
        np.testing.assert_allclose(curve["survival"], rows["survival"], atol=1e-3)
        assert curve["at_risk"][0] == rows["n_at_risk"][0]
    layout = chart_layout(panel)
    assert [row["numbers"][0]["n"] for row in layout["at_risk"]] == [c["at_risk"][0] for c in panel["curves"]]
    assert layout["curves"][0]["line"].startswith("M")


def test_no_risk_groups_of_training_samples(survival):
    model, X, y, _ = survival
    summary = summarize(model, X, y)
    assert "charts" not in summary["risk_groups"]
    assert "separate them too well" in summary["risk_groups"]["text"][0]
    assert "calibration" not in summary
    assert "Number at risk" not in to_html(summary)


def test_ranks_of_a_sample_are_averaged_over_splits(survival):
    *_, validation = survival
    found = mean_risk(validation)
    sample = int(found.samples[0])
    ranks = []
    for split, row in zip(validation.splits, validation.predictions, strict=True):
        if sample in split.test:
            risk = row[0].value
            ranks.append((np.count_nonzero(risk < risk[split.test == sample]) + 0.5) / len(risk))
    assert found.values[0] == pytest.approx(np.mean(ranks))


def test_covariates_beside_components(survival):
    model, X, y, _ = survival
    reduction = model[0]
    plain = ISPCA(n_permutations=200, random_state=0, exclude=[-2, -1], family="cox").fit(X, y)
    context = Context(
        unadjusted=plain, confounding=["Covariate 'batch' explains 90% of the variation of the class."]
    )
    names = [*(f"g{j}" for j in range(40)), "age", "<batch>"]
    summary = summarize(model, X, y, feature_names=names, context=context)
    section = summary["covariates"]
    [panel] = section["forests"]
    assert panel["log"]
    assert panel["reference"] == 1
    assert [row["covariate"] for row in panel["rows"]] == [True, True, False, False, False]
    assert section["tables"][0]["columns"][2]["label"] == "Hazard ratio"
    assert section["tables"][0]["rows"][0][2] == pytest.approx(np.exp(model[1].coef_[-2]), rel=0.01)
    rows = section["tables"][1]["rows"]
    assert [row[:2] for row in rows] == [
        ["Adjusted", reduction.n_supervised_],
        ["Unadjusted", plain.n_supervised_],
    ]
    coefficients = {row[0] for row in summary["coefficients"]["tables"][0]["rows"]}
    assert coefficients == set(names[:40])
    page = to_html(summary)
    assert "<batch>" not in page.split("report-data")[0]
    assert "Covariate &#39;batch&#39; explains 90%" in page


def test_counts(counts):
    model, X, y, _, validation = counts
    summary = summarize(model, X, y, validation=validation, target_name="relapses")
    facts = dict(summary["data"]["facts"])
    assert facts["Target"] == "relapses: counts"
    assert facts["Target, minimum and maximum"] == f"{y.min()}, {y.max()}"
    assert "of the deviance of held-out counts" in summary["overview"]["verdict"][0]
    assert "log expected count" in summary["coefficients"]["text"][0]
    assert summary["covariates"]["tables"][0]["columns"][2]["label"] == "Rate ratio"
    [panel] = summary["calibration"]["charts"]
    assert panel["x_label"] == "Expected count"
    assert "risk_groups" not in summary
    assert len(chart_layout(panel)["points"]) == len(panel["predicted"]) >= 2


def test_ordered_classes():
    data = make_counts(80, 40, random_state=0)
    X, grade = with_covariates(data), np.digitize(data.target, [3, 8])
    model = quietly(pipeline(HorseshoeOrdinal, family="ordinal").fit, X, grade)
    summary = summarize(model, X, grade, target_name="grade")
    assert dict(summary["data"]["facts"])["Target"] == "grade: ordered classes"
    assert [row[0] for row in summary["data"]["tables"][0]["rows"]] == ["0", "1", "2"]
    assert "log odds of a higher class" in summary["coefficients"]["text"][0]
    assert len(summary["coefficients"]["tables"][0]["rows"]) == 40


def test_the_code_repeats_a_fit_with_an_offset(counts, monkeypatch):
    model, X, y, offset, validation = counts
    monkeypatch.setattr(ispca.validation, "compare_with_baselines", partial(compare_with_baselines, n_jobs=1))
    summary = summarize(model, X, y, validation=validation, context=Context(fit_parameters=("offset",)))
    lines, _, report = summary["reproducibility"]["code"][-1]["code"].rpartition("\n")
    assert report.startswith("write_report(model, X, y")
    names = {"X": X, "y": y, "offset": offset}
    quietly(exec, lines, names)
    Z = model[0].transform(X)
    np.testing.assert_array_equal(names["model"][-1].predict(Z), model[-1].predict(Z))
    for name, scores in validation.scores.items():
        np.testing.assert_array_equal(names["validation"].scores[name], scores)
