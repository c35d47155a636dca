"""The methods paragraph names what was done, with the settings and versions of this very fit."""

import html
from dataclasses import replace
from importlib.metadata import version

from ispca import SPCA
from ispca.report import summarize, to_html, to_markdown
from ispca.report.report_inputs import Context
from ispca.validation.baseline_comparison import BASE_RATE, COMBINED, COMPONENTS


def test_it_states_data_settings_validation_and_versions(two, compared):
    model, X, y = two
    validation = compared("two")
    summary = summarize(
        model, X, y, validation=validation, context=Context(target_name="diagnosis", transform="log2")
    )
    text = summary["methods"]["paragraph"]
    n_first = int((y == model.classes_[0]).sum())
    for words in (
        f"60 features with diagnosis was analyzed in 48 samples ({n_first} {model.classes_[0]}, ",
        "transformed by log2(1 + x)",
        f"permutations) gave p < {model[0].alpha:g}",
        "Bayesian logistic regression with a regularized horseshoe prior (Piironen and Vehtari, 2017)",
        f"{model[1].diagnostics_.n_draws:,} posterior draws",
        "2 folds, stratified by class; every sample is held out once",
        "compared with lasso and base rate",
        f"ispca {version('ispca')}",
        "random seed 0",
    ):
        assert words in text
    assert html.escape(text) in to_html(summary)
    assert "Bayesian logistic regression" in to_markdown(summary)
    # Which numbers are those of a mixture, and what is mixed.
    mixed = replace(validation, methods=[COMBINED, COMPONENTS, BASE_RATE])
    found = summarize(model, X, y, validation=mixed, context=Context(test={"samples": 3, "accuracy": 0.5}))
    assert f"weighted means of those of {COMPONENTS}, {BASE_RATE} (stacking; " in found["methods"]["paragraph"]
    assert f"predictions of {COMPONENTS}, {BASE_RATE}." in " ".join(found["prediction"]["text"])
    assert found["external_test"]["text"] == ["The combined prediction was fitted without these samples."]
    references = [len(item["reproducibility"]["references"]) for item in (summary, found)]
    assert references == [2, 3]
    assert "stacking" not in text
    assert COMBINED not in " ".join(summary["prediction"]["text"])


def test_it_does_not_claim_what_was_not_done(two, quantity):
    _, X, y = two
    text = summarize(SPCA(3, n_features=10).fit(X, y), X, y)["methods"]["paragraph"]
    assert "reduced to supervised principal components." in text
    assert not any(word in text for word in ("Bayesian", "permutation test", "splits", "Piironen", "seed"))
    assert "Bayesian linear regression" in summarize(*quantity)["methods"]["paragraph"]
