"""Deflation without changing X, by an orthonormal basis Q of everything subtracted so far, and univariate scores.

The deflated matrix ``X_k = P X_s`` with ``P = I - Q Q^T`` is never formed. Only the few numbers per feature that
the scores need are stored. Q begins with the start basis Q0, the constant and the covariates. With covariates c, a
component is ``z = (x - c B) w``: the regression B of the features on the covariates enters the projection matrix
as the weights ``-B w`` of the covariates, so that new samples are adjusted by one product. See the algorithm page
of the documentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from ..foundation.arrays import Floats, Indices, Mask
from .design import Design, feature_blocks
from .threads import Workers

# A column with less than this fraction of its own variance left counts as gone.
REMAINING_SHARE = 1e-12
# Below this fraction, the running sums have lost too many digits for the scores.
FAINT_SHARE = 1e-6
# Scores below this count as zero (a convention of the authors' program).
ZERO_SCORE = 1e-6
# Equal columns must tie on every container: scores are compared to this many decimals.
SCORE_DECIMALS = 12
# A covariate with less than this fraction of the largest length left depends on the others.
DEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class Deflation:
    """What has been subtracted so far.

    Attributes
    ----------
    basis : ndarray of shape (n, k)
        Orthonormal Q: the start basis Q0, then one column per component.
    loadings : ndarray of shape (D, k)
        ``X_s^T Q``.
    squared_norms : ndarray of shape (D,)
        ``|x_j|^2`` of the standardized columns before any deflation.
    roundings : ndarray of shape (D,)
        How much of the deflated columns may be noise, from X being rounded to its precision.
    remaining : ndarray of shape (D,)
        ``|x_j|^2`` of the deflated columns.
    products : ndarray of shape (D, C)
        ``X_k^T t`` for every pseudo-response t.
    """

    basis: Floats
    loadings: Floats
    squared_norms: Floats
    roundings: Floats
    remaining: Floats
    products: Floats

    @cached_property
    def inverse_norms(self) -> Floats:
        """``1 / |x_j|`` of the deflated columns, zero for those that are gone."""
        limit = self.lost
        norms = np.sqrt(np.maximum(self.remaining, limit))
        return np.divide(1.0, norms, out=np.zeros_like(norms), where=self.remaining > limit)

    @property
    def lost(self) -> Floats:
        """``|x_j|^2`` up to which a deflated column counts as gone."""
        return REMAINING_SHARE * self.squared_norms + self.roundings


def constant_basis(n_samples: int, center: bool) -> Floats:
    """Return the start basis Q0 without covariates: the constant if features are centered, otherwise nothing."""
    return np.full((n_samples, 1), n_samples**-0.5) if center else np.empty((n_samples, 0))


def varying_columns(basis: Floats) -> Mask:
    """Return which columns of a start basis are not the constant.

    The constant is in Q0 only if the features are centered. Like every pseudo-response and its permutations, they
    are orthogonal to it already, so that projecting off the constant would only add rounding errors.
    """
    return np.ptp(basis, axis=0) > 0


def start_deflation(
    design: Design, workers: Workers, responses: Floats, basis: Floats, products: Floats | None = None
) -> Deflation:
    """Return the state before the first component: only the start basis Q0 is projected off.

    ``products`` are ``X_s^T responses``, where they are known already.
    """
    if products is None:
        products = design.t_dot(responses, workers)
    loadings = np.zeros((design.shape[1], basis.shape[1]))
    varying = varying_columns(basis)
    if varying.any():
        loadings[:, varying] = design.t_dot(basis[:, varying], workers)
    state = Deflation(
        basis,
        loadings,
        design.squared_norms,
        design.roundings,
        design.squared_norms - (loadings**2).sum(axis=1),
        products - loadings @ (basis.T @ responses),
    )
    _refresh(design, state, responses)
    return state


def deflate(
    design: Design,
    workers: Workers,
    state: Deflation,
    component: Floats,
    weights: tuple[Indices, Floats],
    responses: Floats,
) -> Deflation:
    """Subtract what a component explains from every column (the paper's step 3).

    ``weights`` are the features of the component and its direction in them.
    """
    features, values = weights
    rounding = np.array([values**2 @ state.roundings[features]])
    direction = component / np.linalg.norm(component)
    # Project off Q once more, so that rounding errors do not accumulate over the components.
    direction = project_off(state.basis, direction[:, None])[:, 0]
    direction /= np.linalg.norm(direction)
    loading = design.t_dot(direction[:, None], workers)
    deflated = Deflation(
        np.column_stack([state.basis, direction]),
        np.column_stack([state.loadings, loading]),
        state.squared_norms,
        carried_roundings(state.roundings, rounding, loading.T / np.linalg.norm(component)),
        state.remaining - loading[:, 0] ** 2,
        state.products - loading * (direction @ responses),
    )
    _refresh(design, deflated, responses)
    return deflated


def carried_roundings(roundings: Floats, of_components: Floats, loadings: Floats) -> Floats:
    """Add the roundings of K components to those of the D columns they are subtracted from.

    ``loadings`` (K x D) are the regression coefficients of the columns on the components.
    """
    return roundings + of_components @ loadings**2


def _refresh(design: Design, state: Deflation, responses: Floats) -> None:
    """Recompute from the columns whatever has lost too many digits by subtraction."""
    faint = np.flatnonzero((state.remaining < FAINT_SHARE * state.squared_norms) & (state.remaining > state.lost))
    for part in feature_blocks(len(faint)):
        columns = project_off(state.basis, deflated_columns(design, state, faint[part]))
        state.remaining[faint[part]] = np.einsum("ij,ij->j", columns, columns)
        state.products[faint[part]] = columns.T @ responses


def project_off(basis: Floats, vectors: Floats) -> Floats:
    """Return ``P vectors = vectors - Q (Q^T vectors)``."""
    return vectors - basis @ (basis.T @ vectors)


def deflated_columns(design: Design, state: Deflation, features: Indices) -> Floats:
    """Return the chosen columns of ``P X_s``."""
    return project_off(state.basis, design.columns(features))


def correlation_scores(state: Deflation) -> Floats:
    """Return ``|x_j^(k)T t_c| / |x_j^(k)|`` for every feature and response, shape (D, C)."""
    scores = np.abs(state.products) * state.inverse_norms[:, None]
    scores[scores < ZERO_SCORE] = 0.0
    return np.round(scores, SCORE_DECIMALS)


def best_features(scores: Floats, count: int) -> Indices:
    """Return the indices of at most ``count`` features with a nonzero score, best first, ties by index."""
    candidates = np.flatnonzero(scores)
    if len(candidates) > count:
        lowest = np.partition(scores, -count)[-count]
        candidates = np.flatnonzero(scores >= lowest)
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order][:count]


class StartBasis(NamedTuple):
    """An orthonormal basis Q0 of the constant and the covariates.

    Attributes
    ----------
    basis : ndarray of shape (n, k)
        Q0: the constant if features are centered, then one column per independent covariate.
    covariates : ndarray of int
        The independent covariates.
    triangle : ndarray
        The standardized covariates are the last columns of Q0 times this upper triangle.
    """

    basis: Floats
    covariates: Indices
    triangle: Floats

    def regression(
        self, design: Design, workers: Workers, weights: Floats, features: Indices | None = None
    ) -> Floats:
        """Return ``-B w`` of the independent covariates for the weights w (features x components)."""
        own = self.basis[:, self.basis.shape[1] - len(self.covariates) :]
        overlap = design.t_dot(own, workers, features).T @ weights
        coefficients: Floats = solve_triangular(self.triangle, overlap)
        return -coefficients


def start_basis(design: Design, covariates: Mask | None, center: bool) -> StartBasis:
    """Return the start basis of a design; the covariates are some of its columns."""
    n = design.shape[0]
    constant = constant_basis(n, center)
    if center and design.rows is not None:
        constant = (design.rows.roots / np.linalg.norm(design.rows.roots))[:, None]
    if covariates is None or not covariates.any():
        return StartBasis(constant, np.empty(0, np.intp), np.empty((0, 0)))
    every = np.flatnonzero(covariates)
    # Usable or not: a covariate is never screened, but its values count.
    columns = design.restricted(covariates & (design.moments.deviation > 0)).columns(every)
    own, triangle, chosen = independent_columns(project_off(constant, columns))
    basis = np.column_stack([constant, own])
    if basis.shape[1] >= n - 1:
        raise ValueError(
            f"Adjusting {n} samples for {len(every)} covariates leaves nothing to explain. "
            "Adjust for fewer covariates, or pass more samples."
        )
    return StartBasis(basis, every[chosen], triangle)


def independent_columns(columns: Floats) -> tuple[Floats, Floats, Indices]:
    """Return ``columns[:, chosen] = Q R``: orthonormal Q, the triangle R, and which columns are independent."""
    own, triangle, pivots = qr(columns, mode="economic", pivoting=True)
    lengths = np.abs(np.diag(triangle))
    rank = np.count_nonzero(lengths > DEPENDENT * lengths.max(initial=0.0))
    return own[:, :rank], triangle[:rank, :rank], pivots[:rank]
