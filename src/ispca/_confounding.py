"""Covariates that cannot be separated from the target: an error if they determine it, a warning if nearly so."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import linprog

from ._array_types import Floats, Mask
from ._messages import InputError, listing
from ._warnings import notify

# A covariate that explains a larger fraction of the target's variation (R^2) leaves too little to find.
LIMIT = 0.8
# Rounding errors apart, nothing is left.
COMPLETE = 1 - 1e-9
# Columns that are combinations of the others up to rounding add nothing.
RANK_TOLERANCE = 1e-10


def check_confounding(covariates: Mapping[str, Floats], y: Any, classes: bool) -> None:
    """Refuse covariates that determine the target, and warn about those that nearly do.

    Each covariate is judged by itself, and then all together, by the fraction of the target's variation, or of
    that of the indicator of each class, that a linear regression explains. It is 1 for a class that a linear
    predictor of the covariates separates from the others without an error: then no null model exists.

    Parameters
    ----------
    covariates : dict of str to ndarray of shape (n_samples, n_columns)
        The columns of each covariate: one, or the indicators of its categories.
    y : array-like of shape (n_samples,)
        The target. Survival times are not judged: a covariate does not determine them.
    classes : bool
        Whether the target consists of class labels.
    """
    y = np.asarray(y)
    if not covariates or y.dtype.names:
        return
    labels = np.unique(y) if classes else np.empty(0)
    target = (y[:, None] == labels).astype(np.float64) if classes else y.astype(np.float64)[:, None]
    groups: dict[tuple[str, ...], Floats] = {(name,): columns for name, columns in covariates.items()}
    if len(covariates) > 1:
        groups[tuple(covariates)] = np.column_stack(list(covariates.values()))
    every = groups[tuple(covariates)]
    if _orthonormal(every).shape[1] + 2 >= len(y):
        raise ValueError(
            f"Adjusting {len(y)} samples for {every.shape[1]} covariates leaves nothing to explain. Adjust for "
            "fewer covariates, or pass more samples."
        )
    for names, columns in groups.items():
        explained = explained_fractions(columns, target)
        if classes:
            explained[separated_classes(columns, target > 0)] = 1.0
        if explained.min() >= COMPLETE:
            raise ValueError(_complete(names, "class" if classes else "target"))
        if explained.max() > LIMIT:
            worst = int(explained.argmax())
            two = len(labels) == 2
            what = ("the class" if two else f"class {labels.tolist()[worst]!r}") if classes else "the target"
            notify(_nearly(names, what, float(explained[worst])))
            return


def confounding_warnings(covariates: Mapping[str, Floats], y: Any, classes: bool, place: str) -> list[str]:
    """Check the covariates of a table; return the warnings, and name the place where covariates are chosen."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_confounding(covariates, y, classes)
        except ValueError as error:
            raise InputError(str(error).replace("from adjust", f"from {place}")) from None
    return [str(warning.message) for warning in caught]


def explained_fractions(columns: Floats, target: Floats) -> Floats:
    """Return the R^2 of each column of the target, regressed linearly on the covariates.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca._confounding import explained_fractions
    >>> batch, healthy = np.array([[0.0], [0], [1], [1]]), np.array([[0.0], [0], [1], [0]])
    >>> explained_fractions(batch, healthy).round(3)
    array([0.333])
    """
    target = target - target.mean(axis=0)
    total = (target**2).sum(axis=0)
    explained = ((_orthonormal(columns).T @ target) ** 2).sum(axis=0)
    return np.divide(explained, total, out=np.zeros_like(total), where=total > 0)


def separated_classes(columns: Floats, indicators: Mask) -> Mask:
    """Return which classes a linear predictor of the covariates separates from all others without an error."""
    basis = _orthonormal(columns)
    if basis.shape[1] == 1:
        return np.array([_apart(basis[:, 0], inside) for inside in indicators.T])
    if indicators.shape[1] == 2:
        return np.repeat(_separable(basis, indicators[:, 0]), 2)
    return np.array([_separable(basis, inside) for inside in indicators.T])


def _orthonormal(columns: Floats) -> Floats:
    """Return an orthonormal basis of the centered columns."""
    centered = columns - columns.mean(axis=0)
    lengths = np.linalg.norm(centered, axis=0)
    varies = lengths > RANK_TOLERANCE * np.linalg.norm(columns, axis=0)
    left, values, _ = np.linalg.svd(centered[:, varies] / lengths[varies], full_matrices=False)
    basis: Floats = left[:, values > RANK_TOLERANCE * values.max(initial=0.0)]
    return basis


def _apart(column: Floats, inside: Mask) -> bool:
    """Return whether a class and the others have no range of values in common."""
    one, other = column[inside], column[~inside]
    gap = max(other.min() - one.max(), one.min() - other.max())
    return bool(gap > RANK_TOLERANCE * np.ptp(column))


def _separable(basis: Floats, inside: Mask) -> bool:
    """Return whether ``sign (a + basis b) >= 1`` has a solution: exactly if a class separates from the others."""
    signs = np.where(inside, 1.0, -1.0)[:, None]
    rows = -signs * np.column_stack([np.ones(len(basis)), np.sqrt(len(basis)) * basis])
    # Equal rows say the same; indicators have few different ones.
    rows = np.unique(rows.round(12), axis=0)
    answer = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
    return bool(answer.status == 0)


def _complete(names: tuple[str, ...], what: str) -> str:
    if len(names) == 1:
        covariate, remedy = f"Covariate {names[0]!r} determines", f"Remove {names[0]!r} from adjust"
    else:
        covariate = f"The covariates {listing(map(repr, names))} together determine"
        remedy = "Remove some of them from adjust"
    return (
        f"{covariate} the {what} completely, so their effects cannot be separated. {remedy}, or add samples in "
        "which both vary independently."
    )


def _nearly(names: tuple[str, ...], what: str, explained: float) -> str:
    covariate = f"Covariate {names[0]!r} explains"
    if len(names) > 1:
        covariate = f"The covariates {listing(map(repr, names))} together explain"
    return (
        f"{covariate} {100 * explained:.0f}% of the variation of {what} (limit {100 * LIMIT:.0f}%), so their "
        "effects can hardly be separated, and the adjustment removes most of the signal."
    )
