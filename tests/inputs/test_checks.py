"""Checks of weights, offsets and chosen columns: one clear error each."""

import numpy as np
import pandas as pd
import pytest

from ispca.foundation.parameters import column_mask
from ispca.targets.target_and_prediction_checks import check_offset, check_weights

NAMES = np.array(["age", "sex", "g1", "g2"], dtype=object)


def test_equal_weights_and_no_offset_change_nothing():
    assert check_weights(None, 3) is None
    assert check_weights(np.ones(3), 3) is None
    assert check_weights(1, 3) is None
    assert check_weights(pd.Series([1, 2, 0]), 3).tolist() == [1, 2, 0]
    assert check_weights(2.0, 2).tolist() == [2, 2]
    assert check_offset(None, 3) is None
    assert check_offset(np.zeros(3), 3) is None
    assert check_offset([0, -1.5, 2], 3).tolist() == [0, -1.5, 2]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"X has 3 samples, but sample_weight has shape \(2,\): pass one weight per sample"),
        ([1, -2, 1], "sample_weight contains -2, but weights must not be negative"),
        ([0, 0, 0], "All sample weights are zero"),
        ([1, np.nan, 1], "sample_weight contains NaN or infinity"),
        (["a", "b", "c"], "sample_weight must consist of numbers"),
        (np.ma.masked_array([1, 2, 3], [0, 1, 0]), "sample_weight has 1 masked value"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, 3)


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        ([[1], [2], [3]], r"offset has shape \(3, 1\): pass one number per sample"),
        ([1, np.inf, 1], "offset contains NaN or infinity"),
    ],
)
def test_bad_offsets(offset, message):
    with pytest.raises(ValueError, match=message):
        check_offset(offset, 3)


@pytest.mark.parametrize(
    "columns", [["sex", "age"], [0, 1], [-4, -3], np.array([True, True, False, False]), slice(2), {"age", "sex"}]
)
def test_columns_by_name_index_mask_or_slice(columns):
    assert column_mask(columns, 4, NAMES).tolist() == [True, True, False, False]


def test_no_columns():
    assert not column_mask(None, 4).any()
    assert not column_mask([], 4, NAMES).any()


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        ([4], None, "unpenalized contains indices outside 0 to 3"),
        ([0.5], None, "unpenalized contains fractions"),
        (["age"], None, "unpenalized contains names, but X has no feature names"),
        (["weight"], NAMES, "unpenalized contains names that are not features of X: 'weight'"),
        ([True], None, r"unpenalized as a mask must have one entry per feature \(4\)"),
    ],
)
def test_bad_columns(columns, names, message):
    with pytest.raises(ValueError, match=message):
        column_mask(columns, 4, names, "unpenalized")
