"""Checks of the targets, weights and offsets of samples, and refusals of predictions that cannot be right."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers.array_api import on_host
from ..families.survival_target import refuse_survival, survival_target
from ..foundation.arrays import LARGEST, SMALLEST, Floats, Indices
from ..foundation.messages import count

# Larger numbers have no fractions to tell by.
LARGEST_INTEGER = 2.0**53
# In single precision, row sums differ from 1 by at most this much, and probabilities are at most this far below 0.
SUM_TOLERANCE = 1e-3
NEGATIVE_TOLERANCE = 1e-6
# Sums that are closer to 1 than this are exact in double precision, and the row is not rescaled.
ROUNDING = 1e-9


def n_rows(X: Any) -> int:
    """Return the number of samples of an array, sparse matrix, frame or nested list."""
    return int((X if hasattr(X, "shape") else np.asarray(X)).shape[0])


def has_fractions(y: np.ndarray) -> bool:
    """Return whether an array contains numbers that are not integers; values that are missing do not count."""
    if y.dtype.kind != "f":
        return False
    known = y[np.isfinite(y)]
    return bool((known != np.round(known)).any() or (np.abs(known) > LARGEST_INTEGER).any())


def check_counts(y: Any) -> np.ndarray:
    """Return counts, or say what else the target contains."""
    y = np.asarray(y)
    if y.dtype.kind not in "iuf" or has_fractions(y) or (len(y) and y.min() < 0):
        raise ValueError("Counts must be 0 or positive integers. Pass kind='regression' for other quantities.")
    return y


def numeric_target(y: Any) -> np.ndarray:
    """Return a numeric training target in double precision, or say why nothing can be learned from it."""
    refuse_survival(y)
    y = np.asarray(y, dtype=np.float64)
    size, spread = float(np.abs(y).max()), float(y.max() / 2 - y.min() / 2) * 2
    if spread <= 1e-13 * size:
        raise ValueError("y is constant, so there is nothing to learn: pass a target that varies.")
    if spread < SMALLEST or size > LARGEST:
        raise ValueError(
            f"The spread of y, {spread:g}, or its largest value, {size:g}, is out of range: measure y in another "
            f"unit, so that both are between {SMALLEST:g} and {LARGEST:g}."
        )
    return y


def class_codes(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of a training target and the number of each sample's class."""
    from sklearn.utils.multiclass import check_classification_targets

    refuse_survival(y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}); a classifier needs samples of 2 classes or more."
        )
    return classes, codes


def observed_codes(y: Any, classes: np.ndarray, n_samples: int) -> np.ndarray:
    """Return the positions of observed classes among all classes, which may have any order."""
    y = np.asarray(y)
    if len(y) != n_samples:
        raise ValueError(f"X has {n_samples} samples, but y has {len(y)}: pass one label per sample.")
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y holds the label {unknown.tolist()[0]!r}, which was not seen in fit.")
    order = np.argsort(classes, kind="stable")
    return order[np.searchsorted(classes, y, sorter=order)]


def observed_values(y: Any, n_samples: int) -> np.ndarray:
    """Return the values that were observed beside new data."""
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (n_samples,):
        raise ValueError(f"X has {n_samples} samples, but y has shape {y.shape}: pass one value per sample.")
    if not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity: pass observed values only.")
    return y


def observed_counts(y: Any, n_samples: int) -> np.ndarray:
    """Return the counts that were observed beside new data."""
    counts = observed_values(y, n_samples)
    wrong = counts[(counts < 0) | (counts != np.round(counts))]
    if len(wrong):
        raise ValueError(f"Counts must be integers of 0 or more, but y contains {wrong[0]:g}.")
    return counts


def observed_survival(y: Any, n_samples: int) -> np.ndarray:
    """Return the events and times that were observed beside new data."""
    target = survival_target(y, needs_events=False)
    check_one_each(n_samples, target)
    return target


def check_one_each(n_samples: int, target: np.ndarray) -> None:
    """Refuse a survival target with another number of samples than X."""
    if n_samples != len(target):
        raise ValueError(
            f"X has {n_samples} samples, but y has {len(target)}: pass one event and time per sample."
        )


def check_mask(values: Any, name: str) -> Any:
    """Return the values of a masked array without a masked entry; refuse any other masked array."""
    values = on_host(values)
    if not isinstance(values, np.ma.MaskedArray):
        return values
    n_masked = int(np.ma.getmaskarray(values).sum())
    if n_masked:
        raise ValueError(
            f"{name} has {count(n_masked, 'masked value')}: fill them, or drop these samples or columns first."
        )
    return values.data


def check_weights(sample_weight: Any, n_samples: int) -> np.ndarray | None:
    """Return the weights of the samples, or None if all of them are one."""
    if sample_weight is None:
        return None
    weights = _per_sample(sample_weight, n_samples, "sample_weight", "weight")
    if weights.min() < 0:
        raise ValueError(f"sample_weight contains {weights.min():g}, but weights must not be negative.")
    if weights.max() == 0:
        raise ValueError("All sample weights are zero: pass a positive weight for the samples to learn from.")
    return None if (weights == 1).all() else weights


def check_offset(offset: Any, n_samples: int) -> np.ndarray | None:
    """Return the offsets of the linear predictor, or None if all of them are zero."""
    if offset is None:
        return None
    offsets = _per_sample(offset, n_samples, "offset", "number")
    return offsets if offsets.any() else None


def _per_sample(values: Any, n_samples: int, name: str, what: str) -> np.ndarray:
    values = check_mask(values, name)
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must consist of numbers: pass one {what} per sample.") from None
    if numbers.ndim == 0:
        numbers = np.full(n_samples, numbers)
    if numbers.shape != (n_samples,):
        raise ValueError(
            f"X has {n_samples} samples, but {name} has shape {numbers.shape}: pass one {what} per sample."
        )
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} contains NaN or infinity: pass one finite {what} per sample.")
    return numbers


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
    return np.where(off > ROUNDING, P / sums, P)


def possible_labels(given: Any, classes: np.ndarray, n_samples: int) -> Indices:
    """Return the numbers of the predicted classes."""
    return known_labels(_reshape(np.asarray(given), "predict", (n_samples,)), classes, "predict returned")


def known_labels(labels: np.ndarray, classes: np.ndarray, where: str) -> Indices:
    """Return the positions of labels among the classes; an unknown label is an error."""
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ImpossiblePrediction(f"{where} {labels[unknown].tolist()[0]!r}, which is not one of the classes.")
    return np.searchsorted(classes, labels)


def possible_ranking(given: Any, n_samples: int, n_classes: int) -> Floats:
    """Return decision values; for two classes, one or two per sample."""
    where = "decision_function"
    ranking = _numbers(given, where)
    if n_classes == 2 and ranking.shape != (n_samples, 2):
        ranking = _reshape(ranking, where, (n_samples,))
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
    density = _reshape(_numbers(given, "log_predictive_density"), "log_predictive_density", (n_samples,))
    if np.isnan(density).any() or np.isposinf(density).any():
        raise ImpossiblePrediction("log_predictive_density returned NaN or plus infinity.")
    return density


def possible_interval(given: Any, n_samples: int) -> Floats:
    """Return lower and upper ends."""
    ends = _reshape(_numbers(given, "predict_interval"), "predict_interval", (n_samples, 2))
    # A comparison with NaN is false, so NaN is refused too.
    if not (ends[:, 0] <= ends[:, 1]).all():
        raise ImpossiblePrediction("predict_interval returned NaN, or a lower end above the upper end.")
    return ends


def _reshape(values: np.ndarray, where: str, shape: tuple[int, ...]) -> np.ndarray:
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
    return values.astype(np.float64)


def _finite(given: Any, where: str, shape: tuple[int, ...]) -> Floats:
    values = _reshape(_numbers(given, where), where, shape)
    n_bad = np.count_nonzero(~np.isfinite(values))
    if n_bad:
        what = "1 value that is" if n_bad == 1 else f"{n_bad:,} values that are"
        raise ImpossiblePrediction(f"{where} returned {what} NaN or infinite.")
    return values
