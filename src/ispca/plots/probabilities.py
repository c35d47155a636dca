"""Plots of predicted probabilities: by class, and against the observed frequency (calibration)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta
from sklearn.utils.validation import check_is_fitted

from ..foundation.arrays import Floats, protect
from ..foundation.result_tables import ResultTable
from .canvas import FAINT, INK, class_legend, class_style, new_axes, point_look, short_names, shorten, text_styles
from .plot_arguments import check_positive, check_target, make_table, stack_tables
from .plot_arguments import sample_names as _sample_names

INTERVAL_PROBABILITY = 0.95
# With more curves, the intervals overlap too much to be read.
MOST_INTERVALS = 5


def predicted_probabilities(model: Any, X: Any, y: Any) -> tuple[Floats, Any, np.ndarray]:
    """Return predicted probabilities, classes and labels; the model may be an array of probabilities."""
    fitted = hasattr(model, "fit")
    if fitted:
        check_is_fitted(model)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} has no predict_proba: pass another classifier.")
    probabilities = np.asarray(model.predict_proba(protect(X, model)) if fitted else model, dtype=np.float64)
    if probabilities.ndim != 2:
        raise ValueError(
            "model must be a fitted classifier or an array of probabilities with one column per class."
        )
    y = check_target(y, len(probabilities))
    classes = np.asarray(model.classes_) if fitted else np.unique(y)
    if len(classes) != probabilities.shape[1]:
        raise ValueError(
            f"y has {len(classes)} classes, but there are {probabilities.shape[1]} columns of probabilities."
        )
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y contains the label {unknown.tolist()[0]!r}, which is not a class of the model.")
    return probabilities, classes, y


def probability_table(model: Any, X: Any, y: Any, *, sample_names: Any = None) -> ResultTable:
    """Return the predicted probability and the class of each sample.

    Parameters
    ----------
    model : classifier or array-like of shape (n_samples, n_classes)
        A fitted classifier, preferably fitted to other samples; or probabilities in the order of the sorted
        classes, such as those of ``sklearn.model_selection.cross_val_predict`` with ``method="predict_proba"``.
    X : array-like of shape (n_samples, n_features) or None
        Samples; None if probabilities are given.
    y : array-like of shape (n_samples,)
        Their classes.
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples.

    Returns
    -------
    table : recarray
        ``sample``, ``target``, ``probability`` (of the second of two classes, or of the observed class if
        there are more), ``predicted`` (the most probable class), ``correct``.

    Examples
    --------
    >>> from ispca.plots import probability_table
    >>> table = probability_table([[0.9, 0.1], [0.4, 0.6]], None, ["ill", "well"])
    >>> table.probability.tolist(), table.correct.tolist()
    ([0.1, 0.6], [True, True])
    """
    probabilities, classes, y = predicted_probabilities(model, X, y)
    codes = np.searchsorted(classes, y)
    column = np.ones(len(y), dtype=np.intp) if len(classes) == 2 else codes
    best = probabilities.argmax(axis=1)
    return make_table(
        {
            "sample": _sample_names(X, len(y), sample_names),
            "target": y,
            "probability": probabilities[np.arange(len(y)), column],
            "predicted": classes[best],
            "correct": best == codes,
        }
    )


def plot_probabilities(model: Any, X: Any, y: Any, *, held_out: bool = False, ax: Any = None) -> Any:
    """Plot the predicted probability of each sample by class.

    For two classes it is the probability of the second, otherwise that of the observed class. Misclassified
    samples are hollow. A bar marks the median of each class and a box its quartiles.

    Parameters
    ----------
    model, X, y
        As in `probability_table`.
    held_out : bool, default=False
        Whether a fitted model has not seen these samples. Otherwise the labels say "training samples", and
        the accuracy is omitted, because it would not be that of new samples. An array of probabilities is taken as
        held-out predictions.
    $ax

    Examples
    --------
    >>> from ispca.plots import plot_probabilities
    >>> ax = plot_probabilities([[0.9, 0.1], [0.4, 0.6]], None, ["ill", "well"])
    >>> ax.get_ylabel()
    'predicted probability of well'
    """
    _, classes, _ = predicted_probabilities(model, X, y)
    table = probability_table(model, X, y)
    names = short_names(classes.tolist(), 16)
    width = float(np.clip(2.0 + 0.8 * len(classes), 4.0, 11.0))
    # Names that do not fit side by side are rotated, which needs space below.
    long = sum(map(len, names)) > 7 * width
    ax = new_axes(ax, width, 4.8 if long else 4.0)
    look = point_look(len(table))
    for position, (label, style) in enumerate(class_style(classes).items()):
        rows = table[table["target"] == label]
        # Spread the points of a class by the golden ratio: even and reproducible.
        x = position + 0.6 * (np.arange(len(rows)) * 0.618034 % 1 - 0.5)
        for correct in (True, False):
            chosen = rows["correct"] == correct
            face = {"facecolors": style.color if correct else "none"}
            edge = {"edgecolors": style.color, "linewidths": 0.4 if correct else 1.0}
            if chosen.any():
                points = x[chosen], rows["probability"][chosen]
                ax.scatter(*points, marker=style.marker, **(look | face | edge), clip_on=False, zorder=2)
        if len(rows) >= 5:
            _box(ax, position, rows["probability"])
    chance = 0.5 if len(classes) == 2 else 1 / len(classes)
    ax.axhline(chance, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    tilt = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
    ax.set_xticks(np.arange(len(classes)), names, **tilt)
    ax.set(xlim=(-0.6, len(classes) - 0.4), ylim=(-0.02, 1.02))
    of = shorten(classes.tolist()[1], 20) if len(classes) == 2 else "the observed class"
    if held_out or not hasattr(model, "fit"):
        ax.set_ylabel(f"predicted probability of {of}")
        ax.set_xlabel(f"observed class; {100 * np.mean(table['correct']):.0f}% classified correctly")
    else:
        ax.set_ylabel(f"fitted probability of {of}")
        ax.set_xlabel("observed class of training samples")
    return ax


def _box(ax: Any, position: int, values: Floats) -> None:
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    look = {"color": INK, "zorder": 3}
    ax.plot([position - 0.34, position + 0.34], [median] * 2, linewidth=2.0, **look)
    corners = [low, low, high, high, low]
    ax.plot(position + 0.34 * np.array([-1, 1, 1, -1, -1]), corners, linewidth=0.8, **look)


def calibration_table(model: Any, X: Any, y: Any, *, n_bins: int | None = None) -> ResultTable:
    """Return the observed frequency of a class among samples with similar predicted probabilities.

    Parameters
    ----------
    model, X, y
        As in `probability_table`.
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
    check_positive(n_bins, "n_bins")
    n_bins = n_bins or int(np.clip(len(y) // 15, 3, 10))
    return stack_tables(
        [
            {"target_class": str(classes[column])}
            | _calibration(probabilities[:, column], y == classes[column], n_bins)
            for column in range(1 if len(classes) == 2 else 0, len(classes))
        ]
    )


def _calibration(predicted: Floats, is_class: Any, n_bins: int) -> dict[str, Any]:
    borders = np.unique(np.quantile(predicted, np.linspace(0, 1, n_bins + 1)[1:-1]))
    codes = np.unique(np.searchsorted(borders, predicted, side="left"), return_inverse=True)[1]
    n = np.bincount(codes)
    k = np.bincount(codes, weights=is_class)
    tail = (1 - INTERVAL_PROBABILITY) / 2
    return {
        "bin": np.arange(1, len(n) + 1),
        "n_samples": n,
        "predicted": np.bincount(codes, weights=predicted) / n,
        "observed": k / n,
        "low": np.where(k > 0, beta.ppf(tail, np.maximum(k, 1), n - k + 1), 0.0),
        "high": np.where(k < n, beta.ppf(1 - tail, k + 1, np.maximum(n - k, 1)), 1.0),
    }


def plot_calibration(
    model: Any, X: Any, y: Any, *, n_bins: int | None = None, held_out: bool = False, ax: Any = None
) -> Any:
    """Plot the observed frequency of a class against its predicted probability.

    Calibrated models lie on the diagonal.

    Parameters
    ----------
    model, X, y, n_bins
        As in `calibration_table`.
    held_out : bool, default=False
        Whether a fitted model has not seen these samples. Otherwise the label says "training samples", for which a
        model is calibrated too well. An array of probabilities is taken as held-out predictions.
    $ax
        The plot. With more than five classes the intervals are omitted; the table has them.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.plots import plot_calibration
    >>> p = np.linspace(0, 1, 200); y = np.random.default_rng(0).random(200) < p
    >>> ax = plot_calibration(np.column_stack([1 - p, p]), None, y)
    >>> ax.get_xlabel()
    'predicted probability of True'
    """
    _, classes, _ = predicted_probabilities(model, X, y)
    table = calibration_table(model, X, y, n_bins=n_bins)
    styles = text_styles(classes)
    labels = list(styles)
    several = len(labels) > 2
    ax = new_axes(ax, 6.2 if several else 4.6, 4.4)
    ax.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for label in labels if several else labels[1:]:
        rows, style = table[table["target_class"] == label], styles[label]
        look = {"color": style.color, "marker": style.marker, "linestyle": style.line if several else "-"}
        ax.plot(rows["predicted"], rows["observed"], **look, markersize=6, linewidth=1.4, clip_on=False)
        if len(labels) <= MOST_INTERVALS:
            ax.vlines(rows["predicted"], rows["low"], rows["high"], color=style.color, linewidth=1.2, alpha=0.7)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    of = "the class" if several else shorten(labels[1], 20)
    interval = ", 95% interval" if len(labels) <= MOST_INTERVALS else ""
    xlabel = f"predicted probability of {of}"
    if hasattr(model, "fit") and not held_out:
        xlabel = f"fitted probability of {of} (training samples)"
    ax.set(xlabel=xlabel, ylabel=f"observed frequency{interval}")
    if several:
        class_legend(ax, styles, lines=True)
    return ax
