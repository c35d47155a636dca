"""Propose candidates for the search: the features with the best scores against the reference's predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._array_types import Floats, Indices
from .reference import ReferencePredictions
from .settings import SearchSettings

PROPOSED = 80
BLOCK_COLUMNS = 4096


def columns(X: Any, chosen: Indices) -> Floats:
    """Return some columns of an array, sparse matrix or data frame as dense numbers."""
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, chosen], dtype=np.float64)
    part = X[:, chosen]
    return np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)


def candidates(X: Any, clusters: ReferencePredictions, settings: SearchSettings) -> Indices:
    """Return the features worth trying, those of every submodel first."""
    loss, weight = clusters.family.projection, clusters.relative_weight()
    eta = loss.link(loss.targets(clusters.mean))
    eta = np.tensordot(clusters.weights, eta, axes=1)
    if clusters.offset is not None:
        eta = eta - clusters.offset @ clusters.weights
    response = weight * (eta - (eta @ weight)[:, None])
    score = np.zeros(X.shape[1])
    for begin in range(0, X.shape[1], BLOCK_COLUMNS):
        block = np.arange(begin, min(begin + BLOCK_COLUMNS, X.shape[1]))
        part = columns(X, block)
        part = part - weight @ part
        scale = np.sqrt(weight @ part**2)
        slopes = np.sqrt(((response @ part) ** 2).sum(axis=0))
        score[block] = np.divide(slopes, scale, out=np.zeros(len(block)), where=scale > 0)
    score[settings.never] = 0
    score[settings.always] = 0
    best = np.argsort(-score, kind="stable")[:PROPOSED]
    return np.concatenate([settings.always, best[score[best] > 0]]).astype(np.intp)
