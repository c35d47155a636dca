"""Sample weights: a weight of 2 equals a duplicated sample, 0 leaves it out, and 1 changes nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from family_targets import COVARIATES, N_SAMPLES, make_targets
from ispca import ISPCA, SPCA, feature_scores, score_test
from ispca.reduction.design import RowWeights, make_design
from ispca.reduction.threads import workers

X, TARGETS = make_targets()
WEIGHTS = np.random.default_rng(1).integers(1, 4, N_SAMPLES).astype(float)
COPIES = np.repeat(np.arange(N_SAMPLES), WEIGHTS.astype(int))
CONTAINERS = {"dense": np.asarray, "sparse": sp.csr_array}
families = pytest.mark.parametrize("family", TARGETS)
containers = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
adjustments = pytest.mark.parametrize("adjust", [None, COVARIATES], ids=["plain", "adjusted"])
# No permutation test decides: it exchanges samples, whatever their weights.
ESTIMATORS = {
    "ISPCA": ISPCA(5, n_supervised=3, alpha=None),
    "whitened": ISPCA(4, n_supervised=2, alpha=None, whiten=True, scale=False),
    "not centered": ISPCA(4, n_supervised=2, alpha=None, center=False),
    "SPCA": SPCA(4, n_features=10, n_supervised=2),
    "threshold": SPCA(4, threshold=0.5),
    "PCA": ISPCA(4, n_supervised=0),
}


def assert_same_reduction(found, expected, tolerance=1e-10):
    for name in ("components_", "mean_", "scale_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=tolerance, atol=tolerance)


@families
@containers
@adjustments
def test_a_weight_counts_equal_samples_in_scores(family, container, adjust):
    y, options = TARGETS[family], {"family": family, "adjust": adjust}
    found = feature_scores(container(X), y, sample_weight=WEIGHTS, **options)
    np.testing.assert_allclose(found, feature_scores(container(X[COPIES]), y[COPIES], **options), atol=1e-10)


@pytest.mark.grid(5)
@families
@containers
@adjustments
@pytest.mark.parametrize("name", ["ISPCA", "SPCA"])
def test_a_weight_counts_equal_samples_in_components(family, container, adjust, name):
    y, estimator = TARGETS[family], clone(ESTIMATORS[name]).set_params(family=family, adjust=adjust)
    Z = estimator.fit_transform(container(X), y, sample_weight=WEIGHTS)
    components = estimator.components_
    variance, ratio = estimator.explained_variance_, estimator.explained_variance_ratio_
    copied = estimator.fit_transform(container(X[COPIES]), y[COPIES])
    np.testing.assert_allclose(components, estimator.components_, atol=1e-10)
    np.testing.assert_allclose(Z[COPIES], copied, atol=1e-9)
    np.testing.assert_allclose(variance, estimator.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(ratio, estimator.explained_variance_ratio_, rtol=1e-9)


@containers
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_variant_counts_equal_samples(container, name):
    y = TARGETS["gaussian"]
    found = clone(ESTIMATORS[name]).fit(container(X), y, sample_weight=WEIGHTS)
    assert_same_reduction(found, clone(ESTIMATORS[name]).fit(container(X[COPIES]), y[COPIES]))


@containers
def test_weights_decide_which_columns_a_single_sample_decides(container):
    """A value alone on its side of the mean is not alone if it stands for two samples."""
    values = X.copy()
    values[:, 0] = 0.0
    values[7, 0] = 1.0
    y = TARGETS["gaussian"]
    weights = np.ones(N_SAMPLES)
    weights[3] = 2.0
    assert not ISPCA(2, alpha=None).fit(container(values), y, sample_weight=weights).feature_mask_[0]
    weights[7] = 2.0
    assert ISPCA(2, alpha=None).fit(container(values), y, sample_weight=weights).feature_mask_[0]


@families
@adjustments
def test_weights_of_one_change_nothing(family, adjust):
    y, options = TARGETS[family], {"family": family, "adjust": adjust, "random_state": 0}
    found = ISPCA(4, **options).fit(X, y, sample_weight=np.ones(N_SAMPLES))
    expected = ISPCA(4, **options).fit(X, y)
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert found.steps_[0].p_value == expected.steps_[0].p_value


@families
@containers
def test_samples_of_weight_zero_are_left_out_but_get_scores(family, container):
    weights = WEIGHTS.copy()
    weights[[4, 11, 30]] = 0
    kept = np.flatnonzero(weights)
    options = {"family": family, "n_supervised": 2, "alpha": None}
    found = ISPCA(4, **options)
    Z = found.fit_transform(container(X), TARGETS[family], sample_weight=weights)
    expected = ISPCA(4, **options).fit(container(X[kept]), TARGETS[family][kept], sample_weight=weights[kept])
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-10)
    np.testing.assert_allclose(Z, expected.transform(container(X)), atol=1e-9)


@pytest.mark.grid(5)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("name", ["ISPCA", "SPCA"])
def test_sparse_samples_of_weight_zero_beside_those_of_one(name, layout, kind):
    """No weights are left once the others are left out."""
    sparse, weights = getattr(sp, f"{layout}_{kind}"), np.ones(N_SAMPLES)
    weights[[4, 11, 30]] = 0
    kept, y = np.flatnonzero(weights), TARGETS["gaussian"]
    found = clone(ESTIMATORS[name]).fit(sparse(X), y, sample_weight=weights)
    assert_same_reduction(found, clone(ESTIMATORS[name]).fit(sparse(X[kept]), y[kept]))
    scores = feature_scores(sparse(X), y, sample_weight=weights)
    np.testing.assert_allclose(scores, feature_scores(sparse(X[kept]), y[kept]), atol=1e-10)
    tests = score_test(sparse(X), y, sample_weight=weights, n_permutations=50, random_state=0)
    expected = score_test(sparse(X[kept]), y[kept], n_permutations=50, random_state=0)
    np.testing.assert_array_equal(tests.p_values, expected.p_values)


@pytest.mark.parametrize("whiten", [False, True])
def test_cross_fitted_scores_with_weights(whiten):
    """With the copies of a sample as a group, the folds of weights and of copies can be the same."""
    y = TARGETS["binomial"]
    folds = np.arange(N_SAMPLES) % 4

    def splits(numbers):
        return [(np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)) for fold in range(4)]

    options = {"n_supervised": 2, "alpha": None, "whiten": whiten}
    found = ISPCA(3, cross_fit=splits(folds), **options).fit_transform(X, y, sample_weight=WEIGHTS)
    expected = ISPCA(3, cross_fit=splits(folds[COPIES]), **options).fit_transform(X[COPIES], y[COPIES])
    np.testing.assert_allclose(found[COPIES], expected, atol=1e-8)


def test_cross_fitting_gives_scores_to_samples_of_weight_zero():
    weights = WEIGHTS.copy()
    weights[:3] = 0
    estimator = ISPCA(3, n_supervised=2, alpha=None, cross_fit=4, random_state=0)
    Z = estimator.fit_transform(X, TARGETS["gaussian"], sample_weight=weights)
    np.testing.assert_allclose(Z[:3], estimator.transform(X[:3]), atol=1e-10)
    assert np.abs(Z[3:, 0] - estimator.transform(X[3:])[:, 0]).max() > 0.01


@containers
def test_a_weighted_design_is_the_matrix_with_weighted_rows(container):
    rng = np.random.default_rng(2)
    total = rng.uniform(0.1, 3, N_SAMPLES)
    total *= N_SAMPLES / total.sum()
    with workers() as threads:
        design = make_design(container(X), threads, center=True, scale=True, rows=RowWeights(total))
        mean = total @ X / N_SAMPLES
        deviation = np.sqrt(total @ (X - mean) ** 2 / (N_SAMPLES - 1))
        naive = np.sqrt(total)[:, None] * (X - mean) / deviation
        some, vectors = np.array([1, 4, 7]), rng.normal(size=(N_SAMPLES, 3))
        vectors -= np.outer(np.sqrt(total), np.sqrt(total) @ vectors) / N_SAMPLES
        assert design.sparse == (container is sp.csr_array)
        np.testing.assert_allclose(design.squared_norms, (naive**2).sum(axis=0))
        np.testing.assert_allclose(design.columns(some), naive[:, some], atol=1e-12)
        np.testing.assert_allclose(design.t_dot(vectors, threads), naive.T @ vectors, atol=1e-10)
        np.testing.assert_allclose(design.t_dot(vectors, threads, some), naive[:, some].T @ vectors, atol=1e-10)
        gram = naive[:, some].T @ naive[:, some]
        np.testing.assert_allclose(design.feature_gram(some, threads), gram, atol=1e-10)
        np.testing.assert_allclose(design.sample_gram(threads), naive @ naive.T, atol=1e-10)
        product = design.sample_gram_product(threads)(vectors[:, 0])
        projected = product - np.sqrt(total) * (np.sqrt(total) @ product) / N_SAMPLES
        np.testing.assert_allclose(projected, naive @ (naive.T @ vectors[:, 0]), atol=1e-9)
        np.testing.assert_allclose(design.dot(vectors[:3], some), naive[:, some] @ vectors[:3], atol=1e-10)
        [largest], [of_features] = design.score_maxima([vectors], np.ones(len(mean)), threads)
        np.testing.assert_allclose(largest, np.abs(naive.T @ vectors).max(axis=0), atol=1e-10)
        np.testing.assert_allclose(of_features, np.abs(naive.T @ vectors).max(axis=1), atol=1e-10)


def test_an_offset_is_a_known_part_of_the_predictor():
    """Counts with a hundredfold exposure: without it, the exposure itself is what features explain."""
    rng = np.random.default_rng(0)
    exposure = rng.uniform(-2, 2, 200)
    features = np.column_stack([exposure + rng.normal(size=200), rng.normal(size=(200, 3))])
    y = rng.poisson(np.exp(exposure + 0.3 * features[:, 1]))
    assert feature_scores(features, y, family="poisson").argmax() == 0
    assert feature_scores(features, y, family="poisson", offset=exposure).argmax() == 1
    found = ISPCA(1, family="poisson", random_state=0).fit(features, y, offset=exposure)
    assert np.abs(found.components_[0]).argmax() == 1


@pytest.mark.parametrize("kind", [ISPCA, SPCA])
def test_weights_and_offsets_are_routed_through_a_pipeline(kind):
    y, offset = TARGETS["poisson"], np.linspace(-1, 1, N_SAMPLES)
    options = {"n_features": 10} if kind is SPCA else {"n_supervised": 2, "alpha": None}
    options["family"] = "poisson"
    expected = kind(3, **options).fit(X, y, sample_weight=WEIGHTS, offset=offset)
    with config_context(enable_metadata_routing=True):
        reduction = kind(3, **options).set_fit_request(sample_weight=True, offset=True)
        pipeline = make_pipeline(reduction, LinearRegression().set_fit_request(sample_weight=True))
        pipeline.fit(X, y, sample_weight=WEIGHTS, offset=offset)
    np.testing.assert_array_equal(pipeline[0].components_, expected.components_)
    assert np.abs(expected.components_ - kind(3, **options).fit(X, y).components_).max() > 1e-3


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(N_SAMPLES), "All sample weights are zero"),
        (np.full(N_SAMPLES, 0.01), "add up to 0.4, but they count samples"),
        (-np.ones(N_SAMPLES), "must not be negative"),
        (np.ones(3), "pass one weight per sample"),
    ],
)
def test_weights_that_cannot_be_used(weights, message):
    for fit in (ISPCA(2).fit, feature_scores, score_test):
        with pytest.raises(ValueError, match=message):
            fit(X, TARGETS["gaussian"], sample_weight=weights)


@pytest.mark.parametrize("statistic", ["spearman", "kendall", "runs"])
@pytest.mark.parametrize("name", ["sample_weight", "adjust", "offset"])
def test_rank_statistics_refuse_adjustments(statistic, name):
    options = {name: COVARIATES if name == "adjust" else WEIGHTS}
    with pytest.raises(ValueError, match=f'statistic="{statistic}" works neither with covariates'):
        feature_scores(X, TARGETS["gaussian"], statistic=statistic, **options)
