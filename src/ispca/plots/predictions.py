"""Predicted probabilities: against the class, and against how often the class came true."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta
from sklearn.utils.validation import check_is_fitted

from ..reduction.records import Floats
from .canvas import FAINT, INK, class_legend, class_style, new_axes, point_look, shorten
from .inputs import check_target, class_codes, make_table
from .inputs import sample_names as _sample_names

INTERVAL_PROBABILITY = 0.95
# With more curves than this the intervals of all bins hide each other.
MOST_INTERVALS = 5


def _probabilities(model: Any, X: Any, y: Any) -> tuple[Floats, Any, np.ndarray]:
    """Return predicted probabilities, classes and labels; the model may be an array of probabilities."""
    if hasattr(model, "fit"):
        check_is_fitted(model)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} predicts no probabilities: pass a classifier that does.")
        probabilities, classes = np.asarray(model.predict_proba(X), dtype=np.float64), np.asarray(model.classes_)
        y = check_target(y, len(probabilities))
    else:
        probabilities = np.asarray(model, dtype=np.float64)
        if probabilities.ndim != 2:
            raise ValueError(
                "model must be a fitted classifier, or an array of probabilities, one column per class."
            )
        y = check_target(y, len(probabilities))
        classes = np.unique(y)
        if len(classes) != probabilities.shape[1]:
            raise ValueError(
                f"y has {len(classes)} classes, but there are {probabilities.shape[1]} columns of probabilities."
            )
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y holds the label {unknown.tolist()[0]!r}, which the model does not know.")
    return probabilities, classes, y


def probability_table(model: Any, X: Any, y: Any, *, sample_names: Any = None) -> np.recarray:
    """Return what is predicted of each sample beside its class.

    Parameters
    ----------
    model : classifier or array-like of shape (n_samples, n_classes)
        A fitted classifier, best one that has not seen these samples; or probabilities in the order of the
        sorted classes, such as those of ``sklearn.model_selection.cross_val_predict`` with its method "predict_proba".
    X : array-like of shape (n_samples, n_features) or None
        Samples; not needed with probabilities.
    y : array-like of shape (n_samples,)
        Their classes.
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples.

    Returns
    -------
    table : recarray
        ``sample``, ``target``, ``probability`` (of the second of two classes; of the sample's own class where
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
    probabilities, classes, y = _probabilities(model, X, y)
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
    """Draw the predicted probability of each sample against its class.

    Of two classes it is the probability of the second, of more that of the sample's own class. Samples for which
    another class is more probable are hollow; a bar marks the median of each class, a box its quartiles.

    Parameters
    ----------
    model : classifier or array-like of shape (n_samples, n_classes)
        A fitted classifier, or probabilities; see `probability_table`.
    X : array-like of shape (n_samples, n_features) or None
        Samples; not needed with probabilities.
    y : array-like of shape (n_samples,)
        Their classes.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ispca.plots import plot_probabilities
    >>> ax = plot_probabilities([[0.9, 0.1], [0.4, 0.6]], None, ["ill", "well"])
    >>> ax.get_ylabel()
    'predicted probability of well'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    _, classes, _ = _probabilities(model, X, y)
    table = probability_table(model, X, y)
    ax = new_axes(ax, float(np.clip(2.0 + 0.8 * len(classes), 4.0, 11.0)), 4.0)
    look = point_look(len(table))
    for position, (label, style) in enumerate(class_style(classes).items()):
        rows = table[table["target"] == label]
        # Points of one class side by side in the order of the golden ratio: even, and always the same.
        x = position + 0.6 * (np.arange(len(rows)) * 0.618034 % 1 - 0.5)
        for correct in (True, False):
            chosen = rows["correct"] == correct
            fill = {"facecolors": style.colour} if correct else {"facecolors": "none"}
            edge = {"edgecolors": style.colour, "linewidths": 0.4 if correct else 1.0}
            if chosen.any():
                points = x[chosen], rows["probability"][chosen]
                ax.scatter(*points, marker=style.marker, **(look | fill | edge), clip_on=False, zorder=2)
        if len(rows) >= 5:
            _box(ax, position, rows["probability"])
    chance = 0.5 if len(classes) == 2 else 1 / len(classes)
    ax.axhline(chance, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    long = sum(len(shorten(label, 16)) for label in classes.tolist()) > 10 * ax.figure.get_figwidth()
    tilt = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
    ax.set_xticks(np.arange(len(classes)), [shorten(label, 16) for label in classes.tolist()], **tilt)
    ax.set_xlim(-0.6, len(classes) - 0.4)
    ax.set_ylim(-0.02, 1.02)
    of = shorten(classes.tolist()[1], 20) if len(classes) == 2 else "the sample's own class"
    ax.set(
        ylabel=f"predicted probability of {of}",
        xlabel=f"class; {np.mean(table['correct']):.0%} most probable in it",
    )
    return ax


def _box(ax: Any, position: int, values: Floats) -> None:
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    look = {"color": INK, "zorder": 3}
    ax.plot([position - 0.34, position + 0.34], [median] * 2, linewidth=2.0, **look)
    corners = [low, low, high, high, low]
    ax.plot(position + 0.34 * np.array([-1, 1, 1, -1, -1]), corners, linewidth=0.8, **look)


def calibration_table(model: Any, X: Any, y: Any, *, n_bins: int | None = None) -> np.recarray:
    """Return how often a class came true among samples given about the same probability of it.

    Parameters
    ----------
    model : classifier or array-like of shape (n_samples, n_classes)
        A fitted classifier, or probabilities; see `probability_table`.
    X : array-like of shape (n_samples, n_features) or None
        Samples; not needed with probabilities.
    y : array-like of shape (n_samples,)
        Their classes.
    n_bins : int, optional
        Bins, of about as many samples each; by default one per 15 samples, from 3 to 10.

    Returns
    -------
    table : recarray
        One row per bin and class (of two classes the second only): ``target_class``, ``bin``, ``n_samples``,
        ``predicted`` (mean probability), ``observed`` (share), ``low`` and ``high`` (its exact 95 % interval after
        Clopper and Pearson). Equal probabilities are never divided between bins, so there may be fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.plots import calibration_table
    >>> p = np.linspace(0, 1, 200); y = np.random.default_rng(0).random(200) < p
    >>> table = calibration_table(np.column_stack([1 - p, p]), None, y, n_bins=4)
    >>> table.n_samples.tolist()
    [50, 50, 50, 50]
    """
    probabilities, classes, y = _probabilities(model, X, y)
    if n_bins is None:
        n_bins = int(np.clip(len(y) // 15, 3, 10))
    if n_bins < 1:
        raise ValueError(f"n_bins={n_bins} leaves nothing to draw: pass 1 or more.")
    parts = []
    for column in range(1 if len(classes) == 2 else 0, len(classes)):
        rows = _calibration(probabilities[:, column], y == classes[column], n_bins)
        parts.append({"target_class": np.full(len(rows["bin"]), str(classes[column])), **rows})
    return make_table({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _calibration(predicted: Floats, came_true: Any, n_bins: int) -> dict[str, Any]:
    borders = np.unique(np.quantile(predicted, np.linspace(0, 1, n_bins + 1)[1:-1]))
    codes = np.unique(np.searchsorted(borders, predicted, side="left"), return_inverse=True)[1]
    n = np.bincount(codes)
    k = np.bincount(codes, weights=came_true)
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
    """Draw how often a class came true against the predicted probability; on the diagonal predictions are honest.

    Parameters
    ----------
    model : classifier or array-like of shape (n_samples, n_classes)
        A fitted classifier, or probabilities; see `probability_table`.
    X : array-like of shape (n_samples, n_features) or None
        Samples; not needed with probabilities.
    y : array-like of shape (n_samples,)
        Their classes.
    n_bins : int, optional
        Bins, of about as many samples each; by default one per 15 samples, from 3 to 10.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing. For more than five classes the intervals are left out; the table has them.

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
    _, classes, _ = _probabilities(model, X, y)
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
            "color": style.colour,
            "marker": style.marker,
            "linestyle": line,
            "markersize": 6,
            "linewidth": 1.4,
        }
        ax.plot(rows["predicted"], rows["observed"], **look, clip_on=False)
        if len(labels) <= MOST_INTERVALS:
            ax.vlines(rows["predicted"], rows["low"], rows["high"], color=style.colour, linewidth=1.2, alpha=0.7)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    of = "the class" if several else shorten(labels[1], 20)
    interval = ", 95 % interval" if len(labels) <= MOST_INTERVALS else ""
    ax.set(xlabel=f"predicted probability of {of}", ylabel=f"share of {of} among the samples{interval}")
    if several:
        class_legend(ax, styles, lines=True)
    return ax
