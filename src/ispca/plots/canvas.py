"""Colors, markers, legends and labels shared by all plots; matplotlib is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..foundation.extras import load_extra

# Okabe and Ito's palette, distinguishable with every common form of color vision and in grayscale.
INK = "#222222"
ACCENT = "#0072B2"
SECOND = "#D55E00"
FAINT = "#999999"
PALE = "#D9D9D9"

# Each color was chosen for the largest difference from those before it, over normal color vision, the three forms
# of color blindness (simulated after Machado et al., 2009) and lightness alone. Only a few colors differ in all
# of these, so markers and line styles differ too.
COLORS = (
    *("#0072B2", "#E69F00", "#882255", "#7FD8A5", "#332288"),
    *("#F60239", "#9400E6", "#009FFA", "#CC6677", "#5A3A1A"),
    *("#117733", "#FFB2FD", "#E000C0", "#D55E00", "#B0B0B0"),
)
MARKERS: tuple[Any, ...] = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*", (4, 1, 0), "d", (6, 1, 0), "h")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))

# Above this number, points are small, translucent and rasterized.
MANY_POINTS = 5000
# Approximate length of shortened names, in characters.
NAME_LENGTH = 32


class Style(NamedTuple):
    """Color, marker and line style of a class in every plot."""

    color: str
    marker: Any
    line: Any


def class_style(classes: Any) -> dict[Any, Style]:
    """Return a style for every class; a class has the same style in all plots.

    Parameters
    ----------
    classes : array-like
        All classes, including those not drawn.

    Returns
    -------
    styles : dict
        Color, marker and line style by class. Beyond 15 classes, colors repeat with other markers.

    Examples
    --------
    >>> from ispca.plots import class_style
    >>> class_style(["well", "ill"])["ill"].color
    '#0072B2'
    """
    labels = np.unique(np.asarray(classes)).tolist()
    return {label: numbered_style(number) for number, label in enumerate(labels)}


def text_styles(classes: Any) -> dict[str, Style]:
    """Return the style of every class by its name as text."""
    return {str(label): style for label, style in class_style(classes).items()}


def numbered_style(number: int) -> Style:
    """Return the style of the class with this number, starting at 0."""
    turn, place = divmod(number, len(COLORS))
    marker = MARKERS[(place + 4 * turn) % len(MARKERS)]
    return Style(COLORS[place], marker, LINES[(place + turn) % len(LINES)])


def load_pyplot() -> Any:
    """Return matplotlib.pyplot, or raise an error that says how to install it."""
    return load_extra("Plotting", "matplotlib.pyplot")


def new_axes(ax: Any, width: float, height: float) -> Any:
    """Return the given Axes or new ones of this size in inches, without the top and right spines."""
    if ax is None:
        _, ax = load_pyplot().subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def named_axes(ax: Any, names: Any, width: float, height: float, row: float) -> Any:
    """Return Axes with one row per name, the first at the top, wide enough for long names."""
    short = short_names(names)
    ax = new_axes(ax, width + names_width(short), height + row * len(short))
    ax.set_yticks(np.arange(len(short)), short, fontsize=9)
    ax.set_ylim(len(short) - 0.4, -0.6)
    return ax


def shorten(name: Any, length: int = NAME_LENGTH) -> str:
    """Shorten a long name in the middle, since beginnings and ends both distinguish names.

    >>> shorten("a gene with a very long name, transcript variant 2", 24)
    'a gene with a … variant 2'
    """
    # Matplotlib would interpret a dollar sign as mathematical notation.
    text = " ".join(str(name).split()).replace("$", r"\$")
    if len(text) <= length:
        return text
    end = (length - 1) * 2 // 5
    return f"{text[: length - 1 - end].rstrip()} … {text[-end:].lstrip()}"


def short_names(names: Any, length: int = NAME_LENGTH) -> list[str]:
    """Shorten names so that they remain distinct.

    >>> short_names(["hypothetical protein alpha of yeast", "hypothetical protein beta of yeast"], 20)
    ['hypothetic … in alpha', 'hypothetic … in beta']
    """
    texts = [" ".join(str(name).split()) for name in names]
    short = [shorten(text, length) for text in texts]
    for alike in {name for name in short if short.count(name) > 1}:
        places = [place for place, name in enumerate(short) if name == alike]
        letters = enumerate(zip(*(texts[place] for place in places), strict=False))
        first = max(next((i for i, letter in letters if len(set(letter)) > 1), len(texts[places[0]])) - 3, 0)
        if len({texts[place] for place in places}) > 1:
            for place in places:
                end = texts[place][first : first + length // 2 - 2].strip()
                short[place] = f"{texts[place][: length // 2].rstrip()} … {end}".replace("$", r"\$")
    return short


def names_width(names: Sequence[str]) -> float:
    """Return the additional width, in inches, that long names need."""
    return 0.085 * max(max(map(len, names), default=0) - 12, 0)


def point_look(n_points: int) -> dict[str, Any]:
    """Return size, opacity and rasterization for this number of points."""
    if n_points > MANY_POINTS:
        return {"s": 5.0, "alpha": 0.35, "rasterized": True, "linewidths": 0.0}
    size = float(np.interp(np.log10(max(n_points, 1)), [1.7, 3.7], [36.0, 9.0]))
    return {"s": size, "alpha": 0.85, "linewidths": 0.4, "edgecolors": "white"}


def class_legend(place: Any, styles: dict[Any, Style], lines: bool = False) -> Any:
    """Add a legend of the classes to the right of the Axes or the figure."""
    from matplotlib.figure import FigureBase
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=s.color, marker=s.marker, linestyle=s.line if lines else "none", markersize=6)
        for s in styles.values()
    ]
    labels = [shorten(label, 24) for label in styles]
    look: dict[str, Any] = {"handlelength": 3.0} if lines else {}
    if isinstance(place, FigureBase):
        look |= {"loc": "outside right upper"}
    else:
        look |= {"loc": "upper left", "bbox_to_anchor": (1.03, 1.0), "borderaxespad": 0.0}
    # Twenty labels are about as high as a plot.
    return place.legend(handles, labels, frameon=False, fontsize=9, ncols=-(-len(labels) // 20), **look)


def halo() -> list[Any]:
    """Return a white outline for text and lines drawn over points."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground="white")]


def root_figure(ax: Any) -> Any:
    """Return the figure of the Axes, which may be inside subfigures."""
    return ax.figure.figure


def place_labels(ax: Any, x: Any, y: Any, names: Sequence[str]) -> list[Any]:
    """Label points with names; a name that would overlap another or leave the Axes is omitted."""
    root_figure(ax).draw_without_rendering()
    frame = ax.get_window_extent()
    placed: list[Any] = []
    taken: list[Any] = []
    for x_here, y_here, name in zip(x, y, names, strict=True):
        found = _place(ax, (x_here, y_here), name, frame, taken)
        if found is not None:
            placed.append(found)
            taken.append(found.get_window_extent().padded(1))
    return placed


def _place(ax: Any, point: Any, name: str, frame: Any, taken: list[Any]) -> Any:
    above = [(5, 4, "left", "bottom"), (-5, 4, "right", "bottom")]
    below = [(5, -4, "left", "top"), (-5, -4, "right", "top")]
    # There is more space away from the center.
    sides = above + below if ax.transData.transform(point)[1] >= (frame.y0 + frame.y1) / 2 else below + above
    look = {"textcoords": "offset points", "fontsize": 8, "color": INK, "path_effects": halo()}
    for right, up, horizontal, vertical in sides:
        text = ax.annotate(name, point, xytext=(right, up), ha=horizontal, va=vertical, **look)
        box = text.get_window_extent()
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        if inside and not any(box.overlaps(other) for other in taken):
            return text
        text.remove()
    return None
