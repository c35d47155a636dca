"""The summary: plain JSON, all sections, honest words."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, HorseshoeClassifier
from ispca.report import summarize, to_json
from ispca.report.repeat import estimator_code
from ispca.report.summary import SECTIONS
from ispca.validation import compare


@pytest.mark.parametrize("which", ["two", "four", "quantity"])
def test_all_sections_as_plain_json(which, request):
    model, X, y = request.getfixturevalue(which)
    summary = summarize(model, X, y, target_name="diagnosis")
    assert [key for key in summary if key in SECTIONS] == list(SECTIONS)
    assert json.loads(to_json(summary)) == summary
    assert all(summary[key]["title"] and summary[key]["text"] for key in SECTIONS if key != "data")
    assert summary["components"]["n_supervised"] >= 1
    assert len(summary["features"]["tables"]) == model[0].n_components_
    first = summary["features"]["tables"][0]
    assert [column["label"] for column in first["columns"]] == ["Rank", "Feature", "Weight", "Correlation"]
    best = int(np.argmax(np.abs(model[0].directions_[0])))
    assert first["rows"][0][1] == str(best)
    correlation = np.corrcoef(X[:, best], model[0].transform(X)[:, 0])[0, 1]
    assert first["rows"][0][3] == pytest.approx(correlation, abs=1e-3)
    np.testing.assert_allclose(summary["picture"]["scores"][0], model[0].transform(X)[:, 0], rtol=1e-3)
    assert ("classes" in [table["key"] for table in summary["data"]["tables"]]) == (which != "quantity")


def test_two_fits_of_the_same_give_the_same(two):
    assert to_json(summarize(*two)) == to_json(summarize(*two))


def test_cross_validation_is_made_or_its_absence_told(two):
    model, X, y = two
    without = summarize(model, X, y)["prediction"]
    assert not without["measured"]
    assert "Pass cv=5" in without["text"][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measured = summarize(model, X, y, cv=2, n_jobs=1)["prediction"]
    assert measured["measured"]
    assert {row[0] for row in measured["tables"][0]["rows"]} == {"this model", "lasso", "base rate"}
    assert any(line.startswith("This model predicts") for line in measured["text"])
    assert any(line.startswith("Against base rate:") for line in measured["text"])
    highest = [row[4] for row in measured["tables"][1]["rows"] if row[0] == "Accuracy"]
    assert max(highest) <= 1


def test_the_words_of_the_convergence(two):
    model, X, y = two
    section = summarize(model, X, y)["convergence"]
    agree = "The chains agree" if model[1].diagnostics_.converged else "The chains have NOT converged"
    assert section["converged"] == model[1].diagnostics_.converged
    assert any(agree in line for line in section["text"])


def test_a_reduction_alone(two):
    model, X, y = two
    for X_kind in (X, sp.csr_array(X), X.astype(np.float32)):
        summary = summarize(model[0], X_kind, y, cv=5)
        assert "no model" in summary["prediction"]["text"][0]
        assert "no model" in summary["coefficients"]["text"][0]
        assert "no model" in summary["convergence"]["text"][0]
    unsupervised = summarize(ISPCA(1, n_supervised=0).fit(X), X)
    assert unsupervised["title"] == "Components"
    assert len(unsupervised["picture"]["scores"]) == 1
    spca = SPCA(3, n_features=10).fit(X, y)
    assert "passed the screening" in " ".join(summarize(spca, X, y)["components"]["text"])


def test_a_comparison_alone_and_beside_a_fit(two):
    model, X, y = two
    methods = {"chance": DummyClassifier(), "logistic": LogisticRegression()}
    result = compare(methods, X, y, cv=3, n_jobs=1, baseline="chance")
    alone = summarize(result)
    assert summarize(result, X, y)["data"]["tables"][0]["key"] == "classes"
    assert "components" not in alone
    assert alone["prediction"]["n_splits"] == 3
    assert "no single fit" in " ".join(alone["asked"]["text"])
    beside = summarize(model, X, y, comparison=result)
    assert beside["prediction"]["tables"] == alone["prediction"]["tables"]
    with pytest.raises(ValueError, match="given twice"):
        summarize(result, comparison=result)
    with pytest.raises(ValueError, match="must be what"):
        summarize(model, X, y, comparison=3)


def test_names_of_frames_and_given_names(two):
    pandas = pytest.importorskip("pandas")
    _, X, y = two
    frame = pandas.DataFrame(X, [f"patient {i}" for i in range(len(X))], [f"gene {j}" for j in range(X.shape[1])])
    reduction = ISPCA(2, random_state=0).fit(frame, y)
    summary = summarize(reduction, frame, y)
    assert summary["picture"]["samples"][3] == "patient 3"
    assert summary["features"]["tables"][0]["rows"][0][1].startswith("gene ")
    with pytest.raises(ValueError, match="sample_names has 2 entries"):
        summarize(reduction, frame, y, sample_names=["a", "b"])
    with pytest.raises(ValueError, match="feature_names has 2 entries"):
        summarize(reduction, frame, y, feature_names=["a", "b"])


def test_errors_say_what_to_do(two):
    model, X, y = two
    with pytest.raises(ValueError, match="A report is made of"):
        summarize(PCA().fit(X), X, y)
    with pytest.raises(ValueError, match="A report is made of"):
        summarize(make_pipeline(ISPCA(2), DummyClassifier()).fit(X, y), X, y)
    with pytest.raises(ValueError, match="not fitted"):
        summarize(ISPCA(), X, y)
    with pytest.raises(ValueError, match="pass the data of the fit"):
        summarize(model, None, y)
    with pytest.raises(ValueError, match="the fit saw 60 features"):
        summarize(model, X[:, :5], y)
    with pytest.raises(ValueError, match="y has shape"):
        summarize(model, X, y[:5])
    with pytest.raises(ValueError, match="needs the target"):
        summarize(model, X, cv=3)


def test_many_samples_are_drawn_in_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 6)) + rng.normal(size=(5000, 1))
    summary = summarize(ISPCA(6, n_permutations=50, random_state=0).fit(X, X[:, 0] > 0), X, X[:, 0] > 0)
    assert len(summary["picture"]["samples"]) == 4000
    assert any("4,000 of the 5,000 samples" in line for line in summary["picture"]["text"])


def test_the_code_makes_the_same_estimators(two):
    model, X, y = two
    code = summarize(model, X, y)["repeat"]["code"][-1]["code"]
    names = {"X": X, "y": y}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code.rpartition("\n")[0], names)
    np.testing.assert_array_equal(names["model"].predict_proba(X), model.predict_proba(X))
    excluded = ISPCA(exclude=np.array([1, 2]), random_state=np.random.default_rng(0))
    assert estimator_code(ISPCA(exclude=["x" * 2000])) == "ISPCA(exclude=...)"
    assert estimator_code(excluded) == "ISPCA(exclude=[1, 2], random_state=...)"
    open_seed = make_pipeline(ISPCA(2, whiten=True), HorseshoeClassifier(n_warmup=20, n_draws=20, retry=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        open_seed.fit(X, y)
    assert any("No random seed" in line for line in summarize(open_seed, X, y)["repeat"]["text"])
