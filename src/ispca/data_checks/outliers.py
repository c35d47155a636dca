"""Outlying samples: far from the center and from their neighbors in the leading components."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._array_types import Floats, Indices
from .findings import Finding, named
from .similarity import leading_scores, squared_distances

FEWEST = 15
# Robust standard deviations from the median on one component.
FAR = 8.0
# Distance to the third nearest sample, in medians of that distance: a group of samples is a cluster.
ISOLATED, NEIGHBOR = 8.0, 3


def find_outliers(
    products: Floats, classes: Indices | None = None, ids: Sequence[str] | None = None
) -> list[Finding]:
    """Return a finding if samples are outlying; those of the smallest classes have no neighbors and are exempt."""
    if len(products) < FEWEST:
        return []
    scores = leading_scores(products)
    centered = scores - np.median(scores, axis=0)
    spread = 1.4826 * np.median(np.abs(centered), axis=0)
    tiny = 1e-6 * np.abs(centered).max(initial=0.0)
    distance = (np.abs(centered) / np.maximum(spread, tiny)).max(axis=1, initial=0.0)
    neighbor = np.sort(np.sqrt(squared_distances(scores @ scores.T)), axis=1)[:, NEIGHBOR]
    isolation = neighbor / max(np.median(neighbor), tiny)
    outlying = (distance >= FAR) & (isolation >= ISOLATED)
    if classes is not None:
        outlying &= np.bincount(classes)[classes] > NEIGHBOR
    rows = np.flatnonzero(outlying)
    rows = rows[np.argsort(-distance[rows], kind="stable")]
    if len(rows) == 0:
        return []
    verb, whether = ("is", "whether it was") if len(rows) == 1 else ("are", "whether they were")
    sentence = (
        f"{named('Sample', ids, rows)} {verb} far from all others in the leading components (robust distance "
        f"{_rounded(distance[rows].min())}{' or more' if len(rows) > 1 else ''}, limit {FAR:.0f}). Check "
        f"{whether} measured and labeled correctly: a single sample can dominate a component."
    )
    return [Finding("outliers", sentence, tuple(rows.tolist()))]


def _rounded(distance: float) -> str:
    return f"{distance:.0f}" if distance < 1000 else "over 1000"
