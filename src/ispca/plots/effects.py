"""Forest plot of the coefficients of covariates beside those of components."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .._result_table import ResultTable
from ..families import FAMILIES
from ..fitted_parts import take_apart
from ..models.posterior_model import PosteriorModel
from .canvas import ACCENT, FAINT, SECOND, named_axes
from .input_checks import check_positive, fitted_reduction, stack_tables

N_COMPONENTS = 10


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
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import ISPCA, HorseshoeClassifier, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(3, whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
    >>> plots.effect_table(model.fit(data.data, data.target)).name.tolist()
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
    chosen = _chosen(draws, reduction.n_components_, n_components)
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
            factors[place], units[place] = 1 / scale, "vs. reference"
        else:
            units[place] = f"per SD ({scale:.3g})"
    return factors, units


def _chosen(draws: Floats, n_components: int, most: int) -> np.ndarray:
    """Return the columns to show: covariates, then the components with the largest effects."""
    size = np.abs(draws.mean(axis=0)).max(axis=0)
    strongest = np.sort(np.argsort(-size[:n_components], kind="stable")[:most])
    return np.concatenate([np.arange(n_components, draws.shape[-1]), strongest])


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
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import ISPCA, HorseshoeClassifier, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(3, whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
    >>> plots.plot_effects(model.fit(data.data, data.target)).get_xlabel()
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
