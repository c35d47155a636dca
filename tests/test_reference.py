"""Item 1: every value of the authors' own program (shared/reference/README.md), dense and sparse."""

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


def settings_of(name, values):
    """Return the estimator whose result the array holds, and what of it."""
    D, K = values["ispca_w"].shape
    ispca = {"n_components": K, "n_supervised": min(4, D), "alpha": None}
    top = min(20, D - 1)
    return {
        "ispca_w": (ISPCA(**ispca), "w"),
        "ispca_z": (ISPCA(**ispca), "z"),
        "ispca_v": (ISPCA(**ispca), "v"),
        "ispca_normalized_w": (ISPCA(**ispca, whiten=True), "w"),
        "ispca_window50_grid25_w": (ISPCA(**ispca, max_features=50, n_thresholds=25), "w"),
        "pca_z": (ISPCA(2, n_supervised=0), "z"),
        "spca_top20_w": (SPCA(values["spca_top20_w"].shape[1], n_features=top), "w"),
        "spca_top20_z": (SPCA(values["spca_top20_z"].shape[1], n_features=top), "z"),
        "pspca_top20_3of8_w": (SPCA(K, n_supervised=3, n_features=top), "w"),
        "pspca_top20_3of8_z": (SPCA(K, n_supervised=3, n_features=top), "z"),
        "spca_relative_half_w": (SPCA(values["spca_relative_half_w"].shape[1], threshold=0.5), "w"),
    }[name]


ARRAYS = (
    "ispca_w",
    "ispca_z",
    "ispca_v",
    "ispca_normalized_w",
    "ispca_window50_grid25_w",
    "pca_z",
    "spca_top20_w",
    "spca_top20_z",
    "pspca_top20_3of8_w",
    "pspca_top20_3of8_z",
    "spca_relative_half_w",
)
SCORES = ("score_pearson", "score_spearman", "score_kendall")


def assert_equal_up_to_sign(found, expected, tolerance):
    assert found.shape == expected.shape
    signs = np.where((found * expected).sum(axis=0) < 0, -1.0, 1.0)
    errors = np.abs(found * signs - expected).max(axis=0) / np.abs(expected).max(axis=0)
    assert errors.max() <= tolerance, f"relative errors of the columns: {errors}"


def test_no_array_is_left_out(reference):
    for name in FILES:
        assert set(reference(name)) == {"X", "y", *ARRAYS, *SCORES}


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("name", FILES)
def test_components(reference, name, array, kind):
    values = reference(name)
    wrap, tolerance = INPUTS[kind]
    estimator, what = settings_of(array, values)
    X = wrap(values["X"])
    Z = estimator.fit_transform(X, values["y"])
    found = {"w": estimator.components_.T, "v": estimator.directions_.T, "z": Z}[what]
    assert_equal_up_to_sign(found, values[array], tolerance)
    if what == "z":
        assert_equal_up_to_sign(estimator.transform(X), values[array], tolerance)


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
