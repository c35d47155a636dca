"""Rank features by their weight in the model, and group those that are strongly correlated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from .._ranking import largest_first
from ..models.coefficients import feature_spreads, rank_coefficients
from .formatting import clean
from .input_checks import Inputs, column

# Features with a larger absolute correlation, on average, form one group.
GROUP_CORRELATION = 0.7
# Number of leading features that are looked at.
MOST_RANKED = 200
# Correlations of more samples are those of a random part of them.
MOST_SAMPLES = 2000


class Ranked(NamedTuple):
    """The leading features: their columns, weights and values, and the number of the group of each (from 0)."""

    columns: Indices
    weights: Floats
    values: Floats
    groups: Indices


def leading(reduction: Any, component: int, n_features: int) -> np.ndarray:
    """Return the indices of the features with the largest loadings on a component (components count from 0)."""
    direction = reduction.directions_[component]
    order = largest_first(direction, n_features)
    return order[direction[order] != 0]


def rank_features(inputs: Inputs, n_features: int) -> Ranked:
    """Return the features with the largest effect per standard deviation, or the largest loading without a model.

    For several classes, a feature counts with its largest effect.
    """
    columns, weights = _by_effect(inputs) if has_effects(inputs) else _by_loading(inputs.reduction, n_features)
    kept = ~inputs.adjusted[columns] & (weights != 0)
    columns, weights = columns[kept][:n_features], weights[kept][:n_features]
    values = np.column_stack([filled(inputs, int(j)) for j in columns]) if len(columns) else np.empty((0, 0))
    return Ranked(columns, weights, values, correlated_groups(values))


def has_effects(inputs: Inputs) -> bool:
    """Return whether features are ranked by effects: there is a model, and it sees these features."""
    return inputs.model is not None and not inputs.before


def _by_effect(inputs: Inputs) -> tuple[Indices, Floats]:
    found, spreads = inputs.context.coefficients, feature_spreads(inputs.fitted)
    order, columns = rank_coefficients(found, spreads)
    _, first = np.unique(columns, return_index=True)
    first.sort()
    return columns[first], (found["mean"][order] * spreads[columns])[first]


def _by_loading(reduction: Any, n_features: int) -> tuple[Indices, Floats]:
    """Return the leading features of the supervised components in turn: the first of each, then the second."""
    supervised = max(int(reduction.n_supervised_), 1)
    lists = [leading(reduction, k, n_features) for k in range(supervised)]
    turns = [
        (order[place], reduction.directions_[k, order[place]])
        for place in range(n_features)
        for k, order in enumerate(lists)
        if place < len(order)
    ]
    found: dict[int, float] = {}
    for index, weight in turns:
        found.setdefault(int(index), float(weight))
    return np.array(list(found), dtype=np.intp), np.array(list(found.values()), dtype=np.float64)


def filled(inputs: Inputs, index: int) -> Floats:
    """Return the values of a feature, with its mean for missing ones."""
    values = column(inputs.X, index)
    missing = ~np.isfinite(values)
    return np.where(missing, values[~missing].mean() if not missing.all() else 0.0, values)


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


def group_names(ranked: Ranked) -> list[str]:
    """Return a letter for each group of several features, in their order, and an empty text for single ones."""
    sizes = np.bincount(ranked.groups)
    places = np.cumsum(sizes > 1) - 1
    names = [f"{chr(65 + place % 26)}{place // 26 or ''}" for place in places.tolist()]
    return [name if size > 1 else "" for name, size in zip(names, sizes, strict=True)]


def annotation_of(inputs: Inputs, name: str, index: int) -> str:
    """Return what an annotation column says about a feature, or an empty text."""
    known = (inputs.context.annotation or {}).get(name)
    text = "" if known is None or inputs.before or index >= len(known) else str(known[index]).strip()
    return clean(text) if text else ""


def class_means(inputs: Inputs, values: Floats) -> Floats:
    """Return the mean of each class in the order of the classes, for each column of values."""
    y = np.asarray(inputs.y)
    return np.array([values[y == label].mean(axis=0) for label in inputs.classes])  # type: ignore[union-attr]


def directions(inputs: Inputs, ranked: Ranked) -> list[str]:
    """Return in words how each leading feature goes with the target, or empty texts if that is not known."""
    nothing = [""] * len(ranked.columns)
    if inputs.y is None or not nothing:
        return nothing
    if inputs.classes is not None:
        word = "higher" if len(inputs.classes) == 2 else "highest"
        means = class_means(inputs, ranked.values)
        return [f"{word} in {inputs.labels[k]}" for k in np.argmax(np.nan_to_num(means, nan=-np.inf), axis=0)]
    if inputs.kind == "survival":
        words = ("higher values, lower risk", "higher values, higher risk")
        return [words[int(weight > 0)] for weight in ranked.weights] if has_effects(inputs) else nothing
    target = clean(inputs.context.target_name, 60)
    found = correlations(np.column_stack([np.asarray(inputs.y, dtype=np.float64), ranked.values]))[0, 1:]
    return [f"{'increases' if r > 0 else 'decreases'} with {target}" for r in found]
