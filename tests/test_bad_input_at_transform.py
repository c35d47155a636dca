"""Bad input after the fit gets one clear error, as at the fit."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from ispca import ISPCA, SPCA

BOTH = pytest.mark.parametrize("kind", [ISPCA, SPCA])


@pytest.fixture
def X(rng):
    return rng.normal(size=(20, 6))


@pytest.fixture
def y():
    return np.tile(["a", "b"], 10)


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
def test_bad_data_at_inverse_transform_and_original_coef(kind, X, y):
    estimator = kind(n_components=2, random_state=0, alpha=0.9).fit(X, y)
    with pytest.raises(ValueError, match="2"):
        estimator.inverse_transform(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="2"):
        estimator.original_coef(np.zeros(3))


@BOTH
@pytest.mark.parametrize("method", ["transform", "inverse_transform", "original_coef", "get_feature_names_out"])
def test_methods_before_fit(kind, method, X):
    arguments = () if method == "get_feature_names_out" else (X,)
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(kind(), method)(*arguments)
