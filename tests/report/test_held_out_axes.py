"""The picture shows samples as they were predicted while held out, and says which axes are training scores."""

import warnings

import numpy as np
import pytest

from ispca.report import summarize
from ispca.validation import compare_with_baselines


def test_two_classes_start_with_the_held_out_log_odds(two, compared):
    model, _, y = two
    validation = compared("two")
    plot = summarize(*two, validation=validation)["score_plot"]
    [axis] = plot["predictions"]
    assert axis["label"] == f"log odds of {np.unique(y)[1]} (held out)"
    assert plot["first"] == [len(plot["components"]), int(model[0].n_supervised_)]
    assert plot["components"][0] == "supervised_1 (training)"
    split, row = validation.splits[0], validation.predictions[0]
    chance = row[validation.methods.index("this model")].probabilities[:, 1]
    expected = np.log(chance / (1 - chance))
    np.testing.assert_allclose(np.array(axis["values"])[split.test], expected, rtol=1e-3, atol=1e-3)
    text = " ".join(plot["text"])
    assert "fitted without it" in text
    assert "marked “training”" in text


def test_several_classes_start_with_those_that_the_components_separate(four, compared):
    model, _, y = four
    plot = summarize(*four, validation=compared("four"))["score_plot"]
    assert len(plot["predictions"]) == len(np.unique(y)) == 4
    assert plot["predictions"][0]["label"] == f"log odds of {model[0].steps_[0].target_class} (held out)"
    assert plot["first"] == [len(plot["components"]), len(plot["components"]) + 1]


def test_quantities(quantity, compared):
    validation = compared("quantity")
    plot = summarize(*quantity, validation=validation, target_name="dose")["score_plot"]
    [axis] = plot["predictions"]
    assert axis["label"] == "predicted dose (held out)"
    predicted = validation.predictions[0][validation.methods.index("this model")].value
    np.testing.assert_allclose(np.array(axis["values"])[validation.splits[0].test], predicted, rtol=1e-3)


def test_samples_that_were_never_held_out_have_no_place(two):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        validation = compare_with_baselines(*two, cv=[(np.arange(20), np.arange(20, 48))], n_jobs=1)
    plot = summarize(*two, validation=validation)["score_plot"]
    values = plot["predictions"][0]["values"]
    assert values[:20] == [None] * 20
    assert None not in values[20:]
    assert "20 samples never held out cannot be shown" in " ".join(plot["text"])


@pytest.mark.parametrize("target", [True, False])
def test_without_validation_the_scores_are_shown(two, target):
    model, X, y = two
    plot = summarize(model, X, y if target else None)["score_plot"]
    assert plot["predictions"] == []
    assert plot["first"] == [0, 1]
    assert ("training" in " ".join(plot["text"])) == target
