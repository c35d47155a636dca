"""Item 5: what must hold for any data, tried on many small random ones."""

import warnings

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ispca import ISPCA, SPCA
from ispca.reduction.permutation import draw_permutations
from naive import literal_ispca


@st.composite
def problems(draw):
    """X with a few factors, in different units, some columns constant; labels or numbers that follow them."""
    n, D = draw(st.integers(8, 30)), draw(st.integers(3, 50))
    classes = draw(st.sampled_from([0, 2, 3]))  # 0: numbers
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    factors = rng.normal(size=(n, 3))
    X = factors @ rng.normal(size=(3, D)) * draw(st.sampled_from([0.0, 1.0, 5.0])) + rng.normal(size=(n, D))
    X = X * rng.uniform(0.1, 10.0, D) + rng.normal(0, 10.0, D)
    X[:, rng.random(D) < 0.1] = 3.0
    X[:, 0] = factors[:, 0]
    target = factors @ [2.0, 1.0, 0.0] + rng.normal(size=n)
    if classes:
        codes = np.empty(n, dtype=int)
        codes[np.argsort(target)] = np.arange(n) * classes // n
        target = np.array(["one", "two", "three"])[codes]
    return X, target


estimators = st.sampled_from(
    [
        {"alpha": None},
        {"alpha": 0.2, "n_permutations": 50, "random_state": 0},
        {"alpha": 0.2, "n_permutations": 50, "random_state": 0, "test": "residual"},
        {"alpha": None, "n_supervised": 1, "max_features": 5, "n_thresholds": 3},
        {"n_supervised": 0},
        {"spca": True, "alpha": 0.2, "n_permutations": 50, "random_state": 0},
        {"spca": True, "n_features": 3},
        {"spca": True, "n_features": 4, "n_supervised": 1},
        {"spca": True, "threshold": 0.5, "whiten": True},
    ]
)


def fit(X, y, n_components, params):
    params = dict(params)
    kind = SPCA if params.pop("spca", False) else ISPCA
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        estimator = kind(n_components, **params)
        return estimator, estimator.fit_transform(X, y)


def most(X):
    return min(4, X.shape[0] - 1, X.shape[1])


def assert_columns_equal(found, expected, tolerance, signs=None):
    """Compare relative to the largest entry of each column."""
    assert found.shape == expected.shape
    if signs is not None:
        found = found * signs
    largest = np.maximum(np.abs(expected).max(axis=0), 1e-300)
    assert (np.abs(found - expected).max(axis=0) / largest).max(initial=0.0) <= tolerance


@given(problems(), estimators)
def test_the_new_features_are_orthogonal(problem, params):
    X, y = problem
    _, Z = fit(X, y, most(X), params)
    lengths = np.linalg.norm(Z, axis=0)
    cosines = Z.T @ Z / np.outer(lengths, lengths)
    assert np.abs(cosines - np.eye(len(cosines))).max() <= 1e-8
    # And centred.
    assert np.abs(Z.sum(axis=0) / lengths).max() <= 1e-8


@given(problems(), estimators)
def test_transform_of_the_training_data_is_what_fit_found(problem, params):
    X, y = problem
    estimator, Z = fit(X, y, most(X), params)
    assert_columns_equal(estimator.transform(X), Z, 1e-8)
    standardised = (X - estimator.mean_) / estimator.scale_
    assert_columns_equal(standardised @ estimator.components_.T, Z, 1e-8)


@given(problems(), st.sampled_from([(None, 500, 10), (1, 500, 10), (2, 6, 4), (None, 500, 100), (0, 500, 10)]))
def test_w_v_and_z_are_those_of_the_paper(problem, options):
    X, y = problem
    n_supervised, max_features, n_thresholds = options
    expected = literal_ispca(X, y, most(X), n_supervised, max_features=max_features, n_thresholds=n_thresholds)
    params = {
        "n_supervised": n_supervised,
        "alpha": None,
        "max_features": max_features,
        "n_thresholds": n_thresholds,
    }
    found, Z = fit(X, y, most(X), params)
    assert found.n_supervised_ == expected.n_supervised
    assert found.n_components_ == expected.W.shape[1]
    signs = np.where((found.directions_.T * expected.V).sum(axis=0) < 0, -1.0, 1.0)
    assert_columns_equal(found.components_.T, expected.W, 1e-7, signs)
    assert_columns_equal(found.directions_.T, expected.V, 1e-7, signs)
    assert_columns_equal(Z, expected.Z, 1e-7, signs)


@settings(max_examples=25)
@given(problems(), st.sampled_from(["paper", "residual"]), st.sampled_from([0.02, 0.1, 0.3]))
def test_with_the_permutation_test_too(problem, test, alpha):
    X, y = problem
    permutations = draw_permutations(9, len(X), 0, 100)
    expected = literal_ispca(X, y, most(X), alpha=alpha, permutations=permutations, test=test)
    params = {"alpha": alpha, "n_permutations": 100, "random_state": 9, "test": test}
    found, Z = fit(X, y, most(X), params)
    assert found.n_supervised_ == expected.n_supervised
    assert found.n_components_ == expected.W.shape[1]
    signs = np.where((found.directions_.T * expected.V).sum(axis=0) < 0, -1.0, 1.0)
    assert_columns_equal(Z, expected.Z, 1e-7, signs)


@given(problems(), estimators, st.randoms(use_true_random=False))
def test_permuting_columns_permutes_the_components(problem, params, random):
    X, y = problem
    order = list(range(X.shape[1]))
    random.shuffle(order)
    expected, Z = fit(X, y, most(X), params)
    found, Z_permuted = fit(X[:, order], y, most(X), params)
    assert_columns_equal(Z_permuted, Z, 1e-7)
    assert_columns_equal(found.components_.T, expected.components_.T[order], 1e-7)
    np.testing.assert_array_equal(found.feature_mask_, expected.feature_mask_[order])


@given(problems(), estimators, st.integers(0, 2**32 - 1))
def test_scaling_or_shifting_columns_changes_nothing(problem, params, seed):
    X, y = problem
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-3, 3, X.shape[1])
    shift = rng.normal(0, 100, X.shape[1]) * scale * (rng.random(X.shape[1]) < 0.5)
    expected, Z = fit(X, y, most(X), params)
    found, Z_changed = fit(X * scale + shift, y, most(X), params)
    assert found.n_supervised_ == expected.n_supervised_
    assert_columns_equal(Z_changed, Z, 1e-7)
    assert_columns_equal(found.components_.T, expected.components_.T, 1e-7)


@given(problems(), st.sampled_from([{"alpha": None}, {"n_supervised": 0}, {"spca": True, "n_features": 3}]))
def test_negating_a_column_negates_its_weights_only(problem, params):
    X, y = problem
    flip = np.where(np.arange(X.shape[1]) % 2, -1.0, 1.0)
    expected, Z = fit(X, y, most(X), params)
    found, Z_flipped = fit(X * flip, y, most(X), params)
    signs = np.where((Z_flipped * Z).sum(axis=0) < 0, -1.0, 1.0)
    assert_columns_equal(Z_flipped, Z, 1e-7, signs)
    assert_columns_equal(found.components_.T * flip[:, None], expected.components_.T, 1e-7, signs)


@given(problems(), estimators, st.floats(0.05, 0.6))
def test_sparse_equals_dense(problem, params, density):
    X, y = problem
    rng = np.random.default_rng(int(density * 1e6))
    X = np.where(rng.random(X.shape) < density, X, 0.0)
    X[: len(X) // 2, 0], X[len(X) // 2 :, 0] = 0.0, np.arange(len(X) - len(X) // 2) + 1.0
    expected, Z = fit(X, y, most(X), params)
    found, Z_sparse = fit(sp.csc_array(X), y, most(X), params)
    assert found.n_supervised_ == expected.n_supervised_
    np.testing.assert_array_equal(found.feature_mask_, expected.feature_mask_)
    assert_columns_equal(Z_sparse, Z, 1e-7)


@given(problems(), estimators, st.integers(0, 2**32 - 1))
def test_the_order_of_the_samples_does_not_matter_without_a_test(problem, params, seed):
    X, y = problem
    params = {key: value for key, value in params.items() if key not in ("n_permutations", "random_state", "test")}
    params["alpha"] = 1.0 if "spca" in params else None
    order = np.random.default_rng(seed).permutation(len(X))
    expected, _ = fit(X, y, most(X), params)
    found, _ = fit(X[order], y[order], most(X), params)
    assert_columns_equal(found.components_.T, expected.components_.T, 1e-7)
