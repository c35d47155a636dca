"""Loadings: which features a component is made of, the leading ones by name and all of them as a profile."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import ACCENT, FAINT, INK, SECOND, name_ticks, names_width, new_axes, place_labels, short_names
from .inputs import check_component, fitted_reduction, make_table, take
from .inputs import feature_names as _feature_names

KINDS = ("direction", "weight")


def loading_table(
    model: Any,
    component: int = 1,
    *,
    kind: str = "direction",
    n_features: int | None = None,
    feature_names: Any = None,
) -> np.recarray:
    """Return the features of a component, the leading ones first.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        A fitted reduction, or a fitted pipeline with one.
    component : int, default=1
        The component, counted from 1.
    kind : {"direction", "weight"}, default="direction"
        What the features are ranked by: the direction of the component in the deflated features (the paper's v,
        zero for those not selected), or the weights that make its scores from the standardised features (the
        paper's w). For the first component, not whitened, they are equal.
    n_features : int, optional
        Only so many.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features; by default those seen in ``fit``, or the numbers of the columns.

    Returns
    -------
    table : recarray
        ``feature``, ``index`` (number of the column, from 0), ``direction`` and ``weight``.

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
    table = profile_table(model, component, feature_names=feature_names)
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not known: choose from {', '.join(map(repr, KINDS))}.")
    check_number(n_features, "n_features")
    order = np.argsort(-np.abs(table[kind]), kind="stable")[:n_features]
    return take(table, order)


def check_number(number: Any, name: str) -> None:
    """Refuse a number to draw that is below one."""
    if number is not None and number < 1:
        raise ValueError(f"{name}={number} leaves nothing to draw: pass 1 or more.")


def profile_table(model: Any, component: int = 1, *, feature_names: Any = None) -> np.recarray:
    """Return all features of a component in the order of the columns.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        A fitted reduction, or a fitted pipeline with one.
    component : int, default=1
        The component, counted from 1.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.

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
    """Draw the leading features of a component as bars, the largest on top.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        A fitted reduction, or a fitted pipeline with one.
    component : int, default=1
        The component, counted from 1.
    kind : {"direction", "weight"}, default="direction"
        See `loading_table`.
    n_features : int, default=25
        Number of bars at most; features with a loading of zero have none.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features; by default those seen in ``fit``, or the numbers of the columns.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_loadings
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> ax = plot_loadings(ispca, n_features=10, feature_names=data.feature_names)
    >>> len(ax.patches)
    10
    >>> matplotlib.pyplot.close(ax.figure)
    """
    table = loading_table(model, component, kind=kind, n_features=n_features, feature_names=feature_names)
    table = table[table[kind] != 0]
    ax = new_axes(ax, 5.4 + names_width(short_names(table["feature"])), 1.0 + 0.22 * len(table))
    positions = np.arange(len(table))
    positive = table[kind] > 0
    # Colour repeats what the side says, so that nothing is lost in grey.
    ax.barh(positions, table[kind], color=np.where(positive, ACCENT, SECOND), height=0.72)
    ax.axvline(0, color=INK, linewidth=0.8)
    name_ticks(ax, table["feature"])
    used = np.count_nonzero(profile_table(model, component)[kind])
    ax.set_xlabel(f"{kind} in component {component}, {len(table)} of {used:,} features")
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
    """Draw the loadings of all features in the order of the columns, as of a spectrum.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        A fitted reduction, or a fitted pipeline with one.
    component : int, default=1
        The component, counted from 1.
    kind : {"direction", "weight"}, default="direction"
        See `loading_table`.
    positions : array-like of shape (n_features_in_,), optional
        Where each feature stands, such as its wavelength or its place in the genome; by default the column number.
    n_labels : int, default=5
        Name so many of the largest; a name that would cover another is left out.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_profile
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> ax = plot_profile(ispca, component=2)
    >>> ax.get_ylabel()
    'direction in component 2'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    table = profile_table(model, component, feature_names=feature_names)
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not known: choose from {', '.join(map(repr, KINDS))}.")
    x = table["index"] if positions is None else np.asarray(positions, dtype=np.float64)
    if len(x) != len(table):
        raise ValueError(
            f"positions has {len(x)} entries, but there are {len(table)} features: pass one for each."
        )
    ax = new_axes(ax, 8.0, 3.2)
    used = np.flatnonzero(table[kind])
    width = float(np.interp(len(used), [100, 2000], [1.6, 0.5]))
    ax.vlines(x[used], 0, table[kind][used], color=ACCENT, linewidth=width, rasterized=len(used) > 5000)
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_xlim(*_padded(x))
    ax.margins(y=0.12)
    ax.set(xlabel="feature" if positions is None else "position", ylabel=f"{kind} in component {component}")
    largest = used[np.argsort(-np.abs(table[kind][used]), kind="stable")][:n_labels]
    names = short_names(table["feature"][largest], 24)
    place_labels(ax, x[largest], table[kind][largest], names)
    return ax


def _padded(x: Any) -> tuple[float, float]:
    margin = 0.01 * max(float(np.ptp(x)), 1.0)
    return float(x.min()) - margin, float(x.max()) + margin
