"""Lasso solutions over the path of penalties, by the compiled engine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats
from ..foundation.extras import load_engine
from .problem import Fit, Problem

# Of a coordinate's squared step, relative to the null model's loss; on sparse data, where each digit costs cycles,
# ten times the engine's default. Deviances move by 0.00001 of their value.
SPARSE_TOLERANCE = 1e-11


class Design(NamedTuple):
    """X as the engine wants it: by columns, the dense one standardized to keep rounding small."""

    arguments: dict[str, Any]
    center: Floats
    scale: Floats

    def original(self, fit: dict[str, Any], position: int) -> tuple[Floats, Floats]:
        """Return coefficients and intercepts of one penalty in the units of X."""
        part = slice(*fit["begin"][position : position + 2])
        n_outputs = fit["intercepts"].shape[1]
        coef = np.zeros(n_outputs * len(self.scale))
        coef[fit["index"][part]] = fit["values"][part]
        coef = coef.reshape(n_outputs, -1) / self.scale
        level = fit["intercepts"][position] - coef @ self.center
        return coef, level if n_outputs == 1 else level - level.mean()


class Penalties(NamedTuple):
    """The sequence of penalties, and what multiplies them."""

    n_lambdas: int
    ratio: float  # of the smallest penalty to the largest
    lambdas: Floats | None = None  # None: a sequence from the largest that matters
    # One number per feature, not rescaled; 0: unpenalized. The largest penalty is then the smallest at which all
    # other features are zero.
    factors: Floats | None = None


def make_design(X: Any) -> Design:
    """Return X column by column."""
    n_features = X.shape[1]
    if sp.issparse(X):
        columns = sp.csc_array(X, dtype=np.float64)
        if not columns.has_canonical_format:
            # Summing duplicates works in place, and X may be the caller's.
            columns = columns.copy()
            columns.sum_duplicates()
        arguments = {
            "tolerance": SPARSE_TOLERANCE,
            "data": columns.data,
            "indices": columns.indices.astype(np.int32, copy=False),
            "indptr": columns.indptr.astype(np.int64, copy=False),
        }
        return Design(arguments, np.zeros(n_features), np.ones(n_features))
    columns = np.array(X.T, dtype=np.float64, order="C")
    center = columns.mean(axis=1)
    columns -= center[:, None]
    scale = np.sqrt(np.einsum("ij,ij->i", columns, columns) / columns.shape[1])
    # What is left of a constant column is the rounding of its mean.
    scale[scale <= 1e-13 * np.abs(center)] = 0
    columns[scale == 0] = 0
    scale[scale == 0] = 1
    columns /= scale[:, None]
    return Design({"X": columns}, center, scale)


def fit_lasso(problem: Problem, design: Design, train: np.ndarray, lambdas: Floats | None) -> Fit:
    """Fit the path to some of the samples, and predict all.

    Without ``lambdas``, the penalties are a sequence from the largest that matters, which stops early.
    """
    samples = problem.samples
    weights = train if samples.sample_weight is None else train * samples.sample_weight
    path = Penalties(problem.n_lambdas, problem.ratio, lambdas)
    return lasso_path(problem.family.name, problem.outputs, weights, samples.offset, design, path)


def lasso_path(
    family: str,
    outputs: Floats,
    weights: np.ndarray,
    offset: Floats | None,
    design: Design,
    penalties: Penalties,
) -> Fit:
    """Fit the path of a family of the engine to ``outputs`` (outputs x samples).

    The outputs may be fractional: probabilities, which sum to 1 over the classes, or expected counts.
    """
    fit = load_engine().lasso_path(
        family,
        outputs,
        weights / weights.sum(),
        offset=offset,
        lambdas=[] if penalties.lambdas is None else list(penalties.lambdas),
        n_lambdas=penalties.n_lambdas,
        ratio=penalties.ratio,
        penalty_factors=penalties.factors,
        **design.arguments,
    )
    return Fit(fit["lambdas"], fit["predictors"], lambda position: design.original(fit, position))
