"""The extended ridge path and the weights of penalties: the minimum inside, plain fits, and weights by hand."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ispca.families import BINOMIAL, GAUSSIAN, class_family
from ispca.penalized.cross_validation import (
    MOST_AVERAGED,
    NEGLIGIBLE_WEIGHT,
    averaging_weights,
    cross_validated_path,
    extend_path,
    make_folds,
)
from ispca.penalized.problem import Path, Problem
from ispca.penalized.ridge import fit_ridge
from ispca.penalized.ridge_coordinates import make_space
from ispca.reduction.threads import SMALL_WORK
from ispca.targets.samples import Samples


def separable(n=60, D=200):
    """Return a wide problem with a dense signal, where glmnet's ridge path ends too early."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, D)) + 0.2 * y[:, None], y


def both_paths(X, y, family):
    folds = make_folds(5, X, y, None, family.classification, 0)
    path = cross_validated_path(Problem(Samples(X, y), family, 100), "ridge", folds)
    return path, extend_path(path, Problem(Samples(X, y), family, 100), folds), folds


def test_the_minimum_lies_inside_the_extended_path():
    X, y = separable()
    path, longer, _ = both_paths(X, y, BINOMIAL)
    assert path.best == len(path.lambdas) - 1, "glmnet's path ends before the minimum"
    assert longer.mean[longer.best] < path.mean[path.best]
    assert longer.lambdas[longer.best] > 9.9 * longer.lambdas[-1]
    np.testing.assert_array_equal(longer.lambdas[: len(path.lambdas)], path.lambdas)
    np.testing.assert_array_equal(longer.mean[: len(path.lambdas)], path.mean)
    added = longer.lambdas[len(path.lambdas) - 1 :]
    np.testing.assert_allclose(added[:-1] / added[1:], 10 ** (1 / 3))


def test_folds_on_threads_give_the_same_path():
    X, y = separable(60, 1000)
    folds = make_folds(5, X, y, None, True, 0)
    problem = Problem(Samples(X, y), BINOMIAL, 100)
    assert X.size * problem.n_lambdas > SMALL_WORK
    paths = []
    for n_threads in (1, 3):
        with threadpool_limits(n_threads):
            paths.append(cross_validated_path(problem, "lasso", folds))
    np.testing.assert_array_equal(paths[0].mean, paths[1].mean)
    np.testing.assert_array_equal(paths[0].error, paths[1].error)


@pytest.mark.parametrize("target", ["numbers", "two classes", "three classes"])
def test_the_extension_equals_plain_fits(target):
    X, y = separable(45, 100)
    family = GAUSSIAN if target == "numbers" else class_family(2 if target == "two classes" else 3)
    y = X[:, :50].sum(axis=1) if target == "numbers" else y if target == "two classes" else np.arange(45) % 3
    path, longer, folds = both_paths(X, y, family)
    assert len(longer.lambdas) > len(path.lambdas)
    last = len(longer.lambdas) - 1
    problem = Problem(Samples(X, y), family, 100)
    plain = fit_ridge(problem, make_space, np.ones(45, dtype=bool), longer.lambdas[last:])
    for ours, expected in zip(longer.solution(last), plain.solution(0), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
    held_out = np.empty((1, len(problem.outputs), 45))
    for fold in range(5):
        fit = fit_ridge(problem, make_space, folds != fold, longer.lambdas[last:])
        held_out[:, :, folds == fold] = fit.predictors[:, :, folds == fold]
    assert longer.mean[last] == pytest.approx(family.penalized.deviances(held_out, y).mean(), rel=1e-4)


def test_a_path_with_its_minimum_inside_is_not_extended():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 20))
    y = rng.integers(0, 2, 60)
    path, longer, _ = both_paths(X, y, BINOMIAL)
    assert path.lambdas[path.best] > 10 * path.lambdas[-1]
    assert longer is path


def test_the_extension_is_bounded():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    path, longer, _ = both_paths(
        X, X @ rng.normal(size=20), GAUSSIAN
    )  # without noise, less penalty is always better
    assert longer.lambdas[-1] == pytest.approx(1e-6 * path.lambdas[-1])
    assert longer.best == len(longer.lambdas) - 1
    assert not longer.settled


def test_grid_is_even_and_reaches_the_end():
    X, y = separable()
    path, longer, _ = both_paths(X, y, BINOMIAL)
    assert path.grid[-1] == len(path.lambdas) - 1
    assert longer.grid[-1] == len(longer.lambdas) - 1
    ratios = longer.lambdas[longer.grid][:-1] / longer.lambdas[longer.grid][1:]
    np.testing.assert_allclose(ratios, 10 ** (1 / 3), rtol=0.05)


def made_path(mean, grid):
    mean = np.asarray(mean, dtype=float)
    return Path(
        np.geomspace(1, 1e-3, len(mean)), mean, mean, int(mean.argmin()), 0, lambda at: at, False, grid, None
    )


def test_weights_by_hand():
    path = made_path([1.0, 0.5, 0.2, 0.1, 0.12, 0.9], np.array([1, 3, 5]))
    total = np.exp(-10 * np.array([0.5, 0.1, 0.9]) / 2)
    weights = averaging_weights(path, BINOMIAL, 10)
    np.testing.assert_allclose(weights, [0, *np.array([total[0], 0, total[1], 0, total[2]]) / total.sum()])
    # The density of numbers: each penalty has a normal with its own variance, the mean squared error.
    density = path.mean[path.grid] ** (-10 / 2)
    kept = density >= NEGLIGIBLE_WEIGHT * density.max()
    assert kept.sum() == 1
    np.testing.assert_allclose(averaging_weights(path, GAUSSIAN, 10)[path.grid], kept)
    few = averaging_weights(path, GAUSSIAN, 3)[path.grid]
    np.testing.assert_allclose(few[0] / few[1], (0.5 / 0.1) ** -1.5)
    np.testing.assert_array_equal(
        averaging_weights(path._replace(mean=np.zeros(6)), GAUSSIAN, 3)[path.grid], 1 / 3
    )


def test_few_penalties_are_averaged():
    weights = averaging_weights(made_path(np.full(30, 0.3), np.arange(30)), BINOMIAL, 50)
    assert np.count_nonzero(weights) <= MOST_AVERAGED
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0 < weights[24], "the whole range is represented"
