"""Features unlike all others, and features on a raw scale: counts and intensities."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from scipy.special import betaincc

from ..foundation.arrays import Floats, Indices, Mask
from ..readers.subsets_and_transforms import recognize_scale
from .findings import BLOCK, Finding, noun_with_names

# With fewer features there is no "all others".
FEWEST = 50
# At most this many features, or this fraction, are odd; more are the nature of the data.
MOST, MOST_FRACTION = 20, 0.005
# The gap that separates odd locations from the others, in ranges of the others, on the plain and the log scale.
LOCATION_GAP, LOG_LOCATION_GAP = 1.0, 0.5
# The gap of the logarithms of standard deviations, absolute and in ranges of the others.
SPREAD_GAP, SPREAD_RANGES = np.log(3.0), 0.3
# A feature of few values among features of which nearly all have values of their own for most samples.
VALUES = 10
# Samples by which the number of distinct values is counted.
ROWS = 200
SINGULAR = {"take": "takes", "have": "has", "vary": "varies", "are": "is"}
# Correlations of fewer samples are too uncertain.
FEWEST_SAMPLES = 20
# Samples that are used, features that are compared with, and features that are compared at a time.
COMPARED_SAMPLES, COMPARED_FEATURES, AT_A_TIME = 200, 1000, 1024
# Chance explains the largest correlation of an odd feature, and not that of nearly all others.
CHANCE, CERTAIN = 0.05, 0.001


def find_odd_features(
    X: Floats, n_distinct: Indices, features: Sequence[str] | None = None, known: Collection[int] = ()
) -> list[Finding]:
    """Return a finding for each way in which a few features differ from all others, except those already known."""
    n_features = X.shape[1]
    if n_features < FEWEST or X.shape[0] < VALUES:
        return []
    mean, spread, integer = _columns(X)
    varies = n_distinct > 1
    most = min(MOST, max(3, int(MOST_FRACTION * n_features)))
    n_rows = min(X.shape[0], ROWS)
    few = varies & (n_distinct <= min(VALUES, n_rows / 4))
    single = np.quantile(n_distinct, 0.01) >= n_rows / 2
    odd = {
        "take only integer values, unlike nearly all others": _rare(integer & varies, most),
        f"take at most {VALUES} different values, unlike all others": _rare(few & single, most),
        "have values of another magnitude than all others": _far(mean, most),
        "vary far more than all others": _apart(
            np.log(spread, where=spread > 0, out=np.full(n_features, -np.inf)), most, SPREAD_RANGES, SPREAD_GAP
        ),
        "are not correlated with the others, unlike nearly all features": find_uncorrelated(X, most)
        & (n_distinct >= n_rows / 2),
    }
    found: list[Finding] = []
    told = np.isin(np.arange(n_features), list(known))
    for how, mask in odd.items():
        places = np.flatnonzero(mask & varies & ~told)
        told |= mask
        if len(places):
            found.append(Finding("odd_features", _sentence(how, features, places), (), tuple(places.tolist())))
    return found


def count_distinct(X: Floats) -> Indices:
    """Return the number of distinct values of each feature, among at most 200 evenly spaced samples."""
    rows = np.linspace(0, X.shape[0] - 1, min(X.shape[0], ROWS)).astype(np.intp)
    result = np.ones(X.shape[1], dtype=np.intp)
    for start in range(0, X.shape[1], BLOCK):
        part = np.sort(X[rows, start : start + BLOCK], axis=0)
        result[start : start + BLOCK] += (part[1:] > part[:-1]).sum(axis=0)
    return result


def _columns(X: Floats) -> tuple[Floats, Floats, Mask]:
    """Return the mean and the standard deviation of each feature, and whether it has integer values only."""
    mean, spread, integer = np.empty(X.shape[1]), np.empty(X.shape[1]), np.empty(X.shape[1], dtype=bool)
    for start in range(0, X.shape[1], BLOCK):
        part, here = X[:, start : start + BLOCK], slice(start, start + BLOCK)
        mean[here], spread[here] = part.mean(axis=0), part.std(axis=0)
        integer[here] = (part == np.rint(part)).all(axis=0)
    return mean, spread, integer


def _rare(mask: Mask, most: int) -> Mask:
    return mask if mask.sum() <= most else np.zeros_like(mask)


def _far(mean: Floats, most: int) -> Mask:
    """Return which features have means beyond a gap, above or below those of all others."""
    mask = _apart(mean, most, LOCATION_GAP) | _apart(-mean, most, LOCATION_GAP)
    if mean.min() > 0:
        # Raw intensities spread over decades: a large value is odd only if its logarithm is.
        log = np.log(mean)
        mask &= _apart(log, most, LOG_LOCATION_GAP) | _apart(-log, most, LOG_LOCATION_GAP)
    return mask


def _apart(values: Floats, most: int, ranges: float, least: float = 0.0) -> Mask:
    """Return which of the largest values a gap separates from the rest, measured in ranges of the rest."""
    order = np.argsort(-values, kind="stable")
    top, low = values[order[: most + 1]], values[np.isfinite(values)].min(initial=np.inf)
    for n_odd in range(most, 0, -1):
        gap, width = top[n_odd - 1] - top[n_odd], top[n_odd] - low
        if np.isfinite(width) and width > 0 and gap >= max(ranges * width, least):
            mask = np.zeros(len(values), dtype=bool)
            mask[order[:n_odd]] = True
            return mask
    return np.zeros(len(values), dtype=bool)


def _sentence(how: str, features: Sequence[str] | None, places: Indices) -> str:
    who = noun_with_names("Feature", features, places)
    if len(places) == 1:
        verb, rest = how.split(" ", 1)
        return (
            f"{who} {SINGULAR[verb]} {rest}. It may be a clinical column, such as age or sex, or a failed "
            "measurement, but is analyzed like the rest. If so, drop it, or adjust for it as a covariate."
        )
    return (
        f"{who} {how}. They may be clinical columns, such as age or sex, or failed measurements, but are analyzed "
        "like the rest. If so, drop them, or adjust for them as covariates."
    )


def find_uncorrelated(X: Floats, most: int) -> Mask:
    """Return which features have no correlated neighbor; none if more than ``most`` seem to have none.

    Each half of the features, even and odd, is compared with at most 1000 features of the other half.
    """
    none = np.zeros(X.shape[1], dtype=bool)
    X = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], COMPARED_SAMPLES)).astype(np.intp)]
    if X.shape[0] < FEWEST_SAMPLES:
        return none
    halves = [np.arange(half, X.shape[1], 2) for half in (0, 1)]
    neighbors = [_standardize(X[:, _evenly(half)]) for half in reversed(halves)]
    p_values, n_uncertain = np.zeros(X.shape[1]), 0
    for half, others in zip(halves, neighbors, strict=True):
        for start in range(0, len(half), AT_A_TIME):
            columns = half[start : start + AT_A_TIME]
            p_values[columns] = _p_values(_standardize(X[:, columns]), others)
            n_uncertain += int(np.count_nonzero(p_values[columns] >= CERTAIN))
            if n_uncertain > most:
                return none
    found = p_values >= CHANCE
    # A gap separates odd features from the others.
    return found if n_uncertain <= 2 * np.count_nonzero(found) else none


def _evenly(columns: Indices) -> Indices:
    return columns[np.linspace(0, len(columns) - 1, min(len(columns), COMPARED_FEATURES)).astype(np.intp)]


def _p_values(columns: Floats, others: Floats) -> Floats:
    """Return the p-value of the largest correlation of each column with the others; 0 for constant columns."""
    largest = np.clip(np.abs(others.T @ columns).max(axis=0, initial=0.0), 0.0, 1.0)
    single = np.minimum(betaincc(0.5, (len(columns) - 2) / 2, largest**2), 1 - 1e-12)
    return np.where(columns.any(axis=0), -np.expm1(others.shape[1] * np.log1p(-single)), 0.0)


def _standardize(X: Floats) -> Floats:
    """Return centered columns of unit length; constant ones become 0."""
    Z = X - X.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    limit = 1e-12 * np.sqrt(len(X)) * np.abs(X).max(axis=0)
    return np.asarray(Z * np.divide(1.0, length, out=np.zeros_like(length), where=length > limit))


# Values are raw if none is negative and the 99th percentile exceeds the median of the positive ones this often.
LONG_TAIL = 20.0
# Values by which the scale is judged.
JUDGED_VALUES = 100_000
WHY = "The few largest values dominate components of raw values."
REMEDY = {
    "counts": "Take logarithms first: of counts per million, because the library sizes differ.",
    "intensities": "Take logarithms first.",
}
NEGATIVE = "Replace values below a small positive limit by that limit first, and then take logarithms."


def find_raw_scale(X: Any) -> list[Finding]:
    """Return a finding if the features are raw counts or raw intensities."""
    scale = recognize_scale(X)
    remedy = NEGATIVE if scale.negative else REMEDY.get(scale.kind)
    return [Finding("scale", f"{scale.sentence} {WHY} {remedy}")] if scale.sentence else []


def log_if_raw(X: Floats) -> Floats:
    """Return the logarithm of one plus X if X contains raw counts or intensities, and X itself otherwise.

    >>> logs = np.random.default_rng(0).normal(8, 2, size=(50, 100))
    >>> log_if_raw(logs) is logs, float(log_if_raw(np.exp(logs)).max()) < 20
    (True, True)
    """
    values = X.ravel()[:: max(1, X.size // JUDGED_VALUES)]
    positive = values[values > 0]
    if X.min(initial=0.0) < 0 or not len(positive):
        return X
    raw = np.quantile(values, 0.99) > LONG_TAIL * np.median(positive)
    return np.asarray(np.log1p(X)) if raw else X
