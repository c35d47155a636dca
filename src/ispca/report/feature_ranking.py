"""Rank features by their weight in the model, and group those that are strongly correlated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices, Mask, largest_first, leading_mask
from .formatting import clean_all

# Features with a larger absolute correlation, on average, form one group.
GROUP_CORRELATION = 0.7
# Number of leading features that are looked at.
MOST_RANKED = 200
# Correlations of more samples are those of a random part of them.
MOST_SAMPLES = 2000


class Ranked(NamedTuple):
    """The leading features: their columns, weights and values, and the number of the group of each (from 0).

    ``classes`` are the classes whose effects the weights are; empty unless there are several.
    """

    columns: Indices
    weights: Floats
    values: Floats
    groups: Indices
    classes: list[str]


class EffectOrder(NamedTuple):
    """Coefficients from the largest effect on: their rows and features, and the deviations of all features."""

    rows: Indices
    columns: Indices
    spreads: Floats


def feature_values(X: Any, indices: Any) -> Floats:
    """Return the values of some features, which are read together if X is in a file."""
    values = X[:, indices]
    return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)


def rank_by_effect(found: np.recarray, order: EffectOrder, adjusted: Mask) -> tuple[Indices, Floats, list[str]]:
    """Return the leading features by their effect per standard deviation, and the classes if there are several.

    For several classes, a feature counts with its largest effect. The list ends where `leading_mask` says.
    """
    _, first = np.unique(order.columns, return_index=True)
    first.sort()
    # Covariates have a section of their own.
    first = first[~adjusted[order.columns[first]]]
    rows, columns = found[order.rows[first]], order.columns[first]
    effects = rows["mean"] * order.spreads[columns]
    kept = np.flatnonzero(leading_mask(effects, rows["q5"], rows["q95"]))[:MOST_RANKED]
    several = len(np.unique(found["target_class"])) > 1
    return columns[kept], effects[kept], clean_all(rows["target_class"][kept])[0] if several else []


def leading(reduction: Any, component: int, n_features: int) -> Indices:
    """Return the indices of the leading features of a component by their loadings (components count from 0)."""
    direction = reduction.directions_[component]
    order = largest_first(direction, n_features)
    return order[leading_mask(direction)[order]]


def rank_by_loading(reduction: Any, adjusted: Mask) -> tuple[Indices, Floats]:
    """Return the leading features of the supervised components in turn: the first of each, then the second."""
    lists = [leading(reduction, k, MOST_RANKED) for k in range(max(int(reduction.n_supervised_), 1))]
    found: dict[int, float] = {}
    for place in range(MOST_RANKED):
        for k, order in enumerate(lists):
            if place < len(order) and not adjusted[order[place]]:
                found.setdefault(int(order[place]), float(reduction.directions_[k, order[place]]))
    columns, weights = np.array(list(found), dtype=np.intp), np.array(list(found.values()), dtype=np.float64)
    return columns[:MOST_RANKED], weights[:MOST_RANKED]


def with_groups(X: Any, columns: Indices, weights: Floats, classes: list[str]) -> Ranked:
    """Return ranked features with their values, missing ones replaced by the mean, and their groups."""
    values = []
    for column in columns.tolist():
        here = feature_values(X, [column]).ravel()
        missing = ~np.isfinite(here)
        values.append(np.where(missing, here[~missing].mean() if not missing.all() else 0.0, here))
    together = np.column_stack(values) if values else np.empty((0, 0))
    return Ranked(columns, weights, together, correlated_groups(together), classes)


def correlated_groups(values: Floats) -> Indices:
    """Return the number of the group of each column, in the order of their first members.

    Average linkage of the absolute correlations, cut where their mean falls below `GROUP_CORRELATION`.

    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> correlated_groups(np.column_stack([x, [1.0, -1.0, 1.0, -1.0], -x])).tolist()
    [0, 1, 0]
    """
    n_features = values.shape[1]
    if n_features < 2 or len(values) < 3:
        return np.arange(n_features)
    # Imported here, because the command line would start later.
    from scipy.cluster import hierarchy

    if len(values) > MOST_SAMPLES:
        values = values[np.random.default_rng(0).choice(len(values), MOST_SAMPLES, replace=False)]
    distance = 1 - np.abs(correlations(values))
    tree = hierarchy.linkage(np.clip(distance, 0, None)[np.triu_indices(n_features, 1)], "average")
    found = hierarchy.fcluster(tree, 1 - GROUP_CORRELATION, "distance")
    _, first = np.unique(found, return_index=True)
    numbers = {int(found[place]): number for number, place in enumerate(np.sort(first))}
    return np.array([numbers[int(group)] for group in found], dtype=np.intp)


def correlations(values: Floats) -> Floats:
    """Return the correlations between the columns; 0 for constant ones."""
    centered = values - values.mean(axis=0)
    unit = centered / np.maximum(np.linalg.norm(centered, axis=0), 1e-300)
    return np.asarray(unit.T @ unit)


def group_letters(ranked: Ranked) -> list[str]:
    """Return a letter for each group of several features, in their order, and an empty text for single ones."""
    sizes = np.bincount(ranked.groups)
    places = np.cumsum(sizes > 1) - 1
    names = [f"{chr(65 + place % 26)}{place // 26 or ''}" for place in places.tolist()]
    return [name if size > 1 else "" for name, size in zip(names, sizes, strict=True)]
