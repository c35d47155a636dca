"""Univariate screening as functions: feature_scores and score_test."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..data_checks.confounding import check_confounding
from ..foundation.arrays import Floats, Indices
from ..foundation.parameters import integer_seed
from ..inputs import covariates as encoding
from ..inputs.checks import check_arrays, columns_of, target_array, training_samples
from ..reduction import screening
from ..reduction.deflation import start_basis
from ..reduction.design import make_design
from ..reduction.false_discoveries import q_values
from ..reduction.permutation import Permutations
from ..reduction.response import (
    FAMILY_CHOICES,
    Response,
    TrainingData,
    adjusted_response,
    find_family,
    make_response,
    statistic_scale,
)
from ..reduction.threads import Workers, workers
from ..targets import is_category


def _check_option(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")


class _Scored(NamedTuple):
    """A statistic of checked data."""

    statistic: screening.Statistic
    data: TrainingData
    response: Response
    sources: Indices  # the column of X that each column of the encoded X comes from
    n_columns: int  # of X

    def in_order(self, values: Floats, others: float) -> Floats:
        """Return values of the encoded columns as those of X; the columns of a covariate have the same value."""
        found = np.full(self.n_columns, others)
        found[self.sources] = values
        return found


def _score_data(
    X: Any,
    y: Any,
    statistic: str,
    family: str,
    adjust: Any,
    sample_weight: Any,
    offset: Any,
    groups: Any,
    threads: Workers,
) -> _Scored:
    """Check the data and return the statistic, or say what is wrong."""
    _check_option("statistic", statistic, screening.STATISTICS)
    _check_option("family", family, FAMILY_CHOICES)
    labels, names, categories = is_category(y), getattr(X, "columns", None), encoding.frame_categories(X, adjust)
    X, y = check_arrays(encoding.encode_frame(X, categories), target_array(y, family))
    sources = encoding.encoded_columns(X.shape[1], names, categories)
    covariates = encoding.adjusted_mask(adjust, X.shape[1], names)[sources]
    n_columns = X.shape[1]
    samples = training_samples(encoding.expand_indicators(X, names, categories), y, sample_weight, offset, groups)
    X, chosen = samples.X, find_family(samples.y, family, labels)
    columns = encoding.covariate_columns(X, covariates, sources, names)
    check_confounding(columns, samples.y, chosen.classification)
    response = make_response(
        samples.y,
        chosen,
        covariates=columns_of(X, covariates),
        offset=samples.offset,
        sample_weight=samples.sample_weight,
    )
    screening.check_statistic(statistic, X, response)
    whole = make_design(X, threads, center=True, scale=True, rows=response.rows)
    start = start_basis(whole, covariates, center=True)
    data = TrainingData(X, response, response.rows, covariates, np.zeros_like(covariates), samples.groups)
    response = adjusted_response(response, start.basis)
    design = whole.restricted(whole.usable & ~covariates) if covariates.any() else whole
    found = screening.make_statistic(statistic, X, design, response, start.basis, threads)
    return _Scored(found, data, response, sources, n_columns)


def feature_scores(
    X: Any,
    y: Any,
    *,
    statistic: str = "pearson",
    family: str = "auto",
    adjust: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
) -> np.ndarray:
    """Return the univariate score of every feature with the target.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The target: class labels, numbers, or events and times of survival.
    statistic : {"pearson", "spearman", "kendall", "runs"}, default="pearson"
        Absolute correlation, absolute rank correlation, or the number of standard deviations by which
        the runs of a class along the sorted feature are fewer than expected by chance. Only "pearson" allows
        covariates, weights and offsets.
    family : {"auto", "gaussian", "binomial", "multinomial", "poisson", "negative-binomial", "cox", "ordinal"}, \
            default="auto"
        Kind of target; "auto" decides as in ISPCA.
    adjust : array-like of int, str or bool, optional
        Covariates: columns of X for which features and target are adjusted; their own scores are 0. Text,
        categories and Booleans of a frame become indicators, as in ISPCA.
    sample_weight : array-like of shape (n_samples,), optional
        How many samples each sample counts as.
    offset : array-like of shape (n_samples,), optional
        Known part of the linear predictor, such as the logarithm of the exposure of counts.

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
    with workers() as threads:
        scored = _score_data(X, y, statistic, family, adjust, sample_weight, offset, None, threads)
        return scored.in_order(scored.statistic.scores(threads), 0.0)


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
    q_values : ndarray of shape (n_features,) or None
        Estimated fraction of false features among those with at least this score, for ``kind="each"``. It rests on
        the permuted scores of all features together, so that it can be much smaller than ``1 / n_permutations``.
    statistics : ndarray of shape (n_features,) or None
        For ``statistic="pearson"``, Rao's score statistics of adding each feature to the model of covariates and
        offset, about chi-square with one degree of freedom if the feature is not needed. For several classes the
        largest over one class against the rest.

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
    statistics: np.ndarray | None = None
    q_values: np.ndarray | None = None


def score_test(
    X: Any,
    y: Any,
    *,
    kind: str = "each",
    statistic: str = "pearson",
    family: str = "auto",
    adjust: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    groups: Any = None,
    n_permutations: int = 1000,
    memory_budget: float = 2**28,
    random_state: Any = None,
) -> ScoreTest:
    """Test by permutation whether features are related to the target.

    Parameters
    ----------
    X, y, statistic, family, adjust, sample_weight, offset
        As in ``feature_scores``.
    kind : {"each", "maximum"}, default="each"
        A p-value and a q-value for each feature, or one p-value for the largest score of all.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together, such as those of one patient: permutations exchange samples within groups if
        the target varies there, otherwise whole groups of equal size.
    n_permutations : int, default=1000
        Number of random permutations of the target, or of its residuals if it is adjusted.
    memory_budget : float, default=2**28
        Bytes of working space.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations.

    Returns
    -------
    result : ScoreTest
        Scores, p-values (the fraction of permutations whose score reaches the observed one) and q-values.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import score_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 20)); y = X[:, 3] + 0.1 * rng.normal(size=50)
    >>> test = score_test(X, y, random_state=0)
    >>> int(test.p_values.argmin()), float(test.p_values[3])
    (3, 0.0)
    >>> (test.q_values < 0.1).nonzero()[0].tolist()
    [3]
    >>> score_test(X, y, kind="maximum", random_state=0).p_value
    0.0
    """
    _check_option("kind", kind, ("each", "maximum"))
    if not isinstance(n_permutations, Integral) or n_permutations < 1:
        raise ValueError(f"n_permutations must be a positive integer, got {n_permutations!r}.")
    if memory_budget < 2**20:
        raise ValueError(f"memory_budget must be at least {2**20} bytes, got {memory_budget!r}.")
    with workers() as threads:
        scored = _score_data(X, y, statistic, family, adjust, sample_weight, offset, groups, threads)
        observed = scored.statistic.scores(threads)
        n_samples, exchange = scored.data.X.shape[0], scored.data.exchangeable()
        permutations = Permutations(
            integer_seed(random_state), n_samples, n_permutations, int(memory_budget), exchange=exchange
        )
        scores = scored.in_order(observed, 0.0)
        statistics = scores**2 * statistic_scale(scored.response) if statistic == "pearson" else None
        tested = scored.statistic.comparable_scores(threads)
        if kind == "maximum":
            p_value = (
                screening.maximum_exceedances(scored.statistic, tested, permutations, threads) / n_permutations
            )
            return ScoreTest(scores, None, p_value, n_permutations, statistics)
        counts = screening.feature_exceedances(scored.statistic, tested, permutations, threads)
        found = q_values(scored.statistic, tested, permutations, threads)
    p_values = scored.in_order(counts / n_permutations, 1.0)
    return ScoreTest(scores, p_values, None, n_permutations, statistics, scored.in_order(found, 1.0))
