"""Clusters of posterior draws that predict alike: a few stand for all of them during the search."""

from __future__ import annotations

import numpy as np

from .._array_types import Floats, Indices
from .reference import ReferencePredictions

MOST_ITERATIONS = 30


def clustered(predictions: ReferencePredictions, n_clusters: int, seed: int) -> ReferencePredictions:
    """Return the mean predictions of clusters of draws, with the number of draws as weights.

    Draws are grouped by their linear predictors; the extra of a Gaussian cluster contains the spread of its means.
    """
    if predictions.n_draws <= n_clusters:
        return predictions
    loss = predictions.family.projection
    points = loss.link(loss.targets(predictions.mean)).reshape(predictions.n_draws, -1)
    labels = k_means(points, n_clusters, np.random.default_rng(seed))
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    means, extras, offsets = [], [], []
    for chosen in members:
        inside = predictions.weights[chosen] / predictions.weights[chosen].sum()
        part = predictions.mean[:, chosen]
        average = np.tensordot(part, inside, axes=(1, 0))
        means.append(average)
        if predictions.extra is not None:
            spread = predictions.relative_weight() @ (part - average[:, None]) ** 2 @ inside
            extras.append(loss.pooled(predictions.extra[chosen], inside, spread))
        if predictions.offset is not None:
            offsets.append(predictions.offset[:, chosen] @ inside)
    return predictions._replace(
        mean=np.stack(means, axis=1),
        extra=np.stack(extras) if extras else None,
        offset=np.stack(offsets, axis=1) if offsets else None,
        weights=np.array([predictions.weights[chosen].sum() for chosen in members]),
    )


def k_means(points: Floats, n_clusters: int, rng: np.random.Generator) -> Indices:
    """Return the cluster of each point, by Lloyd's algorithm from distant starting points."""
    points = points - points.mean(axis=0)
    squares = np.einsum("ij,ij->i", points, points)
    centers = points[[rng.integers(len(points))]]
    nearest = np.full(len(points), np.inf)
    while len(centers) < n_clusters:
        newest = centers[-1]
        nearest = np.minimum(nearest, np.maximum(squares - 2 * points @ newest + newest @ newest, 0))
        if nearest.sum() <= 0:  # fewer distinct points than clusters
            break
        centers = np.concatenate([centers, points[[rng.choice(len(points), p=nearest / nearest.sum())]]])
    labels = np.full(len(points), -1)
    for _ in range(MOST_ITERATIONS):
        distance = np.einsum("ij,ij->i", centers, centers) - 2 * points @ centers.T
        found = distance.argmin(axis=1)
        if (found == labels).all():
            break
        labels = found
        for label in np.unique(labels):
            centers[label] = points[labels == label].mean(axis=0)
    return labels
