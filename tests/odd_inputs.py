"""Hostile arrays by name, with the outcome that every public fit must have: see test_odd_inputs.py."""

import tempfile

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

N, D = 24, 5
WORKS = "works"


def change_cell(X, row, column, value):
    X = X.copy()
    X[row, column] = value
    return X


def memmap(X):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=X.dtype, shape=X.shape)
    mapped[:] = X
    return mapped


def readonly(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def mask_cells(X, *cells):
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


def bsr(X):
    return sp.bsr_array(X, blocksize=(4, 1))


def broken_coo(X):
    matrix = sp.coo_array(X)
    matrix.coords = (matrix.coords[0], matrix.coords[1] + 10**6)
    return matrix


def broken_lil(X):
    matrix = sp.lil_array(X)
    matrix.rows[3][0] = 10**6
    return matrix


def split_entries(X):
    """Every entry in two halves, out of order."""
    rows, columns = np.indices(X.shape).reshape(2, -1)[:, ::-1]
    values = np.tile(X[rows, columns] / 2, 2)
    return sp.coo_array((values, (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape)


def unsort(X):
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


ZEROS = pd.SparseDtype(float, 0.0)


def twins(X):
    return pd.DataFrame(X, columns=["a", "b", "a", "c", "d"])


INFINITE = "X contains infinity"
ABSENT = "X contains missing values"
MISSING = r"X contains (missing values \(NaN\)|infinity): 1 value.*column"
LARGE = r"X has values beyond 1e\+30 in .*column.*Rescale X"
FAINT = r"X has values that vary by less than 1e-30 in .*column.*Rescale X"
SHAPE = "Found array with|Expected 2D array|do not match|2 dimensions|dim"
KIND = "not numbers|could not convert|string|float"
SPARSE = "X is not a valid sparse matrix: .*Build it again"

# Exceptions, by the beginning of the estimator's name.
MODELS_GO_ON = dict.fromkeys(["Horse", "Pena", "Stack", "comp", "feat", "score"], WORKS)
REDUCTIONS_GO_ON = dict.fromkeys(["ISPCA", "PCA", "SPCA", "feat", "score"], WORKS)
NO_OUTLIERS = dict.fromkeys(["ISPCA", "PCA"], "No feature is left")
NO_DATES = dict.fromkeys(["Stack", "comp"], "y contains datetime")
IGNORED = {"PCA": WORKS}

# name: (X from plain X, outcome, exceptions)
X_TABLE = {
    "plain": (lambda X: X, WORKS, {}),
    "a list": (lambda X: X.tolist(), WORKS, {}),
    "NaN": (lambda X: change_cell(X, 3, 1, np.nan), MISSING, {}),
    "infinity": (lambda X: change_cell(X, 3, 1, np.inf), MISSING, {}),
    "minus infinity": (lambda X: change_cell(X, 3, 1, -np.inf), MISSING, {}),
    "no rows": (lambda X: X[:0], "sample|do not match|length|(one|single) class", {}),
    "no columns": (lambda X: X[:, :0], "0 feature", {}),
    "one dimension": (lambda X: X[:, 0], SHAPE, {}),
    "three dimensions": (lambda X: X[:, :, None], SHAPE, {}),
    "a number": (lambda X: 3.0, "array|dim|shape|fit", {}),
    "objects that are numbers": (lambda X: X.astype(object), WORKS, {}),
    "objects with text": (lambda X: change_cell(X.astype(object), 3, 1, "high"), KIND, {}),
    "objects with None": (lambda X: change_cell(X.astype(object), 3, 1, None), f"{MISSING}|NoneType", {}),
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
    "longdouble beyond double": (lambda X: X.astype(np.longdouble) * np.longdouble("1e999"), INFINITE, {}),
    "masked, no cell": (lambda X: mask_cells(X), WORKS, {}),
    "masked": (lambda X: mask_cells(X, (3, 1), (4, 2)), "X has 2 masked values: fill them", {}),
    "1e300": (lambda X: 1e300 * X, LARGE, {}),
    "1e154": (lambda X: 1e154 * X, LARGE, {}),
    "1e154 in one column": (lambda X: X * [1, 1, 1e154, 1, 1], r"beyond 1e\+30 in 1 column: 2 \(", {}),
    "1e29": (lambda X: 1e29 * X, WORKS, {}),
    "1e-29": (lambda X: 1e-29 * X, WORKS, {}),
    "1e-155": (lambda X: 1e-155 * X, FAINT, {}),
    "1e-200 in one column": (lambda X: X * [1, 1, 1e-200, 1, 1], r"less than 1e-30 in 1 column: 2 \(", {}),
    "denormal": (lambda X: 1e-310 * X, FAINT, {}),
    "a constant tiny column": (lambda X: change_cell(X, slice(None), 2, 1e-200), WORKS, {}),
    "sparse 1e154": (lambda X: sp.csr_array(1e154 * X), LARGE, {}),
    "sparse 1e-155": (lambda X: sp.csc_array(1e-155 * X), FAINT, {}),
    "sparse, a constant tiny column": (lambda X: sp.csr_array(change_cell(X, slice(None), 2, 1e-200)), WORKS, {}),
    "sparse 1e-29": (lambda X: sp.csr_array(1e-29 * X), WORKS, {}),
    "sparse NaN": (lambda X: sp.csr_array(change_cell(X, 3, 1, np.nan)), MISSING, {}),
    "far from zero": (lambda X: X + 1e9, WORKS, {}),
    "all constant": (lambda X: np.full_like(X, 2.5), "No feature is left", MODELS_GO_ON),
    "all zero": (lambda X: np.zeros_like(X), "No feature is left", MODELS_GO_ON),
    "duplicate columns": (lambda X: X[:, [0, 0, 1, 1, 0]], WORKS, {}),
    "duplicate rows": (lambda X: X[np.arange(N) // 2 * 2], WORKS, {}),
    "one feature": (lambda X: X[:, :1], WORKS, {}),
    "rank one": (lambda X: np.outer(X[:, 0], [1, 2, -1, 0.5, 3]), WORKS, {}),
    "one value apart": (lambda X: change_cell(0 * X, 0, slice(None), 1.0), WORKS, NO_OUTLIERS),
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
    "bsr": (bsr, WORKS, {}),
    "dia": (sp.dia_array, WORKS, {}),
    "dok": (sp.dok_array, WORKS, {}),
    "sparse bool": (lambda X: sp.csr_array(X > 0), WORKS, {}),
    "sparse int8": (lambda X: sp.csr_array(np.where(X > 0, 127, -128).astype(np.int8)), WORKS, {}),
    "sparse longdouble": (lambda X: sp.csr_array(X.astype(np.longdouble)), WORKS, {}),
    "sparse complex": (lambda X: sp.csr_array(X + 1j), "Complex data not supported", {}),
    "explicit zeros": (lambda X: broken(sp.csr_array, data=put(slice(3, 30), 0.0))(X), WORKS, {}),
    "repeated entries": (split_entries, WORKS, {}),
    "repeated entries, csr": (lambda X: sp.csr_array(split_entries(X)), WORKS, {}),
    "unsorted indices": (unsort, WORKS, {}),
    "int64 indices": (long_indices, WORKS, {}),
    "no entries": (lambda X: sp.csr_array(X.shape), "No feature is left", MODELS_GO_ON),
    "csr, index too large": (broken(sp.csr_array, indices=put(7, 10**6)), SPARSE, {}),
    "csr, negative index": (broken(sp.csr_array, indices=put(7, -(10**6))), SPARSE, {}),
    "csc, index too large": (broken(sp.csc_array, indices=put(7, 10**6)), SPARSE, {}),
    "bsr, index too large": (broken(bsr, indices=put(7, 10**6)), SPARSE, {}),
    "coo, index too large": (broken_coo, SPARSE, {}),
    "lil, index too large": (broken_lil, SPARSE, {}),
    "indptr beyond the end": (broken(sp.csr_array, indptr=put(-1, 10**6)), SPARSE, {}),
    "indptr that falls": (broken(sp.csr_array, indptr=put(3, 10**6)), SPARSE, {}),
    "indptr that ends at zero": (broken(sp.csr_array, indptr=put(-1, 0)), SPARSE, {}),
    "indptr that starts late": (broken(sp.csr_array, indptr=put(0, 3)), SPARSE, {}),
    "pandas": (frame, WORKS, {}),
    "pandas, equal names": (twins, "several columns named 'a'", {}),
    "pandas, nullable": (lambda X: frame(np.round(9 * X)).astype("Int64"), WORKS, {}),
    "pandas, nullable with NA": (lambda X: frame(np.round(9 * X)).astype("Int64").mask(X > 1.9), ABSENT, {}),
    "pandas, categories": (lambda X: frame(X, stage=pd.Categorical(["x", "y"] * 12)), "'stage' .category", {}),
    "pandas, sparse columns": (lambda X: frame(X).astype(ZEROS), WORKS, {"Horse": "Sparse data"}),
    "pandas, sparse columns of NaN": (lambda X: frame(X).astype("Sparse[float]"), "fill value.*to_dense", {}),
    "pandas, text": (lambda X: frame(X, stage=["x", "y"] * 12), "'stage'", {}),
    "pandas, numbered columns": (pd.DataFrame, WORKS, {}),
    "polars": (lambda X: pl.DataFrame(X), WORKS, {}),
    "polars with null": (lambda X: pl.DataFrame(change_cell(X.astype(object), 0, 2, None).T.tolist()), ABSENT, {}),
}  # fmt: skip

# Columns that hold the same as in the plain case, up to their unit: what decides the target is found all the same.
SAME = """a list; objects that are numbers; float16; float16, mostly zeros; float32; longdouble; 1e29; 1e-29;
polars; sparse 1e-29; a constant tiny column; far from zero; other byte order; memory-mapped; csr;
repeated entries; unsorted indices; int64 indices; pandas, sparse columns""".replace("\n", " ").split("; ")

# name: (y from plain labels or numbers, outcome, exceptions)
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
    "one class": (lambda y: np.full(N, "sick"), "class", IGNORED),
    "zero and minus zero": (lambda y: np.where(y == "sick", 0.0, -0.0), "class|constant", IGNORED),
    "NaN": (lambda y: np.where(y == "sick", 1.0, np.nan), "NaN|missing", {}),
    "None among them": (lambda y: np.where(y == "sick", "sick", None), f"missing|NaN|{MIXED}", IGNORED),
    "objects of two kinds": (lambda y: np.array([1 if x == "sick" else x for x in y], object), MIXED, IGNORED),
    "fractions": (lambda y: np.linspace(0.1, 0.9, N), "[Uu]nknown label|fractions", REDUCTIONS_GO_ON),
    "complex": (lambda y: (y == "sick") + 1j, "[Cc]omplex", {}),
    "dates": (lambda y: np.datetime64("2020-01-01") + (y == "sick"), WORKS, NO_DATES),
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
    "constant": (lambda y: np.full(N, 0.5), "constant", IGNORED),
    "NaN": (lambda y: np.where(np.arange(N) == 2, np.nan, y), "NaN|missing", {}),
    "infinity": (lambda y: np.where(np.arange(N) == 2, np.inf, y), "infin", {}),
    "1e300": (lambda y: 1e300 * y, "y.*another unit", REDUCTIONS_GO_ON),
    "largest": (lambda y: np.finfo(float).max * np.sign(y), "y.*another unit", REDUCTIONS_GO_ON),
    "1e-200": (lambda y: 1e-200 * y, "y.*another unit", REDUCTIONS_GO_ON),
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

# What fitted models make of new data.
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
