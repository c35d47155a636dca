"""The first two sections: what was asked, and the data at a glance."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..tables.records import count
from .parts import Parts
from .text import clean, number, percent, section, table

# Left-out columns and classes are listed up to this many.
LISTED = 200


def asked_section(parts: Parts) -> dict[str, Any]:
    """Return what was asked, in plain words."""
    target = clean(parts.context.target_name)
    if parts.reduction is None:
        methods = ", ".join(clean(name) for name in parts.comparison.methods) if parts.comparison else ""
        question = f"Which of these methods predicts “{target}” best for samples it has not seen: {methods}?"
        text = [question, "The report is of a comparison. There is no single fit in it, so it has no components."]
        return section("What was asked", text)
    kind = "classes" if parts.classes is not None else "a quantity"
    name = type(parts.reduction).__name__
    if parts.y is None:
        text = [f"Which few combinations of the features describe the samples? The method is {name}."]
        return section("What was asked", text)
    question = (
        f"Which few combinations of the features tell most about “{target}” ({kind}), and how much do they tell?"
    )
    text = [
        question,
        f"{name} looks for such combinations, called components. A supervised component is made from the features "
        "that go with the target; an unsupervised one from whatever varies most in what is left.",
    ]
    if parts.model is not None and not parts.has_posterior:
        text.append(f"A linear model ({type(parts.model).__name__}) then predicts the target from the components.")
    elif parts.model is not None:
        text.append(
            "A Bayesian regression then predicts the target from the components. Its prior (the horseshoe) "
            "expects that few components matter and shrinks the others towards nothing."
        )
    return section("What was asked", text)


def data_section(parts: Parts) -> dict[str, Any]:
    """Return the data at a glance."""
    facts: list[list[str]] = []
    if parts.context.data_name:
        facts.append(["File", clean(parts.context.data_name)])
    tables = []
    if parts.X is not None:
        facts += _size_facts(parts)
    facts.append(["Target", clean(parts.context.target_name) + (": classes" if parts.classes is not None else "")])
    if parts.classes is not None and parts.y is not None:
        tables.append(_class_table(parts))
    elif parts.y is not None:
        facts += _quantity_facts(parts.y)
    if parts.context.left_out:
        tables.append(_left_out_table(parts))
    text = [clean(note, 600) for note in parts.context.notes]
    if parts.n_renamed:
        text.append(
            f"{count(parts.n_renamed, 'name')} of features or samples cut or cleaned for this report: very long, "
            "empty, or with control characters."
        )
    return section("The data at a glance", text, facts=facts, tables=tables)


def _size_facts(parts: Parts) -> list[list[str]]:
    X: Any = parts.original_X if sp.issparse(parts.original_X) else np.asarray(parts.original_X)
    facts = [["Samples", f"{X.shape[0]:,}"], ["Features", f"{X.shape[1]:,}"]]
    if parts.before:
        steps = ", ".join(type(step).__name__ for step in parts.before)
        facts.append(["Preprocessing", f"{steps}: {parts.X.shape[1]:,} features left"])
    if parts.reduction is not None:
        unused = int(np.count_nonzero(~parts.reduction.feature_mask_))
        why = " (constant, decided by a single sample, or excluded)" if unused else ""
        facts.append(["Features not used", f"{unused:,}{why}"])
    facts.append(["Columns left out before", f"{len(parts.context.left_out):,}"])
    values = X.data if sp.issparse(X) else X
    missing = int(np.count_nonzero(np.isnan(values))) if values.dtype.kind == "f" else 0
    facts.append(["Missing values", f"{missing:,}" if missing else "none in what was fitted"])
    if sp.issparse(X):
        facts.append(["Values that are not zero", percent(X.nnz / max(X.shape[0] * X.shape[1], 1))])
    return facts


def _class_table(parts: Parts) -> dict[str, Any]:
    counts = [int(np.count_nonzero(parts.y == label)) for label in parts.classes]  # type: ignore[union-attr]
    total = max(sum(counts), 1)
    pairs = list(zip(parts.labels, counts, strict=True))[:LISTED]
    rows: list[list[Any]] = [[label, often, number(100 * often / total, 3)] for label, often in pairs]
    columns = [("Class", "text"), ("Samples", "number"), ("Per cent", "number")]
    return table("classes", "Classes" + _listed(len(counts)), columns, rows)


def _quantity_facts(y: np.ndarray) -> list[list[str]]:
    low, median, high = np.quantile(y, [0, 0.5, 1])
    spread = float(np.std(y, ddof=1)) if len(y) > 1 else 0.0
    return [
        ["Target, smallest and largest", f"{low:.4g}, {high:.4g}"],
        ["Target, median", f"{median:.4g}"],
        ["Target, mean and standard deviation", f"{y.mean():.4g}, {spread:.4g}"],
    ]


def _left_out_table(parts: Parts) -> dict[str, Any]:
    left_out = parts.context.left_out
    rows: list[list[Any]] = [[clean(name), clean(why)] for name, why in list(left_out.items())[:LISTED]]
    caption = "Columns left out before the fit" + _listed(len(left_out))
    return table("left-out", caption, [("Column", "text"), ("Why", "text")], rows)


def _listed(total: int) -> str:
    return f" (the first {LISTED} of {total:,})" if total > LISTED else ""
