"""Plot of selection stability: how often features are selected in other samples, compared with chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .canvas import ACCENT, INK, SECOND, names_width, new_axes, short_names
from .input_checks import take

if TYPE_CHECKING:
    from ..validation.stability import Stability


def stability_table(result: Stability, n_features: int = 25) -> np.recarray:
    """Return the most frequently selected features.

    Parameters
    ----------
    result : Stability
        Result of `ispca.validation.stability`.
    n_features : int, default=25
        Number of features.

    Returns
    -------
    table : recarray
        The first rows of ``result.table``.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import stability_table
    >>> from ispca.validation import stability
    >>> data = make_expression(n_samples=60, n_features=200, signal=2.0, random_state=0)
    >>> result = stability(ISPCA(), data.data, data.target, n_components=1, cv=5, n_jobs=1)
    >>> len(stability_table(result, n_features=3))
    3
    """
    return take(result.table, slice(n_features))


def plot_stability(result: Stability, n_features: int = 25, ax: Any = None) -> Any:
    """Plot the most frequently selected features, with a dashed line at the chance level.

    Parameters
    ----------
    result, n_features
        As in `stability_table`.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
    """
    shown = stability_table(result, n_features)
    ax = new_axes(ax, 6.0 + names_width(shown["feature"]), 1.2 + 0.22 * len(shown))
    positions = np.arange(len(shown))
    ax.barh(positions, shown["frequency"], color=ACCENT, height=0.7)
    ax.axvline(result.chance_frequency, color=SECOND, linestyle="--", linewidth=1.5, label="chance")
    ax.set_yticks(positions, short_names(shown["feature"]), fontsize=8)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"fraction of {result.n_splits} splits in which the feature is selected")
    lines = [_describe(row, result.n_splits) for row in result.components]
    ax.set_title("\n".join(lines), fontsize=9, loc="left", color=INK)
    ax.legend(framealpha=0.9, edgecolor="none", fontsize=8, loc="lower right")
    return ax


def _describe(row: Any, n_splits: int) -> str:
    """Return how often a component was found and how well its scores agreed."""
    found = f"supervised_{row['component']}: found in {row['found']} of {n_splits} splits"
    if np.isnan(row["similarity"]):
        return found
    return f"{found}, correlation between them {row['similarity']:.2f} (chance {row['chance_similarity']:.2f})"
