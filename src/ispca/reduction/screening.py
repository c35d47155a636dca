"""Screening: univariate statistics, and the features that score high enough by a test, a number or a threshold.

All statistics but runs are sums of products, so permuting the response is one matrix product:

- Spearman is Pearson on ranks.
- Kendall's tau-b with a class indicator t is ``2 |r^T t| / sqrt(n untied_pairs)`` on centered ranks r.
- Kendall's tau-b with a number is a correlation of the signs of all pairs of samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from ..foundation.arrays import Floats, Indices
from .deflation import SCORE_DECIMALS, best_features, correlation_scores, start_deflation, varying_columns
from .design import Design, feature_blocks, make_design
from .max_score_test import TIE
from .null_distribution import adjusted_vectors, tested_scores
from .permutation import Permutations
from .response import Response
from .stopping_rule import exceedance_limit
from .threads import Workers

STATISTICS = ("pearson", "spearman", "kendall", "runs")


def feature_exceedances(
    statistic: Statistic, observed: Floats, permutations: Permutations, workers: Workers, limit: int | None = None
) -> Indices:
    """Count for every feature the permutations whose score reaches the observed one.

    With a limit, a feature that has reached it is left out of the later batches: its outcome is certain.
    """
    levels = observed - TIE
    counts = np.zeros(len(observed), dtype=np.intp)
    alive = np.arange(len(observed))
    for start, stop in permutations.pieces(statistic.n_columns):
        counts[alive] += statistic.exceedances(permutations.indices(start, stop), alive, levels, workers)
        if limit is not None:
            alive = alive[counts[alive] < limit]
            if not len(alive):
                break
    return counts


def maximum_exceedances(
    statistic: Statistic, observed: Floats, permutations: Permutations, workers: Workers
) -> int:
    """Count the permutations whose largest score reaches the observed largest one."""
    level = observed.max() - TIE
    pieces = permutations.pieces(statistic.n_columns)
    maxima = [statistic.maxima(permutations.indices(start, stop), workers) for start, stop in pieces]
    return int(np.count_nonzero(np.concatenate(maxima) >= level))


def significant_features(
    statistic: Statistic, permutations: Permutations, alpha: float, workers: Workers
) -> Indices:
    """Return the features with a permutation p-value below alpha."""
    observed = statistic.comparable_scores(workers)
    limit = exceedance_limit(alpha, permutations.count)
    counts = feature_exceedances(statistic, observed, permutations, workers, limit)
    return np.flatnonzero((counts < limit) & (observed > 0))


def relative_threshold_features(scores: Floats, threshold: float, max_features: int) -> Indices:
    """Return the features above a threshold from 0, the lowest score of the best features, to 1, the highest."""
    features = best_features(scores, max_features)
    if not len(features):
        return features
    inside = scores[features]
    cut = inside[-1] + threshold * (inside[0] - inside[-1])
    return features[inside >= cut]


class Statistic(ABC):
    """A score per feature, for the response and for its permutations.

    Attributes
    ----------
    n_columns : int
        A permutation takes as much memory as this number of columns of X.
    """

    n_columns: int

    @abstractmethod
    def scores(self, workers: Workers) -> Floats:
        """Return the score of every feature, shape (D,)."""

    def comparable_scores(self, workers: Workers) -> Floats:
        """Return the scores that those of permutations are compared with; by default the scores themselves."""
        return self.scores(workers)

    @abstractmethod
    def exceedances(self, permutations: Indices, features: Indices, levels: Floats, workers: Workers) -> Indices:
        """Count for each of the features the permutations whose score reaches the level of the feature."""

    @abstractmethod
    def maxima(self, permutations: Indices, workers: Workers) -> Floats:
        """Return the largest score of any feature for each permutation."""

    @abstractmethod
    def null_scores(self, permutations: Indices, workers: Workers) -> Floats:
        """Return the score of every feature for each permutation, shape (D, permutations)."""


def make_statistic(
    name: str, X: Any, design: Design, response: Response, basis: Floats, workers: Workers
) -> Statistic:
    """Return the statistic by its name; only Pearson's can be adjusted for covariates and weights."""
    if name == "pearson" and (design.rows is not None or varying_columns(basis).any()):
        return AdjustedStatistic(design, response, basis, workers)
    if name == "pearson":
        return ProductStatistic(design, response.columns, _inverse_lengths(design.squared_norms))
    if name == "runs":
        return RunsStatistic(X, design, response)
    ranked = response.columns
    if name == "kendall" and not response.family.classification:
        return PairStatistic(X, design, ranked[:, 0])
    if not response.family.classification:
        ranked = rankdata(ranked, axis=0)
        ranked = ranked - ranked.mean(axis=0)
        ranked /= np.linalg.norm(ranked, axis=0)
    ranks, untied = sparse_ranks(X) if sp.issparse(X) else dense_ranks(X)
    rank_design = make_design(ranks, workers, center=True, scale=False)
    rank_design = rank_design.restricted(rank_design.usable & design.usable)
    if name == "spearman":
        multiplier = _inverse_lengths(rank_design.squared_norms)
    else:
        multiplier = 2 * _inverse_lengths(design.shape[0] * untied)
    return ProductStatistic(rank_design, ranked, multiplier)


def _inverse_lengths(squares: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)


def check_statistic(statistic: str, X: Any, response: Response) -> None:
    """Refuse a statistic that does not fit the data before any work."""
    if statistic != "pearson" and not response.target.plain:
        raise ValueError(
            f'statistic="{statistic}" works neither with covariates, weights and offsets nor with survival times. '
            'Use statistic="pearson".'
        )
    needs_dense = statistic == "runs" or (statistic == "kendall" and not response.family.classification)
    if needs_dense and sp.issparse(X):
        raise ValueError(
            f'statistic="{statistic}" needs a dense X here. Pass X.toarray() if it fits into memory, '
            'or use statistic="spearman".'
        )


class ProductStatistic(Statistic):
    """``|x^T t|`` times a constant per feature, the largest over the response columns."""

    def __init__(self, design: Design, columns: Floats, multiplier: Floats) -> None:
        self._design, self._columns, self._multiplier = design, columns, multiplier
        self.n_columns = columns.shape[1]

    def scores(self, workers: Workers) -> Floats:
        scores = np.abs(self._design.t_dot(self._columns, workers)).max(axis=1) * self._multiplier
        return np.round(scores, SCORE_DECIMALS)

    def exceedances(self, permutations: Indices, features: Indices, levels: Floats, workers: Workers) -> Indices:
        vectors = self._permute(permutations)
        return self._design.score_exceedances(vectors, self.n_columns, levels, self._multiplier, workers, features)

    def maxima(self, permutations: Indices, workers: Workers) -> Floats:
        [largest], _ = self._design.score_maxima([self._permute(permutations)], self._multiplier, workers)
        maxima: Floats = largest.reshape(self.n_columns, -1).max(axis=0)
        return maxima

    def null_scores(self, permutations: Indices, workers: Workers) -> Floats:
        products = np.abs(self._design.t_dot(self._permute(permutations), workers))
        largest: Floats = products.reshape(len(products), self.n_columns, -1).max(axis=1)
        return np.multiply(largest, self._multiplier[:, None], out=largest)

    def _permute(self, permutations: Indices) -> Floats:
        return np.take(self._columns.T, permutations, axis=1).reshape(-1, permutations.shape[1]).T


class AdjustedStatistic(ProductStatistic):
    """The correlation of what a start basis leaves of features and responses; both may have weighted rows.

    Residuals of the null model are permuted and projected off the basis again (Freedman and Lane).
    """

    def __init__(self, design: Design, response: Response, basis: Floats, workers: Workers) -> None:
        state = start_deflation(design, workers, response.columns, basis)
        tested, _, permuted = tested_scores(design, state, response.columns, "paper", response.exchange)
        super().__init__(design, response.columns, permuted.inverse_norms)
        self._scores, self._tested = correlation_scores(state).max(axis=1), tested.max(axis=1)
        self._exchange = response.exchange
        self._start = self._exchange.basis(basis[:, varying_columns(basis)])

    def scores(self, workers: Workers) -> Floats:
        return self._scores

    def comparable_scores(self, workers: Workers) -> Floats:
        return self._tested

    def _permute(self, permutations: Indices) -> Floats:
        exchanged = np.take(self._exchange.contributions(self._columns).T, permutations, axis=1)
        vectors = exchanged.reshape(-1, permutations.shape[1]).T
        return adjusted_vectors(vectors, self._exchange, self._start)


class BlockStatistic(Statistic):
    """A statistic whose scores are computed from the values of a block of dense features at a time."""

    def __init__(self, X: Any, design: Design) -> None:
        self._X, self._usable = X, design.usable

    @abstractmethod
    def _blocks(self, permutations: Indices, features: Indices) -> Iterator[tuple[Indices, Floats]]:
        """Yield blocks of the features and their scores, (block, permutations)."""

    def scores(self, workers: Workers) -> Floats:
        identity, every = np.arange(self._X.shape[0])[None], np.arange(self._X.shape[1])
        blocks = self._blocks(identity, every)
        return np.concatenate([np.round(scores[:, 0], SCORE_DECIMALS) for _, scores in blocks])

    def exceedances(self, permutations: Indices, features: Indices, levels: Floats, workers: Workers) -> Indices:
        blocks = self._blocks(permutations, features)
        return np.concatenate([np.count_nonzero(s >= levels[block, None], axis=1) for block, s in blocks])

    def maxima(self, permutations: Indices, workers: Workers) -> Floats:
        blocks = self._blocks(permutations, np.arange(self._X.shape[1]))
        maxima: Floats = np.max([scores.max(axis=0) for _, scores in blocks], axis=0)
        return maxima

    def null_scores(self, permutations: Indices, workers: Workers) -> Floats:
        return np.concatenate([scores for _, scores in self._blocks(permutations, np.arange(self._X.shape[1]))])


class PairStatistic(BlockStatistic):
    """Kendall's tau-b with a number: signs of all pairs of samples."""

    def __init__(self, X: Any, design: Design, column: Floats) -> None:
        super().__init__(X, design)
        self._column = column
        self._first, self._second = np.triu_indices(len(column), 1)
        untied = np.count_nonzero(column[self._first] != column[self._second])
        self._length = np.sqrt(untied)
        # A permutation needs one number per pair: as much memory as this number of columns.
        self.n_columns = max(1, len(column) // 2)

    def _blocks(self, permutations: Indices, features: Indices) -> Iterator[tuple[Indices, Floats]]:
        permuted = self._column[permutations]
        signs = np.sign(permuted[:, self._first] - permuted[:, self._second])
        # As many features at a time as there are permutations: their pairs take as much memory again.
        for part in feature_blocks(len(features), min(32, len(permutations))):
            block = features[part]
            values = self._X[:, block].astype(np.float64)
            feature_signs = np.sign(values[self._first] - values[self._second]) * self._usable[block]
            untied = np.count_nonzero(feature_signs, axis=0)[:, None]
            yield block, np.abs(feature_signs.T @ signs.T) / (np.sqrt(np.maximum(untied, 1)) * self._length)


class RunsStatistic(BlockStatistic):
    """Wald and Wolfowitz: how many fewer runs of a class than expected when sorted by the feature.

    For a numeric target the two groups are the samples above and below its median.
    """

    def __init__(self, X: Any, design: Design, response: Response) -> None:
        super().__init__(X, design)
        columns = response.columns
        cut = 0.0 if response.family.classification else np.median(columns, axis=0)
        self._groups = columns > cut
        self.n_columns = columns.shape[1]
        n, ones = len(columns), self._groups.sum(axis=0).astype(np.float64)
        pairs = 2 * ones * (n - ones)
        self._expected = 1 + pairs / n
        self._deviation = np.sqrt(np.maximum(pairs * (pairs - n), 1e-12) / (n**2 * (n - 1)))

    def _blocks(self, permutations: Indices, features: Indices) -> Iterator[tuple[Indices, Floats]]:
        groups = self._groups[permutations].astype(np.float64)
        for part in feature_blocks(len(features)):
            block = features[part]
            scores = np.zeros((len(block), len(groups)))
            for row, feature in enumerate(block):
                if self._usable[feature]:
                    runs = _expected_runs(self._X[:, feature], groups)
                    scores[row] = ((self._expected - runs) / self._deviation).max(axis=1)
            yield block, np.maximum(np.round(scores, SCORE_DECIMALS), 0.0)


def _expected_runs(values: Any, groups: Floats) -> Floats:
    """Return the number of runs when sorted by the values, its mean over all orders of tied samples.

    ``groups`` has shape (permutations, n, C), the result (permutations, C).
    """
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(values[order]) != 0])
    sizes = np.diff(np.r_[starts, len(values)])[:, None]
    ones = np.add.reduceat(groups[:, order], starts, axis=1)
    fraction = ones / sizes
    # Changes inside a tied block in random order, and between the ends of neighboring blocks.
    inside = 2 * ones * (1 - fraction)
    between = fraction[:, :-1] * (1 - fraction[:, 1:]) + (1 - fraction[:, :-1]) * fraction[:, 1:]
    return 1 + inside.sum(axis=1) + between.sum(axis=1)


def dense_ranks(X: Any) -> tuple[Floats, Floats]:
    """Return the average ranks of every column and its number of untied pairs."""
    n, n_features = X.shape
    # Ranks up to 2^23, halves included, are exact in single precision.
    ranks = np.empty((n, n_features), np.float32 if n < 2**22 else np.float64)
    ties = np.empty(n_features)
    for block in feature_blocks(n_features):
        values = X[:, block]
        ranks[:, block] = rankdata(values, axis=0)
        span = rankdata(values, "max", axis=0) - rankdata(values, "min", axis=0)
        ties[block] = span.sum(axis=0) / 2
    return ranks, n * (n - 1) / 2 - ties


def sparse_ranks(X: Any) -> tuple[Any, Floats]:
    """Return the average ranks shifted so that a zero has rank zero, still sparse, and the untied pairs."""
    X = sp.csc_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    n, n_features = X.shape
    ties = np.empty(n_features)
    for j in range(n_features):
        entries = slice(X.indptr[j], X.indptr[j + 1])
        values = X.data[entries]
        zeros = n - len(values)
        ranks = rankdata(values)
        span = rankdata(values, "max") - rankdata(values, "min")
        ties[j] = (span.sum() + zeros * (zeros - 1)) / 2
        rank_of_zero = np.count_nonzero(values < 0) + (zeros + 1) / 2 if zeros else 0.0
        X.data[entries] = ranks + np.where(values > 0, zeros, 0) - rank_of_zero
    return X, n * (n - 1) / 2 - ties
