"""Plot of the number of components: explained variance, kind and permutation test of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import p_value_text
from .._result_table import ResultTable
from .canvas import ACCENT, INK, PALE, new_axes
from .input_checks import fitted_reduction, make_table

KINDS = ("supervised", "unsupervised", "not accepted")


def component_table(model: Any) -> ResultTable:
    """Return explained variance, permutation test and number of features of each component.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.

    Returns
    -------
    table : recarray
        One row per component: ``component`` (from 1), ``kind`` ("supervised", "unsupervised", or
        "not accepted" for a final test that was not significant if no unsupervised component follows),
        ``explained_variance_ratio`` (see `ispca.ISPCA`) and its ``cumulative`` sum, ``p_value`` and
        ``n_permutations`` of its test and whether it is ``borderline``, ``n_features``, ``score`` (correlation
        with the target) and ``target_class`` (the class it separates best).

    Examples
    --------
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> plots.component_table(ispca).kind.tolist()
    ['supervised', 'unsupervised', 'unsupervised']
    """
    reduction = fitted_reduction(model)
    steps, n_components = reduction.steps_, reduction.n_components_
    count = max(n_components, len(steps))
    n_each = (reduction.n_supervised_, n_components - reduction.n_supervised_, count - n_components)

    def padded(values: Any) -> np.ndarray:
        return np.pad(values, (0, count - n_components))

    def recorded(name: str, missing: Any) -> list[Any]:
        values = [getattr(step, name) for step in steps] + [None] * (count - len(steps))
        return [missing if value is None else value for value in values]

    ratio = padded(reduction.explained_variance_ratio_)
    return make_table(
        {
            "component": np.arange(1, count + 1),
            "kind": np.repeat(KINDS, n_each),
            "explained_variance_ratio": ratio,
            "cumulative": np.cumsum(ratio),
            "p_value": recorded("p_value", np.nan),
            "n_permutations": recorded("n_permutations", 0),
            "borderline": recorded("borderline", False),
            "n_features": padded(np.count_nonzero(reduction.directions_, axis=1)),
            "score": recorded("component_score", np.nan),
            "target_class": [str(label) for label in recorded("target_class", "")],
        }
    )


def plot_components(model: Any, *, max_components: int = 60, ax: Any = None) -> Any:
    """Plot the explained variance, the kind and the p-value of each component.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    max_components : int, default=60
        Maximum number of components to show.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
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
            label = f"{kind} ({chosen.sum()})" if kind != KINDS[2] else "test not significant"
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
