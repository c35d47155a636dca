"""Prediction sets and intervals from what the bags without each training sample predict for it and for others.

Bags without training sample i predict this sample and a new one. If a candidate value for the new sample is no
more surprising than the value of sample i, sample i supports the candidate. Candidates with too little support
are left out. For classes this is cross-conformal prediction, leaving out one sample, within each class (Vovk
2015; Romano, Sesia and Candes 2020); for quantities it is the jackknife+ after bootstrap (Kim, Xu and Barber
2020). If new samples are exchangeable with the training samples, both contain the truth with a probability of at
least 2 level - 1, for any model and distribution and apart from the randomness of the bags, and of about the
level in practice.

Predictions of new samples take n_new x n values, for classes times their number. Each row of the results depends
only on the same new sample: pass many new samples in blocks of rows.

Samples of a group, such as those of a patient, are not exchangeable. Therefore the samples of a group share a
vote, and a new sample is taken to belong to a new group (hierarchical conformal prediction, Lee, Barber and
Willett 2023). Whole groups must be left out of bags. For a new sample of a known group, nothing is guaranteed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundation.arrays import Floats, Indices, Mask

# Far above rounding and far below any difference that matters.
TIE = 1e-10


def class_p_values(
    left_out: Floats, codes: Indices, new: Floats, groups: Any = None, weights: Any = None
) -> Floats:
    """Return the p-value of each class for new samples: whether they look like the training samples of the class.

    It is ``(1 + number of supporting training samples of the class) / (1 + number of training samples of the
    class)``. Training sample i supports class c if the bags without i give c no more probability for i than for
    the new sample. Ties support. The margin over the other classes, in place of the probability, gave larger sets
    in benchmarks/conformal.py.

    Parameters
    ----------
    left_out : ndarray of shape (n, n_classes)
        Probabilities of each training sample by the bags without it. Rows of NaN, of samples that are in
        all bags, are skipped.
    codes : ndarray of shape (n,)
        Class numbers of the training samples.
    new : ndarray of shape (n_new, n, n_classes)
        Probabilities of each new sample by the bags without each training sample.
    groups : array-like of shape (n,), optional
        The samples of a group in a class share its weight, so that groups are counted instead of samples.
    weights : array-like of shape (n,), optional
        How many samples of the population each sample stands for, up to a factor. The unknown weight of a new
        sample is taken to be that of the heaviest training sample (or group) of the class.

    Returns
    -------
    ndarray of shape (n_new, n_classes)

    Examples
    --------
    Four training samples of the first class, and one of the second:

    >>> left_out = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.3, 0.7], [0.2, 0.8]])
    >>> new = np.tile([[[0.75, 0.25]]], (1, 5, 1))
    >>> class_p_values(left_out, np.array([0, 0, 0, 0, 1]), new)
    array([[0.6, 0.5]])
    """
    usable = ~np.isnan(left_out).any(axis=1)
    p_values = np.empty((len(new), left_out.shape[1]))
    for code in range(left_out.shape[1]):
        rows, each, own = _votes(usable & (codes == code), groups, weights)
        support = new[:, rows, code] >= left_out[rows, code] - TIE
        p_values[:, code] = (own + support @ each) / (own + each.sum())
    return p_values


def prediction_sets(p_values: Floats, level: float) -> Mask:
    """Return which classes belong to the prediction set of each new sample.

    A class of fewer than ``1 / (1 - level) - 1`` training samples (9 for 90%) belongs to every set: so few samples
    cannot say that a new one is not like them.

    >>> prediction_sets(np.array([[0.6, 0.5], [0.6, 0.05]]), 0.9).tolist()
    [[True, True], [True, False]]
    """
    chosen: Mask = p_values > 1 - level + TIE
    return chosen


def jackknife_interval(
    left_out_mean: Floats,
    y: Floats,
    new_mean: Floats,
    level: float,
    scales: tuple[Floats, Floats] | None = None,
    groups: Any = None,
    weights: Any = None,
) -> Floats:
    """Return the ends of the predictive interval of new samples, by the jackknife+ after bootstrap.

    With residuals ``R_i = |y_i - left_out_mean_i|``, the upper end is the ``ceil(level (n + 1))``-th smallest of
    ``new_mean_i + R_i``, the lower end likewise. Both are infinite if that exceeds n, with fewer than
    ``1 / (1 - level) - 1`` training samples (9 for 90%).

    Parameters
    ----------
    left_out_mean : ndarray of shape (n,)
        Predicted mean of each training sample by the bags without it. Samples with NaN are skipped.
    y : ndarray of shape (n,)
        Observed values.
    new_mean : ndarray of shape (n_new, n)
        Predicted mean of each new sample by the bags without each training sample.
    level : float
        Fraction of new samples whose value lies inside.
    scales : tuple of ndarrays of shapes (n,) and (n_new, n), optional
        Predicted standard deviations of the training samples and of the new ones, by the same bags as the means.
        Residuals are divided by the former and multiplied by the latter. Large counts vary more than small ones,
        so counts need scales; the square root of the mean suffices.
    groups, weights : array-like of shape (n,), optional
        As for `class_p_values`.

    Returns
    -------
    ndarray of shape (n_new, 2)

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 3.0, 5.0])
    >>> jackknife_interval(np.full(4, 2.0), y, np.full((1, 4), 2.5), 0.6)
    array([[1.5, 3.5]])
    >>> jackknife_interval(np.full(4, 2.0), y, np.full((1, 4), 2.5), 0.9)
    array([[-inf,  inf]])
    """
    rows, each, own = _votes(~np.isnan(left_out_mean), groups, weights)
    residuals = np.abs(y - left_out_mean)[rows]
    if scales is not None:
        residuals = residuals / scales[0][rows] * scales[1][:, rows]
    center = new_mean[:, rows]
    ends = [_upper_end(residuals - center, each, own, level), _upper_end(residuals + center, each, own, level)]
    # At levels below one half, the ends may cross.
    return np.sort(np.column_stack([-ends[0], ends[1]]), axis=1)


def _votes(chosen: Mask, groups: Any, weights: Any) -> tuple[Indices, Floats, float]:
    """Return the training samples that count, the weight of each, and the weight of a new sample or group."""
    if weights is not None:
        chosen = chosen & (np.asarray(weights) > 0)
    rows = np.flatnonzero(chosen)
    each = np.ones(len(rows)) if weights is None else np.asarray(weights, float)[rows]
    if groups is None:
        return rows, each, float(each.max(initial=0.0)) or 1.0
    _, group, sizes = np.unique(np.asarray(groups)[rows], return_inverse=True, return_counts=True)
    each = each / sizes[group]
    return rows, each, float(np.bincount(group, each).max(initial=0.0)) or 1.0


def _upper_end(values: Floats, each: Floats, own: float, level: float) -> Floats:
    """Return the smallest value of each row up to which the weights reach the level, or infinity if none does."""
    order = np.argsort(values, axis=1, kind="stable")
    total = own + each.sum()
    reached = np.cumsum(each[order], axis=1) >= (level - TIE) * total
    ordered = np.column_stack([np.take_along_axis(values, order, axis=1), np.full(len(values), np.inf)])
    # The column of infinity is reached if no other is.
    first = np.column_stack([reached, np.ones(len(values), bool)]).argmax(axis=1)
    ends: Floats = ordered[np.arange(len(values)), first]
    return ends
