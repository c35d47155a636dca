"""The stack of ``ispca fit --stack``: the class for a kind of target, and the candidates that can use the data."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from ..penalized.base import Penalized
from ..readers import Table
from ..validation import StackedClassifier, StackedCounts, StackedOrdinal, StackedRegressor, StackedSurvival
from ..validation.stacking_candidates import default_candidates
from ._options import sample_options

STACKS: dict[str, Any] = {
    "classification": StackedClassifier,
    "regression": StackedRegressor,
    "survival": StackedSurvival,
    "count": StackedCounts,
    "ordinal": StackedOrdinal,
}


def stack_candidates(table: Table) -> dict[str, Any]:
    """Return the default candidates that can use what is known of the samples, and the data where they are."""
    given = [name for name in sample_options(table) if name != "groups"]
    return {
        name: item
        for name, item in _all_candidates(table).items()
        if not (table.in_blocks and _needs_memory(item))
        and all(has_fit_parameter(item[-1] if isinstance(item, Pipeline) else item, option) for option in given)
    }


def left_out_of_stack(table: Table, args: argparse.Namespace) -> list[str]:
    """Return the names of the candidates that a stack leaves out because the data are not in memory."""
    if not (args.stack and table.in_blocks):
        return []
    return [name for name, item in _all_candidates(table).items() if _needs_memory(item)]


def _needs_memory(candidate: Any) -> bool:
    # Each step of the descent along a path of penalties visits single features many times.
    return isinstance(candidate, Penalized)


def _all_candidates(table: Table) -> dict[str, Any]:
    kind = str(table.kind)
    n_classes = len(np.unique(np.asarray(table.target))) if kind == "classification" else 2
    return dict(default_candidates(kind, n_classes))
