"""feature_scores and score_test against SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import beta, false_discovery_control, kendalltau, pearsonr, spearmanr

from ispca import feature_scores, score_test

SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}


@pytest.fixture(params=["continuous", "ties"])
def X(request, rng):
    X = rng.normal(size=(45, 12)) * rng.uniform(0.1, 9.0, 12) + rng.normal(0, 4, 12)
    return X if request.param == "continuous" else np.round((X - X.mean(axis=0)) / X.std(axis=0))


@pytest.fixture(params=["two classes", "three classes", "numbers", "numbers with ties"])
def y(request, rng, X):
    signal = X[:, 0] / X[:, 0].std() + rng.normal(size=45)
    return {
        "two classes": np.where(signal > 0.3, "b", "a"),
        "three classes": np.array(["low", "middle", "high"])[np.digitize(signal, [-0.5, 0.8])],
        "numbers": signal,
        "numbers with ties": np.round(signal) + 0.5,
    }[request.param]


def one_versus_rest(y):
    if y.dtype.kind == "f":
        return [y]
    return [(y == label).astype(float) for label in np.unique(y)]


@pytest.mark.parametrize("statistic", SCIPY)
def test_scores_are_scipys(X, y, statistic):
    expected = [max(abs(SCIPY[statistic](x, target).statistic) for target in one_versus_rest(y)) for x in X.T]
    np.testing.assert_allclose(feature_scores(X, y, statistic=statistic), expected, atol=1e-10)


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall"])
def test_sparse_scores_equal_dense_ones(y, statistic, rng):
    X = np.where(rng.random((45, 12)) < 0.4, np.round(3 * rng.normal(size=(45, 12))), 0.0)
    X[:, 3], X[:, 4] = 0.0, np.abs(X[:, 4]) + 1.0
    if statistic == "kendall" and y.dtype.kind == "f":
        with pytest.raises(ValueError, match=r"kendall.*dense.*toarray"):
            feature_scores(sp.csr_array(X), y, statistic=statistic)
        return
    expected = feature_scores(X, y, statistic=statistic)
    for wrap in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        np.testing.assert_allclose(feature_scores(wrap(X), y, statistic=statistic), expected, atol=1e-10)
    test, sparse_test = (
        score_test(given, y, statistic=statistic, n_permutations=100, random_state=0)
        for given in (X, sp.csr_array(X))
    )
    np.testing.assert_array_equal(test.p_values, sparse_test.p_values)
    np.testing.assert_array_equal(test.q_values, sparse_test.q_values)


def test_explicit_zeros_and_duplicates_in_sparse_data(rng):
    X = np.where(rng.random((30, 5)) < 0.5, rng.integers(1, 4, (30, 5)), 0).astype(float)
    y = rng.integers(0, 2, 30)
    rows, columns = np.indices(X.shape).reshape(2, -1)
    # Every entry stored, zeros too, and each in two halves.
    twice = sp.coo_array((np.tile(X.ravel() / 2, 2), (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape)
    for statistic in ("pearson", "spearman", "kendall"):
        np.testing.assert_allclose(
            feature_scores(twice, y, statistic=statistic), feature_scores(X, y, statistic=statistic), atol=1e-12
        )


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall", "runs"])
def test_constant_features_score_zero(statistic, rng):
    X = rng.normal(size=(20, 4))
    X[:, 2] = 5.5
    y = np.arange(20) % 2
    scores = feature_scores(X, y, statistic=statistic)
    assert scores[2] == 0.0
    assert np.isfinite(scores).all()
    test = score_test(X, y, statistic=statistic, n_permutations=50, random_state=0)
    assert test.p_values[2] == test.q_values[2] == 1.0


@pytest.mark.parametrize("numeric", [False, True], ids=["classes", "numbers"])
def test_runs_detect_a_relation_that_is_not_monotone(rng, numeric):
    X = rng.normal(size=(80, 30))
    middle = np.abs(X[:, 4])
    y = -middle if numeric else middle < np.median(middle)
    runs = feature_scores(X, y, statistic="runs")
    assert runs.argmax() == 4
    assert runs[4] > 3
    assert feature_scores(X, y, statistic="spearman")[4] < 0.25
    test = score_test(X, y, statistic="runs", n_permutations=300, random_state=0)
    assert test.p_values[4] == 0.0
    assert score_test(X, y, statistic="runs", kind="maximum", n_permutations=300, random_state=0).p_value < 0.05


def test_runs_are_those_of_wald_and_wolfowitz():
    x = np.arange(10.0)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 1])  # four runs, five of each
    expected, deviation = 1 + 2 * 25 / 10, np.sqrt(2 * 25 * (2 * 25 - 10) / (100 * 9))
    assert feature_scores(x, y, statistic="runs")[0] == pytest.approx((expected - 4) / deviation)


def test_runs_with_ties_do_not_depend_on_the_order_of_the_samples(rng):
    X = rng.integers(0, 3, (40, 10)).astype(float)
    y = np.sort(rng.integers(0, 2, 40))
    order = rng.permutation(40)
    np.testing.assert_allclose(
        feature_scores(X, y, statistic="runs"), feature_scores(X[order], y[order], statistic="runs")
    )


def test_runs_need_dense_data(rng):
    with pytest.raises(ValueError, match=r"runs.*dense.*toarray"):
        feature_scores(sp.csr_array(rng.normal(size=(10, 3))), np.arange(10) % 2, statistic="runs")


def test_each_gives_a_p_value_per_feature(rng):
    X = rng.normal(size=(60, 40))
    y = X[:, 7] + 0.5 * rng.normal(size=60)
    test = score_test(X, y, n_permutations=500, random_state=0)
    assert test.p_values.shape == test.scores.shape == (40,)
    assert test.p_value is None
    assert test.n_permutations == 500
    assert test.p_values[7] == 0.0
    np.testing.assert_allclose(test.scores, feature_scores(X, y))
    # They are the p-values of the t-test, as nearly as 500 permutations can tell.
    expected = np.array([pearsonr(x, y).pvalue for x in X.T])
    assert np.abs(test.p_values - expected).max() < 4 * np.sqrt(0.25 / 500)


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall", "runs"])
def test_q_values_find_the_associated_features(statistic, rng):
    X, y = rng.normal(size=(40, 200)), np.arange(40) % 2
    X[:, :10] += 3.0 * y[:, None]
    test = score_test(X, y, statistic=statistic, n_permutations=100, random_state=0)
    assert (test.q_values[:10] < 0.02).all()
    # Twice as many false features as allowed would be bad luck.
    assert (test.q_values[10:] < 0.1).sum() <= 2
    order = np.argsort(-test.scores)
    assert (np.diff(test.q_values[order]) >= 0).all()


@pytest.mark.parametrize("n_covariates", [0, 2])
def test_q_values_are_those_of_benjamini_and_hochberg(n_covariates, rng):
    X, y, covariates = rng.normal(size=(60, 1000)), rng.normal(size=60), rng.normal(size=(60, n_covariates))
    X[:, :50] += 0.6 * y[:, None]
    y = y + covariates.sum(axis=1)
    # The t-test of the partial correlation.
    basis = np.linalg.qr(np.column_stack([np.ones(60), covariates]))[0]
    X_left, y_left = X - basis @ (basis.T @ X), y - basis @ (basis.T @ y)
    r = (y_left @ X_left) / np.linalg.norm(X_left, axis=0) / np.linalg.norm(y_left)
    expected = false_discovery_control(beta.sf(r**2, 0.5, (58 - n_covariates) / 2))
    adjust = range(n_covariates) if n_covariates else None
    found = score_test(np.hstack([covariates, X]), y, adjust=adjust, random_state=0).q_values
    assert (found[:n_covariates] == 1).all()
    np.testing.assert_allclose(found[n_covariates:], expected, atol=0.02)


def test_maximum_gives_one_p_value(rng):
    X = rng.normal(size=(60, 40))
    noise, signal = rng.normal(size=60), X[:, 7] + 0.5 * rng.normal(size=60)
    test = score_test(X, signal, kind="maximum", n_permutations=200, random_state=0)
    assert (test.p_value, test.p_values, test.n_permutations) == (0.0, None, 200)
    # Some feature always comes near by chance: the maximum is judged by the maximum.
    each = score_test(X, noise, n_permutations=200, random_state=0).p_values
    assert score_test(X, noise, kind="maximum", n_permutations=200, random_state=0).p_value > each.min()


def test_p_values_of_noise_are_uniform(rng):
    X = rng.normal(size=(30, 3000))
    p = score_test(X, rng.normal(size=30), n_permutations=200, random_state=0).p_values
    counts, _ = np.histogram(p, bins=[0.0, 0.199, 0.399, 0.599, 0.799, 1.0])
    assert np.abs(counts - 600).max() < 5 * np.sqrt(3000 * 0.2 * 0.8)


def test_containers(container, rng):
    X = rng.normal(size=(30, 8))
    y = rng.integers(0, 2, 30)
    np.testing.assert_allclose(feature_scores(container(X), y), feature_scores(X, y), atol=1e-12)


def test_the_result_cannot_be_changed_by_accident(rng):
    test = score_test(rng.normal(size=(10, 3)), np.arange(10) % 2, n_permutations=10)
    with pytest.raises(AttributeError):
        test.p_value = 0.0


def test_runs_of_tied_noise_are_not_significant_when_samples_are_sorted_by_class(rng):
    X = rng.integers(0, 3, (40, 200)).astype(float)
    p = score_test(X, np.repeat([0, 1], 20), statistic="runs", n_permutations=200, random_state=0).p_values
    assert np.mean(p < 0.05) < 0.15
