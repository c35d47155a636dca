"""Options out of range, and functions that refuse the same as the estimators."""

import re

import numpy as np
import pandas as pd
import pytest

from ispca import ISPCA, SPCA, feature_scores, score_test
from refusals import BOTH, assert_refused


@BOTH
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("family", "gamma"),
        ("max_features", 0),
        ("max_features", 2.5),
        ("n_permutations", 0),
        ("n_components", 0),
        ("n_components", 1.5),
        ("n_supervised", -1),
        ("alpha", 0.0),
        ("alpha", 1.5),
        ("whiten", "yes"),
        ("memory_budget", 10),
        ("random_state", "seed"),
    ],
)
def test_options_out_of_range(no_work, kind, X, y, option, value):
    assert_refused(kind(**{option: value}), X, y, f"'{option}'", kind.__name__, "must be", re.escape(str(value)))


@pytest.mark.parametrize(
    ("option", "value"), [("test", "bootstrap"), ("n_thresholds", 0), ("n_thresholds", "ten")]
)
def test_options_of_ispca_out_of_range(no_work, X, y, option, value):
    assert_refused(ISPCA(**{option: value}), X, y, f"'{option}'", "must be", str(value))


def test_unknown_options_name_the_choices(no_work, X, y):
    assert_refused(ISPCA(test="bootstrap"), X, y, "paper", "residual")
    assert_refused(ISPCA(family="gamma"), X, y, "gaussian", "binomial", "multinomial", "auto")
    assert_refused(SPCA(statistic="cosine"), X, y, "pearson", "spearman", "kendall", "runs")


@pytest.mark.parametrize(
    ("option", "value"),
    [("statistic", "cosine"), ("n_features", 0), ("threshold", 1.5), ("threshold", -0.1), ("alpha", None)],
)
def test_options_of_spca_out_of_range(no_work, X, y, option, value):
    assert_refused(SPCA(**{option: value}), X, y, f"'{option}'", "must be", str(value))


def test_two_ways_to_screen(no_work, X, y):
    assert_refused(SPCA(n_features=3, threshold=0.5), X, y, "n_features", "threshold", "one")


@BOTH
@pytest.mark.parametrize(
    ("exclude", "words"),
    [
        ([6], ["exclude", "0 to 5"]),
        ([True, False], ["exclude", "mask", "6"]),
        (["age"], ["exclude", "names"]),
    ],
)
def test_exclude_that_does_not_fit(no_work, kind, X, y, exclude, words):
    assert_refused(kind(exclude=exclude), X, y, *words)


def test_exclude_names_that_x_does_not_have(no_work, X, y):
    assert_refused(ISPCA(exclude=["age", "A"]), pd.DataFrame(X, columns=list("ABCDEF")), y, "exclude", "'age'")


def test_an_unknown_parameter_is_no_parameter():
    with pytest.raises(TypeError, match="n_component"):
        ISPCA(n_component=3)


# The functions.


@pytest.mark.parametrize("function", [feature_scores, score_test])
def test_the_functions_refuse_the_same(function, X, y):
    with pytest.raises(ValueError, match=r"statistic must be one of 'pearson'.*'runs', got 'cosine'"):
        function(X, y, statistic="cosine")
    with pytest.raises(ValueError, match=r"family must be one of.*'gaussian'.*got 'gamma'"):
        function(X, y, family="gamma")
    with pytest.raises(ValueError, match="one class"):
        function(X, ["a"] * 20)
    with pytest.raises(ValueError, match=r"20.*19|19.*20"):
        function(X, y[:-1])
    X[0, 5] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*1 value.*5 \(1\)"):
        function(X, y)


def test_score_test_names_its_kinds(X, y):
    with pytest.raises(ValueError, match="kind must be one of 'each', 'maximum', got 'all'"):
        score_test(X, y, kind="all")
    with pytest.raises(ValueError, match="n_permutations must be a positive integer, got 0"):
        score_test(X, y, n_permutations=0)
