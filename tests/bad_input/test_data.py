"""X and y that no fit or transform accepts: one clear error that names the problem and the fix."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from ispca import ISPCA
from refusals import BOTH, assert_refused

# NaN and infinity.


@BOTH
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_nan_and_infinity_are_counted_and_located(no_work, kind, wrap, X, y):
    X[3, 1], X[4, 1], X[5, 4] = np.nan, np.inf, -np.inf
    words = r"NaN", r"infinity", r"\b3 value", r"2 column", r"1 \(2\)", r"4 \(1\)", r"[Ii]mpute|drop"
    assert_refused(kind(), wrap(X), y, *words)


@BOTH
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_nan_in_a_frame_is_located_by_name(no_work, kind, frame, X, y):
    X[3, 1] = np.nan
    assert_refused(kind(), frame({f"gene {j}": X[:, j] for j in range(6)}), y, "NaN", r"gene 1 \(1\)")


def test_a_missing_value_of_polars_is_found(no_work, X, y):
    frame = pl.DataFrame({f"gene {j}": X[:, j] for j in range(6)})
    frame = frame.with_columns(pl.Series("gene 3", [None, *X[1:, 3]]))
    assert_refused(ISPCA(), frame, y, "NaN", r"gene 3 \(1\)")


def test_many_bad_columns_are_not_all_listed(y, rng):
    X = rng.normal(size=(20, 300))
    X[0] = np.nan
    with pytest.raises(ValueError, match=r"300 columns.* and \d+ more") as caught:
        ISPCA().fit(X, y)
    assert len(str(caught.value)) < 400


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_or_infinity_in_y(no_work, kind, X, bad):
    y = np.linspace(0.1, 1.2, 20)
    y[2] = bad
    assert_refused(kind(), X, y, "y", "NaN|infinity")


# Shapes.


@BOTH
@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_samples(no_work, kind, X, y, n):
    assert_refused(kind(), X[:n], y[:n], rf"{n} sample", "minimum of 3")


@BOTH
def test_lengths_that_differ(no_work, kind, X, y):
    assert_refused(kind(), X, y[:-1], "20", "19")


@BOTH
def test_one_dimensional_x(no_work, kind, y):
    assert_refused(kind(), np.arange(20.0), y, "2D|1D", "[Rr]eshape")


# Types.


@BOTH
def test_complex_numbers(no_work, kind, X, y):
    assert_refused(kind(), X + 1j, y, "[Cc]omplex")


@BOTH
def test_text_in_an_object_array(no_work, kind, X, y):
    X = X.astype(object)
    X[3, 2] = "high"
    assert_refused(kind(), X, y, "high|float")


@BOTH
@pytest.mark.parametrize(
    "column",
    [["low", "high"] * 10, [1 + 1j] * 20, list("ab" * 10), pd.Categorical(["x", "y"] * 10)],
    ids=["object", "complex", "text", "category"],
)
def test_pandas_columns_that_are_no_numbers_are_named(no_work, kind, X, y, column):
    frame = pd.DataFrame(X, columns=list("ABCDEF")).assign(stage=column)
    assert_refused(kind(), frame, y, r"1 column", "'stage'", "Drop|numbers")


@BOTH
def test_polars_columns_that_are_no_numbers_are_named(no_work, kind, X, y):
    frame = pl.DataFrame(X, schema=list("ABCDEF")).with_columns(pl.lit("high").alias("stage"))
    assert_refused(kind(), frame, y, r"1 column", "'stage'", "Drop|numbers")


# After the fit.


@BOTH
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_wrong_or_reordered_names_at_transform(kind, frame, X, y):
    names = list("ABCDEF")

    def make(columns):
        return frame({name: X[:, j] for j, name in enumerate(columns)})

    estimator = kind(n_components=2, random_state=0, alpha=0.9).fit(make(names), y)
    with pytest.raises(ValueError, match=r"feature names[\s\S]*same order"):
        estimator.transform(make(names[::-1]))
    with pytest.raises(ValueError, match=r"feature names[\s\S]*G"):
        estimator.transform(make([*"ABCDEG"]))
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(frame({name: X[:, j] for j, name in enumerate("ABCDE")}))


@BOTH
def test_bad_data_at_transform(kind, X, y):
    estimator = kind(n_components=2, random_state=0, alpha=0.9).fit(X, y)
    with pytest.raises(ValueError, match=r"5 features.*6 features"):
        estimator.transform(X[:, :5])
    X[2, 3] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*3 \(1\)"):
        estimator.transform(X)
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        estimator.transform(X + 1j)


@BOTH
def test_bad_data_at_inverse_transform_and_original_coefficients(kind, X, y):
    estimator = kind(n_components=2, random_state=0, alpha=0.9).fit(X, y)
    with pytest.raises(ValueError, match="2"):
        estimator.inverse_transform(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="2"):
        estimator.original_coefficients(np.zeros(3))


@BOTH
@pytest.mark.parametrize(
    "method", ["transform", "inverse_transform", "original_coefficients", "get_feature_names_out"]
)
def test_methods_before_fit(kind, method, X):
    arguments = () if method == "get_feature_names_out" else (X,)
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(kind(), method)(*arguments)
