"""Report sections with details of the fit: loadings, coefficients, and convergence of the chains."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ..families import FAMILIES
from ..foundation.arrays import Floats, Indices, largest_first
from ..foundation.messages import count
from ..models.diagnostics import LARGEST_R_HAT, SMALLEST_ESS
from .feature_ranking import feature_values
from .formatting import clean, clean_all, column_table, number_column, numbers, section, text_column
from .interval_words import interval_name, interval_text
from .leading_features import chance_warning, frequency_texts, shown_frequency
from .report_inputs import Inputs

NO_MODEL = "The reduction is not followed by a model, so"
HOW_TO_MODEL = (
    "Add HorseshoeClassifier or HorseshoeRegressor, as in make_pipeline(ISPCA(), HorseshoeClassifier())."
)
SIGN_TEXT = (
    "P(sign) is the percentage of the posterior draws in which the effect has the sign shown: at 50%, the sign is "
    "unknown. An effect describes an association in these data. It does not say what would happen if the feature "
    "were changed."
)
BAGGED_TEXT = (
    "An effect is the mean of the posterior draws of all bags, and its interval contains the middle 90% of them, "
    "so it includes the uncertainty of the components."
)
CHAINS_TEXT = (
    "This section is about the model fitted to all samples, whose components the report describes. Each bag has a "
    "short chain of its own, and the draws of all bags together give the intervals."
)
# Limits on the rows of all feature tables together, and of each one.
MOST_ROWS, MOST_FEATURES = 10_000, 300
MOST_COEFFICIENTS = 500
# Units of positions as they are written in names, and the label of the axis.
UNITS = {
    r"nm": "wavelength (nm)",
    r"[u\u00b5\u03bc]m": "wavelength (\u00b5m)",
    r"cm(?:\^?-1|\u207b\u00b9)|1/cm": "wavenumber (cm\u207b\u00b9)",
    r"m/?z": "m/z",
    r"ppm": "chemical shift (ppm)",
    r"Hz": "frequency (Hz)",
    r"e[Vv]": "energy (eV)",
}
_UNIT = "|".join(UNITS)
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
# A number with a unit before or after it; R puts an X before names that start with a digit.
POSITION = re.compile(
    rf"X?(?P<before>{_UNIT})?[ _.]?(?P<number>{_NUMBER})[ _.]?(?P<after>{_UNIT})?", re.IGNORECASE
)
NO_UNIT = "position (name of the feature)"
# Wider profiles store the smallest and largest loading of neighboring features.
PROFILE_POINTS = 400


def features_section(inputs: Inputs) -> dict[str, Any]:
    """Return the largest loadings of each component, and those of all features as a profile."""
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
            f"Each table shows the {most:,} largest loadings of its component. The model contains all {D:,}, and "
            "so does loadings.csv if “ispca fit” wrote this report."
        )
    per_point = -(-D // PROFILE_POINTS)
    # The smallest and the largest loading of neighboring features, in the order of the columns.
    starts, ends = np.arange(0, D, per_point), (np.minimum, np.maximum)
    profiles = [[numbers(end.reduceat(values, starts), 3) for end in ends] for values in reduction.directions_]
    known = positions(inputs.features)
    more: dict[str, Any] = {}
    if known is not None:
        more = {"positions": numbers(known.values[::per_point], 6), "position_label": known.label}
    return section("Loadings", text, tables=tables, profiles=profiles, per_point=per_point, **more)


class Positions(NamedTuple):
    """Positions of the features, as in spectra, and the label of their axis."""

    values: Floats
    label: str


def positions(names: list[str]) -> Positions | None:
    """Return the positions that numeric names give, with their unit; None for other names and plain counting.

    >>> found = positions(["400.5 nm", "401.0 nm", "401.5 nm"])
    >>> found.values.tolist(), found.label
    ([400.5, 401.0, 401.5], 'wavelength (nm)')
    >>> positions(["0", "1", "2"]), positions(["a", "b"])
    (None, None)
    """
    parts = [POSITION.fullmatch(name) for name in names]
    if len(parts) < 2 or not all(parts):
        return None
    found = np.array([float(part["number"]) for part in parts if part])
    units = {(part["before"] or "") + (part["after"] or "") for part in parts if part}
    steps = np.diff(found)
    monotonic = np.isfinite(found).all() and ((steps > 0).all() or (steps < 0).all())
    counting = found[0] in (0.0, 1.0) and (steps == 1).all()
    if not monotonic or counting or len(units) > 1:
        return None
    unit = units.pop()
    labels = [label for pattern, label in UNITS.items() if unit and re.fullmatch(pattern, unit, re.IGNORECASE)]
    return Positions(found, labels[0] if labels else NO_UNIT)


def _feature_table(inputs: Inputs, k: int, most: int) -> dict[str, Any]:
    reduction = inputs.reduction
    name = reduction.get_feature_names_out()[k]
    indices = largest_first(reduction.directions_[k], most)
    indices = indices[reduction.directions_[k, indices] != 0]
    weights = reduction.directions_[k, indices]
    total = int(np.count_nonzero(reduction.directions_[k]))
    correlations, z = [], inputs.Z[:, k] - inputs.Z[:, k].mean()
    for x in np.ascontiguousarray(feature_values(inputs.X, indices).T):
        x = x - x.mean()
        length = float(np.sqrt((x @ x) * (z @ z)))
        correlations.append(float(x @ z) / length if length else np.nan)
    columns = [
        number_column("Rank", np.arange(len(indices)) + 1),
        text_column("Feature", [inputs.features[index] for index in indices]),
        number_column("Loading", weights),
        number_column("Correlation", correlations, 3),
    ]
    of = count(total, "feature") + (f", {most:,} shown" if total > most else "")
    return column_table(f"features-{k + 1}", f"{name}: {of}", columns) | {"n_features": total}


def coefficients_section(inputs: Inputs) -> dict[str, Any]:
    """Return the largest coefficients of the original features."""
    if inputs.model is None:
        return section("Coefficients", [f"{NO_MODEL} there are no coefficients. {HOW_TO_MODEL}"])
    found, names, places, n_features = _largest(inputs)
    factors = inputs.effect_order.spreads[places]
    several = inputs.target.unordered and len(inputs.labels) > 2
    columns = [text_column("Feature", names)]
    columns += [text_column("Class", map(clean, found["target_class"]))] if several else []
    columns.append(number_column("Effect", found["mean"] * factors))
    if inputs.has_posterior:
        columns += [number_column("90% from", found["q5"] * factors), number_column("to", found["q95"] * factors)]
        columns.append(number_column("P(sign), %", 100 * found["p_sign"], 3))
    frequency = shown_frequency(inputs)
    columns += [number_column(label, values[places], 3) for label, values in frequency.items()]
    total = n_features * (len(inputs.labels) if several else 1)
    caption = f"The {len(found):,} largest of {total:,} coefficients" if total > len(found) else "All coefficients"
    caption += f", with {interval_name(inputs.context.n_bags, 'intervals')}" if inputs.has_posterior else ""
    text = [_effect_text(inputs), *(_interval_texts(inputs) if inputs.has_posterior else [])]
    if len(found) and (steps := found["transformed_by"][0]):
        text.insert(1, f"The features are those that the preprocessing returns ({steps}), not the original ones.")
    tables = [column_table("coefficients", caption, columns)]
    return section("Coefficients", text, warnings=chance_warning(inputs), tables=tables)


def _largest(inputs: Inputs) -> tuple[Any, list[str], Indices, int]:
    """Return the largest coefficients, the names and columns of their features, and the number of features."""
    found, (order, columns, spreads) = inputs.coefficients, inputs.effect_order
    n_features = len(spreads)
    if inputs.adjusted.any() and not inputs.before:
        # Covariates have a section of their own.
        of_features = ~inputs.adjusted[columns]
        order, columns = order[of_features], columns[of_features]
        n_features -= int(inputs.adjusted.sum())
    order, columns = order[:MOST_COEFFICIENTS], columns[:MOST_COEFFICIENTS]
    # Without earlier steps the names are those of the report, which may have been given by the user.
    names = clean_all(found["feature"][order])[0] if inputs.before else [inputs.features[j] for j in columns]
    return found[order], names, columns, n_features


def _interval_texts(inputs: Inputs) -> list[str]:
    """Return how to read intervals, P(sign) and frequencies."""
    n_bags = inputs.context.n_bags
    texts = [" ".join([interval_text(n_bags), *([BAGGED_TEXT] if n_bags else []), SIGN_TEXT])]
    # The section on leading features explains them.
    return texts if len(inputs.ranked.columns) else [*texts, *frequency_texts(inputs)]


def _effect_text(inputs: Inputs) -> str:
    if inputs.has_posterior and not inputs.target.plain:
        of = f"the {FAMILIES[inputs.model.posterior_.family].predictor}"
    elif inputs.classes is None:
        of = "the target"
    elif not inputs.has_posterior:
        of = f"the linear predictor of {type(inputs.model).__name__}"
    elif len(inputs.labels) == 2:
        of = f"the log odds of “{inputs.labels[1]}” (negative: toward “{inputs.labels[0]}”)"
    else:
        of = "the log odds of the class (relative to the average class)"
    return (
        f"The coefficients of the model, expressed in the original features. An effect is the change in {of} when "
        "the feature increases by one standard deviation and all other features are held fixed."
    )


def convergence_section(inputs: Inputs) -> dict[str, Any]:
    """Return the convergence diagnostics and, if they fail, what to do."""
    if inputs.model is None:
        return section("Convergence", [f"{NO_MODEL} nothing was sampled. {HOW_TO_MODEL}"])
    if not inputs.has_posterior:
        why = f"{type(inputs.model).__name__} has no posterior, so there are no chains to check."
        return section("Convergence", [why])
    found = inputs.model.diagnostics_
    n_divergent, divergent = int(found.n_divergent), "There were no divergent transitions."
    if n_divergent:
        divergent = (
            f"There {'was' if n_divergent == 1 else 'were'} {count(n_divergent, 'divergent transition')}, where "
            "the sampler's steps were too large. A few per thousand draws are harmless."
        )
    enough = f"{SMALLEST_ESS} or more is sufficient."
    if found.bulk_ess.min() < SMALLEST_ESS:
        enough = f"Means need {SMALLEST_ESS} or more."
    elif found.tail_ess.min() < SMALLEST_ESS:
        enough = (
            f"Means need {SMALLEST_ESS} or more and have them; with fewer for the limits, these are less exact."
        )
    text = [
        *([CHAINS_TEXT] if inputs.context.n_bags else []),
        f"The posterior was sampled with {count(int(inputs.model.n_chains), 'chain')}, {found.n_draws:,} "
        "posterior draws in total. The draws can be trusted if all chains converged to the same distribution.",
        f"The chains have {'' if found.converged else 'not '}converged. The largest R-hat is "
        f"{found.largest_r_hat}. R-hat compares the variance between chains with that within them; it is 1 for "
        f"identical distributions, and values up to {LARGEST_R_HAT} are acceptable.",
        "Successive draws are correlated. The effective sample size is the number of independent draws that carry "
        f"the same information: at least {found.bulk_ess.min():,.0f} for means and {found.tail_ess.min():,.0f} "
        f"for the limits of intervals. {enough}",
        divergent,
    ]
    if not found.converged:
        what = "predictions" if inputs.context.n_bags else "probabilities and intervals"
        text.append(
            f"{inputs.context.sampling_hint}, or use fewer components. Until the chains converge, treat {what} as "
            "approximate."
        )
    return section("Convergence", text, converged=bool(found.converged), tables=[_diagnostics(found)])


def _diagnostics(found: Any) -> dict[str, Any]:
    names = list(dict.fromkeys(found.quantities))
    places = [[place for place, name in enumerate(found.quantities) if name == other] for other in names]
    columns = [
        text_column("Quantity", map(clean, names)),
        number_column("Number", [len(here) for here in places]),
        number_column("Largest R-hat", [found.r_hat[here].max() for here in places]),
        number_column("Smallest bulk ESS", [round(float(found.bulk_ess[here].min())) for here in places]),
        number_column("Smallest tail ESS", [round(float(found.tail_ess[here].min())) for here in places]),
    ]
    caption = "Largest R-hat and smallest effective sample size (ESS) of each quantity"
    return column_table("convergence", caption, columns)
