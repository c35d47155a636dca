"""Plot of the threshold search: score of a component by its number of features."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from ..reduction.scores import correlation_scores
from ..reduction.threshold import threshold_path
from .canvas import INK, SECOND, class_legend, new_axes, shorten, text_styles
from .input_checks import fitted_reduction, stack_tables
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
    parts = []
    with replayed(model, X, y) as trace:
        reduction = trace.reduction
        taken = [number for number, record in enumerate(reduction.steps_, 1) if record.accepted]
        if step not in taken:
            choice = f"choose from 1 to {len(taken)}" if taken else "no step did"
            raise ValueError(f"step={step!r} did not add a component: {choice}.")
        record, state = next(islice(trace.states(), step - 1, None))
        scores = correlation_scores(state)
        for column, label in enumerate(trace.response.column_classes):
            sizes, thresholds, reached = threshold_path(
                *(trace.design, state, scores, column), reduction.max_features, reduction.n_thresholds
            )
            parts.append(
                {
                    "target_class": "" if label is None else str(label),
                    "n_features": sizes,
                    "threshold": thresholds,
                    "score": reached,
                    "chosen": (sizes == record.n_features) & (label == record.target_class),
                }
            )
    return stack_tables(parts)


def plot_threshold(model: Any, X: Any, y: Any, step: int = 1, *, ax: Any = None) -> Any:
    """Plot the score of a component by its number of features, with the selected number marked.

    Parameters
    ----------
    model, X, y, step
        As in `threshold_table`.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_threshold
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(random_state=0).fit(data.data, data.target)
    >>> ax = plot_threshold(ispca, data.data, data.target)
    >>> ax.get_xlabel()
    'features in the component (log scale)'
    """
    table = threshold_table(model, X, y, step)
    styles = text_styles(getattr(fitted_reduction(model), "classes_", [""]))
    several = len(np.unique(table["target_class"])) > 1
    ax = new_axes(ax, 6.4 if several else 5.4, 3.8)
    for label, style in styles.items():
        rows = table[table["target_class"] == label]
        if len(rows):
            look = {"color": style.color, "linestyle": style.line, "marker": style.marker} if several else {}
            ax.plot(rows["n_features"], rows["score"], **({"color": INK, "marker": "o"} | look), markersize=4)
    [best] = table[table["chosen"]]
    ring = {"markersize": 14, "markerfacecolor": "none", "markeredgewidth": 2}
    ax.plot(best["n_features"], best["score"], "o", color=SECOND, **ring)
    ax.axvline(best["n_features"], color=SECOND, linestyle=":", linewidth=1, zorder=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set(xlabel="features in the component (log scale)", ylabel=f"score of the component, step {step}")
    of_class = f" ({shorten(best['target_class'], 20)} vs. rest)" if several else ""
    title = f"selected: {best['n_features']} features, score {best['score']:.3f}{of_class}"
    ax.set_title(title, fontsize=10, loc="left")
    if several:
        class_legend(ax, styles, lines=True)
    return ax
