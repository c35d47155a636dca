"""Targets that cannot be explained, or that may mean something else."""

import numpy as np
import pytest

from ispca import ISPCA
from refusals import BOTH, assert_refused


@BOTH
@pytest.mark.parametrize("label", ["a", 1])
def test_one_class_only(no_work, kind, X, label):
    assert_refused(kind(), X, np.array([label] * 20), "one class", repr(label), "2 classes")


@BOTH
def test_a_constant_numeric_target(no_work, kind, X):
    assert_refused(kind(), X, np.full(20, 0.5), "constant|one value", "var|differ")


@BOTH
def test_a_constant_target_of_family_gaussian(no_work, kind, X):
    assert_refused(kind(family="gaussian"), X, np.full(20, 3), "constant", "varies")


@BOTH
def test_labels_where_numbers_are_needed(no_work, kind, X, y):
    assert_refused(kind(family="gaussian"), X, y, "gaussian", "numeric", "labels", "auto")


@BOTH
def test_three_classes_where_two_are_needed(no_work, kind, X):
    assert_refused(kind(family="binomial"), X, np.arange(20) % 3, "binomial", "2 classes", "3", "multinomial")


@BOTH
def test_a_class_with_one_member_is_allowed_but_warned_of(kind, X, y):
    y = np.where(np.arange(20) == 7, "rare", y)
    with pytest.warns(UserWarning, match=r"rare.*one member"):
        estimator = kind(n_components=2, random_state=0).fit(X, y)
    assert list(estimator.classes_) == ["a", "b", "rare"]


def test_integers_treated_as_classes_of_few_samples_are_warned_of(X):
    with pytest.warns(UserWarning, match=r'8 distinct numbers in 12 samples.*class labels.*family="gaussian"'):
        ISPCA(n_components=2, random_state=0).fit(X[:12], np.arange(12) % 8)


def test_integers_treated_as_a_quantity_are_warned_of(X):
    with pytest.warns(UserWarning, match=r'20 distinct integers.*quantity.*family="multinomial"'):
        assert not hasattr(ISPCA(n_components=2, random_state=0).fit(X, np.arange(20)), "classes_")


@BOTH
def test_a_complex_target(no_work, kind, X):
    assert_refused(kind(), X, np.arange(20) * 1j, "[Cc]omplex")


@BOTH
@pytest.mark.parametrize("columns", [2, 6])
def test_a_target_of_several_columns(no_work, kind, X, columns, rng):
    assert_refused(kind(), X, rng.integers(0, 2, (20, columns)), r"y|1d|column")


@BOTH
def test_no_target(no_work, kind, X):
    assert_refused(kind(), X, None, "y")
