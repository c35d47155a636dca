"""What ISPCA and SPCA have in common: fitted attributes, transform and its inverse, containers and names."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression

from conftest import up_to_sign
from ispca import ISPCA, SPCA

# Fitted attributes.


def test_fitted_attributes(estimator, expression):
    X, labels, _ = expression
    Z = estimator.fit_transform(X, labels)
    K, D = estimator.n_components_, X.shape[1]
    assert Z.shape == (40, K)
    assert estimator.components_.shape == estimator.directions_.shape == (K, D)
    assert estimator.explained_variance_.shape == (K,)
    np.testing.assert_allclose(estimator.explained_variance_, Z.var(axis=0, ddof=1))
    np.testing.assert_allclose(estimator.mean_, X.mean(axis=0))
    np.testing.assert_allclose(estimator.scale_, X.std(axis=0, ddof=1))
    assert estimator.feature_mask_.dtype == bool
    assert estimator.feature_mask_.all()
    assert estimator.n_features_in_ == D
    assert not hasattr(estimator, "feature_names_in_")
    assert 0 <= estimator.n_supervised_ <= K


@pytest.mark.parametrize("center", [True, False])
def test_explained_variance_ratio_is_that_of_a_regression(estimator, expression, center):
    X, labels, _ = expression
    Z = estimator.set_params(center=center, whiten=True).fit_transform(X, labels)
    standardized = (X - estimator.mean_) / estimator.scale_
    total, left = (standardized**2).sum(), []
    for k in range(1, Z.shape[1] + 1):
        residual = standardized - Z[:, :k] @ np.linalg.lstsq(Z[:, :k], standardized, rcond=None)[0]
        left.append((residual**2).sum() / total)
    np.testing.assert_allclose(np.cumsum(estimator.explained_variance_ratio_), 1 - np.array(left), rtol=1e-8)


def test_all_components_together_explain_all_variance(rng):
    X = rng.normal(size=(12, 30))
    ratio = ISPCA(11, alpha=None, n_supervised=3).fit(X, np.arange(12) % 2).explained_variance_ratio_
    assert ratio.sum() == pytest.approx(1)


def test_directions_have_unit_length(estimator, expression):
    X, labels, _ = expression
    np.testing.assert_allclose(np.linalg.norm(estimator.fit(X, labels).directions_, axis=1), 1.0)


def test_string_labels_and_classes(expression):
    X, labels, numbers = expression
    assert list(ISPCA(2, random_state=0).fit(X, labels).classes_) == ["healthy", "sick"]
    codes = ISPCA(2, random_state=0).fit(X, labels == "sick")
    np.testing.assert_array_equal(codes.components_, ISPCA(2, random_state=0).fit(X, labels).components_)
    assert not hasattr(ISPCA(2, random_state=0).fit(X, numbers), "classes_")


@pytest.mark.parametrize("make", [list, pd.Series, pl.Series, lambda y: np.asarray(y, dtype=object)])
def test_targets_of_any_kind(expression, make):
    X, labels, _ = expression
    expected = ISPCA(2, random_state=0).fit(X, labels)
    found = ISPCA(2, random_state=0).fit(X, make(labels.tolist()))
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert list(found.classes_) == ["healthy", "sick"]


def test_family_decides_what_whole_numbers_are(expression):
    X, _, numbers = expression
    counts = np.round(3 * numbers).astype(int)
    as_numbers = ISPCA(1, family="gaussian", alpha=None).fit(X, counts)
    assert not hasattr(as_numbers, "classes_")
    np.testing.assert_allclose(as_numbers.components_, ISPCA(1, alpha=None).fit(X, counts + 0.25).components_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert len(ISPCA(1, family="multinomial", alpha=None).fit(X, counts).classes_) == len(set(counts))


def test_two_classes_as_multinomial_give_the_same_components(expression):
    X, labels, _ = expression
    one, other = (ISPCA(3, alpha=None, family=family).fit(X, labels) for family in ("binomial", "multinomial"))
    up_to_sign(one.components_.T, other.components_.T, atol=1e-9)


# Using the result.


@pytest.mark.parametrize("whiten", [False, True])
def test_transform_is_the_documented_formula(estimator, expression, rng, whiten):
    X, labels, _ = expression
    estimator.set_params(whiten=whiten).fit(X, labels)
    new = rng.normal(size=(7, X.shape[1])) * 5
    expected = ((new - estimator.mean_) / estimator.scale_) @ estimator.components_.T
    np.testing.assert_allclose(estimator.transform(new), expected, atol=1e-10)
    np.testing.assert_allclose(estimator.transform(sp.csr_array(new)), expected, atol=1e-9)


def test_fit_transform_is_fit_then_transform(estimator, expression):
    X, labels, _ = expression
    Z = estimator.fit_transform(X, labels)
    np.testing.assert_allclose(clone(estimator).fit(X, labels).transform(X), Z, atol=1e-9)


def test_whitening_gives_unit_variance(estimator, expression):
    X, labels, _ = expression
    plain = clone(estimator).fit(X, labels)
    Z = estimator.set_params(whiten=True).fit_transform(X, labels)
    np.testing.assert_allclose(Z.var(axis=0, ddof=1), 1.0)
    np.testing.assert_allclose(estimator.transform(X).var(axis=0, ddof=1), 1.0)
    # The explained variance stays that of the features themselves.
    np.testing.assert_allclose(estimator.explained_variance_, plain.explained_variance_)
    np.testing.assert_allclose(estimator.directions_, plain.directions_)


@pytest.mark.parametrize("whiten", [False, True])
def test_inverse_transform_projects(estimator, expression, rng, whiten):
    X, labels, _ = expression
    estimator.set_params(whiten=whiten).fit(X, labels)
    Z = rng.normal(size=(5, estimator.n_components_))
    back = estimator.inverse_transform(Z)
    assert back.shape == (5, X.shape[1])
    np.testing.assert_allclose(estimator.transform(back), Z, atol=1e-9)
    # Projecting once more changes nothing, and the centre is the mean.
    np.testing.assert_allclose(estimator.inverse_transform(estimator.transform(back)), back, atol=1e-8)
    np.testing.assert_allclose(estimator.inverse_transform(np.zeros((1, Z.shape[1])))[0], estimator.mean_)


def test_inverse_transform_with_all_components_gives_x_back(rng):
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6)) + 3.0
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    for n_supervised in (0, 2, 6):
        estimator = ISPCA(6, n_supervised=n_supervised, alpha=None)
        Z = estimator.fit_transform(X, y)
        np.testing.assert_allclose(estimator.inverse_transform(Z), X, atol=1e-8)


def test_inverse_transform_is_the_least_squares_reconstruction(expression):
    X, labels, _ = expression
    estimator = ISPCA(4, n_supervised=2, alpha=None)
    Z = estimator.fit_transform(X, labels)
    expected = LinearRegression().fit(Z, X).predict(Z)
    np.testing.assert_allclose(estimator.inverse_transform(Z), expected, atol=1e-8)


def test_original_coefficients_of_one_model(estimator, expression):
    X, _, numbers = expression
    Z = estimator.fit_transform(X, numbers)
    model = LinearRegression().fit(Z, numbers)
    coef, intercept = estimator.original_coefficients(model.coef_, model.intercept_)
    assert coef.shape == (X.shape[1],)
    np.testing.assert_allclose(X @ coef + intercept, model.predict(Z), atol=1e-9)


def test_original_coefficients_of_one_vector_per_class(expression):
    X, _, numbers = expression
    y = np.digitize(numbers, np.quantile(numbers, [1 / 3, 2 / 3]))
    estimator = ISPCA(5, random_state=0, whiten=True)
    Z = estimator.fit_transform(X, y)
    model = LogisticRegression().fit(Z, y)
    coef, intercept = estimator.original_coefficients(model.coef_, model.intercept_)
    assert coef.shape == (3, X.shape[1])
    assert intercept.shape == (3,)
    np.testing.assert_allclose(X @ coef.T + intercept, model.decision_function(Z), atol=1e-9)


def test_original_coefficients_of_posterior_draws(expression, rng):
    X, labels, _ = expression
    estimator = ISPCA(5, random_state=0)
    Z = estimator.fit_transform(X, labels)
    draws, intercepts = rng.normal(size=(4, 25, 5)), rng.normal(size=(4, 25))
    coef, intercept = estimator.original_coefficients(draws, intercepts)
    assert coef.shape == (4, 25, X.shape[1])
    assert intercept.shape == (4, 25)
    np.testing.assert_allclose(coef @ X.T + intercept[..., None], draws @ Z.T + intercepts[..., None], atol=1e-9)


def test_original_coefficients_without_intercept(expression):
    X, labels, _ = expression
    estimator = ISPCA(2, random_state=0).fit(X, labels)
    coef, intercept = estimator.original_coefficients([1.0, 2.0])
    np.testing.assert_allclose(X @ coef + intercept, estimator.transform(X) @ [1.0, 2.0], atol=1e-9)


# Containers and types.


@pytest.mark.grid(5)
def test_every_container_gives_the_same(estimator, expression, container):
    X, labels, _ = expression
    expected = clone(estimator)
    Z = expected.fit_transform(X, labels)
    found = estimator.fit_transform(container(X), labels)
    np.testing.assert_allclose(found, Z, atol=1e-8)
    np.testing.assert_allclose(estimator.components_, expected.components_, atol=1e-9)
    np.testing.assert_allclose(estimator.transform(container(X)), Z, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, bool])
def test_integers_give_the_same_as_floats(expression, dtype):
    X, labels, _ = expression
    X = np.round(20 * (X - X.mean(axis=0)) / X.std(axis=0)).clip(-60, 60) + (60 if dtype == np.uint8 else 0)
    X = (X > 0) if dtype is bool else X
    expected = ISPCA(4, random_state=0).fit_transform(X.astype(float), labels)
    for wrap in (np.asarray, sp.csr_array):
        Z = ISPCA(4, random_state=0).fit_transform(wrap(X.astype(dtype)), labels)
        assert Z.dtype == np.float64
        np.testing.assert_allclose(Z, expected, atol=1e-9)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, pd.DataFrame])
def test_single_precision_in_single_precision_out(estimator, expression, wrap):
    X, labels, _ = expression
    single = wrap(X.astype(np.float32))
    found = estimator.fit_transform(single, labels)
    expected = clone(estimator).fit(X.astype(np.float32).astype(float), labels)
    assert np.asarray(found).dtype == np.float32
    assert estimator.transform(single).dtype == np.float32
    np.testing.assert_allclose(found, expected.transform(X), atol=2e-4)


@pytest.mark.grid(5)
def test_the_data_are_not_changed(estimator, expression, container):
    X, labels, _ = expression
    given = container(X.copy())
    estimator.fit(given, labels)
    estimator.transform(given)
    after = given.toarray() if sp.issparse(given) else np.asarray(given)
    np.testing.assert_array_equal(after, X)


def test_a_memory_map_and_read_only_data_are_fine(expression, tmp_path):
    X, labels, _ = expression
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = ISPCA(4, random_state=0).fit(X, labels)
    found = ISPCA(4, random_state=0).fit(mapped, labels)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-12)
    X = X.copy()
    X.flags.writeable = False
    np.testing.assert_array_equal(ISPCA(4, random_state=0).fit(X, labels).components_, expected.components_)


def test_data_far_from_zero_keep_their_digits(expression):
    X, labels, _ = expression
    expected = ISPCA(4, random_state=0).fit_transform(X, labels)
    Z = ISPCA(4, random_state=0).fit_transform(X + 1e6, labels)
    np.testing.assert_allclose(Z, expected, atol=1e-7)


def test_without_centring_or_scaling(expression):
    X, labels, _ = expression
    unscaled = ISPCA(3, n_supervised=0, scale=False)
    up_to_sign(unscaled.fit_transform(X), PCA(3).fit_transform(X), atol=1e-7)
    np.testing.assert_array_equal(unscaled.scale_, 1.0)
    raw = ISPCA(3, n_supervised=0, scale=False, center=False)
    _, _, Vt = np.linalg.svd(X)
    up_to_sign(raw.fit_transform(X), X @ Vt[:3].T, atol=1e-7)
    np.testing.assert_array_equal(raw.mean_, 0.0)
    supervised = ISPCA(3, alpha=None, scale=False, center=False)
    Z = supervised.fit_transform(X, labels)
    assert np.abs(Z.T @ Z - np.diag((Z**2).sum(axis=0))).max() < 1e-8 * (Z**2).sum()
    np.testing.assert_allclose(X @ supervised.components_.T, Z, atol=1e-8 * np.abs(Z).max())


# Names, frames, excluded features.


def test_feature_names_out(expression):
    X, labels, _ = expression
    names = ISPCA(3, n_supervised=1, random_state=0).fit(X, labels).get_feature_names_out()
    assert list(names) == ["supervised_1", "unsupervised_2", "unsupervised_3"]
    assert list(SPCA(2, n_features=9).fit(X, labels).get_feature_names_out()) == ["supervised_1", "supervised_2"]


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_set_output(expression, frame):
    X, labels, _ = expression
    names = [f"gene {j}" for j in range(X.shape[1])]
    given = (
        pd.DataFrame(X, columns=names, index=np.arange(40) + 100)
        if frame == "pandas"
        else pl.DataFrame(X, schema=names)
    )
    estimator = ISPCA(3, random_state=0).set_output(transform=frame)
    Z, again = estimator.fit_transform(given, labels), estimator.transform(given)
    assert type(Z).__module__.startswith(frame)
    assert list(Z.columns) == list(again.columns) == ["supervised_1", "unsupervised_2", "unsupervised_3"]
    np.testing.assert_allclose(Z.to_numpy(), again.to_numpy(), atol=1e-9)
    assert list(estimator.feature_names_in_) == names
    if frame == "pandas":
        assert list(Z.index) == list(given.index)


@pytest.mark.parametrize("kind", [ISPCA, SPCA])
def test_exclude_by_index_name_or_mask(expression, kind):
    X, labels, _ = expression
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    options = {"n_components": 3, "random_state": 0, "alpha": 0.05}
    mask = np.isin(np.arange(X.shape[1]), [0, 5])
    by_name = kind(exclude=["gene 0", "gene 5"], **options).fit(frame, labels)
    np.testing.assert_array_equal(by_name.feature_mask_, ~mask)
    assert not by_name.components_[:, mask].any()
    for exclude in ([0, 5], (5, 0), mask, mask.tolist(), np.array([0, 5 - X.shape[1]])):
        found = kind(exclude=exclude, **options).fit(frame, labels)
        np.testing.assert_array_equal(found.components_, by_name.components_)
    # The same as if they had never been there.
    without = kind(**options).fit(X[:, ~mask], labels)
    np.testing.assert_allclose(by_name.components_[:, ~mask], without.components_, atol=1e-9)


@pytest.mark.parametrize("exclude", [3, "gene 3"])
def test_exclude_one_feature_without_a_list(expression, exclude):
    X, labels, _ = expression
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    estimator = ISPCA(2, exclude=exclude, random_state=0).fit(frame, labels)
    assert list(np.flatnonzero(~estimator.feature_mask_)) == [3]


def test_exclude_nothing(expression):
    X, labels, _ = expression
    assert ISPCA(2, exclude=[], random_state=0).fit(X, labels).feature_mask_.all()
