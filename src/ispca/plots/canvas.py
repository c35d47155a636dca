"""Matplotlib, imported when first used, and the look all pictures share."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette: told apart by every common kind of colour vision, and in grey.
INK = "#222222"
ACCENT = "#0072B2"
SECOND = "#D55E00"
FAINT = "#999999"
# Classes differ in colour and in marker.
CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000")
CLASS_MARKERS = ("o", "^", "s", "D", "v", "P", "X")


def load_pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("Plots need matplotlib: pip install 'ispca[plots]'") from None
    return pyplot


def new_axes(ax: Any, width: float, height: float) -> Any:
    """Return the given Axes, or new ones of this size in inches, without the frame's upper and right side."""
    if ax is None:
        _, ax = load_pyplot().subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_classes(ax: Any, points: Any, labels: Any, classes: Any, size: float = 9.0) -> None:
    """Draw points in the colour and marker of their class; in an SVG they are one small picture.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    points : ndarray of shape (n, 2)
        Where they lie.
    labels : ndarray of shape (n,)
        Their classes.
    classes : sequence
        All classes, which decides the colours; from the eighth on they are used again.
    size : float, default=9.0
        Area of a marker.
    """
    for number, name in enumerate(classes):
        chosen = labels == name
        look = {"color": CLASS_COLOURS[number % 7], "marker": CLASS_MARKERS[number % 7]}
        ax.scatter(*points[chosen].T, s=size, alpha=0.75, linewidths=0, rasterized=True, label=str(name), **look)
