"""Univariate screening as functions: feature_scores and score_test."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ._checks import check_arrays, integer_seed
from .families.target_kind import is_category
from .reduction.design import make_design
from .reduction.permutation import Permutations
from .reduction.response import FAMILY_CHOICES, make_response
from .reduction.screening import feature_exceedances, maximum_exceedances
from .reduction.screening_statistics import STATISTICS, check_container, make_statistic
from .reduction.threads import workers


def _check_option(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")


def feature_scores(X: Any, y: Any, *, statistic: str = "pearson", family: str = "auto") -> np.ndarray:
    """Return the univariate score of every feature with the target.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The target: class labels or numbers.
    statistic : {"pearson", "spearman", "kendall", "runs"}, default="pearson"
        Absolute correlation, absolute rank correlation, or the number of standard deviations by which
        the runs of a class along the sorted feature are fewer than expected by chance.
    family : {"auto", "gaussian", "binomial", "multinomial"}, default="auto"
        Kind of target; "auto" decides as in ISPCA.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        For several classes the largest over one class against the rest; 0 for constant features.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import feature_scores
    >>> X = np.array([[1.0, 0], [2, 1], [3, 0], [4, 1]])
    >>> feature_scores(X, ["a", "a", "b", "b"]).round(3)
    array([0.894, 0.   ])
    """
    _check_option("statistic", statistic, STATISTICS)
    _check_option("family", family, FAMILY_CHOICES)
    labels = is_category(y)
    X, y = check_arrays(X, y)
    response = make_response(y, family, labels)
    check_container(statistic, X, response)
    with workers() as threads:
        design = make_design(X, threads, center=True, scale=True)
        return make_statistic(statistic, X, design, response, threads).observed(threads)


@dataclass(frozen=True)
class ScoreTest:
    """Result of ``score_test``.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        Observed scores.
    p_values : ndarray of shape (n_features,) or None
        Permutation p-value of each feature, for ``kind="each"``.
    p_value : float or None
        Permutation p-value of the largest score, for ``kind="maximum"``.
    n_permutations : int
        Number of permutations.

    Examples
    --------
    >>> from ispca import score_test
    >>> score_test([[0.0], [1], [2], [3]], [0.0, 1, 2, 4.5], n_permutations=10, random_state=0).n_permutations
    10
    """

    scores: np.ndarray
    p_values: np.ndarray | None
    p_value: float | None
    n_permutations: int


def score_test(
    X: Any,
    y: Any,
    *,
    kind: str = "each",
    statistic: str = "pearson",
    family: str = "auto",
    n_permutations: int = 1000,
    memory_budget: float = 2**28,
    random_state: Any = None,
) -> ScoreTest:
    """Test by permutation whether features are related to the target.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The target: class labels or numbers.
    kind : {"each", "maximum"}, default="each"
        A p-value for each feature on its own, or one for the largest score of all.
    statistic : {"pearson", "spearman", "kendall", "runs"}, default="pearson"
        How a feature is scored; see ``feature_scores``.
    family : {"auto", "gaussian", "binomial", "multinomial"}, default="auto"
        Kind of target; "auto" decides as in ISPCA.
    n_permutations : int, default=1000
        Number of random permutations of the target.
    memory_budget : float, default=2**28
        Bytes of working space.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations.

    Returns
    -------
    result : ScoreTest
        Scores and p-values: the fraction of permutations whose score reaches the observed one.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import score_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 20)); y = X[:, 3] + 0.1 * rng.normal(size=50)
    >>> test = score_test(X, y, random_state=0)
    >>> int(test.p_values.argmin()), float(test.p_values[3])
    (3, 0.0)
    >>> score_test(X, y, kind="maximum", random_state=0).p_value
    0.0
    """
    _check_option("kind", kind, ("each", "maximum"))
    _check_option("statistic", statistic, STATISTICS)
    _check_option("family", family, FAMILY_CHOICES)
    if not isinstance(n_permutations, Integral) or n_permutations < 1:
        raise ValueError(f"n_permutations must be a positive integer, got {n_permutations!r}.")
    if memory_budget < 2**20:
        raise ValueError(f"memory_budget must be at least {2**20} bytes, got {memory_budget!r}.")
    labels = is_category(y)
    X, y = check_arrays(X, y)
    response = make_response(y, family, labels)
    check_container(statistic, X, response)
    with workers() as threads:
        design = make_design(X, threads, center=True, scale=True)
        scored = make_statistic(statistic, X, design, response, threads)
        observed = scored.observed(threads)
        permutations = Permutations(integer_seed(random_state), X.shape[0], n_permutations, int(memory_budget))
        if kind == "maximum":
            p_value = maximum_exceedances(scored, observed, permutations, threads) / n_permutations
            return ScoreTest(observed, None, p_value, n_permutations)
        counts = feature_exceedances(scored, observed, permutations, threads)
    return ScoreTest(observed, counts / n_permutations, None, n_permutations)
