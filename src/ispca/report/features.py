"""Which features drive each component, and the coefficients of the original features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.coefficients import feature_columns, feature_spreads, original_coefficients
from ..tables.records import count
from .parts import Parts, column
from .text import clean, clean_all, number, numbers, section, table

# Rows of all tables of features together, and of one of them.
MOST_ROWS, MOST_FEATURES = 10_000, 300
MOST_COEFFICIENTS = 500
# Wider profiles are kept as the smallest and largest weight of neighbouring features.
PROFILE_POINTS = 400


def leading(reduction: Any, component: int, n_features: int) -> np.ndarray:
    """Return the indices of the features with the largest directions in a component, counted from 0."""
    direction = np.abs(reduction.directions_[component])
    order = np.argsort(-direction, kind="stable")[:n_features]
    return order[direction[order] > 0]


def features_section(parts: Parts) -> dict[str, Any]:
    """Return the leading features of each component, and the weights of all of them as a profile."""
    reduction = parts.reduction
    K, D = reduction.n_components_, reduction.n_features_in_
    most = int(np.clip(MOST_ROWS // K, 25, MOST_FEATURES))
    tables = [_feature_table(parts, k, most) for k in range(K)]
    text = [
        "The weight says how strongly, and in which direction, a feature enters a component, beyond what the "
        "components before it explain. The correlation is that of the feature itself with the component, over the "
        "samples. Features that go together share the weight: a small one does not make a feature unimportant."
    ]
    if any(item["n_features"] > most for item in tables):
        text.append(
            f"Each table holds the {most:,} leading features of its component. "
            f"All {D:,} are in the model, and in loadings.csv where the report was made by “ispca fit”."
        )
    profiles = [_profile(reduction.directions_[k]) for k in range(K)]
    per_point = -(-D // PROFILE_POINTS) if D > PROFILE_POINTS else 1
    return section(
        "Which features drive each component", text, tables=tables, profiles=profiles, per_point=per_point
    )


def _feature_table(parts: Parts, k: int, most: int) -> dict[str, Any]:
    reduction = parts.reduction
    kind = "supervised" if k < reduction.n_supervised_ else "unsupervised"
    indices = leading(reduction, k, most)
    weights = reduction.directions_[k, indices]
    total = int(np.count_nonzero(reduction.directions_[k]))
    correlations = _correlations(parts.X, indices, np.asarray(parts.Z)[:, k])
    rows: list[list[Any]] = [
        [place, parts.features[index], number(weight), number(correlation, 3)]
        for place, (index, weight, correlation) in enumerate(zip(indices, weights, correlations, strict=True), 1)
    ]
    columns = [("Rank", "number"), ("Feature", "text"), ("Weight", "number"), ("Correlation", "number")]
    of = f"{count(total, 'feature')}" + (f", the leading {most:,} shown" if total > most else "")
    made = table(f"features-{k + 1}", f"Component {k + 1} ({kind}): {of}", columns, rows)
    return made | {"n_features": total}


def _correlations(X: Any, indices: np.ndarray, z: np.ndarray) -> list[float]:
    z = z - z.mean()
    found = []
    for index in indices:
        x = column(X, int(index))
        x = x - x.mean()
        length = float(np.sqrt((x @ x) * (z @ z)))
        found.append(float(x @ z) / length if length else np.nan)
    return found


def _profile(direction: np.ndarray) -> list[list[Any]]:
    """Return the weights in the order of the columns, as pairs of smallest and largest of neighbours."""
    D = len(direction)
    width = -(-D // PROFILE_POINTS) if D > PROFILE_POINTS else 1
    starts = np.arange(0, D, width)
    low, high = np.minimum.reduceat(direction, starts), np.maximum.reduceat(direction, starts)
    return [numbers(low, 3), numbers(high, 3)]


def coefficients_section(parts: Parts) -> dict[str, Any]:
    """Return the largest coefficients of the original features."""
    if parts.model is None:
        why = "There is no model after the reduction, so there are no coefficients: " + HOW_TO_MODEL
        return section("The coefficients", [why])
    found, names, factors, n_features = _largest(parts)
    several = parts.classes is not None and len(parts.classes) > 2
    rows: list[list[Any]] = []
    for row, feature, factor in zip(found, names, factors, strict=True):
        name = [feature] + ([clean(row["target_class"])] if several else [])
        rows.append([*name, number(row["mean"] * factor)])
        if parts.has_posterior:
            rows[-1] += [number(row[end] * factor) for end in ("q5", "q95")] + [number(100 * row["p_sign"], 3)]
    total = n_features * (len(parts.labels) if several else 1)
    columns = [("Feature", "text")] + ([("Class", "text")] if several else [])
    columns.append(("Effect", "number"))
    if parts.has_posterior:
        columns += [("90 % from", "number"), ("to", "number"), ("Sign sure, %", "number")]
    caption = f"The {len(rows):,} largest of {total:,} coefficients" if total > len(rows) else "All coefficients"
    text = [_effect_text(parts), *([INTERVAL_TEXT] if parts.has_posterior else [])]
    if len(found) and (steps := found["transformed_by"][0]):
        text.insert(1, f"The features are those that the preprocessing returns ({steps}), not the original ones.")
    return section("The coefficients", text, tables=[table("coefficients", caption, columns, rows)])


def _largest(parts: Parts) -> tuple[Any, list[str], list[float], int]:
    """Return the largest coefficients, their features, the deviations of these, and the number of features."""
    found = parts.context.coefficients
    found = original_coefficients(parts.pipeline) if found is None else found
    spreads = feature_spreads(parts.pipeline)
    columns = feature_columns(found, len(spreads))
    scale = np.where(columns < 0, 0.0, spreads[columns])
    order = np.argsort(-np.abs(found["mean"]) * scale, kind="stable")
    order = order[columns[order] >= 0][:MOST_COEFFICIENTS]
    # Without earlier steps the names are those of the report, which may have been given by the user.
    names = clean_all(found["feature"][order])[0] if parts.before else [parts.features[j] for j in columns[order]]
    return found[order], names, scale[order].tolist(), len(spreads)


HOW_TO_MODEL = (
    "put HorseshoeClassifier or HorseshoeRegressor after it, as in make_pipeline(ISPCA(), HorseshoeClassifier())."
)
INTERVAL_TEXT = (
    "Given the data and the model, an effect lies in its interval with a probability of 90 %. “Sign sure” is the "
    "probability that the effect has the sign shown: 50 % means that nothing is known of it, 100 % that all draws "
    "of the posterior agree. An effect describes what goes together in these data. It does not say what would "
    "happen if the feature were changed."
)


def _effect_text(parts: Parts) -> str:
    if parts.classes is None:
        of = "the target"
    elif not parts.has_posterior:
        of = f"the linear predictor of {type(parts.model).__name__}"
    elif len(parts.classes) == 2:
        of = f"the log odds of “{parts.labels[1]}” (positive: speaks for it, negative: for “{parts.labels[0]}”)"
    else:
        of = "the log odds of the class, against the average class (positive: speaks for it)"
    return (
        f"The model, carried back to the original features. The effect is the change of {of} when the feature "
        "grows by one standard deviation and all others stay as they are."
    )
