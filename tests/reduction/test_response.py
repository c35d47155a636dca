"""The target: what it may hold, and that its scale does not matter."""

import numpy as np
import pytest

from ispca import ISPCA, feature_scores
from ispca.reduction.response import make_response


@pytest.mark.parametrize("factor", [1e-200, 1e-8, 1e8, 1e160])
def test_the_scale_of_a_numeric_target_does_not_matter(factor):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    np.testing.assert_allclose(feature_scores(X, factor * y), feature_scores(X, y), atol=1e-12)


def test_object_arrays_of_numbers_and_of_strings():
    assert make_response(np.array([1.5, 2.5, 3.5], dtype=object)).family.name == "gaussian"
    assert make_response(np.array(["a", "b", "a"], dtype=object)).classes.tolist() == ["a", "b"]


@pytest.mark.parametrize("labels", [["a", None, "b", "a"], ["a", float("nan"), "b", "a"]])
def test_missing_labels_are_counted(labels):
    with pytest.raises(ValueError, match=r"missing labels.*in 1 of.*Drop"):
        make_response(np.array(labels, dtype=object))


def test_labels_of_different_kinds():
    with pytest.raises(ValueError, match="different types"):
        make_response(np.array(["a", 1, "b", 2], dtype=object), "multinomial")


def test_values_too_large_to_square_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[:, 1] *= 1e200
    with pytest.raises(ValueError, match=r"1 column: 1 .*Rescale"):
        ISPCA().fit(X, np.arange(20) % 2)
