"""The odd-input table: hostile arrays through every public fit, with the expected outcome beside each.

The outcome is WORKS (finite results, for the training data too) or a pattern that the one error must match.
"""

import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ispca import (
    ISPCA,
    SPCA,
    HorseshoeClassifier,
    HorseshoeRegressor,
    StackedClassifier,
    StackedRegressor,
    feature_scores,
    score_test,
)
from ispca.penalised import PenalisedClassifier, PenalisedRegressor
from ispca.validation import compare

N, D = 24, 5
WORKS = "works"

SHORT = {"n_chains": 1, "n_warmup": 30, "n_draws": 30, "retry": False, "n_jobs": 1, "random_state": 0}
PATH = {"n_lambdas": 8, "n_folds": 3, "random_state": 0}


def _lassos(kind):
    return {"lasso": kind(**PATH), "ridge": kind(penalty="ridge", **PATH)}


class Function:
    """A function of X and y as an estimator whose result is its prediction."""

    def __init__(self, call):
        self.call = call

    def fit(self, X, y):
        self.result = self.call(X, y)
        return self

    def predict(self, X):
        return self.result


def _compared(kind):
    def call(X, y):
        result = compare(_lassos(kind), X, y, cv=2, n_jobs=1)
        if result.errors:
            raise ValueError(result.errors[0][-1])
        return np.array(list(result.predictions[0][0].log_density))

    return Function(call)


CLASSIFIERS = {
    "HorseshoeClassifier": lambda: HorseshoeClassifier(**SHORT),
    "PenalisedClassifier lasso": lambda: PenalisedClassifier(**PATH),
    "PenalisedClassifier ridge": lambda: PenalisedClassifier(penalty="ridge", **PATH),
    "StackedClassifier": lambda: StackedClassifier(_lassos(PenalisedClassifier), cv=2, n_jobs=1, random_state=0),
    "compare": lambda: _compared(PenalisedClassifier),
}
REGRESSORS = {
    "HorseshoeRegressor": lambda: HorseshoeRegressor(**SHORT),
    "PenalisedRegressor lasso": lambda: PenalisedRegressor(**PATH),
    "PenalisedRegressor ridge": lambda: PenalisedRegressor(penalty="ridge", **PATH),
    "StackedRegressor": lambda: StackedRegressor(_lassos(PenalisedRegressor), cv=2, n_jobs=1, random_state=0),
    "compare": lambda: _compared(PenalisedRegressor),
}
EITHER = {
    "ISPCA": lambda: ISPCA(n_permutations=30, random_state=0),
    "ISPCA unscaled": lambda: ISPCA(1, alpha=None, scale=False, whiten=True),
    "PCA": lambda: ISPCA(1, n_supervised=0),
    "SPCA": lambda: SPCA(1, n_features=2),
    "feature_scores": lambda: Function(feature_scores),
    "score_test": lambda: Function(lambda X, y: score_test(X, y, n_permutations=20, random_state=0).p_values),
}
DENSE_ONLY = "Horseshoe"


def data():
    """Return X whose first column decides both targets."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D))
    labels = np.where(X[:, 0] > np.median(X[:, 0]), "sick", "healthy")
    return X, labels, 3 * X[:, 0] + 0.1 * rng.normal(size=N)


def changed(X, row, column, value):
    X = X.copy()
    X[row, column] = value
    return X


def memmap(X):
    file = tempfile.TemporaryFile()
    mapped = np.memmap(file, dtype=X.dtype, shape=X.shape)
    mapped[:] = X
    return mapped


def readonly(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def masked(X, *cells):
    mask = np.zeros(X.shape, dtype=bool)
    for cell in cells:
        mask[cell] = True
    return np.ma.array(X, mask=mask)


def broken(kind, **parts):
    """Return a function that makes a sparse matrix and then overwrites some of its parts."""

    def make(X):
        matrix = kind(X)
        for name, change in parts.items():
            values = getattr(matrix, name).copy()
            change(values)
            setattr(matrix, name, values)
        return matrix

    return make


def put(place, value):
    def change(values):
        values[place] = value

    return change


def broken_coo(X):
    matrix = sp.coo_array(X)
    matrix.coords = (matrix.coords[0], matrix.coords[1] + 10**6)
    return matrix


def broken_lil(X):
    matrix = sp.lil_array(X)
    matrix.rows[3][0] = 10**6
    return matrix


def repeated(X):
    """Every entry in two halves, out of order."""
    rows, columns = np.indices(X.shape).reshape(2, -1)[:, ::-1]
    values = np.tile(X[rows, columns] / 2, 2)
    return sp.coo_array((values, (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape)


def unsorted(X):
    matrix = sp.csr_array(X)
    for row in range(N):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        matrix.indices[part], matrix.data[part] = matrix.indices[part][::-1].copy(), matrix.data[part][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def long_indices(X):
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def frame(X, **columns):
    return pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])]).assign(**columns)


def twins(X):
    return pd.DataFrame(X, columns=["a", "b", "a", "c", "d"])


MISSING = "X contains NaN or infinity: 1 value.*column"
LARGE = r"X has values beyond 1e\+30 in .*column.*Rescale X"
FAINT = r"X has values that vary by less than 1e-30 in .*column.*Rescale X"
SHAPE = "Found array with|Expected 2D array|do not fit|2 dimensions|dim"
KIND = "not numbers|could not convert|string|float"
SPARSE = "X is not a valid sparse matrix: .*Build it again"

# name: (X from plain X, outcome, exceptions by the beginning of the estimator's name)
X_TABLE = {
    "plain": (lambda X: X, WORKS, {}),
    "a list": (lambda X: X.tolist(), WORKS, {}),
    "NaN": (lambda X: changed(X, 3, 1, np.nan), MISSING, {}),
    "infinity": (lambda X: changed(X, 3, 1, np.inf), MISSING, {}),
    "minus infinity": (lambda X: changed(X, 3, 1, -np.inf), MISSING, {}),
    "no rows": (lambda X: X[:0], "sample|do not fit|length|one class", {}),
    "no columns": (lambda X: X[:, :0], "0 feature", {}),
    "one dimension": (lambda X: X[:, 0], SHAPE, {}),
    "three dimensions": (lambda X: X[:, :, None], SHAPE, {}),
    "a number": (lambda X: 3.0, "array|dim|shape|fit", {}),
    "objects that are numbers": (lambda X: X.astype(object), WORKS, {}),
    "objects with text": (lambda X: changed(X.astype(object), 3, 1, "high"), KIND, {}),
    "objects with None": (lambda X: changed(X.astype(object), 3, 1, None), f"{MISSING}|NoneType", {}),
    "text": (lambda X: X.astype(str), KIND, {}),
    "dates": (lambda X: (1000 * X).astype("datetime64[D]"), "not numbers", {}),
    "time spans": (lambda X: (1000 * X).astype("timedelta64[s]"), "not numbers", {}),
    "complex": (lambda X: X + 1j, "Complex data not supported", {}),
    "a structured array": (lambda X: X.view([(f"f{j}", float) for j in range(D)]), "|", {}),
    "a matrix": (lambda X: np.matrix(X), "np.matrix is not supported", {}),
    "bool": (lambda X: X > 0, WORKS, {}),
    "int8 extremes": (lambda X: np.where(X > 0, 127, -128).astype(np.int8), WORKS, {}),
    "uint64 extremes": (lambda X: np.where(X > 0, np.iinfo(np.uint64).max, 0).astype(np.uint64), WORKS, {}),
    "float16": (lambda X: X.astype(np.float16), WORKS, {}),
    "float16, mostly zeros": (lambda X: np.pad(X, ((0, 0), (0, 200))).astype(np.float16), WORKS, {}),
    "float32": (lambda X: X.astype(np.float32), WORKS, {}),
    "float32, largest": (lambda X: np.sign(X).astype(np.float32) * np.finfo(np.float32).max, LARGE, {}),
    "longdouble": (lambda X: X.astype(np.longdouble), WORKS, {}),
    "longdouble beyond double": (lambda X: X.astype(np.longdouble) * np.longdouble("1e4000"), "X contains NaN or", {}),
    "masked, no cell": (lambda X: masked(X), WORKS, {}),
    "masked": (lambda X: masked(X, (3, 1), (4, 2)), "X has 2 masked values: fill them", {}),
    "1e300": (lambda X: 1e300 * X, LARGE, {}),
    "1e154": (lambda X: 1e154 * X, LARGE, {}),
    "1e154 in one column": (lambda X: X * [1, 1, 1e154, 1, 1], r"beyond 1e\+30 in 1 column: 2 \(", {}),
    "1e29": (lambda X: 1e29 * X, WORKS, {}),
    "1e-29": (lambda X: 1e-29 * X, WORKS, {}),
    "1e-155": (lambda X: 1e-155 * X, FAINT, {}),
    "1e-200 in one column": (lambda X: X * [1, 1, 1e-200, 1, 1], r"less than 1e-30 in 1 column: 2 \(", {}),
    "denormal": (lambda X: 1e-310 * X, FAINT, {}),
    "a constant tiny column": (lambda X: changed(X, slice(None), 2, 1e-200), WORKS, {}),
    "sparse 1e154": (lambda X: sp.csr_array(1e154 * X), LARGE, {}),
    "sparse 1e-155": (lambda X: sp.csc_array(1e-155 * X), FAINT, {}),
    "sparse, a constant tiny column": (lambda X: sp.csr_array(changed(X, slice(None), 2, 1e-200)), WORKS, {}),
    "sparse 1e-29": (lambda X: sp.csr_array(1e-29 * X), WORKS, {}),
    "sparse NaN": (lambda X: sp.csr_array(changed(X, 3, 1, np.nan)), MISSING, {}),
    "far from zero": (lambda X: X + 1e9, WORKS, {}),
    "all constant": (lambda X: np.full_like(X, 2.5), "No feature is left", {"Horse": WORKS, "Pena": WORKS, "Stack": WORKS, "comp": WORKS, "feat": WORKS, "score": WORKS}),
    "all zero": (lambda X: np.zeros_like(X), "No feature is left", {"Horse": WORKS, "Pena": WORKS, "Stack": WORKS, "comp": WORKS, "feat": WORKS, "score": WORKS}),
    "duplicate columns": (lambda X: X[:, [0, 0, 1, 1, 0]], WORKS, {}),
    "duplicate rows": (lambda X: X[np.arange(N) // 2 * 2], WORKS, {}),
    "one feature": (lambda X: X[:, :1], WORKS, {}),
    "rank one": (lambda X: np.outer(X[:, 0], [1, 2, -1, 0.5, 3]), WORKS, {}),
    "one value apart": (lambda X: changed(0 * X, 0, slice(None), 1.0), WORKS, {"ISPCA": "No feature is left", "PCA": "No feature is left"}),
    "Fortran order": (np.asfortranarray, WORKS, {}),
    "every other column": (lambda X: np.repeat(X, 2, axis=1)[:, ::2], WORKS, {}),
    "backwards": (lambda X: X[::-1, ::-1][::-1], WORKS, {}),
    "other byte order": (lambda X: X.astype(X.dtype.newbyteorder()), WORKS, {}),
    "read-only": (readonly, WORKS, {}),
    "memory-mapped": (memmap, WORKS, {}),
    "csr": (sp.csr_array, WORKS, {}),
    "csc": (sp.csc_matrix, WORKS, {}),
    "coo": (sp.coo_array, WORKS, {}),
    "lil": (sp.lil_matrix, WORKS, {}),
    "bsr": (lambda X: sp.bsr_array(X, blocksize=(4, 1)), WORKS, {}),
    "dia": (sp.dia_array, WORKS, {}),
    "dok": (sp.dok_array, WORKS, {}),
    "sparse bool": (lambda X: sp.csr_array(X > 0), WORKS, {}),
    "sparse int8": (lambda X: sp.csr_array(np.where(X > 0, 127, -128).astype(np.int8)), WORKS, {}),
    "sparse longdouble": (lambda X: sp.csr_array(X.astype(np.longdouble)), WORKS, {}),
    "sparse complex": (lambda X: sp.csr_array(X + 1j), "Complex data not supported", {}),
    "explicit zeros": (lambda X: broken(sp.csr_array, data=put(slice(3, 30), 0.0))(X), WORKS, {}),
    "repeated entries": (repeated, WORKS, {}),
    "repeated entries, csr": (lambda X: sp.csr_array(repeated(X)), WORKS, {}),
    "unsorted indices": (unsorted, WORKS, {}),
    "int64 indices": (long_indices, WORKS, {}),
    "no entries": (lambda X: sp.csr_array(X.shape), "No feature is left", {"Pena": WORKS, "Stack": WORKS, "comp": WORKS, "feat": WORKS, "score": WORKS}),
    "csr, index too large": (broken(sp.csr_array, indices=put(7, 10**6)), SPARSE, {}),
    "csr, negative index": (broken(sp.csr_array, indices=put(7, -(10**6))), SPARSE, {}),
    "csc, index too large": (broken(sp.csc_array, indices=put(7, 10**6)), SPARSE, {}),
    "bsr, index too large": (broken(lambda X: sp.bsr_array(X, blocksize=(4, 1)), indices=put(7, 10**6)), SPARSE, {}),
    "coo, index too large": (broken_coo, SPARSE, {}),
    "lil, index too large": (broken_lil, SPARSE, {}),
    "indptr beyond the end": (broken(sp.csr_array, indptr=put(-1, 10**6)), SPARSE, {}),
    "indptr that falls": (broken(sp.csr_array, indptr=put(3, 10**6)), SPARSE, {}),
    "indptr that ends at zero": (broken(sp.csr_array, indptr=put(-1, 0)), SPARSE, {}),
    "indptr that starts late": (broken(sp.csr_array, indptr=put(0, 3)), SPARSE, {}),
    "pandas": (frame, WORKS, {}),
    "pandas, equal names": (twins, "several columns named 'a'", {}),
    "pandas, nullable": (lambda X: frame(np.round(9 * X)).astype("Int64"), WORKS, {}),
    "pandas, nullable with NA": (lambda X: frame(np.round(9 * X)).astype("Int64").mask(X > 1.9), "NaN or infinity", {}),
    "pandas, categories": (lambda X: frame(X, stage=pd.Categorical(["x", "y"] * 12)), "'stage' .category", {}),
    "pandas, sparse columns": (lambda X: frame(X).astype(pd.SparseDtype(float, 0.0)), WORKS, {"Horse": "Sparse data"}),
    "pandas, text": (lambda X: frame(X, stage=["x", "y"] * 12), "'stage'", {}),
    "pandas, numbered columns": (pd.DataFrame, WORKS, {}),
    "polars": (lambda X: pl.DataFrame(X), WORKS, {}),
    "polars with null": (lambda X: pl.DataFrame(X).with_columns(pl.Series("column_2", [None, *X[1:, 2]])), "NaN or infinity", {}),
}  # fmt: skip


def outcome_of(entry, name):
    _, outcome, exceptions = entry
    for beginning, other in exceptions.items():
        if name.startswith(beginning):
            return other
    return outcome


def refused(make, X, y, pattern):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as caught:
            make().fit(X, y)
    message = str(caught.value)
    assert re.search(pattern, message, re.DOTALL), message
    assert not re.search("LAPACK|ARPACK|dgetrf|overflow encountered", message), "an error from deep inside"


def fits(make, X, y):
    """The fit and its use on the same data give finite numbers, without a word about overflow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        model = make().fit(X, y)
        results = [
            getattr(model, method)(X) for method in ("transform", "predict_proba") if hasattr(model, method)
        ]
        predicted = np.asarray(model.predict(X)) if hasattr(model, "predict") else np.zeros(1)
    for values in [*results, *([predicted] if predicted.dtype.kind == "f" else [])]:
        assert np.isfinite(values).all()
    return results, predicted


def check(name, make, target, entry, data):
    y = {"labels": data[1], "numbers": data[2]}[target]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = entry[0](data[0].copy())
    if len(np.shape(X)) and np.shape(X)[0] == 0:
        y = y[:0]
    expected = outcome_of(entry, name)
    if sp.issparse(X) and name.startswith(DENSE_ONLY):
        expected = "Sparse data was passed|valid sparse matrix|Complex"
    if expected == WORKS:
        fits(make, X, y)
    else:
        refused(make, X, y, expected)


@pytest.mark.parametrize("entry", X_TABLE.values(), ids=X_TABLE.keys())
@pytest.mark.parametrize("name", [*EITHER, *CLASSIFIERS])
def test_features_of_a_classification(name, entry):
    check(name, (EITHER | CLASSIFIERS)[name], "labels", entry, data())


@pytest.mark.parametrize("entry", X_TABLE.values(), ids=X_TABLE.keys())
@pytest.mark.parametrize("name", REGRESSORS)
def test_features_of_a_regression(name, entry):
    check(name, REGRESSORS[name], "numbers", entry, data())


# Columns that hold the same as in the plain case, up to their unit: what decides the target is found all the same.
SAME = (
    ["a list", "objects that are numbers", "float16", "float16, mostly zeros", "float32", "longdouble", "1e29"]
    + ["1e-29", "sparse 1e-29", "a constant tiny column", "far from zero", "other byte order", "memory-mapped"]
    + ["csr", "repeated entries", "unsorted indices", "int64 indices", "pandas, sparse columns", "polars"]
)


@pytest.mark.parametrize("case", SAME)
def test_what_decides_the_target_is_found_whatever_it_comes_in(case):
    X, labels, numbers = data()
    odd = X_TABLE[case][0](X.copy())
    for make in list(REGRESSORS.values())[1:4]:
        predicted = fits(make, odd, numbers)[1]
        assert np.corrcoef(predicted, numbers)[0, 1] > 0.9
    for make in list(CLASSIFIERS.values())[1:4]:
        assert np.mean(fits(make, odd, labels)[1] == labels) > 0.9
    for kind in ("ISPCA", "ISPCA unscaled", "SPCA"):
        [Z], _ = fits(EITHER[kind], odd, numbers)
        assert abs(np.corrcoef(np.asarray(Z)[:, 0], numbers)[0, 1]) > 0.7


def test_features_too_small_for_the_prior_are_warned_of():
    X, _, numbers = data()
    with pytest.warns(UserWarning, match=r"vary by .* at most.*StandardScaler"):
        HorseshoeRegressor(**SHORT).fit(1e-6 * X, numbers)


# name: (y from plain labels, outcome, exceptions by the beginning of the estimator's name)
MIXED = "different kinds|not supported between|[Uu]nknown label type|mix|is not a"
LABEL_TABLE = {
    "plain": (lambda y: y, WORKS, {}),
    "a list": (lambda y: y.tolist(), WORKS, {}),
    "numbers of classes": (lambda y: (y == "sick").astype(float), WORKS, {}),
    "bool": (lambda y: y == "sick", WORKS, {}),
    "column": (lambda y: y[:, None], WORKS, {}),
    "two columns": (lambda y: np.column_stack([y, y]), "y|shape|1d", {}),
    "too short": (lambda y: y[:-1], "24.*23|23.*24", {}),
    "none": (lambda y: None, "y", {}),
    "one class": (lambda y: np.full(N, "sick"), "one class|class", {"PCA": WORKS}),
    "zero and minus zero": (lambda y: np.where(y == "sick", 0.0, -0.0), "one class|class|constant", {"PCA": WORKS}),
    "NaN": (lambda y: np.where(y == "sick", 1.0, np.nan), "NaN|missing", {}),
    "None among them": (lambda y: np.where(y == "sick", "sick", None), f"missing|NaN|None|{MIXED}", {"PCA": WORKS}),
    "objects of two kinds": (lambda y: np.array([1 if label == "sick" else "well" for label in y], object), MIXED, {"PCA": WORKS}),
    "fractions": (lambda y: np.linspace(0.1, 0.9, N), "continuous|[Uu]nknown label|fractions", {"ISPCA": WORKS, "PCA": WORKS, "SPCA": WORKS, "feat": WORKS, "score": WORKS}),
    "complex": (lambda y: (y == "sick") + 1j, "[Cc]omplex", {}),
    "dates": (lambda y: np.where(y == "sick", "2020-01-01", "2021-01-01").astype("datetime64[D]"), WORKS, {"Stack": "y holds datetime", "comp": "y holds datetime"}),
    "masked": (lambda y: np.ma.array(y, mask=np.arange(N) == 2), "y has 1 masked value:", {}),
    "masked, no cell": (lambda y: np.ma.array(y, mask=False), WORKS, {}),
    "pandas": (pd.Series, WORKS, {}),
    "pandas with another index": (lambda y: pd.Series(y, index=np.arange(N) + 100), WORKS, {}),
    "pandas categories": (lambda y: pd.Series(pd.Categorical(y)), WORKS, {}),
    "pandas with NA": (lambda y: pd.Series(y, dtype="string").mask(np.arange(N) == 2), "missing|NA|NaN", {}),
    "polars": (pl.Series, WORKS, {}),
    "huge integers": (lambda y: np.where(y == "sick", 2**62, -(2**62)), WORKS, {}),
}  # fmt: skip

NUMBER_TABLE = {
    "plain": (lambda y: y, WORKS, {}),
    "a list": (lambda y: y.tolist(), WORKS, {}),
    "objects": (lambda y: y.astype(object), WORKS, {}),
    "float16": (lambda y: y.astype(np.float16), WORKS, {}),
    "longdouble": (lambda y: y.astype(np.longdouble), WORKS, {}),
    "column": (lambda y: y[:, None], WORKS, {}),
    "two columns": (lambda y: np.column_stack([y, y]), "y|shape|1d", {}),
    "too short": (lambda y: y[:-1], "24.*23|23.*24", {}),
    "none": (lambda y: None, "y", {}),
    "constant": (lambda y: np.full(N, 0.5), "constant", {"PCA": WORKS}),
    "NaN": (lambda y: np.where(np.arange(N) == 2, np.nan, y), "NaN|missing", {}),
    "infinity": (lambda y: np.where(np.arange(N) == 2, np.inf, y), "infin", {}),
    "1e300": (lambda y: 1e300 * y, "y.*another unit", {"ISPCA": WORKS, "PCA": WORKS, "SPCA": WORKS, "feat": WORKS, "score": WORKS}),
    "largest": (lambda y: np.finfo(float).max * np.sign(y), "y.*another unit", {"ISPCA": WORKS, "PCA": WORKS, "SPCA": WORKS, "feat": WORKS, "score": WORKS}),
    "1e-200": (lambda y: 1e-200 * y, "y.*another unit", {"ISPCA": WORKS, "PCA": WORKS, "SPCA": WORKS, "feat": WORKS, "score": WORKS}),
    "1e29": (lambda y: 1e28 * y, WORKS, {}),
    "1e-29": (lambda y: 1e-29 * y, WORKS, {}),
    "far from zero": (lambda y: y + 1e9, WORKS, {}),
    "minus zero": (lambda y: np.where(y > 0, y, -0.0), WORKS, {}),
    "complex": (lambda y: y + 1j, "[Cc]omplex", {}),
    "masked": (lambda y: np.ma.array(y, mask=np.arange(N) == 2), "y has 1 masked value:", {}),
    "pandas": (pd.Series, WORKS, {}),
    "pandas nullable": (lambda y: pd.Series(y, dtype="Float64"), WORKS, {}),
    "pandas with NA": (lambda y: pd.Series(y, dtype="Float64").mask(np.arange(N) == 2), "missing|NA|NaN", {}),
    "polars": (pl.Series, WORKS, {}),
}  # fmt: skip


def check_target(name, make, entry, plain):
    X = data()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = entry[0](plain.copy())
    if y is None and name == "PCA":
        return
    expected = outcome_of(entry, name)
    if expected == WORKS:
        fits(make, X, y)
    else:
        refused(make, X, y, expected)


@pytest.mark.parametrize("entry", LABEL_TABLE.values(), ids=LABEL_TABLE.keys())
@pytest.mark.parametrize("name", [*EITHER, *CLASSIFIERS])
def test_labels(name, entry):
    check_target(name, (EITHER | CLASSIFIERS)[name], entry, data()[1])


@pytest.mark.parametrize("entry", NUMBER_TABLE.values(), ids=NUMBER_TABLE.keys())
@pytest.mark.parametrize("name", [*EITHER, *REGRESSORS])
def test_numbers(name, entry):
    check_target(name, (EITHER | REGRESSORS)[name], entry, data()[2])


# New data.

NEW = {
    "NaN": (X_TABLE["NaN"][0], MISSING),
    "1e154": (X_TABLE["1e154"][0], LARGE),
    "masked": (X_TABLE["masked"][0], "masked values"),
    "complex": (X_TABLE["complex"][0], "Complex"),
    "text": (X_TABLE["text"][0], KIND),
    "index too large": (X_TABLE["csr, index too large"][0], SPARSE),
    "indptr beyond the end": (X_TABLE["indptr beyond the end"][0], SPARSE),
    "tiny": (X_TABLE["1e-155"][0], WORKS),
    "float16": (X_TABLE["float16, mostly zeros"][0], "205 features.*5 features"),
    "one row": (lambda X: X[:1], WORKS),
    "no rows": (lambda X: X[:0], "0 sample"),
}


@pytest.mark.parametrize(("make", "expected"), NEW.values(), ids=NEW.keys())
@pytest.mark.parametrize("name", ["ISPCA", "SPCA", *list(CLASSIFIERS)[:3], *list(REGRESSORS)[:3]])
def test_new_data(name, make, expected):
    X, labels, numbers = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = (EITHER | CLASSIFIERS | REGRESSORS)[name]().fit(X, numbers if name in REGRESSORS else labels)
    use = model.predict if hasattr(model, "predict") else model.transform
    odd = make(X)
    if expected == WORKS:
        assert len(use(odd)) == len(odd)
        return
    with pytest.raises((ValueError, TypeError)) as caught:
        use(odd)
    assert re.search(expected, str(caught.value), re.DOTALL), str(caught.value)


MANY_NAMES = """
import numpy as np, pandas as pd
from ispca import ISPCA
frame = pd.DataFrame(np.zeros((4, 300_000)), columns=["x", "y"] * 150_000)
try:
    ISPCA().fit(frame, [0, 1, 0, 1])
except ValueError as error:
    print(error)
"""


def test_many_equal_names_are_counted_once_each():
    # Counting each of them in all of them would take an hour.
    run = subprocess.run(
        [sys.executable, "-c", MANY_NAMES], capture_output=True, text=True, timeout=120, check=True
    )
    assert "several columns named 'x', 'y'" in run.stdout
