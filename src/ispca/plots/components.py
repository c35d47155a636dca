"""Plots of the components: their number, with explained variance and tests, and the loadings of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundation.arrays import largest_first
from ..foundation.messages import p_value_text
from ..foundation.result_tables import ResultTable
from .canvas import ACCENT, FAINT, INK, PALE, SECOND, named_axes, new_axes, place_labels, short_names
from .plot_arguments import (
    check_component,
    check_length,
    check_positive,
    component_name,
    fitted_reduction,
    make_table,
)
from .plot_arguments import feature_names as _feature_names

KINDS = ("supervised", "unsupervised", "not accepted")
LOADING_KINDS = ("direction", "weight")


def component_table(model: Any) -> ResultTable:
    """Return explained variance, permutation test and number of features of each component.

    Parameters
    ----------
    $reduction

    Returns
    -------
    table : recarray
        One row per component: ``component`` (from 1), ``kind`` ("supervised", "unsupervised", or
        "not accepted" for a final test that did not add a component if no unsupervised component follows),
        ``explained_variance_ratio`` (see `ispca.ISPCA`) and its ``cumulative`` sum, ``p_value`` and
        ``n_permutations`` of its test and whether it is ``borderline``, ``n_features``, ``score`` (correlation
        with the target) and ``target_class`` (the class it separates best).

    Examples
    --------
    $fitted_reduction
    >>> plots.component_table(ispca).kind.tolist()
    ['supervised', 'unsupervised', 'unsupervised']
    """
    reduction = fitted_reduction(model)
    steps, n_components = reduction.steps_, reduction.n_components_
    count = max(n_components, len(steps))
    n_each = (reduction.n_supervised_, n_components - reduction.n_supervised_, count - n_components)

    def pad(values: Any) -> np.ndarray:
        return np.pad(values, (0, count - n_components))

    def column(name: str, missing: Any) -> list[Any]:
        values = [getattr(step, name) for step in steps] + [None] * (count - len(steps))
        return [missing if value is None else value for value in values]

    ratio = pad(reduction.explained_variance_ratio_)
    return make_table(
        {
            "component": np.arange(1, count + 1),
            "kind": np.repeat(KINDS, n_each),
            "explained_variance_ratio": ratio,
            "cumulative": np.cumsum(ratio),
            "p_value": column("p_value", np.nan),
            "n_permutations": column("n_permutations", 0),
            "borderline": column("borderline", False),
            "n_features": pad(np.count_nonzero(reduction.directions_, axis=1)),
            "score": column("component_score", np.nan),
            "target_class": [str(label) for label in column("target_class", "")],
        }
    )


def plot_components(model: Any, *, max_components: int = 60, ax: Any = None) -> Any:
    """Plot the explained variance, the kind and the p-value of each component.

    Parameters
    ----------
    $reduction
    max_components : int, default=60
        Maximum number of components to show.
    $ax

    Examples
    --------
    $fitted_reduction
    >>> ax = plots.plot_components(ispca)
    >>> len(ax.patches)
    3
    """
    table = component_table(model)[:max_components]
    heights = 100 * table["explained_variance_ratio"]
    ax = new_axes(ax, float(np.clip(2.2 + 0.3 * len(table), 4.2, 10.0)), 3.8)
    look: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.6}
    for kind, color in zip(KINDS, (ACCENT, PALE, "none"), strict=True):
        chosen = table["kind"] == kind
        if chosen.any():
            label = f"{kind} ({chosen.sum()})" if kind != KINDS[2] else "no component added"
            ax.bar(table["component"][chosen], heights[chosen], color=color, label=label, **look)
    text: dict[str, Any] = {"textcoords": "offset points", "rotation": 90, "ha": "center", "va": "bottom"}
    for row, height in zip(table, heights, strict=True):
        if not np.isnan(row["p_value"]):
            words = p_value_text(row["p_value"], row["n_permutations"], row["borderline"])
            ax.annotate(words, (row["component"], height), xytext=(0, 3), fontsize=8, color=INK, **text)
    ax.margins(y=0.25)
    ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlim(0.4, len(table) + 0.6)
    ax.set(xlabel="component", ylabel="explained variance of X, %")
    ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, columnspacing=1.0)
    return ax


def loading_table(
    model: Any,
    component: int = 1,
    *,
    kind: str = "direction",
    n_features: int | None = None,
    feature_names: Any = None,
) -> ResultTable:
    """Return the features of a component, largest loadings first.

    Parameters
    ----------
    $reduction
    component : int, default=1
        The component, numbered from 1.
    kind : {"direction", "weight"}, default="direction"
        How features are ranked: by the direction of the component in the deflated features (the paper's v, zero
        for features not selected), or by the weights that compute its scores from the standardized features (the
        paper's w). They are equal for the first component without whitening.
    n_features : int, optional
        Number of features; all by default.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features; by default those seen in ``fit``, or the column numbers.

    Returns
    -------
    table : recarray
        ``feature``, ``index`` (column number, from 0), ``direction`` and ``weight``.

    Examples
    --------
    $fitted_reduction
    >>> table = plots.loading_table(ispca, n_features=5, feature_names=data.feature_names)
    >>> len(table), table.feature[0].startswith("gene")
    (5, True)
    """
    if kind not in LOADING_KINDS:
        raise ValueError(f"kind={kind!r} is unknown: choose from {', '.join(map(repr, LOADING_KINDS))}.")
    check_positive(n_features, "n_features")
    reduction = fitted_reduction(model)
    place = check_component(reduction, component)
    names = _feature_names(model, feature_names)
    ranked = reduction.directions_ if kind == "direction" else reduction.components_
    order = largest_first(ranked[place], n_features)
    return make_table(
        {
            "feature": names[order],
            "index": order,
            "direction": reduction.directions_[place, order],
            "weight": reduction.components_[place, order],
        }
    )


def plot_loadings(
    model: Any,
    component: int = 1,
    *,
    kind: str = "direction",
    n_features: int = 25,
    feature_names: Any = None,
    ax: Any = None,
) -> Any:
    """Plot the largest loadings of a component as bars.

    Parameters
    ----------
    model, component, kind, feature_names
        As in `loading_table`.
    n_features : int, default=25
        Maximum number of bars; features with a loading of zero are omitted.
    $ax

    Examples
    --------
    $fitted_reduction
    >>> ax = plots.plot_loadings(ispca, n_features=10, feature_names=data.feature_names)
    >>> len(ax.patches)
    10
    """
    check_positive(n_features, "n_features")
    everything = loading_table(model, component, kind=kind, feature_names=feature_names)
    used = np.count_nonzero(everything[kind])
    table = everything[: min(n_features, used)]
    ax = named_axes(ax, table["feature"], 5.4, 1.0, 0.22)
    # Color only repeats the sign, so nothing is lost in grayscale.
    ax.barh(np.arange(len(table)), table[kind], color=np.where(table[kind] > 0, ACCENT, SECOND), height=0.72)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_xlabel(f"{kind} in {component_name(model, component)}, {len(table)} of {used:,} features")
    return ax


def plot_profile(
    model: Any,
    component: int = 1,
    *,
    kind: str = "direction",
    positions: Any = None,
    n_labels: int = 5,
    feature_names: Any = None,
    ax: Any = None,
) -> Any:
    """Plot the loadings of all features in the order of the columns, as for a spectrum.

    Parameters
    ----------
    model, component, kind, feature_names
        As in `loading_table`.
    positions : array-like of shape (n_features_in_,), optional
        Position of each feature, such as its wavelength or genomic position; by default the column number.
    n_labels : int, default=5
        Number of largest loadings to label; a label that would overlap another is omitted.
    $ax

    Examples
    --------
    $fitted_reduction
    >>> ax = plots.plot_profile(ispca, component=2)
    >>> ax.get_ylabel()
    'direction in unsupervised_2'
    """
    table = loading_table(model, component, kind=kind, feature_names=feature_names)
    places = table["index"] if positions is None else np.asarray(positions, dtype=np.float64)
    check_length(places, len(table), "positions", "feature")
    ax = new_axes(ax, 8.0, 3.2)
    margin = 0.01 * max(float(np.ptp(places)), 1.0)
    ax.set_xlim(places.min() - margin, places.max() + margin)
    table = table[table[kind] != 0]
    x = table["index"] if positions is None else places[table["index"]]
    width = float(np.interp(len(table), [100, 2000], [1.6, 0.5]))
    order = np.argsort(table["index"])
    ax.vlines(x[order], 0, table[kind][order], color=ACCENT, linewidth=width, rasterized=len(table) > 5000)
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.margins(y=0.12)
    ax.set_xlabel("feature" if positions is None else "position")
    ax.set_ylabel(f"{kind} in {component_name(model, component)}")
    labels = short_names(table["feature"][:n_labels], 24)
    place_labels(ax, x[:n_labels], table[kind][:n_labels], labels)
    return ax
