"""Report sections on the loadings of each component and the coefficients of the original features."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._array_types import Floats
from .._messages import count
from ..families import FAMILIES
from ..models.coefficients import feature_spreads, rank_coefficients
from .formatting import clean, clean_all, number, numbers, section, table
from .input_checks import Inputs, feature_values
from .ranked_features import leading

# Limits on the rows of all feature tables together, and of each one.
MOST_ROWS, MOST_FEATURES = 10_000, 300
MOST_COEFFICIENTS = 500
# What R puts before names that start with a digit.
POSITION_PREFIX = re.compile(r"^X(?=\d)")
# Wider profiles store the smallest and largest loading of neighboring features.
PROFILE_POINTS = 400


def features_section(inputs: Inputs) -> dict[str, Any]:
    """Return the leading features of each component, and the loadings of all features as a profile."""
    reduction = inputs.reduction
    K, D = reduction.n_components_, reduction.n_features_in_
    most = int(np.clip(MOST_ROWS // K, 25, MOST_FEATURES))
    tables = [_feature_table(inputs, k, most) for k in range(K)]
    text = [
        "The loading gives the sign and the strength with which a feature contributes to a component, after "
        "removing the components before it. The correlation is that of the feature itself with the component. "
        "Correlated features share their loading, so a small loading does not mean that a feature is unimportant."
    ]
    if any(item["n_features"] > most for item in tables):
        text.append(
            f"Each table shows the {most:,} leading features of its component. The model contains all {D:,}, and "
            "so does loadings.csv if “ispca fit” wrote this report."
        )
    per_point = -(-D // PROFILE_POINTS)
    profiles = [_profile(direction, per_point) for direction in reduction.directions_]
    known = positions(inputs.features)
    more = {} if known is None else {"positions": numbers(known[::per_point], 6)}
    return section("Loadings", text, tables=tables, profiles=profiles, per_point=per_point, **more)


def positions(names: list[str]) -> Floats | None:
    """Return the positions that numeric names give, as of spectra; None for other names and plain counting.

    >>> positions(["400.5", "401.0", "401.5"]).tolist(), positions(["0", "1", "2"]), positions(["a", "b"])
    ([400.5, 401.0, 401.5], None, None)
    """
    try:
        found = np.array([float(POSITION_PREFIX.sub("", name)) for name in names])
    except ValueError:
        return None
    steps = np.diff(found)
    monotonic = len(found) > 1 and np.isfinite(found).all() and ((steps > 0).all() or (steps < 0).all())
    counting = monotonic and found[0] in (0.0, 1.0) and (steps == 1).all()
    return found if monotonic and not counting else None


def _feature_table(inputs: Inputs, k: int, most: int) -> dict[str, Any]:
    reduction = inputs.reduction
    name = reduction.get_feature_names_out()[k]
    indices = leading(reduction, k, most)
    weights = reduction.directions_[k, indices]
    total = int(np.count_nonzero(reduction.directions_[k]))
    correlations = _correlations(inputs.X, indices, np.asarray(inputs.Z)[:, k])
    rows: list[list[Any]] = [
        [place, inputs.features[index], number(weight), number(correlation, 3)]
        for place, (index, weight, correlation) in enumerate(zip(indices, weights, correlations, strict=True), 1)
    ]
    columns = [("Rank", "number"), ("Feature", "text"), ("Loading", "number"), ("Correlation", "number")]
    of = count(total, "feature") + (f", {most:,} shown" if total > most else "")
    return table(f"features-{k + 1}", f"{name}: {of}", columns, rows) | {"n_features": total}


def _correlations(X: Any, indices: np.ndarray, z: np.ndarray) -> list[float]:
    z = z - z.mean()
    found = []
    for x in np.ascontiguousarray(feature_values(X, indices).T):
        x = x - x.mean()
        length = float(np.sqrt((x @ x) * (z @ z)))
        found.append(float(x @ z) / length if length else np.nan)
    return found


def _profile(direction: np.ndarray, per_point: int) -> list[list[Any]]:
    """Return the smallest and the largest loading of neighboring features, in the order of the columns."""
    starts = np.arange(0, len(direction), per_point)
    low, high = np.minimum.reduceat(direction, starts), np.maximum.reduceat(direction, starts)
    return [numbers(low, 3), numbers(high, 3)]


def coefficients_section(inputs: Inputs) -> dict[str, Any]:
    """Return the largest coefficients of the original features."""
    if inputs.model is None:
        why = "The reduction is not followed by a model, so there are no coefficients. " + HOW_TO_MODEL
        return section("Coefficients", [why])
    found, names, factors, n_features = _largest(inputs)
    several = inputs.kind == "classification" and inputs.classes is not None and len(inputs.classes) > 2
    rows: list[list[Any]] = []
    for row, feature, factor in zip(found, names, factors, strict=True):
        name = [feature] + ([clean(row["target_class"])] if several else [])
        rows.append([*name, number(row["mean"] * factor)])
        if inputs.has_posterior:
            rows[-1] += [number(row[end] * factor) for end in ("q5", "q95")] + [number(100 * row["p_sign"], 3)]
    total = n_features * (len(inputs.labels) if several else 1)
    columns = [("Feature", "text")] + ([("Class", "text")] if several else [])
    columns.append(("Effect", "number"))
    if inputs.has_posterior:
        columns += [("90% from", "number"), ("to", "number"), ("P(sign), %", "number")]
    caption = f"The {len(rows):,} largest of {total:,} coefficients" if total > len(rows) else "All coefficients"
    text = [_effect_text(inputs), *([INTERVAL_TEXT] if inputs.has_posterior else [])]
    if len(found) and (steps := found["transformed_by"][0]):
        text.insert(1, f"The features are those that the preprocessing returns ({steps}), not the original ones.")
    return section("Coefficients", text, tables=[table("coefficients", caption, columns, rows)])


def _largest(inputs: Inputs) -> tuple[Any, list[str], list[float], int]:
    """Return the largest coefficients, their features, the deviations of these, and the number of features."""
    found, spreads = inputs.context.coefficients, feature_spreads(inputs.fitted)
    n_features = len(spreads)
    order, columns = rank_coefficients(found, spreads)
    if inputs.adjusted.any() and not inputs.before:
        # Covariates have a section of their own.
        of_features = ~inputs.adjusted[columns]
        order, columns = order[of_features], columns[of_features]
        n_features -= int(inputs.adjusted.sum())
    order, columns = order[:MOST_COEFFICIENTS], columns[:MOST_COEFFICIENTS]
    # Without earlier steps the names are those of the report, which may have been given by the user.
    names = clean_all(found["feature"][order])[0] if inputs.before else [inputs.features[j] for j in columns]
    return found[order], names, spreads[columns].tolist(), n_features


HOW_TO_MODEL = (
    "Add HorseshoeClassifier or HorseshoeRegressor, as in make_pipeline(ISPCA(), HorseshoeClassifier())."
)
INTERVAL_TEXT = (
    "Given the data and the model, an effect lies in its credible interval with a probability of 90%. P(sign) is "
    "the posterior probability that the effect has the sign shown: 50% means that the sign is unknown, 100% that "
    "all posterior draws agree. An effect describes an association in these data. It does not say what would "
    "happen if the feature were changed."
)


def _effect_text(inputs: Inputs) -> str:
    if inputs.has_posterior and inputs.kind in ("survival", "count", "ordinal"):
        of = f"the {FAMILIES[inputs.model.posterior_.family].predictor}"
    elif inputs.classes is None:
        of = "the target"
    elif not inputs.has_posterior:
        of = f"the linear predictor of {type(inputs.model).__name__}"
    elif len(inputs.classes) == 2:
        of = f"the log odds of “{inputs.labels[1]}” (negative: toward “{inputs.labels[0]}”)"
    else:
        of = "the log odds of the class (relative to the average class)"
    return (
        f"The coefficients of the model, expressed in the original features. An effect is the change in {of} when "
        "the feature increases by one standard deviation and all other features are held fixed."
    )
