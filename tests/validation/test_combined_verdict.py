"""What a verdict on the combined prediction says of its components, and lists of features of both."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from ispca.data_checks.small_class import reconciliation
from ispca.families.survival_curves import censoring_curve
from ispca.foundation.splits import Split
from ispca.targets.samples import HeldOut, Prediction
from ispca.validation import compare, verdict
from ispca.validation.baseline_comparison import BASE_RATE, COMBINED, COMPONENTS, COVARIATES, covariate_gain
from ispca.validation.comparison import Comparison
from ispca.validation.held_out_verdict import (
    chance_sentence,
    components_alone,
    paired_difference,
    verdict_on_components,
)

CHANCE = DummyClassifier(strategy="uniform", random_state=0)


def judged(combined, components):
    X = np.random.default_rng(0).normal(size=(60, 2))
    methods = {COMBINED: combined, COMPONENTS: components, BASE_RATE: DummyClassifier(strategy="prior")}
    y = (X[:, 0] > 0).astype(int)
    return compare(methods, X, y, cv=5, baseline=BASE_RATE, n_jobs=1)


@pytest.mark.parametrize("combined_is_better", [True, False])
def test_a_judgment_on_the_components_is_said_where_it_differs(combined_is_better):
    methods = (LogisticRegression(), CHANCE)
    result = judged(*methods if combined_is_better else reversed(methods))
    found = verdict(result)
    assert found["better_than_baseline"] is combined_is_better
    assert found["components"]["better_than_baseline"] is not combined_is_better
    # Both are said in words, the headline first.
    ends = ("is not significantly better than the base rate.", "is significantly better than the base rate.")
    assert found["sentence"].endswith(ends[not combined_is_better])
    assert found["sentence"].count("significantly better than the base rate") == 2 - combined_is_better
    # Lists of features are about the components, and name them.
    chance = chance_sentence(found)
    assert (chance is not None) is combined_is_better
    assert chance is None or chance.startswith("The components alone do not predict")
    # Another prediction shows that there are enough samples.
    said = reconciliation(1, verdict_on_components(found))
    assert said is None or said.endswith("significantly better than the baseline.")


def test_equal_judgments_are_said_once():
    found = verdict(judged(LogisticRegression(), LogisticRegression(C=0.5)))
    assert found["sentence"].endswith("(no significant difference).")
    assert verdict_on_components(found)["better_method"] is None


def test_the_difference_from_the_components_is_the_same_everywhere():
    result = judged(LogisticRegression(), LogisticRegression(C=0.02))
    name, difference = paired_difference(result, COMBINED, COMPONENTS)
    alone = components_alone(result)
    assert (name, difference.value, difference.low) == tuple(
        alone[key] for key in ("measure", "difference", "low")
    )


def made_up(kind, y, values, n_folds=2, **known):
    """Return a comparison with these predictions of the methods."""
    places = np.arange(len(y))
    splits = [Split(places[places % n_folds != k], places[places % n_folds == k]) for k in range(n_folds)]
    predictions = [[Prediction(*(part[split.test] for part in parts)) for parts in values] for split in splits]
    observed = [HeldOut(y[split.test], **known) for split in splits]
    rates = [row[-1] for row in predictions]
    methods = [COMBINED, COMPONENTS, COVARIATES]
    return Comparison(methods, COVARIATES, {}, predictions, splits, kind=kind, observed=observed, rates=rates)


def test_too_few_events_judge_nothing():
    y = np.empty(30, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = np.arange(30) < 3, np.arange(30) + 1.0
    values = [(-y["time"],), (y["time"],), (np.zeros(30),)]
    result = made_up("survival", y, values, censoring=censoring_curve([True], [1.0]))
    found = verdict(result)
    assert found["sentence"].startswith("Too few events to judge")
    assert "concordance" not in found["sentence"]
    assert found["components"] is None
    assert covariate_gain(result, ["age"]) is None
    assert chance_sentence(found).startswith("The predictions were not judged")


def test_covariates_are_compared_by_the_measure_of_the_verdict():
    """Accuracy would be that of the largest class for all."""
    y = (np.arange(60) % 5 == 0).astype(int)
    rng = np.random.default_rng(0)

    def of(strength):
        p = np.clip(0.2 + strength * (y - 0.2) + rng.normal(0, 0.05, 60), 0.01, 0.45)
        return np.zeros(60, dtype=int), np.column_stack([1 - p, p])

    result = made_up("classification", y, [of(0.3), of(0.01), of(0.0)], n_classes=2)
    found = verdict(result)
    gain, of_components = (covariate_gain(result, ["age"], name) for name in (None, COMPONENTS))
    assert (found["measure"], gain["measure"]) == ("auc", "AUC")
    assert gain["model"] == found["value"] > 0.95
    assert "The covariates alone (age) reach an AUC of 0." in gain["sentence"]
    assert gain["low"] > 0 > of_components["low"]
    # What the mixture adds is not what the components add.
    found |= {"covariate_gain": gain}
    found["components"] |= {"covariate_gain": of_components, "better_than_baseline": True}
    assert chance_sentence(found).startswith("The components alone are not shown to add")
    # The mixture shows that there are enough samples.
    said = reconciliation(1, verdict_on_components(found))
    assert said.endswith("significantly better than the covariates alone.")
