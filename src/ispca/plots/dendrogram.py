"""Hierarchical clustering of samples or features, and its tree beside a heatmap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from .canvas import INK


class Clustering(NamedTuple):
    """The order of the leaves, and the merges as SciPy lists them; None for too few objects."""

    order: Indices
    merges: Floats | None


def clustered(values: Floats, linkage: str) -> Clustering:
    """Cluster the rows of a matrix, or objects by their condensed distances, with optimal leaf order."""
    # Imported here, because the command line would start later.
    from scipy.cluster import hierarchy

    merges = hierarchy.linkage(values, linkage, optimal_ordering=True)
    return Clustering(hierarchy.leaves_list(merges).astype(np.intp), merges)


def brackets(clustering: Clustering) -> Floats:
    """Return the corners of each merge, shape (merge, 4, 2): place among the leaves, and height.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.plots.dendrogram import brackets, clustered
    >>> brackets(clustered(np.array([[0.0], [5.0], [1.0]]), "single"))[:, 1, 1].tolist()
    [1.0, 4.0]
    """
    assert clustering.merges is not None
    # Leaves first, then one node per merge.
    nodes = [(float(place), 0.0) for place in np.argsort(clustering.order)]
    corners = []
    for first, second, height, _ in clustering.merges:
        left, right = sorted((nodes[int(first)], nodes[int(second)]))
        corners.append([left, (left[0], height), (right[0], height), right])
        nodes.append(((left[0] + right[0]) / 2, float(height)))
    return np.array(corners)


def draw_dendrogram(ax: Any, clustering: Clustering, place: Any, *, sideways: bool = False) -> Any:
    """Draw the tree into a part of the Axes of a heatmap: above its columns or, sideways, beside its rows."""
    from matplotlib.collections import LineCollection

    corners: Any = brackets(clustering)
    n_leaves = len(clustering.order)
    tree = ax.inset_axes(place)
    width = 0.8 if n_leaves <= 200 else 0.4
    tree.add_collection(LineCollection(corners[:, :, ::-1] if sideways else corners, colors=INK, linewidths=width))
    # A tree of identical objects has no height.
    top = 1.03 * max(float(corners[:, :, 1].max()), 1e-12)
    if sideways:
        tree.set(xlim=(0, top), ylim=(n_leaves - 0.5, -0.5))
    else:
        tree.set(xlim=(-0.5, n_leaves - 0.5), ylim=(0, top))
    tree.set_axis_off()
    return tree
