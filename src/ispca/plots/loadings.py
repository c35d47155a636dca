"""Plots of the loadings of a component: the leading features by name, and all features as a profile."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._ranking import largest_first
from .canvas import ACCENT, FAINT, INK, SECOND, name_ticks, names_width, new_axes, place_labels, short_names
from .input_checks import (
    check_component,
    check_length,
    check_positive,
    component_name,
    fitted_reduction,
    make_table,
    take,
)
from .input_checks import feature_names as _feature_names

KINDS = ("direction", "weight")


def loading_table(
    model: Any,
    component: int = 1,
    *,
    kind: str = "direction",
    n_features: int | None = None,
    feature_names: Any = None,
) -> np.recarray:
    """Return the features of a component, largest loadings first.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
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
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import loading_table
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> table = loading_table(ispca, n_features=5, feature_names=data.feature_names)
    >>> len(table), table.feature[0].startswith("gene")
    (5, True)
    """
    _check_kind(kind)
    check_positive(n_features, "n_features")
    table = profile_table(model, component, feature_names=feature_names)
    return take(table, largest_first(table[kind], n_features))


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown: choose from {', '.join(map(repr, KINDS))}.")


def profile_table(model: Any, component: int = 1, *, feature_names: Any = None) -> np.recarray:
    """Return all features of a component in the order of the columns.

    Parameters
    ----------
    model, component, feature_names
        As in `loading_table`.

    Returns
    -------
    table : recarray
        ``feature``, ``index``, ``direction`` and ``weight``; see `loading_table`.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import profile_table
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> len(profile_table(ispca, component=2))
    300
    """
    reduction = fitted_reduction(model)
    place = check_component(reduction, component)
    names = _feature_names(model, feature_names)
    return make_table(
        {
            "feature": names,
            "index": np.arange(len(names)),
            "direction": reduction.directions_[place],
            "weight": reduction.components_[place],
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
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_loadings
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> ax = plot_loadings(ispca, n_features=10, feature_names=data.feature_names)
    >>> len(ax.patches)
    10
    """
    table = loading_table(model, component, kind=kind, n_features=n_features, feature_names=feature_names)
    table = table[table[kind] != 0]
    ax = new_axes(ax, 5.4 + names_width(table["feature"]), 1.0 + 0.22 * len(table))
    # Color only repeats the sign, so nothing is lost in grayscale.
    ax.barh(np.arange(len(table)), table[kind], color=np.where(table[kind] > 0, ACCENT, SECOND), height=0.72)
    ax.axvline(0, color=INK, linewidth=0.8)
    name_ticks(ax, table["feature"])
    used = np.count_nonzero(profile_table(model, component)[kind])
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
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_profile
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> ax = plot_profile(ispca, component=2)
    >>> ax.get_ylabel()
    'direction in unsupervised_2'
    """
    _check_kind(kind)
    table = profile_table(model, component, feature_names=feature_names)
    x = table["index"] if positions is None else np.asarray(positions, dtype=np.float64)
    check_length(x, len(table), "positions", "feature")
    ax = new_axes(ax, 8.0, 3.2)
    used = np.flatnonzero(table[kind])
    width = float(np.interp(len(used), [100, 2000], [1.6, 0.5]))
    ax.vlines(x[used], 0, table[kind][used], color=ACCENT, linewidth=width, rasterized=len(used) > 5000)
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    margin = 0.01 * max(float(np.ptp(x)), 1.0)
    ax.set_xlim(x.min() - margin, x.max() + margin)
    ax.margins(y=0.12)
    ax.set_xlabel("feature" if positions is None else "position")
    ax.set_ylabel(f"{kind} in {component_name(model, component)}")
    largest = used[largest_first(table[kind][used], n_labels)]
    names = short_names(table["feature"][largest], 24)
    place_labels(ax, x[largest], table[kind][largest], names)
    return ax
