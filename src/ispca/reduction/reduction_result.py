"""The result of a reduction, with one record per step, and its projection matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..containers.array_api import matching, on_host
from ..foundation.arrays import Floats, Indices


class TestResult(NamedTuple):
    """Outcome of one permutation test of the largest score."""

    score: float
    p_value: float
    n_permutations: int
    stopped_early: bool
    passed: bool
    p_value_interval: tuple[float, float] = (1.0, 1.0)
    limit_reached: bool = False
    borderline: bool = False


@dataclass(frozen=True)
class Step:
    """One supervised step, or the test that ended the supervised steps.

    Attributes
    ----------
    accepted : bool
        Whether a component was extracted.
    score : float
        Largest univariate score of a feature before the step.
    p_value : float or None
        Fraction of the permutations whose largest score reached it; None without a test.
    p_value_interval : tuple of float or None
        What the permutations say about the exact p-value: its 99% interval.
    n_permutations : int
        Number of permutations.
    stopped_early : bool
        Whether the test stopped early because its decision was certain or, with ``n_permutations="auto"``, safe.
    limit_reached : bool
        Whether "auto" reached its limit of permutations without a decision; no component is then extracted.
    borderline : bool
        Whether the p-value is positive and its interval contains alpha or it lies within a factor of 1.5 of alpha.
    threshold : float or None
        Lowest score among the features of the component.
    n_features : int
        Number of features in the component.
    features : ndarray of int
        Their indices, best score first.
    target_class : object
        The class the component separates best from the rest; None for other targets.
    component_score : float or None
        Score of the component itself.
    """

    accepted: bool
    score: float
    p_value: float | None = None
    p_value_interval: tuple[float, float] | None = None
    n_permutations: int = 0
    stopped_early: bool = False
    limit_reached: bool = False
    borderline: bool = False
    threshold: float | None = None
    n_features: int = 0
    features: Indices = field(default_factory=lambda: np.empty(0, np.intp), repr=False)
    target_class: Any = None
    component_score: float | None = None


class Reduction(NamedTuple):
    """A finished reduction: ``Z = P0 X_s @ projection.T``, where P0 projects off the start basis.

    Attributes
    ----------
    projection : ndarray of shape (K, D)
        Rows are the paper's w.
    directions : ndarray of shape (K, D)
        Rows are the paper's v, zero outside the selected features.
    loadings : ndarray of shape (n_supervised, D)
        Regression of each standardized feature on the supervised components, the paper's b.
    scores : ndarray of shape (n, K)
        The new features Z of the training samples.
    n_supervised : int
        Number of supervised components, which come first.
    steps : tuple of Step
        What happened, in order.
    """

    projection: Floats
    directions: Floats
    loadings: Floats
    scores: Floats
    n_supervised: int
    steps: tuple[Step, ...]

    def explained_variance_ratio(self, sum_of_squares: float) -> Floats:
        """Return the fraction of the sum of squares of X_s that its regression on each component explains."""
        # The regression coefficients on an unsupervised component are its direction.
        parts = ((self.loadings, 0), (self.directions, self.n_supervised))
        rows = [rows[k, :] for rows, start in parts for k in range(start, rows.shape[0])]
        squares = np.array([float(row @ row) for row in rows])
        ratio: Floats = squares * (self.scores**2).sum(axis=0) / sum_of_squares
        return ratio


def projection_matrix(directions: Any, loadings: Any) -> Any:
    """Return the rows w of the projection from the directions v and the supervised loadings b.

    ``z_k = X_s v_k - sum_{t<k} z_t (b_t^T v_k)`` over the supervised t, so ``Z (I + C) = X_s V`` with
    ``C[t, k] = b_t^T v_k``, and ``W = V (I + C)^-1``.

    Parameters
    ----------
    directions : array of shape (K, D)
        V transposed, supervised ones first.
    loadings : array of shape (n_supervised, D)
        Regression coefficients of every feature on each supervised component.
    """
    n_components, n_supervised = directions.shape[0], loadings.shape[0]
    if n_supervised == 0:
        return directions + 0.0
    overlap = on_host(loadings @ directions.T)
    triangle = np.eye(n_components)
    triangle[:n_supervised] += np.triu(overlap, 1)
    inverse = solve_triangular(triangle, np.eye(n_components), trans="T", unit_diagonal=True)
    return matching(directions, inverse) @ directions
