"""Report sections on the question and the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._messages import count, listing
from ..containers import ColumnSource
from .formatting import clean, number, percent, section, table
from .input_checks import Inputs
from .target_words import WORDS, count_facts, survival_facts

FACTS = {"survival": survival_facts, "count": count_facts}
TITLE = "Question and method"
# Number of classes and dropped columns that are listed.
LISTED = 200


def question_section(inputs: Inputs) -> dict[str, Any]:
    """Return the question in plain words."""
    target = clean(inputs.context.target_name)
    if inputs.reduction is None:
        methods = ", ".join(clean(name) for name in inputs.comparison.methods) if inputs.comparison else ""
        text = [
            f"Which of these methods best predicts “{target}” for new samples: {methods}?",
            "This report compares methods. It describes no single fit, so it shows no components.",
        ]
        return section(TITLE, text)
    words = WORDS[inputs.kind]
    name = type(inputs.reduction).__name__
    if inputs.y is None:
        text = [f"Which combinations of features describe the samples best? The method is {name}."]
        return section(TITLE, text)
    text = [
        f"Which combinations of features are related to “{target}” ({words.short}), and how well do they predict "
        "it?",
        f"{name} finds such combinations, called components. A supervised component is computed from features "
        "associated with the target; an unsupervised one captures the largest remaining variation.",
    ]
    if inputs.model is not None and not inputs.has_posterior:
        name = type(inputs.model).__name__
        text.append(f"A linear model ({name}) then predicts the target from the components.")
    elif inputs.model is not None:
        text.append(
            f"A Bayesian regression then predicts {words.model} from the components. Its horseshoe prior assumes "
            "that few components matter and shrinks the coefficients of the others toward zero."
        )
    return section(TITLE, text)


def data_section(inputs: Inputs) -> dict[str, Any]:
    """Return the numbers of samples, features and classes, and what was dropped."""
    facts: list[list[str]] = []
    if inputs.context.data_name:
        facts.append(["File", clean(inputs.context.data_name)])
    tables = []
    facts += size_facts(inputs)
    kind = "" if inputs.kind == "regression" else f": {WORDS[inputs.kind].short}"
    facts.append(["Target", clean(inputs.context.target_name) + kind])
    if inputs.classes is not None and inputs.y is not None:
        tables.append(_class_table(inputs))
    elif inputs.y is not None:
        facts += FACTS.get(inputs.kind, _quantity_facts)(inputs.y)
    if inputs.context.left_out:
        tables.append(_left_out_table(inputs))
    text = [clean(note, 600) for note in inputs.context.notes]
    if inputs.n_renamed:
        text.append(
            f"{count(inputs.n_renamed, 'feature or sample name')} shortened or cleaned for this report, because "
            "they are very long, empty or contain control characters."
        )
    return section("Data", text, facts=facts, tables=tables)


def n_features(inputs: Inputs) -> int:
    """Return the number of features, covariates not counted."""
    adjusted = inputs.adjusted
    n_covariates = len(np.unique(inputs.reduction.source_columns_[adjusted])) if adjusted.any() else 0
    return int(inputs.original_X.shape[1] - n_covariates)


def size_facts(inputs: Inputs) -> list[list[str]]:
    """Return the numbers of samples and of features first, and then what else there is to count."""
    X = inputs.original_X
    if X is None:
        return []
    facts = [["Samples", f"{X.shape[0]:,}"], ["Features", f"{n_features(inputs):,}"]]
    if inputs.before:
        steps = ", ".join(type(step).__name__ for step in inputs.before)
        facts.append(["Preprocessing", f"{steps}: {inputs.X.shape[1]:,} features remain"])
    if inputs.reduction is not None:
        reduction = inputs.reduction
        if reduction.adjusted_.any():
            adjusted = [inputs.features[j] for j in np.flatnonzero(reduction.adjusted_)]
            facts.append(["Adjusted for", listing(adjusted)])
        unused = int(np.count_nonzero(~reduction.feature_mask_ & ~reduction.adjusted_))
        why = " (constant, determined by a single sample, or excluded)" if unused else ""
        facts.append(["Features not used", f"{unused:,}{why}"])
    facts.append(["Columns dropped before the fit", f"{len(inputs.context.left_out):,}"])
    facts.append(["Missing values", _missing_fact(inputs)])
    if sp.issparse(X):
        facts.append(["Nonzero values", percent(X.nnz / max(X.shape[0] * X.shape[1], 1))])
    return facts


def _missing_fact(inputs: Inputs) -> str:
    if inputs.reduction is not None and inputs.reduction.n_missing_:
        return f"{inputs.reduction.n_missing_:,}, replaced by column means"
    if isinstance(inputs.original_X, ColumnSource):
        # The fit has refused those that it did not replace.
        return "none in the fitted data"
    values = inputs.original_X.data if sp.issparse(inputs.original_X) else inputs.original_X
    missing = int(np.count_nonzero(np.isnan(values))) if values.dtype.kind == "f" else 0
    return f"{missing:,}" if missing else "none in the fitted data"


def _class_table(inputs: Inputs) -> dict[str, Any]:
    counts = [int(np.count_nonzero(inputs.y == label)) for label in inputs.classes]  # type: ignore[union-attr]
    total = max(sum(counts), 1)
    pairs = list(zip(inputs.labels, counts, strict=True))[:LISTED]
    rows: list[list[Any]] = [[label, often, number(100 * often / total, 3)] for label, often in pairs]
    columns = [("Class", "text"), ("Samples", "number"), ("Percent", "number")]
    caption = "Classes" + _listed(len(counts))
    if inputs.kind == "classification" and len(counts) == 2:
        caption += f"; “{inputs.labels[1]}” is the positive class, for which effects and rates are given"
    return table("classes", caption, columns, rows)


def _quantity_facts(y: np.ndarray) -> list[list[str]]:
    low, median, high = np.quantile(y, [0, 0.5, 1])
    spread = float(np.std(y, ddof=1)) if len(y) > 1 else 0.0
    return [
        ["Target, minimum and maximum", f"{low:.4g}, {high:.4g}"],
        ["Target, median", f"{median:.4g}"],
        ["Target, mean and standard deviation", f"{y.mean():.4g}, {spread:.4g}"],
    ]


def _left_out_table(inputs: Inputs) -> dict[str, Any]:
    left_out = inputs.context.left_out
    rows: list[list[Any]] = [[clean(name), clean(why)] for name, why in list(left_out.items())[:LISTED]]
    caption = "Columns dropped before the fit" + _listed(len(left_out))
    return table("left-out", caption, [("Column", "text"), ("Reason", "text")], rows)


def _listed(total: int) -> str:
    return f" (the first {LISTED} of {total:,})" if total > LISTED else ""
