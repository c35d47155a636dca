"""Left-out values against fits without the samples: penalized least squares and scikit-learn's ridge."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from ispca.kernels.left_out_values import dealt_folds, decompose, grouped_copies, left_out_folds

N = 40
CATEGORY = np.r_[0, np.random.default_rng(1).integers(1, 3, N - 1)]
COVARIATES = {
    "none": np.empty((N, 0)),
    "age and batch": np.column_stack([np.linspace(-2, 2, N) ** 3, np.arange(N) % 2]),
    "a batch of one sample": (CATEGORY[:, None] == [1, 2]) * 1.0,
    "the same twice": np.tile(np.linspace(0, 1, N)[:, None], 2),
}
FOLDS = {
    "samples": left_out_folds(N, None),
    "pairs and larger": np.array_split(np.random.default_rng(2).permutation(N), [2, 4, 9, 20]),
    "batches": left_out_folds(N, CATEGORY),
}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5)) @ rng.normal(size=(5, 100)) + rng.normal(size=(N, 100))
    Y = np.column_stack([X[:, 0] + rng.normal(size=N), X[:, 1] ** 2, np.arange(N) % 2])
    return X, Y, rng.random(N) + 0.3


def refitted(X, Y, weights, columns, fold, penalty):
    """Predict a fold by a penalized fit without it; of equal fits, take the smallest coefficients."""
    rest = np.setdiff1d(np.arange(len(X)), fold)
    center = np.average(columns[rest, 1:], axis=0, weights=weights[rest])
    columns = np.column_stack([columns[:, :1], columns[:, 1:] - center])
    _, lengths, axes = np.linalg.svd(columns[rest], full_matrices=False)
    free = columns @ axes[lengths > 1e-10 * lengths[0]].T
    Z = np.column_stack([free, X])
    penalties = np.repeat([0.0, penalty], [free.shape[1], X.shape[1]])
    weighted = weights[rest, None] * Z[rest]
    return Z[fold] @ np.linalg.solve(Z[rest].T @ weighted + np.diag(penalties), weighted.T @ Y[rest])


@pytest.mark.parametrize("covariates", COVARIATES)
@pytest.mark.parametrize("folds", FOLDS)
def test_values_are_those_of_fits_without_the_fold(problem, covariates, folds):
    X, Y, weights = problem
    columns = np.column_stack([np.ones(N), COVARIATES[covariates]])
    decomposition = decompose(X @ X.T, columns, np.sqrt(weights))
    left_out = decomposition.leave_out(Y, FOLDS[folds])
    null = decomposition.fit_unpenalized(Y, FOLDS[folds])[1]
    for fold in FOLDS[folds]:
        for number in (0, 12, 23):
            expected = refitted(X, Y, weights, columns, fold, decomposition.penalties[number])
            assert np.allclose(left_out[number, fold], expected, rtol=0, atol=1e-8)
        assert np.allclose(null[fold], refitted(X[:, :0], Y, weights, columns, fold, 0.0), rtol=0, atol=1e-8)


def test_fits_are_those_of_ridge_regression(problem):
    X, Y, weights = problem
    decomposition = decompose(X @ X.T, np.ones((N, 1)), np.sqrt(weights))
    dual, unpenalized = decomposition.fit(Y)
    left_out = decomposition.leave_out(Y, FOLDS["samples"])
    for number in (0, 12, 23):
        ridge = Ridge(decomposition.penalties[number]).fit(X, Y, sample_weight=weights)
        assert np.allclose(X.T @ dual[number], ridge.coef_.T, atol=1e-8)
        assert np.allclose(unpenalized[number, 0], ridge.intercept_, atol=1e-8)
        without = Ridge(decomposition.penalties[number]).fit(X[1:], Y[1:], sample_weight=weights[1:])
        assert np.allclose(left_out[number, 0], without.predict(X[:1]), atol=1e-8)


def test_six_samples(problem):
    X, Y, weights = (part[:6] for part in problem)
    decomposition = decompose(X @ X.T, np.ones((6, 1)), np.sqrt(weights))
    left_out = decomposition.leave_out(Y, left_out_folds(6, None))
    for i in range(6):
        expected = refitted(X, Y, weights, np.ones((6, 1)), np.array([i]), decomposition.penalties[5])
        assert np.allclose(left_out[5, [i]], expected, rtol=0, atol=1e-8)


def test_a_weight_of_two_is_two_samples_that_are_left_out_together(problem):
    X, Y, _ = problem
    again = np.r_[np.arange(N), np.arange(7)]
    weighted = decompose(X @ X.T, np.ones((N, 1)), np.sqrt(np.bincount(again)))
    repeated = decompose(X[again] @ X[again].T, np.ones((N + 7, 1)), np.ones(N + 7))
    assert np.allclose(weighted.penalties, repeated.penalties, rtol=1e-12)
    left_out = repeated.leave_out(Y[again], left_out_folds(N + 7, again))
    assert np.allclose(left_out, weighted.leave_out(Y, FOLDS["samples"])[:, again], rtol=0, atol=1e-8)


def test_features_that_covariates_explain_say_nothing(problem):
    _, Y, _ = problem
    columns = np.column_stack([np.ones(N), np.linspace(-1, 1, N)])
    decomposition = decompose(np.outer(columns[:, 1], columns[:, 1]), columns, np.ones(N))
    left_out = decomposition.leave_out(Y, FOLDS["samples"])
    assert np.allclose(left_out, decomposition.fit_unpenalized(Y, FOLDS["samples"])[1], rtol=0, atol=1e-4)


def test_copies_join_groups():
    points = np.array([0.0, 1, 0, 2, 1, 3, 4])
    distances, lengths = (points[:, None] - points) ** 2, points**2 + 1
    assert grouped_copies((np.arange(4)[:, None] - np.arange(4)) ** 2.0, np.ones(4), [], None) is None
    alone = grouped_copies(distances, lengths, [], None)
    assert [len(fold) for fold in left_out_folds(7, alone)] == [2, 2, 1, 1, 1]
    # A copy in another group joins the two groups.
    joined = grouped_copies(distances, lengths, [], np.array(list("abbcdde")))
    assert [fold.tolist() for fold in left_out_folds(7, joined)] == [[0, 1, 2, 4, 5], [3], [6]]


def test_folds_are_dealt_within_strata_and_keep_groups():
    strata = np.repeat([0.0, 1.0], [12, 6])
    folds = dealt_folds(strata, None, 3)
    assert sorted(np.concatenate(folds).tolist()) == list(range(18))
    assert [np.bincount(strata[fold].astype(int)).tolist() for fold in folds] == [[4, 2]] * 3
    groups = np.arange(18) // 2
    assert all(len(set(groups[fold])) * 2 == len(fold) for fold in dealt_folds(strata, groups, 3))
