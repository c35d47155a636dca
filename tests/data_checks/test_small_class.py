"""Classes too small for the folds, borderline tests, and their agreement with held-out samples."""

import numpy as np
import pytest

from ispca.data_checks.small_class import find_borderline, limit_folds, reconciliation
from ispca.reduction.reduction_result import Step


def target(size):
    return np.array(["common"] * 20 + ["rare"] * size)


@pytest.mark.parametrize(("size", "number"), [(1, 0), (2, 2), (4, 4), (5, 5), (9, 5)])
def test_the_smallest_class_limits_the_folds(size, number):
    y = target(size)
    folds, found = limit_folds(y, "classification", 5)
    assert folds == limit_folds(y, "ordinal", 5)[0] == number
    assert bool(found) == (number < 5)
    if found:
        words = f"uses {number} folds instead of 5." if number else "so the model is not cross-validated."
        assert words in found[0].sentence
        assert found[0].sentence.startswith(f"Class 'rare' has only {size} sample{'s' * (size > 1)}, ")
        assert found[0].rows == tuple(range(20, 20 + size))


def test_groups_count_instead_of_samples():
    y, groups = target(10), np.r_[np.arange(20), np.full(10, 99)]
    folds, (finding,) = limit_folds(y, "classification", 5, groups)
    assert folds == 0
    assert "Class 'rare' has only 1 group, " in finding.sentence


def test_quantities_have_no_classes():
    y = np.arange(20.0)
    assert limit_folds(y, "regression", 5) == (5, [])
    assert limit_folds(y[:3], "regression", 5)[0] == 3
    assert limit_folds(y[:3], "regression", 0) == (0, [])
    folds, (finding,) = limit_folds(y, "regression", 5, np.arange(20) % 4)
    assert folds == 4
    assert finding.sentence == "The data have only 4 groups, so the cross-validation uses 4 folds instead of 5."


def test_only_borderline_tests_are_reported():
    clear = Step(accepted=True, score=0.9, p_value=0.0, p_value_interval=(0.0, 0.001))
    close = Step(accepted=False, score=0.5, p_value=0.011, p_value_interval=(0.009, 0.013), borderline=True)
    (finding,) = find_borderline([clear, close], 0.01)
    assert finding.sentence.startswith("The test of step 2 is borderline")
    assert find_borderline([clear], 0.01) == find_borderline([close], None) == []


def test_tests_and_held_out_samples_are_reconciled():
    better, worse = {"better_than_baseline": True}, {"better_than_baseline": False}
    assert "Yet the components alone predict held-out samples better" in reconciliation(0, better)
    assert "Yet the components alone do not predict" in reconciliation(1, worse)
    assert reconciliation(0, worse) is reconciliation(2, better) is None
    assert reconciliation(0, {"better_than_baseline": None}) is None
    # If covariates predict, the features need not carry a signal.
    unclear, clear = ({"covariate_gain": {"low": low}} for low in (-0.1, 0.1))
    assert reconciliation(0, better | unclear) is None
    assert "better than the covariates alone: the association" in reconciliation(1, better | unclear)
    assert "better than the covariates alone: many weakly" in reconciliation(0, better | clear)
    # Another method shows that the samples are enough.
    assert reconciliation(1, worse | {"better_method": "lasso"}).endswith("better than the baseline.")
