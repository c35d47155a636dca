"""The summary: plain JSON, all sections, honest words."""

import json
import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, HorseshoeClassifier
from ispca.report import summarize, to_json
from ispca.report.contents import SECTIONS
from ispca.report.report_inputs import Context, check_inputs
from ispca.targets import CLASSES, QUANTITY
from ispca.targets.measures import two_digits
from ispca.validation import compare, verdict

# Sections on covariates, held-out samples, an external test, survival times, counts and a selection.
OPTIONAL = ("covariates", "held_out", "external_test", "risk_groups", "calibration", "panel")


@pytest.mark.parametrize("which", ["two", "four", "quantity"])
def test_all_sections_as_plain_json(which, request):
    model, X, y = request.getfixturevalue(which)
    summary = summarize(model, X, y, target_name="diagnosis")
    assert [key for key in summary if key in SECTIONS] == [key for key in SECTIONS if key not in OPTIONAL]
    assert json.loads(to_json(summary)) == summary
    assert all(
        summary[key]["title"] and summary[key]["text"] for key in SECTIONS if key in summary and key != "data"
    )
    assert summary["components"]["n_supervised"] >= 1
    assert len(summary["features"]["tables"]) == model[0].n_components_
    first = summary["features"]["tables"][0]
    assert [column["label"] for column in first["columns"]] == ["Rank", "Feature", "Loading", "Correlation"]
    best = int(np.argmax(np.abs(model[0].directions_[0])))
    assert first["rows"][0][1] == str(best)
    correlation = np.corrcoef(X[:, best], model[0].transform(X)[:, 0])[0, 1]
    assert first["rows"][0][3] == pytest.approx(correlation, abs=1e-3)
    np.testing.assert_allclose(summary["score_plot"]["scores"][0], model[0].transform(X)[:, 0], rtol=1e-3)
    assert ("classes" in [table["key"] for table in summary["data"]["tables"]]) == (which != "quantity")


def test_the_score_plot_of_a_cross_fitted_reduction(two):
    _, X, y = two
    reduction = ISPCA(3, n_permutations=200, random_state=0, cross_fit=5)
    # The command line passes on what fit_transform returned.
    scores = reduction.fit_transform(X, y)
    found = summarize(reduction, X, y, context=Context(scores=scores))
    assert found["score_plot"] == summarize(reduction, X, y)["score_plot"]
    plot = found["score_plot"]
    assert plot["components"] == ["supervised_1 (cross-fitted)", "unsupervised_2", "unsupervised_3"]
    np.testing.assert_allclose(plot["scores"][0], scores[:, 0], rtol=1e-3)
    text = " ".join(plot["text"])
    assert "are cross-fitted" in text
    assert "looks stronger than for new" not in text
    # Correlations of the features with a component remain those of the fit.
    plain = ISPCA(3, n_permutations=200, random_state=0).fit(X, y)
    assert found["features"]["tables"] == summarize(plain, X, y)["features"]["tables"]
    assert "looks stronger than for new" in " ".join(summarize(reduction, X[::-1], y[::-1])["score_plot"]["text"])


def test_two_fits_of_the_same_give_the_same(two):
    assert to_json(summarize(*two)) == to_json(summarize(*two))


def test_cross_validation_is_shown_or_its_absence_stated(two, compared):
    model, X, y = two
    without = summarize(model, X, y)["prediction"]
    assert not without["measured"]
    assert "compare_with_baselines" in without["text"][0]
    validation = compared("two")
    summary = summarize(model, X, y, validation=validation)
    measured = summary["prediction"]
    assert measured["measured"]
    assert {row[0] for row in measured["tables"][0]["rows"]} == {"this model", "lasso", "base rate"}
    # The same number with the same interval in the summary, the tables, the plot and the curve.
    found = verdict(validation)
    facts = dict(summary["overview"]["facts"])
    rows = {(row[0], row[1]): row[2:] for row in measured["tables"][1]["rows"]}
    points = {(plot["measure"], row["method"]): row for plot in measured["forests"] for row in plot["rows"]}
    for measure, names in (("Accuracy", ("value", "low", "high")), ("AUC", ("auc", "auc_low", "auc_high"))):
        title = "Area under the ROC curve" if measure == "AUC" else measure
        ends = [float(f"{found[name]:.3g}") for name in names]
        assert rows[title, "this model"] == ends
        assert facts[measure] == "{:g} ({:g} to {:g})".format(*ends)
    drawn = points["accuracy", "this model"]
    assert [drawn["mean"], drawn["low"], drawn["high"]] == rows["Accuracy", "this model"]
    area = "AUC {} ({} to {})".format(*(two_digits(found[name]) for name in ("auc", "auc_low", "auc_high")))
    assert summary["held_out"]["charts"][0]["curves"][0]["name"].endswith(area)
    counts = np.array([row[1:3] for row in summary["held_out"]["tables"][0]["rows"]])
    assert np.trace(counts) / counts.sum() == pytest.approx(found["value"])
    assert any("can be lower" in line for line in measured["text"])
    brier = {row[0]: row[1] for row in summary["calibration"]["tables"][0]["rows"]}["Brier score (0 to 1)"]
    assert brier == rows["Brier score (smaller is better)", "this model"][0]
    better = "this model is better" if found["better_than_baseline"] else "no significant difference"
    assert f"Compared with base rate: {better} (see the summary)." in measured["text"]
    assert summary["overview"]["better"] == found["better_than_baseline"]
    highest = [row[4] for row in measured["tables"][1]["rows"] if row[0] == "Accuracy"]
    assert max(highest) <= 1


def test_the_words_of_the_convergence(two):
    model, X, y = two
    section = summarize(model, X, y)["convergence"]
    verdict = "chains have converged" if model[1].diagnostics_.converged else "chains have not converged"
    assert section["converged"] == model[1].diagnostics_.converged
    assert any(verdict in line for line in section["text"])


def test_a_reduction_alone(two):
    model, X, y = two
    for X_kind in (X, sp.csr_array(X), X.astype(np.float32)):
        summary = summarize(model[0], X_kind, y)
        assert "not followed by a model" in summary["prediction"]["text"][0]
        assert "not followed by a model" in summary["coefficients"]["text"][0]
        assert "not followed by a model" in summary["convergence"]["text"][0]
    unsupervised = summarize(ISPCA(1, n_supervised=0).fit(X), X)
    assert unsupervised["title"] == "Components of 60 features in 48 samples"
    assert len(unsupervised["score_plot"]["scores"]) == 1
    spca = SPCA(3, n_features=10).fit(X, y)
    assert "features passed" in " ".join(summarize(spca, X, y)["components"]["text"])


def test_a_comparison_alone_and_beside_a_fit(two):
    model, X, y = two
    methods = {"chance": DummyClassifier(), "logistic": LogisticRegression()}
    result = compare(methods, X, y, cv=3, n_jobs=1, baseline="chance")
    alone = summarize(result)
    assert summarize(result, X, y)["data"]["tables"][0]["key"] == "classes"
    assert "components" not in alone
    assert alone["prediction"]["n_splits"] == 3
    assert "no single fit" in " ".join(alone["question"]["text"])
    beside = summarize(model, X, y, validation=result)
    assert beside["prediction"]["tables"] == alone["prediction"]["tables"]
    with pytest.raises(ValueError, match="Two comparisons"):
        summarize(result, validation=result)
    with pytest.raises(ValueError, match="must be the result of"):
        summarize(model, X, y, validation=3)


def test_names_of_frames_and_given_names(two):
    pandas = pytest.importorskip("pandas")
    _, X, y = two
    frame = pandas.DataFrame(X, [f"patient {i}" for i in range(len(X))], [f"gene {j}" for j in range(X.shape[1])])
    reduction = ISPCA(2, random_state=0).fit(frame, y)
    summary = summarize(reduction, frame, y)
    assert summary["score_plot"]["samples"][3] == "patient 3"
    assert summary["features"]["tables"][0]["rows"][0][1].startswith("gene ")
    with pytest.raises(ValueError, match="sample_names has 2 entries"):
        summarize(reduction, frame, y, sample_names=["a", "b"])
    with pytest.raises(ValueError, match="feature_names has 2 entries"):
        summarize(reduction, frame, y, feature_names=["a", "b"])


def test_errors_say_what_to_do(two):
    model, X, y = two
    with pytest.raises(ValueError, match="A report needs"):
        summarize(PCA().fit(X), X, y)
    with pytest.raises(ValueError, match="A report needs"):
        summarize(make_pipeline(ISPCA(2), DummyClassifier()).fit(X, y), X, y)
    with pytest.raises(ValueError, match="not fitted"):
        summarize(ISPCA(), X, y)
    with pytest.raises(ValueError, match="pass the data of the fit"):
        summarize(model, None, y)
    with pytest.raises(ValueError, match="fitted to 60 features"):
        summarize(model, X[:, :5], y)
    with pytest.raises(ValueError, match="y has shape"):
        summarize(model, X, y[:5])


def test_many_samples_are_drawn_in_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 6)) + rng.normal(size=(5000, 1))
    summary = summarize(ISPCA(6, n_permutations=50, random_state=0).fit(X, X[:, 0] > 0), X, X[:, 0] > 0)
    assert len(summary["score_plot"]["samples"]) == 4000
    assert any("4,000 of the 5,000 samples" in line for line in summary["score_plot"]["text"])


def test_no_effective_sample_size_is_called_sufficient_below_the_limit(two):
    model, X, y = two
    report = deepcopy(model)
    for bulk, tail, words in (
        (900, 900, "400 or more is sufficient"),
        (900, 363, "these are less exact"),
        (300, 363, "need"),
    ):
        found = report[1].diagnostics_
        sizes = {"bulk_ess": np.full_like(found.bulk_ess, bulk), "tail_ess": np.full_like(found.tail_ess, tail)}
        report[1].diagnostics_ = replace(found, **sizes)
        (text,) = (line for line in summarize(report, X, y)["convergence"]["text"] if "effective sample" in line)
        assert words in text
        assert ("sufficient" in text) == (tail >= 400)


def test_a_missing_seed_is_stated(two):
    _, X, y = two
    open_seed = make_pipeline(ISPCA(2, whiten=True), HorseshoeClassifier(n_warmup=20, n_draws=20, retry=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        open_seed.fit(X, y)
    assert any("No random seed" in line for line in summarize(open_seed, X, y)["reproducibility"]["text"])


@pytest.mark.parametrize(
    ("weight", "outcome", "words"),
    [
        (0.79, "undecided", "permutations did not settle it, so no component is added"),
        (0.81, "component added", "Slightly different data may change the outcome"),
    ],
)
def test_a_borderline_test_is_called_so(weight, outcome, words):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30))
    y = rng.normal(size=40) + weight * X[:, 0]
    reduction = ISPCA(2, n_supervised=1, n_permutations="auto", random_state=0).fit(X, y)
    section = summarize(reduction, X, y)["components"]
    assert section["text"][-1].startswith("The test of step 1 is borderline: its p-value (99% interval 0.0")
    assert words in section["text"][-1]
    row = section["tables"][0]["rows"][0]
    assert row[2].endswith(", borderline")
    assert row[4] == outcome
    # A p-value below alpha is not said to have failed.
    assert ("The test of the best feature is undecided" in " ".join(section["text"])) == (outcome == "undecided")
    assert "No single feature" not in " ".join(section["text"])


def test_few_permutations_near_alpha_are_called_borderline():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30))
    y = rng.normal(size=40) + 0.82 * X[:, 0]
    reduction = ISPCA(2, n_supervised=1, random_state=0).fit(X, y)
    assert "Another random seed may change the outcome" in summarize(reduction, X, y)["components"]["text"][-1]


def test_a_clear_test_is_not_called_borderline(two):
    model, X, y = two
    assert "borderline" not in json.dumps(summarize(model, X, y)["components"])


@pytest.mark.parametrize("told", [QUANTITY, None])
def test_the_kind_of_target_is_told_or_guessed(told, rng):
    X, y = rng.normal(size=(6, 2)), np.arange(6) % 3
    inputs = check_inputs(None, X, y, None, None, None, None, Context(target_kind=told))
    assert inputs.target == (told or CLASSES)
