"""A new user reads the answer first: the verdict, the progress, the stack, and how tests and predictions agree."""

import io
import json
import re
import sys
from html import escape

import numpy as np
import pytest

from ispca.foundation import progress as _progress
from user_files import SAMPLES, SHORT, D, N, Study, table, text

MODEL = "Model: 1 supervised component, 3 unsupervised components; leading features g4, g1, g3, g5, g2."


def weak(seed, shift=0.55):
    """Return a study in which all genes differ a little, and none of them much."""
    study = Study(seed)
    study.X = np.random.default_rng(seed).normal(8, 1, size=(N, D)) + shift * (study.tissue == "tumour")[:, None]
    return study


def test_cross_validation_without_asking(study, user):
    study.write_table("plain.csv")
    answer = user("ispca fit plain.csv --target tissue", added=SHORT)
    assert re.fullmatch(
        r"Verdict: \d+% of held-out samples are classified correctly \(95% interval \d+% to >?\d+%\), compared "
        r"with 50% by always predicting the most common class; AUC \d\.\d\d \(95% interval 0\.\d\d to 1\.00\)\. "
        r"Components alone: accuracy \d+% \((no significant difference|significantly worse)\)\.",
        answer.lines[0],
    )
    assert answer.lines[1:4] == [MODEL, "", SAMPLES]
    assert "In each of 5 splits, about 20% of the samples were held out." in text("plain-results/report.html")


def test_no_cross_validation(study, user):
    study.write_table("plain.csv")
    answer = user("ispca fit plain.csv --target tissue --cv 0")
    assert answer.lines[0] == (
        "Verdict: Not cross-validated, so nothing is known about predictions of new samples."
    )
    assert answer.lines[1] == MODEL
    assert "How well the model predicts new samples was not measured." in text("plain-results/report.html")
    answer = user("ispca fit plain.csv --target tissue --cv 1 --out other", code=2)
    assert (answer.out, len(answer.notes)) == ("", 1)


def test_a_quantity(study, user):
    study.tissue = np.round(study.X[:, :6].mean(axis=1) + study.rng.normal(0, 0.1, size=N), 3)
    study.write_table("plain.csv")
    answer = user("ispca fit plain.csv --target tissue --cv 3")
    assert "% of the variance of the target in held-out samples is explained (95% interval" in answer.lines[0]
    assert "compared with 0% by always predicting the mean. Components alone: explained" in answer.lines[0]


def test_progress(study, user, monkeypatch):
    """On a terminal, a line says what is being done, how much of it is done, and how long it will take."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    study.write_table("plain.csv")
    monkeypatch.setattr(_progress, "SECONDS_BEFORE", 0.001)
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN", 0.001)
    monkeypatch.setattr(sys, "stderr", Terminal())
    user("ispca fit plain.csv --target tissue --cv 3")
    shown = [line.strip() for line in sys.stderr.getvalue().split("\r")]
    for task in (
        "Reading plain.csv",
        "Finding components",
        "Sampling the posterior",
        "Cross-validating",
        "Writing",
    ):
        assert any(line.startswith(task) for line in shown), task
    assert any(line.startswith("Cross-validating [") and line.endswith("left") for line in shown)


@pytest.mark.slow
def test_the_price_of_a_model_that_can_be_read(study, user):
    """The combined prediction is judged beside the components, stored, and used for predictions."""
    study.write_table("plain.csv")
    answer = user("ispca fit plain.csv --target tissue --cv 2 --threads 1 --out results")
    assert answer.lines[0].startswith("Verdict: ")
    alone = answer.lines[0][answer.lines[0].index("Components alone: accuracy ") :]
    assert escape(alone) in text("results/report.html")
    study.X += np.random.default_rng(5).normal(0, 0.5, size=study.X.shape)
    study.write_table("new.csv", target=False)
    both = (user(f"ispca predict results new.csv --model {name}") for name in ("combined", "components"))
    combined, components = both
    assert combined.lines[0] == components.lines[0] == "id,prediction,p(normal),p(tumour)"
    assert len(combined.lines) == N + 1
    assert combined.lines[1:] != components.lines[1:]


def test_no_single_feature_but_good_predictions(study, user):
    weak(3).write_table("weak.csv")
    answer = user("ispca fit weak.csv --target tissue --cv 5")
    assert "not significantly better" not in answer.lines[0]
    assert answer.lines[1].startswith("Model: 0 supervised components, 4 unsupervised components")
    assert "No single feature" in answer.out
    sentence = "Yet the components alone predict held-out samples better than the baseline: many weakly"
    assert sentence in answer.out
    page = text("weak-results/report.html")
    assert sentence in page
    assert "no signal" not in answer.out + page


def test_a_feature_that_does_not_help(study, user):
    study.X = np.random.default_rng(100).normal(8, 1, size=(N, D))
    study.X[study.tissue == "tumour", 0] += 2
    study.write_table("one.csv")
    answer = user("ispca fit one.csv --target tissue --cv 2")
    assert "not significantly better" in answer.lines[0]
    assert answer.lines[1].startswith("Model: 1 supervised component")
    assert (
        "Yet the components alone do not predict held-out samples significantly better than the baseline"
        in answer.out
    )


def test_a_borderline_test(study, user):
    weak(0).write_table("weak.csv")
    answer = user("ispca fit weak.csv --target tissue --json")
    found = json.loads(answer.out)
    assert [finding["kind"] for finding in found["findings"]] == ["borderline"]
    sentence = found["findings"][0]["sentence"]
    assert sentence.startswith("The test of step 1 is borderline")
    assert sentence in user("ispca fit weak.csv --target tissue").lines
    assert sentence in text("weak-results/report.html")


@pytest.mark.parametrize(("number", "folds"), [(1, 0), (3, 3)])
def test_too_few_samples_of_a_class(number, folds, study, user):
    """Said before any work; the fit goes on with as many folds as possible and writes everything."""
    study.tissue[:] = "normal"
    study.tissue[:number] = "tumour"
    study.write_table("few.csv")
    answer = user("ispca fit few.csv --target tissue", added=SHORT)
    warning = answer.warnings[0]
    assert answer.notes.index(warning) == 2
    if folds:
        start = "Class 'tumour' has only 3 samples, so the cross-validation uses 3 folds instead of 5."
        assert answer.lines[0].startswith("Verdict: AUC 0.")
        assert " classified correctly, compared with 88%" in answer.lines[0]
    else:
        start = "Class 'tumour' has only 1 sample, which cannot be both fitted and held out"
        assert answer.lines[0].startswith(f"Verdict: {start}, so the model is not cross-validated.")
    assert warning.removeprefix("warning: ").startswith(start)
    assert len(table("few-results/scores.csv")[1]) == N
    assert start.replace("'", "&#39;") in text("few-results/report.html")
