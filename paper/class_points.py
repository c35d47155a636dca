"""Points in the color and marker of their class, for the figures of the paper."""

from __future__ import annotations

from typing import Any

from ispca.plots.canvas import numbered_style


def draw_classes(ax: Any, points: Any, labels: Any, classes: Any, size: float) -> None:
    """Draw points, rasterized; all ``classes`` determine the colors, and ``size`` is the area of a marker."""
    for number, name in enumerate(classes):
        style = numbered_style(number)
        look = {"color": style.color, "marker": style.marker, "label": str(name)}
        ax.scatter(*points[labels == name].T, s=size, alpha=0.75, linewidths=0, rasterized=True, **look)
