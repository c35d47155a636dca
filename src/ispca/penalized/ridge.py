"""Ridge solutions over the path of penalties, many penalties at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._array_types import Floats
from .newton import Batch, minimize
from .records import Fit, Problem, penalized_loss
from .ridge_coordinates import Space, standardization

# The largest penalty is that of an elastic net with this fraction of lasso, as in glmnet.
LASSO_FRACTION = 1e-3
# Penalties solved together: products with matrices are faster than with vectors, but warm starts help too.
TOGETHER = 20
# glmnet's rules for the end of a path.
EXPLAINED_ENOUGH, LEAST_GAIN, FEWEST = 0.999, 1e-5, 5


def fit_ridge(
    problem: Problem,
    make: Callable[[Problem, np.ndarray], Space],
    train: np.ndarray,
    lambdas: Floats | None,
) -> Fit:
    """Fit the path to some of the samples, and predict all; ``make`` is `make_space`, or keeps what it returned.

    Without ``lambdas``, the penalties are a sequence from a large one, which stops early.
    """
    space = make(problem, train)
    target = problem.outputs[:, train].T
    # With a mean of 1, a partial likelihood keeps the sign of one without weights.
    weights = None if problem.weights is None else problem.weights[train] / problem.weights[train].mean()
    offset = None if problem.offset is None else problem.offset[train]
    null = penalized_loss(problem.family).null_intercepts(target, offset, weights)
    batch = Batch(space, problem.family, target, weights, offset)
    null_predictors = batch.predictors(np.zeros((len(space.variances), len(null), 1)), null[:, None])
    early = lambdas is None
    if lambdas is None:
        first = _largest_gradient(problem, train, batch.residual(batch.state(null_predictors))[:, :, 0])
        first /= LASSO_FRACTION
        lambdas = first * problem.ratio ** np.linspace(0, 1, problem.n_lambdas)
    # glmnet standardizes a numeric target too and measures the penalty there: solutions scale with the target.
    unit = _spread(target[:, 0], weights) if problem.family.noise_scale else 1.0
    theta = np.zeros((len(space.variances), target.shape[1], len(lambdas)))
    intercept = np.repeat(null[:, None], len(lambdas), axis=1)
    null_loss = float(batch.loss(null_predictors)[0])
    explained = np.empty(len(lambdas))
    for start in range(0, len(lambdas), TOGETHER):
        part = slice(start, min(start + TOGETHER, len(lambdas)))
        if start:
            theta[:, :, part] = theta[:, :, start - 1 : start]
            intercept[:, part] = intercept[:, start - 1 : start]
        theta[:, :, part], intercept[:, part], loss = minimize(
            batch, theta[:, :, part], intercept[:, part], lambdas[part] / unit, null_loss
        )
        explained[part] = 1 - loss / null_loss
    length = _path_length(explained) if early else len(lambdas)
    theta, intercept = theta[:, :, :length], intercept[:, :length]
    predictors = space.forward(theta.reshape(len(theta), -1)).reshape(len(train), *theta.shape[1:]) + intercept
    if problem.offset is not None:
        predictors += problem.offset[:, None, None]

    def solution(position: int) -> tuple[Floats, Floats]:
        coef, shift = space.original(theta[:, :, position])
        level = intercept[:, position] + shift
        return coef, level - level.mean() if problem.family.per_class else level

    return Fit(lambdas[:length], np.ascontiguousarray(predictors.transpose(2, 1, 0)), solution)


def _spread(values: Floats, weights: Floats | None) -> float:
    """Return the standard deviation."""
    if weights is None:
        return float(values.std())
    center = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - center) ** 2, weights=weights)))


def _largest_gradient(problem: Problem, train: np.ndarray, residual: Floats) -> float:
    X = problem.X
    center, inverse = standardization(X, train, problem.weights)
    everywhere = np.zeros((len(train), residual.shape[1]))
    everywhere[train] = residual
    slope = X.T @ everywhere - center[:, None] * residual.sum(axis=0)
    return float(np.abs(slope * inverse[:, None]).max())


def _path_length(explained: Floats) -> int:
    gain = np.diff(explained, prepend=0)
    enough = (explained > EXPLAINED_ENOUGH) | (gain < LEAST_GAIN * explained)
    enough[: FEWEST - 1] = False
    return int(np.argmax(enough)) + 1 if enough.any() else len(explained)
