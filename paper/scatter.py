"""The two-class sets in the first two features of PCA, SPCA and ISPCA, and how well these separate the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ispca.datasets import load
from ispca.datasets.registry import find
from ispca.plots.canvas import INK, load_pyplot

from .class_points import draw_classes
from .context import Context
from .data_sets import paper_sets
from .output import write_csv, write_figure
from .reductions import Picture, picture, reductions
from .separation import gain
from .verdicts import Verdict, decide, not_testable

METHODS = tuple(reductions(2))
COLUMNS = 6
# Of large sets only so many samples are drawn, so that they do not cover each other; all are measured.
MOST_POINTS = 300
VISIBLE = 0.03
# What the paper says of ISPCA against SPCA: +1 slightly better, -1 slightly worse.
SLIGHTLY = {"pcmac": 1, "arcene": 1, "prostate": 1, "dexter": -1}
Pictures = dict[str, dict[str, Picture]]


def run(context: Context) -> list[Verdict]:
    """Fit the three reductions on every two-class set, draw and judge."""
    names = context.sets.two_class()
    if not names:
        return verdicts({}, context)
    pictures: Pictures = {}
    labels: dict[str, Any] = {}
    for name in names:
        context.say(f"{name}: three reductions")
        data = load(name)
        labels[name] = data.target
        pictures[name] = {method: picture(name, method, data, 2) for method in METHODS}
    rows = [shown.row for found in pictures.values() for shown in found.values()]
    write_csv(context.out / "scatter.csv", rows)
    write_figure(draw(pictures, labels), context.out / "scatter")
    return verdicts(pictures, context)


def verdicts(pictures: Pictures, context: Context) -> list[Verdict]:
    """Judge what the paper says of the pictures."""
    found = [supervision_helps({name: p for name, p in pictures.items() if name in paper_sets()}, context)]
    found.append(better(pictures, context, "basehock", "clearly better than SPCA on basehock", 1, VISIBLE))
    for name, sign in SLIGHTLY.items():
        claim = f"slightly {'better' if sign > 0 else 'worse'} than SPCA on {name}"
        found.append(better(pictures, context, name, claim, sign, 0.0))
    return found


def supervision_helps(own: Pictures, context: Context) -> Verdict:
    """Judge whether SPCA and ISPCA separate better than PCA, on average over the paper's sets."""
    claim = "supervision separates the classes visibly better than PCA"
    rule = (
        f"mean of nearest-centroid and k-NN leave-one-out accuracy at least {VISIBLE:g} higher, averaged over sets"
    )
    if not own:
        return not_testable(claim, context.sets.reason(paper_sets()) or "no two-class set", rule=rule)
    gains = {
        method: [gain(found[method].separation, found["PCA"].separation)[0] for found in own.values()]
        for method in ("SPCA", "ISPCA")
    }
    parts = [
        f"{method} {np.mean(values):+.3f}, better on {sum(value > 0 for value in values)} of {len(values)} sets"
        for method, values in gains.items()
    ]
    parts += filter(None, [context.sets.reason([name for name in paper_sets() if find(name).target == "binary"])])
    return decide(claim, all(np.mean(values) >= VISIBLE for values in gains.values()), "; ".join(parts), rule)


def better(pictures: Pictures, context: Context, name: str, comparison: str, sign: int, least: float) -> Verdict:
    """Judge ISPCA against SPCA on one set."""
    claim = f"ISPCA is {comparison}"
    direction = "higher" if sign > 0 else "lower"
    amount = f"at least {least:g} {direction}, interval without 0" if least else direction
    rule = f"mean of nearest-centroid and k-NN leave-one-out accuracy {amount}"
    if name not in pictures:
        return not_testable(claim, context.sets.reason([name]), rule=rule)
    found = pictures[name]
    mean, low, high = gain(found["ISPCA"].separation, found["SPCA"].separation)
    holds = mean * sign > least and (not least or low * sign > 0)
    numbers = [
        f"{method} {found[method].row['nearest_centroid']:.3f} and {found[method].row['k_nearest']:.3f}"
        for method in ("ISPCA", "SPCA")
    ]
    held_out = np.mean(found["ISPCA"].held_out) - np.mean(found["SPCA"].held_out)
    detail = (
        f"{mean:+.3f}, 95 % interval {low:+.3f} to {high:+.3f} ({'; '.join(numbers)}; held out {held_out:+.3f})"
    )
    return decide(claim, holds, detail, rule)


def draw(pictures: Pictures, labels: dict[str, Any]) -> Any:
    """Draw bands of sets, in each a row per method."""
    names = list(pictures)
    n_columns = min(COLUMNS, len(names))
    n_bands = -(-len(names) // n_columns)
    size = (0.6 + 2.1 * n_columns, 0.8 + 6.4 * n_bands)
    figure, axes = load_pyplot().subplots(
        len(METHODS) * n_bands, n_columns, figsize=size, layout="constrained", squeeze=False
    )
    figure.get_layout_engine().set(hspace=0.03, wspace=0.03)
    for ax in axes.flat:
        ax.set_visible(False)
    for number, name in enumerate(names):
        band, column = divmod(number, n_columns)
        for row, method in enumerate(METHODS):
            ax = axes[band * len(METHODS) + row, column]
            ax.set_visible(True)
            _panel(ax, pictures[name][method], labels[name])
            if row == 0:
                title = name if name in paper_sets() else f"{name} (stand-in)"
                ax.set_title(title, fontsize=10.5, color=INK)
            if column == 0:
                ax.set_ylabel(method, fontsize=11, color=INK)
    note = "first two features; below each: leave-one-out accuracy of nearest centroid / 5 nearest neighbours"
    figure.suptitle(note, fontsize=10.5, x=0.01, ha="left", color=INK)
    return figure


def _panel(ax: Any, shown: Picture, labels: Any) -> None:
    chosen = np.arange(len(labels))
    if len(labels) > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(labels), MOST_POINTS, replace=False)
    Z = shown.Z[chosen]
    draw_classes(ax, Z, labels[chosen], np.unique(labels), 11)
    # A few texts far out would press all others together.
    for axis, values in zip("xy", Z.T, strict=True):
        low, high = np.quantile(values, [0.01, 0.99])
        reach = 0.15 * (high - low) or 1.0
        ax.set(**{f"{axis}lim": (max(values.min(), low - reach) - 0.1, min(values.max(), high + reach) + 0.1)})
    ax.set_xticks([])
    ax.set_yticks([])
    centroid, neighbours = shown.separation.accuracy
    ax.set_xlabel(f"{centroid:.2f} / {neighbours:.2f}", fontsize=9, color=INK)
