"""The five-class set in pairs of four features of PCA, SPCA and ISPCA, and how well these separate the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ispca.datasets import load
from ispca.plots.canvas import INK, load_pyplot

from .class_points import draw_classes
from .context import Context
from .data_sets import stand_ins
from .output import write_csv, write_figure
from .reductions import Picture, picture, reductions
from .verdicts import Verdict, decide, not_testable

SET = "lung-5c"
N_FEATURES = 4
METHODS = tuple(reductions(N_FEATURES))
ALMOST_PERFECT = 0.95
ALMOST_PERFECT_CLASS = 0.9


def five_class_set(context: Context) -> str | None:
    """Return the paper's five-class set, or a stand-in where that is missing, or None."""
    return next(iter(context.sets.of([SET, *stand_ins(SET)])), None)


def five_class_verdict(context: Context, name: str, claim: str, holds: bool, detail: str, rule: str) -> Verdict:
    """Judge a claim about the five-class set; of a stand-in, report only what it says under its own name."""
    if name == SET:
        return decide(claim, holds, detail, rule)
    beside = f"{name} {'does as claimed' if holds else 'does not'}: {detail}"
    return not_testable(claim, context.sets.reason([SET]), [beside], rule)


def run(context: Context) -> list[Verdict]:
    """Fit the three reductions with four components, draw all pairs, and judge."""
    name = five_class_set(context)
    if name is None:
        return [not_testable(claim, context.sets.reason([SET]), rule=rule) for claim, rule in CLAIMS.values()]
    data = load(name)
    pictures = {method: picture(name, method, data, N_FEATURES) for method in METHODS}
    rows = [shown.row | per_class(shown, data) for shown in pictures.values()]
    write_csv(context.out / "lung.csv", rows)
    write_figure(draw(name, pictures, data), context.out / "lung")
    return verdicts(context, name, pictures, data)


def per_class(shown: Picture, data: Bunch) -> dict[str, float]:
    """Return the share of each class that k-NN recognises."""
    hits = shown.separation.neighbours
    names = data.target_names if data.target_names is not None else np.unique(data.target)
    return {f"k_nearest, {names[c]}": float(hits[data.target == c].mean()) for c in np.unique(data.target)}


CLAIMS = {
    "perfect": (
        "ISPCA separates all five classes almost perfectly with four features",
        f"leave-one-out k-NN accuracy at least {ALMOST_PERFECT:g}, and {ALMOST_PERFECT_CLASS:g} in every class",
    ),
    "better": (
        "ISPCA separates the five classes better than PCA and SPCA",
        "leave-one-out nearest-centroid and k-NN accuracy both higher than with either",
    ),
}


def verdicts(context: Context, name: str, pictures: dict[str, Picture], data: Bunch) -> list[Verdict]:
    """Judge both claims."""
    accuracy = {method: shown.separation.accuracy for method, shown in pictures.items()}
    lowest = min(per_class(pictures["ISPCA"], data).items(), key=lambda item: item[1])
    _, neighbours = accuracy["ISPCA"]
    outcomes = {
        "perfect": (
            neighbours >= ALMOST_PERFECT and lowest[1] >= ALMOST_PERFECT_CLASS,
            f"nearest centroid {accuracy['ISPCA'][0]:.3f}, k-NN {neighbours:.3f}; lowest in a class: "
            f"{lowest[1]:.3f} ({lowest[0].partition(', ')[2]}); held out k-NN {pictures['ISPCA'].held_out[1]:.3f}",
        ),
        "better": (
            all(np.all(np.array(accuracy["ISPCA"]) > accuracy[other]) for other in ("PCA", "SPCA")),
            "; ".join(f"{method} {a:.3f} and {b:.3f}" for method, (a, b) in accuracy.items()),
        ),
    }
    return [five_class_verdict(context, name, CLAIMS[key][0], *outcomes[key], CLAIMS[key][1]) for key in CLAIMS]


def draw(name: str, pictures: dict[str, Picture], data: Bunch) -> Any:
    """Draw the pairs of features of each method as a triangle, the methods side by side."""
    size = N_FEATURES - 1
    figure = load_pyplot().figure(figsize=(14.5, 5.4), layout="constrained")
    classes = np.unique(data.target)
    names = data.target_names if data.target_names is not None else classes
    handles: list[Any] = []
    blocks = figure.subfigures(1, len(pictures), wspace=0.03)
    for block, (method, shown) in zip(np.atleast_1d(blocks), pictures.items(), strict=True):
        axes = block.subplots(size, size, sharex="col", sharey="row")
        centroid, neighbours = shown.separation.accuracy
        block.suptitle(f"{method}: nearest centroid {centroid:.2f}, 5-NN {neighbours:.2f}", fontsize=11, color=INK)
        for row in range(size):
            for column in range(size):
                ax = axes[row, column]
                if column > row:
                    ax.set_axis_off()
                    continue
                draw_classes(ax, shown.Z[:, [column, row + 1]], data.target, classes, 11)
                ax.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
                if column == 0:
                    ax.set_ylabel(f"$z_{row + 2}$", fontsize=11)
                if row == size - 1:
                    ax.set_xlabel(f"$z_{column + 1}$", fontsize=11)
        handles = axes[0, 0].get_legend_handles_labels()[0]
    labels = [f"{names[number]} ({np.sum(data.target == c)})" for number, c in enumerate(classes)]
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, markerscale=1.8)
    own = "" if name == SET else f", run beside {SET}"
    figure.suptitle(f"{name}{own}: first four features", fontsize=11, x=0.01, ha="left", color=INK)
    return figure
