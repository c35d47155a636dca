"""Matplotlib, imported when first used, and the look all pictures share."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette: told apart by every common kind of colour vision, and in grey.
INK = "#222222"
ACCENT = "#0072B2"
SECOND = "#D55E00"
FAINT = "#999999"


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
