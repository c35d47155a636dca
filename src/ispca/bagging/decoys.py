"""Decoys: permuted copies of the features, which no target is associated with, run along in the bags.

A decoy that is chosen as often as a feature shows how often features are chosen by chance (as in Stabl).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices
from ..inputs.checks import columns_of
from ..reduction.response import make_response
from ..targets.samples import Samples
from ..transformers.base import SupervisedComponents
from ..transformers.ispca_transformer import ISPCA

# A decoy that loses this fraction of its variance to the components and covariates is gone.
GONE = 1e-9


def decoy_order(units: Any, rng: np.random.Generator) -> Indices:
    """Return the sample whose features each sample gets in the permuted copies: units are exchanged as a whole.

    ``units`` are groups or copies of a sample. Samples of a unit are alike, and must be so in the copies, too:
    fewer independent samples let more features be chosen by chance. Samples of a larger unit are left out, and
    those of a smaller one are repeated.

    >>> decoy_order(np.array([0, 0, 1, 1, 1]), np.random.default_rng(3)).tolist()
    [2, 4, 1, 0, 1]
    """
    numbers = np.unique(units, return_inverse=True)[1].ravel()
    members = [np.flatnonzero(numbers == number) for number in range(numbers.max() + 1)]
    order = np.empty(len(numbers), np.intp)
    for unit, other in zip(members, rng.permutation(len(members)), strict=True):
        order[unit] = np.resize(rng.permutation(members[other]), len(unit))
    return order


def chosen_decoys(reduction: SupervisedComponents, samples: Samples, decoys: Any) -> Indices:
    """Return which decoys score as high as the features of a component: rows of component and feature.

    ``samples`` are those of the fit, and ``decoys`` are their values of the permuted features. Components of one
    screening (SPCA) have no decoys.
    """
    steps = [step for step in getattr(reduction, "steps_", []) if step.accepted]
    if not isinstance(reduction, ISPCA) or not steps:
        return np.empty((0, 2), np.intp)
    covariates = columns_of(samples.X, reduction.adjusted_)
    response = make_response(
        samples.y,
        reduction.family,
        covariates=covariates,
        offset=samples.offset,
        sample_weight=samples.sample_weight,
    )
    roots = np.ones(len(samples.y)) if response.rows is None else response.rows.roots
    constant = np.ones((len(roots), int(reduction.center)))
    start = np.linalg.qr(
        roots[:, None] * np.column_stack([constant, *([] if covariates is None else [covariates])])
    )[0]
    Z = np.asarray(reduction.transform(samples.X))[:, : len(steps)] * roots[:, None]
    basis = np.linalg.qr(np.column_stack([start, Z]))[0]
    names = list(response.column_classes)
    targets = [names.index(step.target_class) for step in steps]
    residuals = [_residual(response.columns[:, c], basis[:, : start.shape[1] + k]) for k, c in enumerate(targets)]
    products, squares = _products(decoys, roots, np.column_stack([basis, *residuals]), reduction.center)
    loadings, covariances = products[:, : basis.shape[1]], products[:, basis.shape[1] :]
    usable = reduction.feature_mask_ & (squares > 0)
    chosen = []
    for number, step in enumerate(steps):
        remaining = squares - (loadings[:, : start.shape[1] + number] ** 2).sum(axis=1)
        alive = usable & (remaining > GONE * squares)
        scores = np.abs(covariances[:, number]) / np.sqrt(np.where(alive, remaining, 1.0))
        found = np.flatnonzero(alive & (scores >= step.threshold))
        chosen.append(np.column_stack([np.full(len(found), number), found]))
    return np.concatenate(chosen)


def _residual(column: Floats, basis: Floats) -> Floats:
    """Return a response of which nothing is left in the basis; scores are those with the whole response."""
    residual: Floats = column - basis @ (basis.T @ column)
    return residual


def _products(decoys: Any, roots: Floats, vectors: Floats, center: bool) -> tuple[Floats, Floats]:
    """Return the products of weighted decoys with vectors, and their sums of squares."""
    weighted = roots[:, None] * vectors
    if sp.issparse(decoys):
        return np.asarray(decoys.T @ weighted), np.asarray(decoys.multiply(decoys).T @ roots**2).ravel()
    values = np.asarray(decoys, dtype=np.float64)
    # Relative to the mean, which the constant among the vectors takes up, no digits are lost.
    values = values - values.mean(axis=0) if center else values
    return values.T @ weighted, roots**2 @ values**2
