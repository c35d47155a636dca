"""The rules of benchmarks/predictions.py on made-up numbers."""

import numpy as np
import pytest

from benchmarks.predictions import (
    PAPER,
    RECOMMENDED,
    STACK,
    methods_for,
    recipe_gains,
    stack_improves,
    stack_is_best,
    stack_is_safe,
    verdicts,
)
from ispca.validation.stacking_candidates import default_candidates


@pytest.mark.parametrize(
    ("gains", "met"), [((0.03, -0.009), True), ((0.03, -0.02), False), ((0.015, 0.0), False), ((0.02, 0.02), True)]
)
def test_the_recipe_must_gain_on_average_and_lose_little(gains, met):
    means = {PAPER: np.full(2, -0.4), RECOMMENDED: -0.4 + np.array(gains)}
    assert recipe_gains(means)[0] is met


def test_the_stack_must_improve_win_and_be_safe():
    means = {STACK: np.array([-0.2, -0.24]), "lasso": np.array([-0.18, -0.3]), PAPER: np.array([-0.1, -0.1])}
    assert stack_improves(means)[0]
    assert stack_is_best(means)[0]
    assert stack_is_safe(means)[0]
    assert not stack_improves(means | {STACK: np.array([-0.2, -0.25])})[0]
    assert not stack_is_best(means | {"SVM": np.array([-0.2, -0.22])})[0]
    assert not stack_is_safe(means | {"SVM": np.array([-0.16, -0.9])})[0]


def test_rules_without_their_methods_are_not_judged():
    text = verdicts({"lasso": np.array([-0.2])}, complete=False)
    assert text.count("not judged") == 4
    assert "NOT final" in text


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_stack_has_the_default_candidates_and_rivals(n_classes):
    methods = methods_for(n_classes)
    names = [name for name, _ in default_candidates(n_classes)]
    assert [name for name, _ in methods[STACK].estimators] == names
    assert {*names, PAPER, "SVM", "PLS-DA", "random-forest", "gradient-boosting"} < set(methods)
    assert not methods["PCA"]["model"].retry
