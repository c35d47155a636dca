"""The four projection vectors of ISPCA on the five-class set, and which class their genes belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.utils import Bunch

from ispca import feature_scores
from ispca.datasets import load
from ispca.plots.canvas import COLORS, INK, load_pyplot

from .context import Context
from .lung import N_FEATURES, SET, five_class_set, five_class_verdict
from .output import write_csv, write_figure
from .reductions import reductions
from .verdicts import Verdict, not_testable

MOST = 0.8
CLAIM = "the nonzero genes of each of the four vectors characterise one class"
RULE = f"{MOST:.0%} of the genes a vector brings in score highest with its class, and the four classes differ"


def run(context: Context) -> list[Verdict]:
    """Fit ISPCA with four components, draw the vectors, and judge."""
    name = five_class_set(context)
    if name is None:
        return [not_testable(CLAIM, context.sets.reason([SET]), rule=RULE)]
    data = load(name)
    fit = reductions(N_FEATURES)["ISPCA"]
    Z = fit.fit_transform(data.data, data.target)
    classes, scores = scores_by_class(data)
    summaries = [summary(k, fit, Z, data.target, scores) for k in range(fit.n_components_)]
    write_csv(context.out / "loadings.csv", gene_rows(data, fit, classes, scores))
    write_csv(context.out / "loadings-vectors.csv", [_with_class(one, data) for one in summaries])
    write_figure(draw(name, data, fit, summaries), context.out / "loadings")
    return [verdict(context, name, summaries, data)]


def scores_by_class(data: Bunch) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, and the score of every gene for each class against the rest."""
    classes = np.unique(data.target)
    scores = np.array([feature_scores(data.data, (data.target == c).astype(int)) for c in classes])
    return classes, scores


def summary(k: int, fit: Any, Z: Any, y: Any, scores: np.ndarray) -> dict[str, Any]:
    """Return what one vector is made of: how many genes, the class it separates, and whether they belong to it.

    A gene belongs to the class it scores highest with by itself. ``auc_of_its_class`` is the area under the ROC
    curve of the new feature for its class against the rest.
    """
    classes = np.unique(y)
    # Later vectors also hold what was subtracted; the genes a vector brings in are those of its direction v.
    genes = np.flatnonzero(fit.directions_[k])
    supervised = k < fit.n_supervised_
    target = fit.steps_[k].target_class if supervised else None
    belong = classes[scores[:, genes].argmax(axis=0)]
    return {
        "vector": k + 1,
        "supervised": supervised,
        "class": target,
        "nonzero_in_w": int(np.count_nonzero(fit.components_[k])),
        "brought_in": len(genes),
        "share_of_its_class": float(np.mean(belong == target)) if supervised else np.nan,
        "auc_of_its_class": float(roc_auc_score(y == target, Z[:, k])) if supervised else np.nan,
    }


def verdict(context: Context, name: str, summaries: Sequence[dict[str, Any]], data: Bunch) -> Verdict:
    """Judge from the summaries."""
    targets = [one["class"] for one in summaries]
    every = len(summaries) == N_FEATURES and all(one["supervised"] for one in summaries)
    holds = (
        every and len(set(targets)) == len(targets) and all(one["share_of_its_class"] >= MOST for one in summaries)
    )
    parts = [
        f"w{one['vector']} {class_name(data, one['class'])} {one['share_of_its_class']:.0%} of {one['brought_in']}"
        f" (AUC {one['auc_of_its_class']:.2f})"
        if one["supervised"]
        else f"w{one['vector']} unsupervised"
        for one in summaries
    ]
    return five_class_verdict(context, name, CLAIM, holds, ", ".join(parts), RULE)


def class_name(data: Bunch, code: Any) -> str:
    """Return the label of a class."""
    return str(code if data.target_names is None else data.target_names[int(code)])


def _with_class(one: dict[str, Any], data: Bunch) -> dict[str, Any]:
    return one | {"class": class_name(data, one["class"]) if one["supervised"] else ""}


def gene_rows(data: Bunch, fit: Any, classes: np.ndarray, scores: np.ndarray) -> list[dict[str, Any]]:
    """Return one row per gene that a supervised vector uses."""
    W = fit.components_
    used = np.flatnonzero((W[: fit.n_supervised_] != 0).any(axis=0))
    return [
        {"gene": str(data.feature_names[j]), "highest_with": class_name(data, classes[scores[:, j].argmax()])}
        | {"score": float(scores[:, j].max())}
        | {f"w{k + 1}": float(W[k, j]) for k in range(len(W))}
        for j in used
    ]


def draw(name: str, data: Bunch, fit: Any, summaries: Sequence[dict[str, Any]]) -> Any:
    """Draw every vector as a line per gene, in the color its class has in ``lung``."""
    count = len(summaries)
    figure, axes = load_pyplot().subplots(
        count, 1, figsize=(9, 0.9 + 1.5 * count), layout="constrained", sharex=True, squeeze=False
    )
    classes = np.unique(data.target).tolist()
    for ax, one in zip(axes.flat, summaries, strict=True):
        w = fit.components_[one["vector"] - 1]
        color = COLORS[classes.index(one["class"]) % len(COLORS)] if one["supervised"] else INK
        ax.vlines(np.flatnonzero(w), 0, w[w != 0], color=color, linewidth=0.9)
        ax.axhline(0, color=INK, linewidth=0.6)
        ax.tick_params(bottom=ax is axes[-1, 0])
        what = f"separates {class_name(data, one['class'])}" if one["supervised"] else "unsupervised"
        ax.set_title(
            f"$w_{one['vector']}$: {what}, {one['nonzero_in_w']} genes, {one['brought_in']} of them chosen now",
            fontsize=10,
            loc="left",
        )
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.tick_params(labelsize=8)
    axes[-1, 0].set_xlabel(f"gene (of {len(data.feature_names)} in {name})")
    return figure
