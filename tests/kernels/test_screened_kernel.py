"""The kernel of screened features: left-out values are those of complete refits, screening included."""

import numpy as np
import pytest

from ispca.kernels.left_out_values import Parts, decompose, fit_screened, ranked_features
from ispca.reduction.design import make_design, total_weights
from ispca.reduction.threads import workers

N, D = 40, 300


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    Y = np.eye(3)[np.digitize(X[:, 5] + 0.5 * rng.normal(size=N), [-0.5, 0.5])]
    return X, Y, np.array_split(rng.permutation(N), 4), rng.uniform(0.5, 2, size=N)


def refitted(A, Y, weights, columns, fold, fraction):
    """Screen and fit without a fold, by least squares with weights, and predict it."""
    rest = np.setdiff1d(np.arange(N), fold)
    roots = np.sqrt(weights[rest])[:, None]
    residual = (
        roots * Y[rest]
        - roots * columns[rest] @ np.linalg.lstsq(roots * columns[rest], roots * Y[rest], rcond=None)[0]
    )
    residual /= np.linalg.norm(residual, axis=0)
    scores = np.abs((roots * A[rest]).T @ residual).max(axis=1)
    chosen = np.sort(np.argsort(-scores, kind="stable")[: max(20, round(fraction * D))])
    K = A[:, chosen] @ A[:, chosen].T
    part = decompose(K[np.ix_(rest, rest)], columns[rest], np.sqrt(weights[rest]))
    dual, unpenalized = part.fit(Y[rest])
    return K[np.ix_(fold, rest)] @ dual + columns[fold] @ unpenalized


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fraction", [0.1, 0.02])
def test_left_out_values(data, weighted, fraction):
    X, Y, folds, weights = data
    weights = weights / weights.mean() if weighted else np.ones(N)
    rows = total_weights(weights if weighted else None, None)
    roots, columns = np.ones(N) if rows is None else rows.roots, np.ones((N, 1))
    with workers() as threads:
        design = make_design(X, threads, center=True, scale=True, rows=rows)
        parts = Parts(columns, roots, folds)
        ranked = ranked_features(design, parts, Y, threads)
        fit, chosen, _ = fit_screened(design, parts, Y, ranked, fraction, threads)
    A = (X - design.moments.mean) * design.weight
    for fold in folds:
        expected = refitted(A, Y, roots**2, columns, fold, fraction)
        np.testing.assert_allclose(fit.left_out[:, fold], expected, atol=1e-8)
    assert len(chosen) == max(20, round(fraction * D))
    assert 5 in chosen


def test_a_fold_has_no_part_in_its_screening(data):
    X, Y, folds, _ = data
    changed = Y.copy()
    changed[folds[0]] = np.roll(changed[folds[0]], 1, axis=1)
    with workers() as threads:
        design = make_design(X, threads, center=True, scale=True)
        parts = Parts(np.ones((N, 1)), np.ones(N), folds)
        first, again = (ranked_features(design, parts, target, threads) for target in (Y, changed))
    assert (first[1] == again[1]).all()
    assert (first[2] != again[2]).any()
