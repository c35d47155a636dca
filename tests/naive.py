"""The paper, word for word: slow, plain, and independent of the library.

Section 3.1 of Piironen and Vehtari (2018), step by step, on a matrix that is deflated itself, with a
full singular value decomposition for every threshold and every permutation computed in double
precision. What the paper leaves open follows the authors' program (shared/reference/README.md).
Tests compare the library with it; the benchmarks time it as "literal transcription".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils.multiclass import type_of_target

ZERO_SCORE = 1e-6  # scores below this count as zero
GONE = 1e-6  # so does a deflated column with less than this of its own standard deviation
TIE = 1e-10  # a permutation whose score is this close to the observed one reaches it


class Literal(NamedTuple):
    """W and V are D x K, Z is n x K; ``tests`` holds one boolean per permutation for every test made."""

    W: np.ndarray
    V: np.ndarray
    Z: np.ndarray
    n_supervised: int
    tests: list[np.ndarray]


def literal_ispca(
    X,
    y,
    n_components,
    n_supervised=None,
    alpha=None,
    permutations=None,
    max_features=500,
    n_thresholds=10,
    test="paper",
):
    """Return the paper's W, V and Z.

    ``permutations`` (R x n, one permutation per row) and ``alpha`` switch the permutation test on.
    ``test="residual"`` is design.md's calibrated test instead of the paper's.
    """
    X = standardise(X)
    targets = target_columns(y)
    most = n_components if n_supervised is None else min(n_supervised, n_components)
    V, Z, B, tests = [], [], [], []
    deflated = X
    while len(V) < most:
        # Step 1: the univariate scores.
        scores = correlation_scores(deflated, targets)
        if scores.max() == 0:
            break
        if alpha is not None:
            exceeds = permutation_exceedances(deflated, targets, Z, permutations, test)
            tests.append(exceeds)
            if not exceeds.mean() < alpha:
                break
        # Step 2: the first principal component of the best features.
        v, z = best_component(deflated, scores, targets, max_features, n_thresholds)
        # Step 3: subtract what it explains from every column.
        b = deflated.T @ z / (z @ z)
        # Step 4: go on with the rest.
        deflated = drop_vanished(deflated - np.outer(z, b))
        V.append(v)
        Z.append(z)
        B.append(b)
    found = len(V)
    if found < n_components:
        _, strengths, Vt = np.linalg.svd(deflated, full_matrices=False)
        # Fewer where nothing but rounding error is left.
        for v in Vt[strengths > 1e-7 * np.linalg.norm(X, 2)][: n_components - found]:
            V.append(v)
            Z.append(deflated @ v)
    V, Z, B = np.array(V).T, np.array(Z).T, np.array(B).reshape(found, X.shape[1])
    # "In practice we never form matrices V_k or B_k": beyond a few thousand features they do not fit.
    project = projection_by_matrices if len(V) <= 3000 else projection_by_vectors
    return Literal(project(V, B), V, Z, found, tests)


def standardise(X):
    """Centre, scale to unit standard deviation, and blank out the degenerate columns."""
    X = np.asarray(X, dtype=float)
    n = len(X)
    centred = X - X.mean(axis=0)
    sd = centred.std(axis=0, ddof=1)
    below = (centred < -1e-10 * sd).sum(axis=0)
    usable = (sd > 1e-13 * np.abs(X.mean(axis=0))) & (below != 1) & (below != n - 1)
    return np.where(usable, centred / np.where(usable, sd, 1.0), 0.0)


def target_columns(y):
    """Return the target, or one indicator per class (one in all for two classes), centred, of length 1."""
    y = np.asarray(y)
    if type_of_target(y) == "continuous":
        columns = y[:, None].astype(float)
    else:
        classes = np.unique(y)
        columns = (y[:, None] == (classes[1:] if len(classes) == 2 else classes)).astype(float)
    columns = columns - columns.mean(axis=0)
    return columns / np.linalg.norm(columns, axis=0)


def correlation_scores(X, targets):
    """Return the absolute correlation of every column with every target (D x C)."""
    lengths = np.linalg.norm(X, axis=0)
    scores = np.abs(X.T @ targets) / np.where(lengths > 0, lengths, 1.0)[:, None]
    scores[scores < ZERO_SCORE] = 0.0
    return scores.round(12)


def drop_vanished(X):
    """Blank out the columns of which deflation has left nothing but rounding error."""
    return np.where(X.std(axis=0, ddof=1) > GONE, X, 0.0)


def best_component(X, scores, targets, max_features, n_thresholds):
    """Try every threshold for every target; return v (padded with zeros) and z of the best."""
    best = -1.0, None, None
    for c in range(targets.shape[1]):
        order = np.argsort(-scores[:, c], kind="stable")
        order = order[scores[order, c] > 0][:max_features]
        if not len(order):
            continue
        for size in subset_sizes(scores[order, c], n_thresholds):
            chosen = order[:size]
            _, _, Vt = np.linalg.svd(X[:, chosen], full_matrices=False)
            z = X[:, chosen] @ Vt[0]
            score = abs(z @ targets[:, c]) / np.linalg.norm(z)
            if score > best[0] + 1e-12:
                v = np.zeros(X.shape[1])
                v[chosen] = Vt[0]
                best = score, v, z
    return best[1], best[2]


def subset_sizes(scores, n_thresholds):
    """Return how many of the descending scores pass each threshold, lowest threshold first."""
    if len(scores) < n_thresholds:
        return range(len(scores), 0, -1)
    grid = scores[-1] + (scores[0] - scores[-1]) * np.linspace(0, 1 - 1e-6, n_thresholds)
    return [int((scores >= threshold).sum()) for threshold in grid]


def projection_by_matrices(V, B):
    """Return W, whose column k is ``A_1 A_2 ... A_{k-1} v_k`` with the D x D matrices ``A_t = I - V_t B_t``."""
    W = V.copy()
    for t in reversed(range(len(B))):
        every_column_v = np.repeat(V[:, [t]], len(V), axis=1)
        A = np.eye(len(V)) - every_column_v @ np.diag(B[t])
        W[:, t + 1 :] = A @ W[:, t + 1 :]
    return W


def projection_by_vectors(V, B):
    """Return the same W as in the paper's supplement: ``A_t v = v - v_t (b_t^T v)``."""
    W = V.copy()
    for t in reversed(range(len(B))):
        W[:, t + 1 :] -= np.outer(V[:, t], B[t] @ W[:, t + 1 :])
    return W


def permutation_exceedances(deflated, targets, components, permutations, test="paper"):
    """Return for every permutation whether its largest score reaches the observed largest score.

    ``components`` are the z found so far, one per row: the residual test needs them.
    """
    observed, permuted = targets, lambda order: targets[order]
    if test == "residual":
        residuals = [left_of(column, components) for column in targets.T]
        residuals = np.array([e / np.linalg.norm(e) for e in residuals if np.linalg.norm(e) > 1e-9]).T
        if not residuals.size:
            return np.ones(len(permutations), dtype=bool)
        observed = residuals

        def permuted(order):
            columns = [left_of(column, components) for column in residuals[order].T]
            # A permutation of which nothing is left cannot score.
            lengths = [np.linalg.norm(e) for e in columns]
            return np.array([e / m if m > 1e-9 else 0 * e for e, m in zip(columns, lengths, strict=True)]).T

    largest = correlation_scores(deflated, observed).max()
    maxima = [correlation_scores(deflated, permuted(order)).max() for order in permutations]
    return np.array(maxima) >= largest - TIE


def left_of(vector, components):
    """Return what is left of a vector after the mean and the orthogonal components are taken out."""
    vector = vector - vector.mean()
    for z in components:
        vector = vector - z * (z @ vector) / (z @ z)
    return vector
