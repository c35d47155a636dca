"""What a prediction can be: probabilities, labels, values and intervals that cannot be right are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reduction.records import Floats, Indices

# Single precision leaves row sums this far from 1 at the most, and probabilities this far below 0.
SUM_TOLERANCE = 1e-3
NEGATIVE_TOLERANCE = 1e-6
# Rows nearer to 1 than this are exact in double precision, and stay as they are.
ROUNDING = 1e-9


class ImpossiblePrediction(ValueError):
    """What an estimator predicts cannot be right."""


def possible_probabilities(given: Any, n_samples: int, n_classes: int) -> Floats:
    """Return probabilities with a row per sample and a column per class, rows summing to one."""
    P = _numbers(given, "predict_proba")
    if P.shape != (n_samples, n_classes):
        raise ImpossiblePrediction(
            f"predict_proba returned shape {P.shape} instead of {(n_samples, n_classes)}, one column per class."
        )
    _finite(P, "predict_proba")
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
    """Return the numbers of predicted classes."""
    labels = np.asarray(given)
    # Some estimators return a column; beside a row of observations it would spread to a square.
    if labels.shape not in ((n_samples,), (n_samples, 1)):
        raise ImpossiblePrediction(f"predict returned shape {labels.shape} instead of {(n_samples,)}.")
    return known_labels(labels.reshape(n_samples), classes, "predict returned")


def known_labels(labels: np.ndarray, classes: np.ndarray, where: str) -> Indices:
    """Return the numbers of labels among the classes, or name one that is none of them."""
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ImpossiblePrediction(f"{where} {labels[unknown].tolist()[0]!r}, which is not one of the classes.")
    numbers: Indices = np.searchsorted(classes, labels)
    return numbers


def possible_ranking(given: Any, n_samples: int, n_classes: int) -> Floats:
    """Return decision values; of two classes one number per sample."""
    ranking = _numbers(given, "decision_function")
    if n_classes == 2 and ranking.shape == (n_samples, 1):
        ranking = ranking[:, 0]
    two = ranking.shape in ((n_samples,), (n_samples, 2))
    if ranking.ndim not in (1, 2) or len(ranking) != n_samples or (n_classes == 2 and not two):
        raise ImpossiblePrediction(f"decision_function returned shape {ranking.shape} for {n_samples} samples.")
    return _finite(ranking, "decision_function")


def possible_values(given: Any, n_samples: int, where: str = "predict") -> Floats:
    """Return finite values, one per sample."""
    return _finite(_per_sample(given, n_samples, where), where)


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
    """Return log densities: minus infinity is an opinion (what happened is impossible), NaN is none."""
    density = _per_sample(given, n_samples, "log_predictive_density")
    if np.isnan(density).any() or np.isposinf(density).any():
        raise ImpossiblePrediction("log_predictive_density returned NaN or plus infinity.")
    return density


def possible_interval(given: Any, n_samples: int) -> Floats:
    """Return lower and upper ends."""
    ends = _numbers(given, "predict_interval")
    if ends.shape != (n_samples, 2):
        raise ImpossiblePrediction(f"predict_interval returned shape {ends.shape} instead of {(n_samples, 2)}.")
    # Written so that NaN is refused too.
    if not (ends[:, 0] <= ends[:, 1]).all():
        raise ImpossiblePrediction("predict_interval returned NaN, or a lower end above the upper end.")
    return ends


def _per_sample(given: Any, n_samples: int, where: str) -> Floats:
    values = _numbers(given, where)
    if values.shape not in ((n_samples,), (n_samples, 1)):
        raise ImpossiblePrediction(f"{where} returned shape {values.shape} instead of {(n_samples,)}.")
    return values.reshape(n_samples)


def _numbers(given: Any, where: str) -> Floats:
    if np.ma.isMaskedArray(given) and np.ma.getmaskarray(given).any():
        raise ImpossiblePrediction(f"{where} returned masked values.")
    values = np.asarray(given)
    if values.dtype.kind not in "biufO":
        raise ImpossiblePrediction(f"{where} returned {values.dtype} values instead of real numbers.")
    numbers: Floats = values.astype(np.float64)
    return numbers


def _finite(values: Floats, where: str) -> Floats:
    bad = ~np.isfinite(values)
    if bad.any():
        raise ImpossiblePrediction(f"{where} returned {bad.sum()} values that are NaN or infinite.")
    return values
