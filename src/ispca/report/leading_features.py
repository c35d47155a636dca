"""Report section on the leading features: class means, fold changes, groups, box plots, heatmap and lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundation.arrays import SMALLEST_EFFECT, Floats, Indices
from ..foundation.messages import count
from ..plots.canvas import numbered_style
from ..validation.held_out_verdict import chance_sentence
from .feature_ranking import GROUP_CORRELATION, Ranked, correlations, group_letters
from .formatting import capitalize, clean, clean_all, number, numbers, random_part, section, table
from .interval_words import frequency_text, interval_name
from .report_inputs import Inputs

TITLE = "Leading features"
N_ROWS, N_BOXES = 50, 8
SIGNIFICANCE_TEXT = (
    "p answers whether a feature, taken alone, is associated with the target at all (permutation test); q, what "
    "fraction of the features associated at least as strongly is expected to be false; and the {interval} under "
    "Coefficients, how large its effect in the model is, with all other features held fixed."
)
# Limits on the classes whose means are columns, and whose boxes are drawn.
MOST_MEANS, MOST_BOX_CLASSES = 6, 8
# Above this number of points, only those outside the whiskers are drawn.
MOST_POINTS = 150
MOST_OUTSIDE = 20
MOST_ANNOTATION = 3
# Values above this are not logarithms of expression.
LARGEST_LOGARITHM = 30.0
HEATMAP_FEATURES, HEATMAP_SAMPLES = 30, 300
# Columns of the sample sheet that are strips of the heatmap, and the values that such a column may have.
MOST_STRIPS, MOST_VALUES = 3, 8
FIRST_COLOR = 5
LIGHT, DARK = np.array([222, 235, 247]), np.array([8, 48, 107])


def leading_features_section(inputs: Inputs) -> dict[str, Any]:
    """Return the features that matter most, with what the data themselves say about them."""
    ranked = inputs.ranked
    if not len(ranked.columns):
        return section(TITLE, [no_leading_text(inputs)])
    by = "their effect on the prediction per standard deviation" if inputs.has_effects else "their loadings"
    if inputs.has_effects and inputs.positive is not None:
        by += f" (positive: toward “{inputs.positive}”)"
    interval = interval_name(inputs.context.n_bags)
    ranking = f"The features are ranked by {by}. Those with {rule_text(inputs)} are left out."
    if _statistics(inputs, ranked.values[:, :1]):
        alone = "Correlations" if inputs.classes is None else "Means and differences"
        what = "effect" if inputs.has_effects else "loading"
        ranking += (
            f" {alone} describe each feature alone, as it was measured; the {what} is its part in the model "
            "beside all other features, so the two can disagree."
        )
    significance = [] if _significance(inputs) is None else [SIGNIFICANCE_TEXT.format(interval=interval)]
    boxes = inputs.classes is not None and len(inputs.classes) <= MOST_BOX_CLASSES
    return section(
        TITLE,
        [
            ranking,
            *significance,
            *frequency_texts(inputs),
            *([_group_text(ranked)] if len(ranked.columns) > 1 else []),
        ],
        warnings=chance_warning(inputs),
        tables=[_table(inputs, ranked)],
        charts=[*([_boxes(inputs, ranked)] if boxes else []), _heatmap(inputs, ranked)],
        lists=_lists(inputs, ranked),
    )


def rule_text(inputs: Inputs) -> str:
    """Return in words where a list of leading features ends."""
    what = "effect" if inputs.has_effects else "loading"
    unclear = " or a 90% interval that contains 0" if inputs.has_effects and inputs.has_posterior else ""
    return f"less than {SMALLEST_EFFECT:.0%} of the largest {what}{unclear}"


def no_leading_text(inputs: Inputs) -> str:
    """Return why no feature leads."""
    if inputs.has_effects and inputs.has_posterior:
        return "No feature stands out: the 90% intervals of all large effects contain 0."
    return f"No feature has {'an effect' if inputs.has_effects else 'a loading'} on the target."


def chance_warning(inputs: Inputs) -> list[str]:
    """Return what lists of features say if the components are no better than chance, otherwise nothing."""
    sentence = None if inputs.reduction is None else chance_sentence(inputs.verdict)
    return [] if sentence is None else [sentence]


def directions(inputs: Inputs, ranked: Ranked) -> list[str]:
    """Return in words how each leading feature goes with the target, or empty texts if that is not known."""
    nothing = [""] * len(ranked.columns)
    if inputs.y is None or not nothing:
        return nothing
    if inputs.classes is not None:
        word = "higher" if len(inputs.classes) == 2 else "highest"
        means = _class_means(inputs, ranked.values)
        return [f"{word} in {inputs.labels[k]}" for k in np.argmax(np.nan_to_num(means, nan=-np.inf), axis=0)]
    if inputs.target.timed:
        words = ("higher values, lower risk", "higher values, higher risk")
        return [words[int(weight > 0)] for weight in ranked.weights] if inputs.has_effects else nothing
    found = _target_correlations(inputs, ranked.values)
    return [f"{'increases' if r > 0 else 'decreases'} with {inputs.target_name}" for r in found]


def annotation_of(inputs: Inputs, name: str, index: int) -> str:
    """Return what an annotation column says about a feature, or an empty text."""
    known = (inputs.context.annotation or {}).get(name)
    text = "" if known is None or inputs.before or index >= len(known) else str(known[index]).strip()
    return clean(text) if text else ""


def annotation_columns(inputs: Inputs) -> list[str]:
    """Return the annotation columns to show beside features, which already have their labels."""
    return [name for name in inputs.context.annotation or {} if name != inputs.context.label][:MOST_ANNOTATION]


def _first_text(shown: int, ranked: Ranked) -> str:
    """Return how many of the leading features a table or a chart shows."""
    total = len(ranked.columns)
    some = f"The first {shown} of {total} leading features"
    return some if shown < total else f"The {count(total, 'leading feature')}"


def _group_text(ranked: Ranked) -> str:
    sizes = np.bincount(ranked.groups)
    rule = f"have a mean absolute correlation above {GROUP_CORRELATION:g}"
    if sizes.max() == 1:
        return f"No leading features {rule} with each other."
    groups = count(int(np.count_nonzero(sizes > 1)), "group")
    return (
        f"Features of one group, marked by a letter, {rule}: they carry much the same information, and the model "
        f"divides the weight among them. The {len(ranked.columns)} leading features contain {groups}."
    )


def _table(inputs: Inputs, ranked: Ranked) -> dict[str, Any]:
    n_rows = min(N_ROWS, len(ranked.columns))
    described = [] if inputs.before else annotation_columns(inputs)
    letters, sizes = group_letters(ranked), np.bincount(ranked.groups)
    columns = [("Rank", "number"), ("Feature", "text"), *((clean(name, 60), "text") for name in described)]
    columns += [("Group", "text"), ("Effect" if inputs.has_effects else "Loading", "number")]
    # With several classes, each has its own effects, and the largest is shown.
    columns += [("Class of the effect", "text")] if ranked.classes else []
    statistics = _statistics(inputs, ranked.values[:, :n_rows])
    significance = _significance(inputs)
    if significance is not None:
        statistics |= {name: getattr(significance, name)[ranked.columns[:n_rows]] for name in ("p", "q")}
    statistics |= {label: values[ranked.columns[:n_rows]] for label, values in shown_frequency(inputs).items()}
    columns += [(label, "number") for label in statistics]
    rows = []
    for k in range(n_rows):
        index, group = int(ranked.columns[k]), int(ranked.groups[k])
        name = f"{letters[group]} ({sizes[group]} features)" if letters[group] else None
        texts = [annotation_of(inputs, column, index) or None for column in described]
        found = [number(values[k], 3) for values in statistics.values()]
        effect = [number(ranked.weights[k], 3), *ranked.classes[k : k + 1]]
        rows.append([k + 1, inputs.features[index], *texts, name, *effect, *found])
    return table("leading", _first_text(n_rows, ranked), columns, rows)


def _statistics(inputs: Inputs, values: Floats) -> dict[str, Floats]:
    """Return what is known of each feature alone: class means and fold changes, or correlations."""
    if inputs.y is None or inputs.target.timed:
        return {}
    if inputs.classes is None:
        return {"Correlation with target": _target_correlations(inputs, values)}
    means, labels = _class_means(inputs, values), inputs.labels
    found = {}
    if len(labels) <= MOST_MEANS:
        found = {f"Mean in {label}": row for label, row in zip(labels, means, strict=True)}
    if len(labels) == 2:
        label, change = fold_change(means[0], means[1], values, inputs.context.transform)
        against = "minus" if label == "Difference" else "vs."
        found[f"{label}, {labels[1]} {against} {labels[0]}"] = change
    return found


def _significance(inputs: Inputs) -> Any:
    """Return the p-values and q-values of the columns, or None if they are unknown or those of other features."""
    return None if inputs.before else inputs.context.significance


def shown_frequency(inputs: Inputs) -> dict[str, Floats]:
    """Return the frequencies of the columns in percent, and the error rates if they are known, by their labels."""
    known = None if inputs.before else inputs.context.frequency
    if known is None:
        return {}
    found = {"Frequency, %": 100 * known.frequency, "Error rate, %": 100 * known.error_rate}
    return {label: values for label, values in found.items() if np.isfinite(values).any()}


def frequency_texts(inputs: Inputs) -> list[str]:
    """Return how to read the frequencies, if there are some."""
    shown = shown_frequency(inputs)
    return [frequency_text(len(shown) > 1)] if shown else []


def _class_means(inputs: Inputs, values: Floats) -> Floats:
    """Return the mean of each class in the order of the classes, for each column of values."""
    return np.array([values[inputs.codes == code].mean(axis=0) for code in range(len(inputs.labels))])


def _target_correlations(inputs: Inputs, values: Floats) -> Floats:
    return correlations(np.column_stack([np.asarray(inputs.y, dtype=np.float64), values]))[0, 1:]


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


def _boxes(inputs: Inputs, ranked: Ranked) -> dict[str, Any]:
    """Return box plots by class of the first features of the leading groups."""
    _, first = np.unique(ranked.groups, return_index=True)
    features, codes = [], range(len(inputs.labels))
    for k in np.sort(first)[:N_BOXES].tolist():
        values = ranked.values[:, k]
        boxes = [_box(values[inputs.codes == code]) for code in codes]
        name = inputs.features[int(ranked.columns[k])]
        features.append({"name": name, "low": number(values.min()), "high": number(values.max()), "boxes": boxes})
    return {
        "kind": "boxes",
        "caption": "The leading features by class, one of each correlated group. Boxes show the quartiles, "
        "whiskers reach to the last point within 1.5 interquartile ranges, and points are samples.",
        "classes": inputs.labels,
        "colors": [numbered_style(code).color for code in codes],
        "features": features,
    }


def _box(values: Floats) -> dict[str, Any] | None:
    if not len(values):
        return None
    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (q3 - q1)
    within = (values >= q1 - reach) & (values <= q3 + reach)
    inside, points = values[within], values[~within][:MOST_OUTSIDE] if len(values) > MOST_POINTS else values
    ends = {"low": inside.min(), "q1": q1, "median": median, "q3": q3, "high": inside.max()}
    return {name: number(value) for name, value in ends.items()} | {"points": numbers(points)}


def _lists(inputs: Inputs, ranked: Ranked) -> list[dict[str, str]]:
    """Return the names of features as plain text for enrichment tools: all, and by direction.

    The name is the label of a feature, such as its gene symbol (the first of several), if it has one.
    """
    names = []
    for index in ranked.columns.tolist():
        label = annotation_of(inputs, inputs.context.label or "", index).split("///")[0].strip()
        names.append(label if label and label != "---" else inputs.features[index])
    chance = " (may be due to chance)" if chance_warning(inputs) else ""
    groups: dict[str, list[str]] = {f"All leading features ({len(names)}){chance}": names}
    words = directions(inputs, ranked)
    for word in filter(None, dict.fromkeys(words)):
        here = [name for name, other in zip(names, words, strict=True) if other == word]
        groups[capitalize(word) + chance] = here
    return [{"label": label, "text": "\n".join(dict.fromkeys(found))} for label, found in groups.items()]


def _heatmap(inputs: Inputs, ranked: Ranked) -> dict[str, Any]:
    """Return the standardized values, with strips for the target and columns of the sample sheet."""
    columns = np.arange(min(HEATMAP_FEATURES, len(ranked.columns)))
    columns = columns[np.argsort(ranked.groups[columns], kind="stable")]
    samples = _sample_order(inputs)
    values = ranked.values[:, columns]
    values = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-300)
    strips, legend = _strips(inputs, samples)
    order = "ordered by class and by score on the first component"
    if inputs.classes is None:
        order = f"ordered by {inputs.target_name if inputs.y is not None else 'score on the first component'}"
    part = f" (a random {len(samples)} of them)" if len(samples) < len(inputs.samples) else ""
    # The rows of the heatmap that each group of several features takes.
    letters, groups = group_letters(ranked), ranked.groups[columns]
    rows = {group: np.flatnonzero(groups == group) for group in dict.fromkeys(groups.tolist())}
    together = "; features of one correlated group are together, and a letter on the right marks each group"
    grouped = any(len(places) > 1 for places in rows.values())
    return {
        "kind": "heatmap",
        "caption": f"{_first_text(len(columns), ranked)}, standardized. Samples{part} are {order}"
        f"{together if grouped else ''}.",
        "features": [inputs.features[int(ranked.columns[k])] for k in columns],
        "samples": [inputs.samples[i] for i in samples],
        "values": [numbers(row, 2) for row in values[samples].T],
        "groups": [
            {"name": letters[group], "first": int(places[0]), "last": int(places[-1])}
            for group, places in rows.items()
            if len(places) > 1
        ],
        "strips": strips,
        "legend": legend,
    }


def _sample_order(inputs: Inputs) -> Indices:
    shown = random_part(len(inputs.samples), HEATMAP_SAMPLES)
    first = inputs.displayed_Z[shown, 0]
    if inputs.y is None:
        return shown[np.argsort(first, kind="stable")]
    if inputs.classes is None:
        y = inputs.target.numbers(inputs.y)
        return shown[np.argsort(np.asarray(y, dtype=np.float64)[shown], kind="stable")]
    return shown[np.lexsort((first, inputs.codes[shown]))]


def _strips(inputs: Inputs, samples: Indices) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """Return a row of colors for the target and for columns of the sample sheet, and what the colors mean."""
    strips: list[dict[str, Any]] = []
    legend: list[list[str]] = []
    name = inputs.target_name
    if inputs.classes is not None:
        colors = [numbered_style(code).color for code in inputs.codes[samples].tolist()]
        strips.append({"name": name, "colors": colors})
        legend += [[label, numbered_style(code).color] for code, label in enumerate(inputs.labels[:MOST_VALUES])]
    elif inputs.y is not None:
        y = inputs.target.numbers(inputs.y)
        strips.append({"name": name, "colors": ramp(np.asarray(y, dtype=np.float64)[samples])})
        ends = zip((y.min(), y.max()), ramp(np.arange(2.0)), strict=True)
        legend += [[f"{name} {number(end, 3)}", color] for end, color in ends]
    for column, entries in (inputs.context.sheet or {}).items():
        texts = clean_all(np.asarray(entries).tolist())[0]
        known = list(dict.fromkeys(texts))
        if len(texts) == len(inputs.samples) and 2 <= len(known) <= MOST_VALUES and len(strips) <= MOST_STRIPS:
            start = FIRST_COLOR + 3 * (len(strips) - 1)
            color = {text: numbered_style(start + k).color for k, text in enumerate(known)}
            strips.append({"name": clean(column, 60), "colors": [color[texts[i]] for i in samples]})
            legend += [[f"{clean(column, 60)}: {text}", color[text]] for text in known]
    return strips, legend


def ramp(values: Floats) -> list[str]:
    """Return colors from light to dark blue, as text.

    >>> ramp(np.array([0.0, 1.0]))
    ['#deebf7', '#08306b']
    """
    low, high = values.min(), values.max()
    parts = (values - low) / ((high - low) or 1.0)
    mixed = np.rint(LIGHT + parts[:, None] * (DARK - LIGHT)).astype(int)
    return ["#" + "".join(f"{part:02x}" for part in color) for color in mixed.tolist()]
