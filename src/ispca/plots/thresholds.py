"""Plot of the threshold search: score of a component by its number of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reduction.scores import correlation_scores
from ..reduction.threshold import SearchSettings, threshold_path
from .canvas import INK, SECOND, class_legend, class_style, new_axes, shorten
from .input_checks import fitted_reduction, make_table
from .replay_fit import replayed


def threshold_table(model: Any, X: Any, y: Any, step: int = 1) -> np.recarray:
    """Recompute the threshold path of a step from the data of the fit: the score of each subset of features.

    Parameters
    ----------
    model : ISPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X, y : array-like
        The data of the fit.
    step : int, default=1
        The step, numbered from 1; it must have added a component.

    Returns
    -------
    table : recarray
        One row per subset (and class, if there are more than two): ``target_class``, ``n_features``,
        ``threshold`` (lowest score of a feature in the subset), ``score`` (of the first component of the subset)
        and ``chosen``.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import threshold_table
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(random_state=0).fit(data.data, data.target)
    >>> table = threshold_table(ispca, data.data, data.target)
    >>> table.n_features[table.chosen].tolist() == [ispca.steps_[0].n_features]
    True
    """
    taken = [
        number
        for number, record in enumerate(getattr(fitted_reduction(model), "steps_", []), 1)
        if record.accepted
    ]
    parts = []
    with replayed(model, X, y) as trace:
        if step not in taken:
            choice = f"choose from 1 to {len(taken)}" if taken else "no step did"
            raise ValueError(f"step={step!r} did not add a component: {choice}.")
        record, state = next(pair for number, pair in enumerate(trace.states(), 1) if number == step)
        scores = correlation_scores(state)
        settings = SearchSettings(trace.reduction.max_features, trace.reduction.n_thresholds)
        for column, label in enumerate(trace.response.column_classes):
            sizes, thresholds, reached = threshold_path(
                trace.design, trace.workers, state, scores, column, settings
            )
            chosen = (sizes == record.n_features) & (label == record.target_class)
            parts.append(
                (np.full(len(sizes), "" if label is None else str(label)), sizes, thresholds, reached, chosen)
            )
    fields = ("target_class", "n_features", "threshold", "score", "chosen")
    return make_table(dict(zip(fields, map(np.concatenate, zip(*parts, strict=True)), strict=True)))


def plot_threshold(model: Any, X: Any, y: Any, step: int = 1, *, ax: Any = None) -> Any:
    """Plot the score of a component by its number of features, with the selected number marked.

    Parameters
    ----------
    model : ISPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X, y : array-like
        The data of the fit.
    step : int, default=1
        The step, numbered from 1; it must have added a component.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
        The plot.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_threshold
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(random_state=0).fit(data.data, data.target)
    >>> ax = plot_threshold(ispca, data.data, data.target)
    >>> ax.get_xlabel()
    'features in the component (log scale)'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    table = threshold_table(model, X, y, step)
    classes = np.array([str(label) for label in getattr(fitted_reduction(model), "classes_", [""])])
    several = len(np.unique(table["target_class"])) > 1
    styles = dict(zip(classes.tolist(), class_style(np.arange(len(classes))).values(), strict=True))
    ax = new_axes(ax, 6.4 if several else 5.4, 3.8)
    for label in classes:
        rows = table[table["target_class"] == label]
        style = styles[label.item()]
        if len(rows):
            look = {"color": style.color, "linestyle": style.line, "marker": style.marker} if several else {}
            ax.plot(rows["n_features"], rows["score"], **({"color": INK, "marker": "o"} | look), markersize=4)
    [best] = table[table["chosen"]]
    ax.plot(
        best["n_features"],
        best["score"],
        "o",
        markersize=14,
        markerfacecolor="none",
        color=SECOND,
        markeredgewidth=2,
    )
    ax.axvline(best["n_features"], color=SECOND, linestyle=":", linewidth=1, zorder=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set(xlabel="features in the component (log scale)", ylabel=f"score of the component, step {step}")
    of_class = f" ({shorten(best['target_class'], 20)} vs. rest)" if several else ""
    ax.set_title(
        f"selected: {best['n_features']} features, score {best['score']:.3f}{of_class}", fontsize=10, loc="left"
    )
    if several:
        class_legend(ax, styles, lines=True)
    return ax
