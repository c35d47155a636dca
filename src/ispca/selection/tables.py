"""Tables of a selection: the path, the groups of exchangeable features, and alternatives to one feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._array_types import Floats, Indices
from .._result_table import ResultTable, as_table
from ..models import original_coefficients
from .exchange import Exchange
from .search import SearchPath
from .suggestion import Differences, are_equivalent, weighted_mean
from .validated_path import HeldOut


def path_table(
    path: SearchPath,
    names: Sequence[str],
    costs: Floats | None,
    validation: tuple[HeldOut, Differences, Floats | None] | None,
) -> ResultTable:
    """Return one row per size; ``validation`` has the held-out densities, differences and sample weights."""
    sets = path.sets
    before = (sets[0], *sets[:-1])
    table: dict[str, Any] = {
        "size": np.arange(len(sets)),
        "feature": _only_in(sets, before, names),
        "dropped": _only_in(before, sets, names),
        "divergence": path.divergence,
    }
    if validation is not None:
        held_out, differences, weight = validation
        table["density"] = weighted_mean(held_out.log_density[: len(sets)], weight)
        table["difference"], table["difference_error"] = differences
        table["fraction"] = np.array([np.nan, *(held_out.fractions(chosen).mean() for chosen in sets[1:])])
    if costs is not None:
        table["cost"] = np.array([costs[chosen].sum() for chosen in sets])
    return as_table(table)


def _only_in(sets: Sequence[Indices], others: Sequence[Indices], names: Sequence[str]) -> np.ndarray:
    """Return the names of the features that are in each set but not in the other one, joined by commas."""
    texts = [
        ", ".join(names[feature] for feature in chosen if feature not in other)
        for chosen, other in zip(sets, others, strict=True)
    ]
    return np.array(texts, dtype=np.str_)


def panel_table(submodel: Pipeline, names: Sequence[str], fractions: Floats) -> ResultTable:
    """Return one row per feature of a submodel, and class if there are several, with its coefficient."""
    coefficients = original_coefficients(submodel[-1])
    size = len(fractions)
    # Every class starts with its intercept.
    rows = coefficients[np.arange(len(coefficients)) % (size + 1) > 0]
    n_classes = len(rows) // size if size else 0
    # The last step of a submodel for arrays does not know names.
    table: dict[str, Any] = {"feature": np.tile(np.array(names, dtype=np.str_), n_classes)}
    table |= {name: rows[name] for name in ("target_class", "mean", "sd", "q5", "q95", "p_sign")}
    table["fraction"] = np.tile(fractions, n_classes)
    return as_table(table)


def groups_table(panel: Indices, found: Sequence[Exchange], error: float, names: Sequence[str]) -> ResultTable:
    """Return one row per feature of the panel and feature that could equally well take its place."""
    rows = [
        (names[feature], names[other], correlation, cost)
        for feature, exchange in zip(panel, found, strict=True)
        for other, cost, correlation in zip(*exchange, strict=True)
        if are_equivalent(cost, error)
    ]
    feature, other, correlation, cost = zip(*rows, strict=True) if rows else ((), (), (), ())
    return as_table(
        {
            "feature": np.array(feature, dtype=np.str_),
            "stands_for": np.array(other, dtype=np.str_),
            "correlation": np.array(correlation, dtype=np.float64),
            "cost": np.array(cost, dtype=np.float64),
        }
    )


def alternatives_table(exchange: Exchange, error: float, names: Sequence[str]) -> ResultTable:
    """Return one row per feature that could take the place of another one, cheapest first."""
    # An error of 0 makes every cost infinitely many errors.
    with np.errstate(divide="ignore", invalid="ignore"):
        in_errors = np.asarray(exchange.cost) / error
    return as_table(
        {
            "feature": np.array([names[feature] for feature in exchange.feature], dtype=np.str_),
            "correlation": exchange.correlation,
            "cost": exchange.cost,
            "cost_in_errors": in_errors,
            "equivalent": are_equivalent(exchange.cost, error),
        }
    )
