"""Calibration plot: observed frequency of a class by predicted probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from ..reduction.records import Floats
from .canvas import FAINT, class_legend, class_style, new_axes, shorten
from .input_checks import make_table
from .probabilities import predicted_probabilities

INTERVAL_PROBABILITY = 0.95
# With more curves, the intervals overlap too much to be read.
MOST_INTERVALS = 5


def calibration_table(model: Any, X: Any, y: Any, *, n_bins: int | None = None) -> np.recarray:
    """Return the observed frequency of a class among samples with similar predicted probabilities.

    Parameters
    ----------
    model : classifier or array-like of shape (n_samples, n_classes)
        A fitted classifier or predicted probabilities; see `probability_table`.
    X : array-like of shape (n_samples, n_features) or None
        Samples; None if probabilities are given.
    y : array-like of shape (n_samples,)
        Their classes.
    n_bins : int, optional
        Number of bins with about equally many samples; by default one per 15 samples, between 3 and 10.

    Returns
    -------
    table : recarray
        One row per bin and class (for two classes, only the second): ``target_class``, ``bin``, ``n_samples``,
        ``predicted`` (mean probability), ``observed`` (frequency), ``low`` and ``high`` (its exact 95%
        Clopper-Pearson interval). Equal probabilities always share a bin, so there may be fewer bins.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.plots import calibration_table
    >>> p = np.linspace(0, 1, 200); y = np.random.default_rng(0).random(200) < p
    >>> table = calibration_table(np.column_stack([1 - p, p]), None, y, n_bins=4)
    >>> table.n_samples.tolist()
    [50, 50, 50, 50]
    """
    probabilities, classes, y = predicted_probabilities(model, X, y)
    if n_bins is None:
        n_bins = int(np.clip(len(y) // 15, 3, 10))
    if n_bins < 1:
        raise ValueError(f"n_bins={n_bins} is too small: pass 1 or more.")
    parts = []
    for column in range(1 if len(classes) == 2 else 0, len(classes)):
        rows = _calibration(probabilities[:, column], y == classes[column], n_bins)
        parts.append({"target_class": np.full(len(rows["bin"]), str(classes[column])), **rows})
    return make_table({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _calibration(predicted: Floats, is_class: Any, n_bins: int) -> dict[str, Any]:
    borders = np.unique(np.quantile(predicted, np.linspace(0, 1, n_bins + 1)[1:-1]))
    codes = np.unique(np.searchsorted(borders, predicted, side="left"), return_inverse=True)[1]
    n = np.bincount(codes)
    k = np.bincount(codes, weights=is_class)
    tail = (1 - INTERVAL_PROBABILITY) / 2
    low = np.where(k > 0, beta.ppf(tail, np.maximum(k, 1), n - k + 1), 0.0)
    high = np.where(k < n, beta.ppf(1 - tail, k + 1, np.maximum(n - k, 1)), 1.0)
    return {
        "bin": np.arange(1, len(n) + 1),
        "n_samples": n,
        "predicted": np.bincount(codes, weights=predicted) / n,
        "observed": k / n,
        "low": low,
        "high": high,
    }


def plot_calibration(model: Any, X: Any, y: Any, *, n_bins: int | None = None, ax: Any = None) -> Any:
    """Plot the observed frequency of a class against its predicted probability.

    Calibrated models lie on the diagonal.

    Parameters
    ----------
    model : classifier or array-like of shape (n_samples, n_classes)
        A fitted classifier or predicted probabilities; see `probability_table`.
    X : array-like of shape (n_samples, n_features) or None
        Samples; None if probabilities are given.
    y : array-like of shape (n_samples,)
        Their classes.
    n_bins : int, optional
        Number of bins with about equally many samples; by default one per 15 samples, between 3 and 10.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
        The plot. With more than five classes the intervals are omitted; the table has them.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from ispca.plots import plot_calibration
    >>> p = np.linspace(0, 1, 200); y = np.random.default_rng(0).random(200) < p
    >>> ax = plot_calibration(np.column_stack([1 - p, p]), None, y)
    >>> ax.get_xlabel()
    'predicted probability of True'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    _, classes, _ = predicted_probabilities(model, X, y)
    table = calibration_table(model, X, y, n_bins=n_bins)
    labels = [str(label) for label in classes.tolist()]
    styles = dict(zip(labels, class_style(classes).values(), strict=True))
    several = len(labels) > 2
    ax = new_axes(ax, 6.2 if several else 4.6, 4.4)
    ax.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for label in labels if several else labels[1:]:
        rows, style = table[table["target_class"] == label], styles[label]
        line = style.line if several else "-"
        look = {
            "color": style.color,
            "marker": style.marker,
            "linestyle": line,
            "markersize": 6,
            "linewidth": 1.4,
        }
        ax.plot(rows["predicted"], rows["observed"], **look, clip_on=False)
        if len(labels) <= MOST_INTERVALS:
            ax.vlines(rows["predicted"], rows["low"], rows["high"], color=style.color, linewidth=1.2, alpha=0.7)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    of = "the class" if several else shorten(labels[1], 20)
    interval = ", 95% interval" if len(labels) <= MOST_INTERVALS else ""
    ax.set(xlabel=f"predicted probability of {of}", ylabel=f"observed frequency{interval}")
    if several:
        class_legend(ax, styles, lines=True)
    return ax
