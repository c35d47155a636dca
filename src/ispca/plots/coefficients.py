"""Plots of coefficients with credible intervals: of features, and a forest plot of covariates and components."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ..families import FAMILIES
from ..fitted_parts import take_apart
from ..foundation.arrays import Floats
from ..foundation.result_tables import ResultTable
from ..models.coefficients import coefficients_by_column, feature_spreads, rank_coefficients
from ..models.posterior_predictor import PosteriorModel
from .canvas import ACCENT, FAINT, SECOND, Style, class_legend, named_axes, shorten, text_styles
from .plot_arguments import check_length, check_positive, fitted_reduction, make_table, stack_tables

# Smaller ones, relative to the largest, cannot be told from zero in a plot.
SMALLEST_DRAWN = 0.01
N_COMPONENTS = 10
# The unit of an indicator.
REFERENCE = "vs. reference"


def coefficient_table(
    model: Any,
    *,
    n_features: int | None = None,
    target_class: Any = None,
    standardize: bool = True,
    feature_names: Any = None,
) -> ResultTable:
    """Return the coefficients of the original features, largest effects first.

    Parameters
    ----------
    model : Pipeline, BaggedPosterior or estimator
        As in `ispca.original_coefficients`.
    n_features : int, optional
        Number of coefficients; all by default.
    target_class : object, optional
        With more than two classes, only coefficients of this one; by default those of all classes.
    standardize : bool, default=True
        Whether coefficients are per standard deviation of the feature (per unit if the reduction does not scale)
        or per unit. The order is always that of the standardized coefficients.
    $feature_names

    Returns
    -------
    table : recarray
        ``feature``, ``target_class``, ``mean``, ``low`` and ``high`` (90% credible interval), ``p_sign``
        (posterior probability that the coefficient has the sign of its mean). Without a posterior, all but
        ``mean`` are NaN.

    Examples
    --------
    $fitted_pipeline
    >>> plots.coefficient_table(model, n_features=5).shape
    (5,)
    """
    check_positive(n_features, "n_features")
    table = coefficients_by_column(model)
    scale = feature_spreads(model)
    count = len(scale)
    if feature_names is not None:
        check_length(feature_names, count, "feature_names", "feature")
    names = np.array(table["feature"][1 : count + 1] if feature_names is None else feature_names, dtype=str)
    order, places = rank_coefficients(table, scale)
    if target_class is not None:
        known = np.unique(table["target_class"]).tolist()
        if str(target_class) not in known:
            raise ValueError(f"target_class={target_class!r} has no coefficients: choose from {', '.join(known)}.")
        of_class = table["target_class"][order] == str(target_class)
        order, places = order[of_class], places[of_class]
    order, places = order[:n_features], places[:n_features]
    factor = scale[places] if standardize else 1.0
    return make_table(
        {
            "feature": names[places],
            "target_class": table["target_class"][order],
            "mean": table["mean"][order] * factor,
            "low": table["q5"][order] * factor,
            "high": table["q95"][order] * factor,
            "p_sign": table["p_sign"][order],
        }
    )


def plot_coefficients(
    model: Any,
    *,
    n_features: int = 20,
    target_class: Any = None,
    standardize: bool = True,
    feature_names: Any = None,
    ax: Any = None,
) -> Any:
    """Plot the largest coefficients of the original features with 90% credible intervals.

    Parameters
    ----------
    model, target_class, standardize, feature_names
        As in `coefficient_table`.
    n_features : int, default=20
        Largest number of coefficients. Those below 1% of the largest effect are not drawn.
    $ax

    Examples
    --------
    $fitted_pipeline
    >>> ax = plots.plot_coefficients(model, n_features=5)
    >>> len(ax.get_yticks())
    5
    """
    selection = {"n_features": n_features, "target_class": target_class, "feature_names": feature_names}
    effects = np.abs(coefficient_table(model, **selection)["mean"])
    matters = effects >= SMALLEST_DRAWN * effects.max()
    # If all are zero, one row says so.
    matters[1:] &= effects[1:] > 0
    table = coefficient_table(model, standardize=standardize, **selection)[matters]
    styles = text_styles(getattr(take_apart(model).model, "classes_", []))
    labels = list(styles)
    several = len(labels) > 2
    ax = named_axes(ax, table["feature"], 6.8 if several else 5.4, 1.1, 0.24)
    ax.axvline(0, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for position, row in enumerate(table):
        style = styles[row["target_class"].item()] if several else Style(ACCENT, "o", "-")
        ax.plot([row["low"], row["high"]], [position] * 2, color=style.color, linewidth=1.6)
        ax.plot(row["mean"], position, marker=style.marker, color=style.color, markersize=6)
    unit = "standard deviation" if standardize else "unit"
    what = "the target" if not labels else "log odds" + ("" if several else f" of {shorten(labels[1], 20)}")
    drawn = "estimate" if np.isnan(table["low"]).all() else "posterior mean and 90% interval"
    ax.set_xlabel(textwrap.fill(f"change in {what} per {unit}, {drawn}", 42))
    if several:
        shown = np.unique(table["target_class"]).tolist()
        class_legend(ax, {label: style for label, style in styles.items() if label in shown})
    return ax


def effect_table(model: Any, *, n_components: int = N_COMPONENTS) -> ResultTable:
    """Return the effects of covariates and of the strongest components, with 90% credible intervals.

    Parameters
    ----------
    model : Pipeline
        A fitted pipeline of ISPCA or SPCA and a horseshoe model. With ``keep_adjusted=True``, the model also has
        coefficients of the covariates.
    n_components : int, default=10
        Number of components, those with the largest effects.

    Returns
    -------
    table : recarray
        One row per covariate column, then per component, in their order: ``name``, ``covariate`` (whether it is
        one), ``unit`` (what the effect is per: a standard deviation, or for an indicator the difference from the
        reference), ``target_class`` (with more than two classes, otherwise empty), ``effect``, ``low`` and
        ``high`` of the linear predictor, and ``p_sign`` (posterior probability of the sign).

    Examples
    --------
    $fitted_pipeline
    >>> plots.effect_table(model).name.tolist()
    ['supervised_1', 'unsupervised_2', 'unsupervised_3']
    """
    check_positive(n_components, "n_components")
    reduction, last = fitted_reduction(model), take_apart(model).model
    if not isinstance(last, PosteriorModel):
        raise ValueError("This plot needs a pipeline that ends in a horseshoe model, which has a posterior.")
    names = [str(name) for name in reduction.get_feature_names_out()]
    factors, units = _scales(reduction, len(names))
    draws = last.posterior_.flat("coef")
    # One label per row of coefficients; a single row has none.
    labels = [str(label) for label in last.classes_] if draws.ndim == 3 else [""]
    draws = (draws if draws.ndim == 3 else draws[:, None, :]) * factors
    # All covariates, then the components with the largest effects.
    size = np.abs(draws.mean(axis=0)).max(axis=0)[: reduction.n_components_]
    strongest = np.sort(np.argsort(-size, kind="stable")[:n_components])
    chosen = np.concatenate([np.arange(reduction.n_components_, draws.shape[-1]), strongest])
    parts = []
    for c, label in enumerate(labels):
        of_class = draws[:, c, chosen]
        mean, (low, high) = of_class.mean(axis=0), np.quantile(of_class, [0.05, 0.95], axis=0)
        parts.append(
            {
                "name": np.array([names[j] for j in chosen]),
                "covariate": chosen >= reduction.n_components_,
                "unit": np.array([units[j] for j in chosen]),
                "target_class": label,
                "effect": mean,
                "low": low,
                "high": high,
                "p_sign": np.mean(np.sign(of_class) == np.sign(mean), axis=0),
            }
        )
    return stack_tables(parts)


def _scales(reduction: Any, n_columns: int) -> tuple[Floats, list[str]]:
    """Return what to multiply the coefficients by, and the unit of each: indicators go from 0 to 1."""
    factors, units = np.ones(n_columns), ["per SD"] * n_columns
    for place, j in enumerate(getattr(reduction, "kept_columns_", ()), reduction.n_components_):
        # The mean of an indicator determines its standard deviation.
        mean, scale = reduction.mean_[j], reduction.scale_[j]
        name = str(reduction.get_feature_names_out()[place])
        if "=" in name and np.isclose(scale**2, mean * (1 - mean), rtol=0.1):
            factors[place], units[place] = 1 / scale, REFERENCE
        else:
            units[place] = f"per SD ({scale:.3g})"
    return factors, units


def ratio_name(model: Any) -> str:
    """Return what the exponential of an effect is called, such as "hazard ratio"; empty for a quantity."""
    return FAMILIES[take_apart(model).model.posterior_.family].ratio


def plot_effects(model: Any, *, n_components: int = N_COMPONENTS, ax: Any = None) -> Any:
    """Plot the effects of covariates and of the strongest components with 90% credible intervals.

    Effects are hazard ratios for survival times, rate ratios for counts and odds ratios for classes, on a
    logarithmic axis; for a quantity they are changes of the target.

    Parameters
    ----------
    model, n_components
        As in `effect_table`. With more than two classes, one row per class is drawn.
    $ax

    Examples
    --------
    $fitted_pipeline
    >>> plots.plot_effects(model).get_xlabel()
    'odds ratio (90% credible interval)'
    """
    table = effect_table(model, n_components=n_components)
    ratio = ratio_name(model)
    shown = np.exp if ratio else np.asarray
    labels = [_label(row) for row in table]
    ax = named_axes(ax, labels, 5.4, 1.1, 0.26)
    ax.axvline(shown(0.0), color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for position, row in enumerate(table):
        color, marker = (SECOND, "s") if row["covariate"] else (ACCENT, "o")
        ax.plot(shown([row["low"], row["high"]]), [position] * 2, color=color, linewidth=1.6)
        ax.plot(shown(row["effect"]), position, marker=marker, color=color, markersize=6)
    if ratio:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.xaxis.set_minor_formatter(lambda value, _: "")
    what = ratio or "change of the target"
    ax.set_xlabel(f"{what} (90% credible interval)")
    return ax


def _label(row: Any) -> str:
    of_class = f", {row['target_class']}" if row["target_class"] else ""
    unit = f" ({row['unit']})" if row["covariate"] else ""
    return f"{row['name']}{unit}{of_class}"
