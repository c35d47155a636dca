"""Plot of predicted probabilities by class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..reduction.records import Floats
from .canvas import FAINT, INK, class_style, new_axes, point_look, short_names, shorten
from .input_checks import check_target, class_codes, make_table
from .input_checks import sample_names as _sample_names


def predicted_probabilities(model: Any, X: Any, y: Any) -> tuple[Floats, Any, np.ndarray]:
    """Return predicted probabilities, classes and labels; the model may be an array of probabilities."""
    if hasattr(model, "fit"):
        check_is_fitted(model)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} has no predict_proba: pass another classifier.")
        probabilities, classes = np.asarray(model.predict_proba(X), dtype=np.float64), np.asarray(model.classes_)
        y = check_target(y, len(probabilities))
    else:
        probabilities = np.asarray(model, dtype=np.float64)
        if probabilities.ndim != 2:
            raise ValueError(
                "model must be a fitted classifier or an array of probabilities with one column per class."
            )
        y = check_target(y, len(probabilities))
        classes = np.unique(y)
        if len(classes) != probabilities.shape[1]:
            raise ValueError(
                f"y has {len(classes)} classes, but there are {probabilities.shape[1]} columns of probabilities."
            )
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y contains the label {unknown.tolist()[0]!r}, which is not a class of the model.")
    return probabilities, classes, y


def probability_table(model: Any, X: Any, y: Any, *, sample_names: Any = None) -> np.recarray:
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
    >>> table = probability_table([[0.9, 0.1], [0.4, 0.6]], None, ["ill", "ill"])
    Traceback (most recent call last):
    ValueError: y has 1 classes, but there are 2 columns of probabilities.
    >>> table = probability_table([[0.9, 0.1], [0.4, 0.6]], None, ["ill", "well"])
    >>> table.probability.tolist(), table.correct.tolist()
    ([0.1, 0.6], [True, True])
    """
    probabilities, classes, y = predicted_probabilities(model, X, y)
    codes = class_codes(y, classes)
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


def plot_probabilities(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Plot the predicted probability of each sample by class.

    For two classes it is the probability of the second, otherwise that of the observed class. Misclassified
    samples are hollow. A bar marks the median of each class and a box its quartiles.

    Parameters
    ----------
    model : classifier or array-like of shape (n_samples, n_classes)
        A fitted classifier or predicted probabilities; see `probability_table`.
    X : array-like of shape (n_samples, n_features) or None
        Samples; None if probabilities are given.
    y : array-like of shape (n_samples,)
        Their classes.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
        The plot.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ispca.plots import plot_probabilities
    >>> ax = plot_probabilities([[0.9, 0.1], [0.4, 0.6]], None, ["ill", "well"])
    >>> ax.get_ylabel()
    'predicted probability of well'
    >>> matplotlib.pyplot.close(ax.figure)
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
            fill = {"facecolors": style.color} if correct else {"facecolors": "none"}
            edge = {"edgecolors": style.color, "linewidths": 0.4 if correct else 1.0}
            if chosen.any():
                points = x[chosen], rows["probability"][chosen]
                ax.scatter(*points, marker=style.marker, **(look | fill | edge), clip_on=False, zorder=2)
        if len(rows) >= 5:
            _box(ax, position, rows["probability"])
    chance = 0.5 if len(classes) == 2 else 1 / len(classes)
    ax.axhline(chance, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    tilt = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
    ax.set_xticks(np.arange(len(classes)), names, **tilt)
    ax.set_xlim(-0.6, len(classes) - 0.4)
    ax.set_ylim(-0.02, 1.02)
    of = shorten(classes.tolist()[1], 20) if len(classes) == 2 else "the observed class"
    ax.set(
        ylabel=f"predicted probability of {of}",
        xlabel=f"observed class; {100 * np.mean(table['correct']):.0f}% classified correctly",
    )
    return ax


def _box(ax: Any, position: int, values: Floats) -> None:
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    look = {"color": INK, "zorder": 3}
    ax.plot([position - 0.34, position + 0.34], [median] * 2, linewidth=2.0, **look)
    corners = [low, low, high, high, low]
    ax.plot(position + 0.34 * np.array([-1, 1, 1, -1, -1]), corners, linewidth=0.8, **look)
