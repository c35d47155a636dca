"""Columns of a table that may be the target, a covariate or a group, the likeliest target first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..families.target_kind import FEW_VALUES, guess_kind
from ..readers import Table
from ..readers.target import labels_of, numbers_of

MOST_COLUMNS, MOST_VALUES = 200, 8
# Names that targets often have, and those of columns to adjust for.
TARGET = re.compile(
    r"target|class|label|outcome|diagnos|status|condition|respon|phenotyp|disease|tumou?r|cancer|tissue|grade|stage|"
    r"relapse|recur|cell.?type|subtype|treatment|case|surviv|event|died|death",
    re.IGNORECASE,
)
COVARIATE = re.compile(
    r"batch|plate|date|cent(er|re)|site|scanner|run|sex|gender|^age\b|age$|id$|name", re.IGNORECASE
)
# More numeric columns of few values than this are the nature of the data, such as genotypes.
MOST_FEW = 50


def candidates(table: Table) -> list[dict[str, Any]]:
    """Return columns that may describe the samples: those of the sheet or of text, and some of the features."""
    described = [_described(name, values) for name, values in _columns(table)]
    return sorted(described, key=lambda column: -column["score"])[:MOST_COLUMNS]


def _columns(table: Table) -> Iterator[tuple[str, Any]]:
    yield from table.sheet.items()
    if not isinstance(table.X, np.ndarray):
        return
    few = _few_values(table.X)
    leading = [j for j in range(min(MOST_COLUMNS, table.n_features)) if j not in set(few)]
    named = [j for j, name in enumerate(table.features) if TARGET.search(str(name))][:MOST_FEW]
    for j in dict.fromkeys([*named, *few, *leading]):
        yield str(table.features[j]), table.X[:, j]


def _few_values(X: np.ndarray) -> list[int]:
    """Return the columns of few distinct integers, unless many are."""
    first = X[:: max(1, len(X) // 50)]
    integers = np.flatnonzero((first == np.round(first)).all(axis=0))
    few = [int(j) for j in integers[: 20 * MOST_FEW] if 2 <= len(np.unique(X[:, j])) <= FEW_VALUES]
    return few if len(few) <= MOST_FEW else []


def _described(name: str, values: Any) -> dict[str, Any]:
    labels = labels_of(values)
    present = labels[labels != ""]
    often = Counter(present.tolist())
    numbers = numbers_of(values)
    kind = "text"
    if numbers is not None:
        kind = "class" if guess_kind(numbers)[0] == "classification" else "quantity"
    elif len(often) <= max(FEW_VALUES, len(present) // 2):
        kind = "class"
    known = None if numbers is None or kind == "class" else numbers[np.isfinite(numbers)]
    return {
        "name": name,
        "kind": kind,
        "values": dict(often.most_common(MOST_VALUES)) if kind == "class" else {},
        "range": None if known is None or not len(known) else [float(known.min()), float(known.max())],
        "n_values": len(often),
        "missing": len(labels) - len(present),
        "score": _score(name, kind, often, len(labels)),
    }


def _score(name: str, kind: str, often: Counter[str], n_samples: int) -> int:
    """Return how likely a column is the target."""
    score = 3 * bool(TARGET.search(name)) - 2 * bool(COVARIATE.search(name))
    if len(often) < 2:
        return score - 10
    if kind == "class":
        score += 2 + (len(often) == 2) - 2 * (min(often.values()) < 2)
    if kind == "text":
        score -= 5
    return score - 2 * (2 * sum(often.values()) < n_samples)
