"""Stability over bags: how often features are chosen, how many of the list are false, and similar components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom

from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.docstrings import share_docs
from ..foundation.result_tables import ResultTable, as_table
from ..plots.comparison_and_panel import plot_stability
from ..plots.plot_arguments import DOCS
from ..transformers.ispca_transformer import ISPCA
from ..transformers.linear_projection import component_names
from .bags import BagData, Bags


@dataclass(frozen=True)
class Stability:
    """What `stability` returns.

    Attributes
    ----------
    table : recarray
        One row per feature, most frequent first: ``feature``, ``frequency`` (fraction of bags in which any of the
        first components uses it), ``supervised_1``, ... (the same for each component), and ``error_rate``: the
        estimated fraction of false features among those at least as frequent, from permuted copies of all
        features. NaN for SPCA, whose bags have no permuted copies.
    chance_frequency : float
        What ``frequency`` would be if as many features were used at random.
    components : recarray
        One row per component: in how many bags it was ``found``, the number of ``features`` it used on average,
        the ``similarity`` of its scores between bags (mean absolute correlation over all samples), and the
        ``overlap`` of its features between bags (Jaccard index) with ``chance_overlap`` for random sets of the
        same sizes.
    n_bags : int
        Number of bags.
    """

    table: ResultTable = field(repr=False)
    chance_frequency: float
    components: ResultTable
    n_bags: int

    @share_docs(**DOCS)
    def plot(self, n_features: int = 25, ax: Any = None) -> Any:
        """Draw the features used most often; see `ispca.plots.plot_stability`.

        Parameters
        ----------
        n_features : int, default=25
            Number of bars.
        $ax
        """
        return plot_stability(self, n_features, ax)


class BagComponents(NamedTuple):
    """The supervised components of a bag: of each feature and decoy of one, its number and the column of X."""

    features: Indices  # rows of component and column
    decoys: Indices | None  # the same; None if the bag has no decoys
    scores: Floats  # of all samples (samples x components)


def bag_components(bags: Bags, Z: Floats, data: BagData) -> list[BagComponents]:
    """Return the supervised components of all bags; ``Z`` are the linear features of all samples."""
    columns, source = data.columns, data.columns.source_columns_
    n_common = Z.shape[1] - sum(len(bag.ends) for bag in bags.bags)
    common, own = Z[:, :n_common], Z[:, n_common:]
    found, start = [], 0
    for bag in bags.bags:
        end = start + len(bag.ends)
        numbers = np.repeat(np.arange(len(bag.ends)), np.diff(bag.ends, prepend=0))
        decoys = np.column_stack([bag.decoys[:, 0], source[bag.decoys[:, 1]]])
        # Of a bag without components, the arrays have lost their shape.
        scores = common @ bag.coordinates.T + own[:, start:end] @ bag.own.T if end > start else own[:, :0]
        features = np.column_stack([numbers, source[bag.columns]])
        found.append(BagComponents(features, decoys if isinstance(columns, ISPCA) else None, scores))
        start = end
    return found


def summarize(found: Sequence[BagComponents], names: Sequence[str], n_components: int) -> Stability:
    """Return how stable the first components of the bags are."""
    if n_components < 1:
        raise ValueError(f"n_components must be at least 1, got {n_components}.")
    count = max(1, min(n_components, max(bag.scores.shape[1] for bag in found)))
    used = np.stack([_mask(bag.features, count, len(names)) for bag in found])
    frequency = used.any(axis=1).mean(axis=0)
    order = np.argsort(-frequency, kind="stable")
    columns: dict[str, Any] = {"feature": np.array(names), "frequency": frequency}
    columns |= dict(zip(component_names(count, count), used.mean(axis=0), strict=True))
    decoys = [_mask(bag.decoys, count, len(names)).any(axis=0) for bag in found if bag.decoys is not None]
    columns["error_rate"] = error_rates(frequency, np.mean(decoys, axis=0) if decoys else None)
    table = as_table({name: values[order] for name, values in columns.items()})
    rows = [_component([bag.scores for bag in found], used[:, k], k) for k in range(count)]
    by_component = as_table({name: [row[name] for row in rows] for name in rows[0]})
    return Stability(table, float(frequency.mean()), by_component, len(found))


def error_rates(frequency: Floats, decoy_frequency: Floats | None) -> Floats:
    """Return the estimated fraction of false features among those at least as frequent as each feature.

    At each frequency, it is one plus the number of decoys that are at least as frequent, divided by the number of
    such features. As for q-values, a feature gets the lowest value of the lists that contain it.

    >>> error_rates(np.array([1.0, 0.9, 0.8, 0.1]), np.array([0.1, 0.0, 0.0, 0.0])).round(2).tolist()
    [0.33, 0.33, 0.33, 0.5]
    """
    if decoy_frequency is None:
        return np.full(len(frequency), np.nan)
    levels, places = np.unique(frequency, return_inverse=True)
    n_features = len(frequency) - np.searchsorted(np.sort(frequency), levels)
    n_decoys = len(decoy_frequency) - np.searchsorted(np.sort(decoy_frequency), levels)
    rates: Floats = np.minimum.accumulate(np.minimum(1.0, (1 + n_decoys) / n_features))[places]
    return rates


def _mask(used: Any, count: int, n_features: int) -> Mask:
    """Return which features each of the first components uses."""
    mask = np.zeros((count, n_features), dtype=bool)
    mask[tuple(used[used[:, 0] < count].T)] = True
    return mask


def _component(scores: list[Floats], used: Mask, k: int) -> dict[str, float]:
    """Compare one component between all pairs of bags that found it."""
    found = [i for i, of_bag in enumerate(scores) if of_bag.shape[1] > k]
    sizes = used.sum(axis=1)
    overlaps, by_chance = [], []
    for i, j in combinations(found, 2):
        common = np.count_nonzero(used[i] & used[j])
        overlaps.append(common / (sizes[i] + sizes[j] - common))
        by_chance.append(_random_overlap(*sorted((int(sizes[i]), int(sizes[j]))), used.shape[1]))
    return {
        "component": k + 1,
        "found": len(found),
        "features": _mean(sizes[found]),
        "similarity": _similarity([scores[i][:, k] for i in found]),
        "overlap": _mean(overlaps),
        "chance_overlap": _mean(by_chance),
    }


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else np.nan


@lru_cache(maxsize=4096)
def _random_overlap(smaller: int, larger: int, n_features: int) -> float:
    """Return the expected Jaccard index of two random sets of these sizes."""
    # The number of common features is hypergeometric; for small sets, its mean alone does not give the mean index.
    common = np.arange(smaller + 1)
    index = common / (smaller + larger - common)
    return float(hypergeom.pmf(common, n_features, larger, smaller) @ index)


def _similarity(scores: list[Floats]) -> float:
    """Return the mean absolute correlation between all pairs."""
    if len(scores) < 2:
        return np.nan
    correlation = np.abs(np.corrcoef(scores))
    return float(correlation[np.triu_indices(len(scores), 1)].mean())
