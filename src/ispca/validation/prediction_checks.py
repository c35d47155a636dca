"""Refuse predictions that cannot be right: probabilities, labels, values and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats, Indices

# In single precision, row sums differ from 1 by at most this much, and probabilities are at most this far below 0.
SUM_TOLERANCE = 1e-3
NEGATIVE_TOLERANCE = 1e-6
# Sums that are closer to 1 than this are exact in double precision, and the row is not rescaled.
ROUNDING = 1e-9


class ImpossiblePrediction(ValueError):
    """An estimator predicts something that cannot be right."""


def possible_probabilities(given: Any, n_samples: int, n_classes: int) -> Floats:
    """Return probabilities with one row per sample and one column per class; every row sums to one."""
    P = _finite(given, "predict_proba", (n_samples, n_classes))
    if (P < -NEGATIVE_TOLERANCE).any():
        raise ImpossiblePrediction(f"predict_proba returned a negative probability ({P.min():.3g}).")
    P = np.maximum(P, 0.0)
    with np.errstate(over="ignore"):
        sums = P.sum(axis=1, keepdims=True)
    off = np.abs(sums - 1.0)
    if n_samples and off.max() > SUM_TOLERANCE:
        raise ImpossiblePrediction(
            f"predict_proba returned a row that sums to {sums[off.argmax(), 0]:.6g} instead of 1."
        )
    result: Floats = np.where(off > ROUNDING, P / sums, P)
    return result


def possible_labels(given: Any, classes: np.ndarray, n_samples: int) -> Indices:
    """Return the numbers of the predicted classes."""
    return known_labels(_shaped(np.asarray(given), "predict", (n_samples,)), classes, "predict returned")


def known_labels(labels: np.ndarray, classes: np.ndarray, where: str) -> Indices:
    """Return the positions of labels among the classes; an unknown label is an error."""
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ImpossiblePrediction(f"{where} {labels[unknown].tolist()[0]!r}, which is not one of the classes.")
    numbers: Indices = np.searchsorted(classes, labels)
    return numbers


def possible_ranking(given: Any, n_samples: int, n_classes: int) -> Floats:
    """Return decision values; for two classes, one or two per sample."""
    where = "decision_function"
    ranking = _numbers(given, where)
    if n_classes == 2 and ranking.shape != (n_samples, 2):
        ranking = _shaped(ranking, where, (n_samples,))
    if ranking.ndim not in (1, 2) or len(ranking) != n_samples:
        raise ImpossiblePrediction(f"{where} returned shape {ranking.shape} for {n_samples} samples.")
    return _finite(ranking, where, ranking.shape)


def possible_values(given: Any, n_samples: int, where: str = "predict") -> Floats:
    """Return finite values, one per sample."""
    return _finite(given, where, (n_samples,))


def possible_counts(given: Any, n_samples: int) -> Floats:
    """Return expected counts, one per sample."""
    expected = possible_values(given, n_samples)
    if (expected < 0).any():
        raise ImpossiblePrediction(f"predict returned a negative expected count ({expected.min():.3g}).")
    return expected


def possible_curves(given: Any, n_samples: int, n_times: int) -> Floats:
    """Return probabilities of survival with one row per sample and one column per time, which never increase."""
    where = "predict_survival_function"
    curves = _finite(given, where, (n_samples, n_times))
    low, high = curves.min(initial=0.0), curves.max(initial=0.0)
    if low < -NEGATIVE_TOLERANCE or high > 1 + NEGATIVE_TOLERANCE:
        raise ImpossiblePrediction(
            f"{where} returned {high if low >= 0 else low:.3g}, which is not a probability."
        )
    if (np.diff(curves, axis=1) > NEGATIVE_TOLERANCE).any():
        raise ImpossiblePrediction(f"{where} returned a survival curve that increases.")
    return np.clip(curves, 0.0, 1.0)


def possible_spread(given: Any, n_samples: int) -> Floats:
    """Return positive standard deviations."""
    where = "predict(X, return_std=True)"
    spread = possible_values(given, n_samples, where)
    if (spread <= 0).any():
        raise ImpossiblePrediction(
            f"{where} returned a standard deviation that is not positive ({spread.min():.3g})."
        )
    return spread


def possible_log_density(given: Any, n_samples: int) -> Floats:
    """Return log densities; minus infinity, for an observation that was held to be impossible, is allowed."""
    density = _shaped(_numbers(given, "log_predictive_density"), "log_predictive_density", (n_samples,))
    if np.isnan(density).any() or np.isposinf(density).any():
        raise ImpossiblePrediction("log_predictive_density returned NaN or plus infinity.")
    return density


def possible_interval(given: Any, n_samples: int) -> Floats:
    """Return lower and upper ends."""
    ends = _shaped(_numbers(given, "predict_interval"), "predict_interval", (n_samples, 2))
    # A comparison with NaN is false, so NaN is refused too.
    if not (ends[:, 0] <= ends[:, 1]).all():
        raise ImpossiblePrediction("predict_interval returned NaN, or a lower end above the upper end.")
    return ends


def _shaped(values: np.ndarray, where: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return values of a shape; a single column is accepted for one value per sample, and flattened."""
    if values.shape != shape and values.shape != (*shape, 1)[:2]:
        raise ImpossiblePrediction(f"{where} returned shape {values.shape} instead of {shape}.")
    return values.reshape(shape)


def _numbers(given: Any, where: str) -> Floats:
    if np.ma.isMaskedArray(given) and np.ma.getmaskarray(given).any():
        raise ImpossiblePrediction(f"{where} returned masked values.")
    values = np.asarray(given)
    if values.dtype.kind not in "biufO":
        raise ImpossiblePrediction(f"{where} returned {values.dtype} values instead of real numbers.")
    numbers: Floats = values.astype(np.float64)
    return numbers


def _finite(given: Any, where: str, shape: tuple[int, ...]) -> Floats:
    values = _shaped(_numbers(given, where), where, shape)
    n_bad = np.count_nonzero(~np.isfinite(values))
    if n_bad:
        what = "1 value that is" if n_bad == 1 else f"{n_bad:,} values that are"
        raise ImpossiblePrediction(f"{where} returned {what} NaN or infinite.")
    return values
