"""Shrunken training scores: the predicted ratio, which scores it changes, and scales that are given."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA
from ispca.reduction import score_shrinkage
from ispca.reduction.score_shrinkage import shrinkage_ratios


def expression(n=40, D=300, seed=0):
    """Return samples with three factors, the first of which follows the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    factors = rng.normal(size=(n, 3))
    factors[:, 0] += 2 * y
    loadings = rng.normal(size=(3, D)) * (rng.uniform(size=(3, D)) < 0.3)
    return factors @ loadings + rng.normal(size=(n, D)), y


X, y = expression()
ESTIMATORS = {
    "PCA": ISPCA(6, n_supervised=0),
    "ISPCA": ISPCA(6, alpha=None, n_supervised=2, random_state=0),
    "SPCA": SPCA(6, n_features=20, n_supervised=2, random_state=0),
}
estimators = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)


def literal(eigenvalues):
    """Return the ratios for nonzero eigenvalues of ``X X^T``, one kernel at a time (Ledoit and Wolf, D > n)."""
    n = len(eigenvalues)
    d = np.asarray(eigenvalues) / n
    ratios = []
    for here in d:
        density = transform = 0.0
        for center in d:
            width = center * n ** (-1 / 3)
            x = (here - center) / width
            density += 3 / (4 * np.sqrt(5)) * max(1 - x**2 / 5, 0) / width / n
            logarithm = np.log(abs((np.sqrt(5) - x) / (np.sqrt(5) + x)))
            curved = 3 / (4 * np.sqrt(5) * np.pi) * (1 - x**2 / 5) * logarithm
            transform += (-3 * x / (10 * np.pi) + curved) / width / n
        variance = 1 / (np.pi**2 * here * (density**2 + transform**2))
        ratios.append(np.sqrt(variance / here))
    return np.array(ratios)


def remaining_eigenvalues(X, *removed):
    """Return the nonzero eigenvalues of the standardized X, largest first, without what other columns explain."""
    values = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    basis = np.linalg.qr(np.column_stack([np.ones(len(X)), *removed]))[0]
    values = values - basis @ (basis.T @ values)
    found = np.linalg.eigvalsh(values @ values.T)[::-1]
    return found[found > 1e-8 * found[0]]


def shrunken(estimator, X, y, **fit):
    """Return a fitted copy with shrunken scores."""
    return clone(estimator).set_params(shrink_scores=True).fit(X, y, **fit)


# The formula.


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e8])
def test_wide_data_have_the_published_formula(rng, scale):
    values = scale * np.sort(rng.gamma(2.0, size=30))[::-1]
    np.testing.assert_allclose(shrinkage_ratios(values, 30, 500), literal(values), rtol=1e-10)
    # From the program with which shrunken scores were first tried. New samples vary more along the last component.
    found = shrinkage_ratios(np.array([8.0, 4.0, 2.0, 1.0]), 4, 100)
    np.testing.assert_allclose(found, [0.66574568, 0.74719096, 0.84533756, 1.36445558], atol=1e-8)


def test_equal_eigenvalues_and_ends_of_kernels():
    np.testing.assert_allclose(shrinkage_ratios(np.ones(8), 8, 100), literal(np.ones(8)))
    # The second eigenvalue lies at the end of the kernel of the first one.
    values = np.array([1.0, 1.0 - np.sqrt(5) * 2 ** (-1 / 3)])
    assert np.isfinite(shrinkage_ratios(np.abs(values), 2, 100)).all()


@pytest.mark.parametrize("D", [30, 120, 400])
def test_agrees_with_new_samples(D):
    rng = np.random.default_rng(D)
    loadings = rng.normal(size=(4, D)) * np.array([[2.0], [1.5], [1.0], [0.7]])
    samples = rng.normal(size=(2060, 4)) @ loadings + 3 * rng.normal(size=(2060, D))
    reduction = ISPCA(10, n_supervised=0, whiten=True, shrink_scores=True).fit(samples[:60])
    actual = reduction.transform(samples[60:]).std(axis=0)
    assert np.abs(np.log(reduction.score_shrinkage_ / actual)).mean() < 0.5 * np.abs(np.log(actual)).mean()


# Which scores are shrunken.


@estimators
@pytest.mark.parametrize("whiten", [False, True])
def test_scores_on_unsupervised_components_are_multiplied(estimator, whiten):
    plain = clone(estimator).set_params(whiten=whiten)
    Z = plain.fit_transform(X, y)
    found, count = shrunken(plain, X, y), plain.n_supervised_
    ratios = found.score_shrinkage_
    expected = literal(remaining_eigenvalues(X, Z[:, :count]))[: 6 - count]
    np.testing.assert_allclose(ratios, [1.0] * count + expected.tolist(), rtol=1e-8)
    assert 0 < expected.min() < expected.max() < 1
    np.testing.assert_allclose(found.training_scores_, Z * ratios, rtol=1e-12)
    np.testing.assert_array_equal(clone(found).fit_transform(X, y), found.training_scores_)


@estimators
def test_the_fit_does_not_change(estimator):
    plain, found = clone(estimator).fit(X, y), shrunken(estimator, X, y)
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "mean_", "scale_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
    np.testing.assert_array_equal(found.transform(X), plain.transform(X))
    refitted = found.set_params(shrink_scores=False).fit(X, y)
    assert not hasattr(refitted, "score_shrinkage_")
    assert not hasattr(refitted, "training_scores_")


@estimators
def test_cross_fitted_scores_keep_their_size(estimator):
    crossed = clone(estimator).set_params(cross_fit=4)
    Z = crossed.fit_transform(X, y)
    found = shrunken(crossed, X, y)
    np.testing.assert_allclose(found.training_scores_, Z * found.score_shrinkage_, rtol=1e-12)


def test_a_cross_fit_without_folds_leaves_shrunken_scores():
    labels = y.copy()
    labels[0] = 2
    estimator = ISPCA(5, alpha=None, n_supervised=1, random_state=0)
    with pytest.warns(UserWarning, match="one member"):
        expected = shrunken(estimator, X, labels).training_scores_
    with pytest.warns(UserWarning, match="not cross-fitted"):
        found = shrunken(estimator.set_params(cross_fit=4), X, labels).training_scores_
    np.testing.assert_array_equal(found, expected)


def test_supervised_components_alone_are_not_shrunken():
    found = shrunken(ISPCA(2, alpha=None, random_state=0), X, y)
    np.testing.assert_array_equal(found.score_shrinkage_, [1.0, 1.0])
    np.testing.assert_allclose(found.training_scores_, found.transform(X), atol=1e-12)


def test_the_model_of_a_pipeline_learns_from_shrunken_scores():
    reduction = ISPCA(4, n_supervised=0, whiten=True, shrink_scores=True)
    pipeline = make_pipeline(clone(reduction), LogisticRegression()).fit(X, y)
    alone = LogisticRegression().fit(reduction.fit_transform(X, y), y)
    np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)
    np.testing.assert_array_equal(pipeline.predict_proba(X), alone.predict_proba(reduction.transform(X)))


def test_covariates_are_removed_first():
    age, mixed = X[:, [0]], X.copy()
    mixed[:, 1:] += 2 * age
    # Without the weights that a model of classes would give to the samples.
    value = X[:, 5] + age[:, 0]
    for estimator in (ISPCA(4, n_supervised=0, adjust=[0]), ISPCA(4, alpha=None, n_supervised=1, adjust=[0])):
        Z = clone(estimator).fit_transform(mixed, value)
        found = shrunken(estimator, mixed, value)
        count = found.n_supervised_
        expected = literal(remaining_eigenvalues(mixed[:, 1:], age, Z[:, :count]))[: 4 - count]
        np.testing.assert_allclose(found.score_shrinkage_[count:], expected, rtol=1e-8)
        kept = shrunken(clone(estimator).set_params(keep_adjusted=True), mixed, value).training_scores_
        np.testing.assert_allclose(kept[:, :4], found.training_scores_, atol=1e-10)
        np.testing.assert_allclose(np.corrcoef(kept[:, 4], age[:, 0])[0, 1], 1.0)


@pytest.mark.parametrize("n_supervised", [0, 2])
def test_fewer_features_than_samples(n_supervised):
    rng = np.random.default_rng(3)
    tall = rng.normal(size=(400, 8)) * np.linspace(3, 1, 8)
    estimator = ISPCA(5, n_supervised=n_supervised, alpha=None, scale=False, random_state=0)
    ratios = shrunken(estimator, tall, np.arange(400) % 2).score_shrinkage_
    # With 50 samples per feature, almost nothing is shrunken.
    np.testing.assert_allclose(ratios[:n_supervised], 1.0)
    assert (np.abs(ratios - 1) < 0.1).all()


def test_copies_of_features_do_not_count():
    rng = np.random.default_rng(5)
    tall = rng.normal(size=(200, 40)) * np.linspace(3, 1, 40)
    estimator = ISPCA(10, n_supervised=0, scale=False)
    expected = shrunken(estimator, tall, None).score_shrinkage_
    found = shrunken(estimator, np.column_stack([tall, tall]), None).score_shrinkage_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("D", [10, 300], ids=["tall", "wide"])
def test_weights_that_stand_for_fewer_samples(D):
    weights = np.full(len(X), 0.1)
    found = shrunken(ISPCA(3, n_supervised=0), X[:, :D], None, sample_weight=weights)
    assert ((found.score_shrinkage_ > 0.3) & (found.score_shrinkage_ < 1.2)).all()


def test_as_many_features_as_samples():
    rng = np.random.default_rng(4)
    for D in (28, 29, 30, 31, 32):
        ratios = shrunken(ISPCA(5, n_supervised=0), rng.normal(size=(30, D)), None).score_shrinkage_
        assert ((ratios > 0.3) & (ratios < 0.95)).all()


def test_too_large_for_all_eigenvalues(monkeypatch):
    monkeypatch.setattr(score_shrinkage, "LARGEST_GRAM", 30)
    found = shrunken(ESTIMATORS["PCA"], X, y)
    np.testing.assert_array_equal(found.score_shrinkage_, np.ones(6))
    np.testing.assert_allclose(found.training_scores_, found.transform(X), atol=1e-12)


# Samples and containers.


@estimators
@pytest.mark.parametrize("D", [300, 45, 12], ids=["wide", "between", "tall"])
@pytest.mark.parametrize("adjust", [None, [3]], ids=["plain", "adjusted"])
def test_a_weight_counts_equal_samples(estimator, D, adjust):
    some = X[:, :D]
    weights = np.random.default_rng(1).integers(0, 4, len(some))
    copies = np.repeat(np.arange(len(some)), weights)
    estimator = clone(estimator).set_params(scale=1 + np.arange(D) / D, adjust=adjust)
    if isinstance(estimator, SPCA):
        estimator.set_params(n_features=5)
    weighted = shrunken(estimator, some, y, sample_weight=weights)
    copied = shrunken(estimator, some[copies], y[copies])
    np.testing.assert_allclose(weighted.score_shrinkage_, copied.score_shrinkage_, rtol=1e-8)
    np.testing.assert_allclose(weighted.training_scores_[copies], copied.training_scores_, atol=1e-8)


@estimators
@pytest.mark.parametrize("D", [300, 25], ids=["wide", "tall"])
def test_sparse_and_single_precision(estimator, D):
    some = np.where(np.abs(X[:, :D]) > 0.8, X[:, :D], 0.0)
    expected = shrunken(estimator, some, y)
    for make in (sp.csr_array, sp.csc_matrix):
        found = shrunken(estimator, make(some), y)
        np.testing.assert_allclose(found.score_shrinkage_, expected.score_shrinkage_, rtol=1e-8)
        np.testing.assert_allclose(found.training_scores_, expected.training_scores_, atol=1e-8)
    single = shrunken(estimator, some.astype(np.float32), y)
    assert single.fit_transform(some.astype(np.float32), y).dtype == np.float32
    np.testing.assert_allclose(single.score_shrinkage_, expected.score_shrinkage_, rtol=1e-4)


# Given scales.


@estimators
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("options", [{}, {"cross_fit": 4, "shrink_scores": True}], ids=["plain", "honest"])
def test_given_scales_are_those_of_a_scaled_X(estimator, make, options):
    scale = np.random.default_rng(2).uniform(0.5, 3, X.shape[1])
    estimator = clone(estimator).set_params(**options)
    by_hand = clone(estimator).set_params(scale=False)
    expected = by_hand.fit_transform(make(X / scale), y)
    found = clone(estimator).set_params(scale=scale)
    np.testing.assert_allclose(found.fit_transform(make(X), y), expected, atol=1e-9)
    np.testing.assert_allclose(found.transform(make(X)), by_hand.transform(make(X / scale)), atol=1e-9)
    np.testing.assert_array_equal(found.scale_, scale)


@pytest.mark.parametrize("container", [list, tuple, np.asarray])
def test_the_deviations_as_given_scales(container):
    expected = ISPCA(4, alpha=None, n_supervised=2, random_state=0).fit(X, y)
    found = clone(expected).set_params(scale=container(expected.scale_)).fit(X, y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-10)


def test_given_scales_leave_out_constant_features_only():
    some = X.copy()
    some[:, 0], some[:, 1] = 1.0, np.arange(len(X)) == 3  # one sample decides the second feature
    found = ISPCA(3, n_supervised=0, scale=np.ones(X.shape[1])).fit(some)
    assert found.feature_mask_.tolist() == [False] + [True] * (X.shape[1] - 1)
    assert not ISPCA(3, n_supervised=0).fit(some).feature_mask_[1]


def test_scales_of_categories_are_those_of_their_column():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X[:, :20]).add_prefix("gene")
    frame.insert(0, "batch", pd.Categorical(np.array(["a", "b", "c"])[np.arange(len(X)) % 3]))
    found = ISPCA(3, n_supervised=0, adjust=["batch"], scale=np.arange(1.0, 22.0)).fit(frame)
    np.testing.assert_array_equal(found.scale_[-20:], np.arange(2.0, 22.0))
    np.testing.assert_array_equal(found.scale_[:-20], 1.0)


def bad(position, value):
    scale = np.ones(X.shape[1])
    scale[position] = value
    return scale


@estimators
@pytest.mark.parametrize(
    "scale",
    [np.ones(299), np.ones((1, 300)), [], bad(3, 0.0), bad(3, -1.0), bad(299, np.nan), bad(0, np.inf)],
    ids=["too short", "two dimensions", "empty", "zero", "negative", "NaN", "infinite"],
)
def test_bad_scales_are_refused(estimator, scale):
    message = "scale must be True, False, or 300 positive numbers, one for each column of X"
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(scale=scale).fit(X, y)


@pytest.mark.parametrize("scale", [["a"] * 300, [[1.0], [1.0, 2.0]]], ids=["words", "ragged"])
def test_scales_that_are_no_numbers_are_refused(scale):
    with pytest.raises(ValueError, match="scale must be True, False, or 300 positive numbers"):
        ISPCA(3, n_supervised=0, scale=scale).fit(X)
