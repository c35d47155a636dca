"""The rules and tables of benchmarks/predictions.py on made-up numbers."""

import numpy as np
import pytest

from benchmarks.prediction_rules import (
    PAPER,
    STACK,
    pooled_calibration_error,
    report,
    stack_is_best,
    stack_is_safe,
    verdicts,
)
from benchmarks.predictions import methods_for
from benchmarks.recipe import verdict


@pytest.mark.parametrize(
    ("gains", "met"), [((0.03, -0.009), True), ((0.03, -0.02), False), ((0.015, 0.0), False), ((0.02, 0.02), True)]
)
def test_the_recipe_must_gain_on_average_and_lose_little(gains, met):
    assert ("**met**" in verdict(np.array(gains), complete=True)) is met


def test_the_stack_must_improve_win_and_be_safe():
    means = {STACK: np.array([-0.2, -0.24]), "lasso": np.array([-0.18, -0.3]), PAPER: np.array([-0.1, -0.1])}
    assert stack_is_best(means)[0]
    assert stack_is_safe(means)[0]
    assert not stack_is_best(means | {STACK: np.array([-0.2, -0.25])})[0]
    assert not stack_is_best(means | {"SVM": np.array([-0.2, -0.22])})[0]
    assert not stack_is_safe(means | {"SVM": np.array([-0.16, -0.9])})[0]


def test_rules_without_their_methods_are_not_judged():
    text = verdicts({"lasso": np.array([-0.2])}, complete=False)
    assert text.count("not judged") == 3
    assert "NOT final" in text


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_stack_has_the_default_candidates_and_rivals(n_classes):
    methods = methods_for(n_classes, 0)
    # None: the default candidates.
    assert methods[STACK].estimators is None
    assert {PAPER, "ridge", "kernel linear", "SVM", "PLS-DA", "random-forest", "gradient-boosting"} < set(methods)
    assert not methods["PCA"]["model"].retry


def test_calibration_error_is_that_of_all_splits_together():
    observed = np.array([1, 0])
    half = np.full((2, 2), 0.5)
    sure = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert pooled_calibration_error([(half, observed)]) == pytest.approx(0.0)
    assert pooled_calibration_error([(sure, observed), (sure, observed)]) == pytest.approx(0.5)


def test_the_report_reads_what_is_stored(tmp_path):
    observed = np.array([0, 1, 1])
    good, bad = np.eye(2)[observed] * 0.8 + 0.1, np.full((3, 2), 0.5)
    for number in (0, 1):
        np.savez(tmp_path / f"colon-{number:03d}-SVM.npz", probabilities=bad, observed=observed)
        stack = {"candidates": ["lasso", "base rate"], "parts": np.array([good, bad])}
        np.savez(tmp_path / f"colon-{number:03d}-{STACK}.npz", probabilities=good, observed=observed, **stack)
    text = report(tmp_path, ["colon", "gordon"])
    assert "| set | SVM | lasso | base rate | stacking |" in text
    assert f"| colon | -0.693 | **{np.log(0.9):.3f}** | -0.693 | **{np.log(0.9):.3f}** |" in text
    assert "Splits: colon 2." in text
    assert "NOT final" in text
