"""Item 1: every value of the authors' own program (shared/reference/README.md), dense and sparse."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA, SPCA, feature_scores

FILES = (
    "binary-wide",
    "four-class",
    "regression-wide",
    "regression-tall",
    "degenerate-columns",
    "toy-two-features",
    "wider-than-window",
)
INPUTS = {"dense": (np.asarray, 1e-8), "sparse": (sp.csr_array, 1e-6)}


# The estimator whose result each array holds, and what of it.
ARRAYS = {
    "ispca_w": ("ISPCA", "w"),
    "ispca_z": ("ISPCA", "z"),
    "ispca_v": ("ISPCA", "v"),
    "ispca_normalized_w": ("ISPCA, whitened", "w"),
    "ispca_window50_grid25_w": ("ISPCA, window", "w"),
    "pca_z": ("PCA", "z"),
    "spca_top20_w": ("SPCA", "w"),
    "spca_top20_z": ("SPCA", "z"),
    "pspca_top20_3of8_w": ("PSPCA", "w"),
    "pspca_top20_3of8_z": ("PSPCA", "z"),
    "spca_relative_half_w": ("SPCA, threshold", "w"),
}
SCORES = ("score_pearson", "score_spearman", "score_kendall")


def assert_equal_up_to_sign(found, expected, tolerance):
    assert found.shape == expected.shape
    signs = np.where((found * expected).sum(axis=0) < 0, -1.0, 1.0)
    errors = np.abs(found * signs - expected).max(axis=0) / np.abs(expected).max(axis=0)
    assert errors.max() <= tolerance, f"relative errors of the columns: {errors}"


def test_no_array_is_left_out(reference):
    for name in FILES:
        assert set(reference(name)) == {"X", "y", *ARRAYS, *SCORES}


def estimators(values):
    D, K = values["ispca_w"].shape
    ispca = {"n_components": K, "n_supervised": min(4, D), "alpha": None}
    top = min(20, D - 1)
    return {
        "ISPCA": ISPCA(**ispca),
        "ISPCA, whitened": ISPCA(**ispca, whiten=True),
        "ISPCA, window": ISPCA(**ispca, max_features=50, n_thresholds=25),
        "PCA": ISPCA(2, n_supervised=0),
        "SPCA": SPCA(values["spca_top20_w"].shape[1], n_features=top),
        "PSPCA": SPCA(K, n_supervised=3, n_features=top),
        "SPCA, threshold": SPCA(values["spca_relative_half_w"].shape[1], threshold=0.5),
    }


@pytest.fixture(scope="module")
def fitted(reference):
    """Return a function that fits each estimator once to each file."""

    @cache
    def fit(name, kind, label):
        values = reference(name)
        estimator = estimators(values)[label]
        return estimator, estimator.fit_transform(INPUTS[kind][0](values["X"]), values["y"])

    return fit


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("name", FILES)
def test_components(reference, fitted, name, array, kind):
    values = reference(name)
    wrap, tolerance = INPUTS[kind]
    label, what = ARRAYS[array]
    estimator, Z = fitted(name, kind, label)
    found = {"w": estimator.components_.T, "v": estimator.directions_.T, "z": Z}[what]
    assert_equal_up_to_sign(found, values[array], tolerance)
    if what == "z":
        assert_equal_up_to_sign(estimator.transform(wrap(values["X"])), values[array], tolerance)


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("array", SCORES)
@pytest.mark.parametrize("name", FILES)
def test_scores(reference, name, array, kind):
    values = reference(name)
    wrap, tolerance = INPUTS[kind]
    statistic = array.removeprefix("score_")
    X, y = wrap(values["X"]), values["y"]
    if kind == "sparse" and statistic == "kendall" and y.dtype.kind == "f":
        with pytest.raises(ValueError, match=r"dense.*toarray"):
            feature_scores(X, y, statistic=statistic)
        return
    found = feature_scores(X, y, statistic=statistic)
    assert np.abs(found - values[array][:, 0]).max() <= tolerance * values[array].max()
