"""Report section on the leading features: class means and fold changes, groups, box plots and plain lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .._messages import count
from ..plots.canvas import numbered_style
from .feature_heatmap import heatmap_chart
from .formatting import clean, number, numbers, section, table
from .input_checks import Inputs
from .ranked_features import (
    GROUP_CORRELATION,
    MOST_RANKED,
    Ranked,
    annotation_of,
    class_means,
    correlations,
    directions,
    group_names,
    has_effects,
    rank_features,
)

TITLE = "Leading features"
N_ROWS, N_BOXES = 50, 8
# Limits on the classes whose means are columns, and whose boxes are drawn.
MOST_MEANS, MOST_BOX_CLASSES = 6, 8
# Above this number of points, only those outside the whiskers are drawn.
MOST_POINTS = 150
MOST_OUTSIDE = 20
MOST_ANNOTATION = 3
# Values above this are not logarithms of expression.
LARGEST_LOGARITHM = 30.0


def leading_features_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return the features that matter most, with what the data themselves say about them."""
    ranked = rank_features(inputs, MOST_RANKED)
    if not len(ranked.columns):
        return None
    charts = [_boxes(inputs, ranked)] if _has_boxes(inputs) else []
    return section(
        TITLE,
        [_ranking_text(inputs), _group_text(ranked)],
        tables=[_table(inputs, ranked)],
        charts=[*charts, heatmap_chart(inputs, ranked)],
        lists=_lists(inputs, ranked),
    )


def _ranking_text(inputs: Inputs) -> str:
    by = "their effect on the prediction per standard deviation" if has_effects(inputs) else "their loadings"
    if has_effects(inputs) and inputs.kind == "classification" and len(inputs.labels) == 2:
        by += f" (positive: toward “{inputs.labels[1]}”)"
    return (
        f"The features are ranked by {by}. Means, differences and correlations describe each feature alone, as it "
        "was measured; the weight is its part in the model beside all other features, so the two can disagree."
    )


def _group_text(ranked: Ranked) -> str:
    sizes = np.bincount(ranked.groups)
    rule = f"have a mean absolute correlation above {GROUP_CORRELATION:g}"
    if sizes.max() == 1:
        return f"No two of the {len(ranked.columns)} leading features {rule}."
    groups = count(int(np.count_nonzero(sizes > 1)), "group")
    return (
        f"Features of one group, marked by a letter, {rule}: they carry much the same information, and the model "
        f"divides the weight among them. The {len(ranked.columns)} leading features contain {groups}."
    )


def _table(inputs: Inputs, ranked: Ranked) -> dict[str, Any]:
    n_rows = min(N_ROWS, len(ranked.columns))
    described = [name for name in inputs.context.annotation or {} if name != inputs.context.label]
    described = [] if inputs.before else described[:MOST_ANNOTATION]
    letters, sizes = group_names(ranked), np.bincount(ranked.groups)
    columns = [("Rank", "number"), ("Feature", "text"), *((clean(name, 60), "text") for name in described)]
    columns += [("Group", "text"), ("Effect" if has_effects(inputs) else "Loading", "number")]
    numbers_of = _statistics(inputs, ranked.values[:, :n_rows])
    columns += [(label, "number") for label in numbers_of]
    rows = []
    for k in range(n_rows):
        index, group = int(ranked.columns[k]), int(ranked.groups[k])
        name = f"{letters[group]} ({sizes[group]} features)" if letters[group] else None
        texts = [annotation_of(inputs, column, index) or None for column in described]
        found = [number(values[k], 3) for values in numbers_of.values()]
        rows.append([k + 1, inputs.features[index], *texts, name, number(ranked.weights[k], 3), *found])
    return table("leading", f"The {n_rows} leading features", columns, rows)


def _statistics(inputs: Inputs, values: Floats) -> dict[str, Floats]:
    """Return what is known of each feature alone: class means and fold changes, or correlations."""
    if inputs.y is None or inputs.kind == "survival":
        return {}
    if inputs.classes is None:
        y = np.asarray(inputs.y, dtype=np.float64)
        return {"Correlation with target": correlations(np.column_stack([y, values]))[0, 1:]}
    means = class_means(inputs, values)
    found = {}
    if len(inputs.labels) <= MOST_MEANS:
        found = {f"Mean in {label}": row for label, row in zip(inputs.labels, means, strict=True)}
    if len(inputs.labels) == 2:
        label, change = fold_change(means[0], means[1], values, inputs.context.transform)
        against = "minus" if label == "Difference" else "vs."
        found[f"{label}, {inputs.labels[1]} {against} {inputs.labels[0]}"] = change
    return found


def fold_change(base: Floats, other: Floats, values: Floats, transform: str | None) -> tuple[str, Floats]:
    """Return a name and the change from one class to the other, on the scale that the values allow.

    >>> label, change = fold_change(np.array([2.0]), np.array([8.0]), np.array([[2.0], [800.0]]), None)
    >>> label, float(change[0])
    ('Log2 fold change', 2.0)
    """
    if transform in ("log2", "cpm-log"):
        return "Log2 fold change", other - base
    if transform == "log1p":
        return "Log2 fold change", (other - base) / np.log(2)
    if transform in (None, "none") and values.min() >= 0 and values.max() > LARGEST_LOGARITHM:
        with np.errstate(divide="ignore", invalid="ignore"):
            return "Log2 fold change", np.log2(other / base)
    return "Difference", other - base


def _has_boxes(inputs: Inputs) -> bool:
    return inputs.y is not None and inputs.classes is not None and len(inputs.classes) <= MOST_BOX_CLASSES


def _boxes(inputs: Inputs, ranked: Ranked) -> dict[str, Any]:
    """Return box plots by class of the first features of the leading groups."""
    _, first = np.unique(ranked.groups, return_index=True)
    chosen = np.sort(first)[:N_BOXES]
    y, features = np.asarray(inputs.y), []
    for k in chosen.tolist():
        values = ranked.values[:, k]
        boxes = [_box(values[y == label]) for label in inputs.classes]  # type: ignore[union-attr]
        name = inputs.features[int(ranked.columns[k])]
        features.append({"name": name, "low": number(values.min()), "high": number(values.max()), "boxes": boxes})
    return {
        "kind": "boxes",
        "caption": "The leading features by class, one of each correlated group. Boxes show the quartiles, "
        "whiskers reach to the last point within 1.5 interquartile ranges, and points are samples.",
        "classes": inputs.labels,
        "colors": [numbered_style(code).color for code in range(len(inputs.labels))],
        "features": features,
    }


def _box(values: Floats) -> dict[str, Any] | None:
    if not len(values):
        return None
    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    points = values
    if len(values) > MOST_POINTS:
        points = values[(values < q1 - reach) | (values > q3 + reach)][:MOST_OUTSIDE]
    ends = {"low": inside.min(), "q1": q1, "median": median, "q3": q3, "high": inside.max()}
    return {name: number(value) for name, value in ends.items()} | {"points": numbers(points)}


def _lists(inputs: Inputs, ranked: Ranked) -> list[dict[str, str]]:
    """Return the names of features as plain text for enrichment tools: all, and by direction."""
    names = [_plain_name(inputs, int(index)) for index in ranked.columns]
    groups: dict[str, list[str]] = {f"All {len(names)} leading features": names}
    words = directions(inputs, ranked)
    for word in dict.fromkeys(words):
        if word:
            groups[word[0].upper() + word[1:]] = [a for a, b in zip(names, words, strict=True) if b == word]
    return [{"label": label, "text": "\n".join(dict.fromkeys(found))} for label, found in groups.items()]


def _plain_name(inputs: Inputs, index: int) -> str:
    """Return the label of a feature, such as its gene symbol (the first of several), or else its name."""
    label = annotation_of(inputs, inputs.context.label or "", index).split("///")[0].strip()
    return label if label and label != "---" else inputs.features[index]
