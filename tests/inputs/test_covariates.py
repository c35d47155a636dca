"""Covariates of a frame: which columns they are, and how categories become indicators."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ispca.inputs.covariates import (
    adjusted_mask,
    encode_frame,
    encoded_columns,
    encoded_names,
    expand_indicators,
    learn_categories,
)

N = 12
SEX, BATCH = ["m", "f"] * 6, ["B", "A", "C"] * 4
ADJUSTED = np.array([False, True, True, False])


def pandas_frame(batch=BATCH, **columns):
    return pd.DataFrame({"gene": np.arange(N, dtype=float), "sex": SEX, "batch": batch, "last": 1.5} | columns)


def polars_frame(batch=BATCH, **columns):
    return pl.DataFrame({"gene": np.arange(N, dtype=float), "sex": SEX, "batch": batch} | columns).with_columns(
        last=pl.lit(1.5)
    )


FRAMES = pytest.mark.parametrize("make", [pandas_frame, polars_frame])


@FRAMES
def test_categories_become_indicators_in_place(make):
    X = make()
    categories = learn_categories(X, ADJUSTED)
    assert categories == {"sex": ["f", "m"], "batch": ["A", "B", "C"]}
    numbers = encode_frame(X, categories)
    assert list(numbers.columns) == list(X.columns)
    assert isinstance(numbers, type(X))
    assert list(X["batch"]) == BATCH, "the caller's frame is unchanged"
    encoded = expand_indicators(numbers.to_numpy().astype(float), X.columns, categories)
    expected = [
        np.arange(N),
        np.array(SEX) == "m",
        np.array(BATCH) == "B",
        np.array(BATCH) == "C",
        np.full(N, 1.5),
    ]
    np.testing.assert_array_equal(encoded, np.column_stack(expected))
    assert encoded_names(X.columns, categories) == ["gene", "sex=m", "batch=B", "batch=C", "last"]
    np.testing.assert_array_equal(encoded_columns(4, X.columns, categories), [0, 1, 2, 2, 3])


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (pd.Categorical(BATCH, categories=["C", "A", "unused", "B"]), ["C", "A", "B"]),
        (pd.Categorical([3, 1, 2] * 4), ["1", "2", "3"]),
        (pd.array(BATCH, dtype="string"), ["A", "B", "C"]),
        ([True, False, True] * 4, ["False", "True"]),
        (pd.array([True, False, True] * 4, dtype="boolean"), ["False", "True"]),
    ],
)
def test_kinds_of_pandas_columns(batch, expected):
    assert learn_categories(pandas_frame(batch), ADJUSTED)["batch"] == expected


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(pl.Categorical, ["A", "B", "C"]), (pl.Enum(["C", "B", "A"]), ["C", "B", "A"]), (pl.String, ["A", "B", "C"])],
)
def test_kinds_of_polars_columns(dtype, expected):
    X = polars_frame().with_columns(pl.col("batch").cast(dtype))
    assert learn_categories(X, ADJUSTED)["batch"] == expected


def test_numbers_are_not_categories():
    X = pd.DataFrame({"gene": np.arange(N), "batch": [1, 2, 3] * 4})
    assert learn_categories(X, np.array([False, True])) == {}
    assert learn_categories(X.to_numpy(), np.array([False, True])) == {}
    assert encode_frame(X, {}) is X


def test_categories_are_recognized_in_columns_of_another_type():
    categories = learn_categories(pandas_frame(pd.Categorical([3, 1, 2] * 4)), ADJUSTED)
    numbers = encode_frame(pandas_frame([3, 1, 2] * 4), categories)
    np.testing.assert_array_equal(numbers["batch"], [2, 0, 1] * 4)


def test_single_precision_is_kept():
    X = pandas_frame().astype({"gene": "float32", "last": "float32"})
    assert encode_frame(X, learn_categories(X, ADJUSTED)).to_numpy().dtype == np.float32


@FRAMES
def test_unknown_categories(make):
    categories = learn_categories(make(), ADJUSTED)
    new = make(batch=["A", "D", "B"] * 4)
    with pytest.raises(
        ValueError, match=r"Column 'batch' contains 'D', which was not seen in fit .*handle_unknown="
    ):
        encode_frame(new, categories)
    numbers = encode_frame(new, categories, "ignore")
    encoded = expand_indicators(numbers.to_numpy().astype(float), new.columns, categories)
    np.testing.assert_array_equal(encoded[1, 2:4], 0.0)
    np.testing.assert_array_equal(encoded[2, 2:4], [1.0, 0.0])


@FRAMES
def test_missing_categories(make):
    X = make(batch=["A", None, "B"] * 4)
    with pytest.raises(ValueError, match="Column 'batch' contains 4 missing values, and a category has no mean"):
        encode_frame(X, learn_categories(X, ADJUSTED))
    with pytest.raises(ValueError, match="Column 'batch' contains only missing values: drop it"):
        learn_categories(pandas_frame(pd.array([None] * N, dtype="string")), ADJUSTED)


def test_columns_that_are_not_understood():
    with pytest.raises(ValueError, match="Column 'batch' contains numbers among other objects"):
        learn_categories(pandas_frame(np.array([1, "a", 2.5] * 4, dtype=object)), ADJUSTED)
    with pytest.raises(ValueError, match=r"too many categories for 12 samples: 'sex' \(2\), 'batch' \(12\)"):
        learn_categories(pandas_frame([f"patient {i}" for i in range(N)]), ADJUSTED)
    categories = learn_categories(pandas_frame(), ADJUSTED)
    with pytest.raises(ValueError, match="pass X as a data frame"):
        encode_frame(np.zeros((3, 4)), categories)
    with pytest.raises(ValueError, match="needs text as column names"):
        learn_categories(pandas_frame().rename(columns={"gene": 0}), ADJUSTED)


def test_covariates_are_checked():
    assert adjusted_mask(["b", "a"], 3, ["a", "b", "c"]).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="adjust contains 'a' more than once"):
        adjusted_mask(["a", "a"], 3, ["a", "b", "c"])
    with pytest.raises(ValueError, match="adjust contains 2 more than once"):
        adjusted_mask([2, -1], 3)
    with pytest.raises(ValueError, match="all columns of X, so no feature is left"):
        adjusted_mask([True] * 3, 3)
