"""The permutation test of the largest score, at the cost of one matrix product.

The decision equals that of a plain double-precision test on the same permutations (see the algorithm
page of the documentation):

- the test stops as soon as ``exceedances >= alpha R``, when the decision can no longer change;
- the product is computed in single precision, and a permutation whose maximum lies within the rounding
  bound of the observed score is recomputed in double precision;
- the first product also gives ``reach``, the largest score of each feature over all permutations.
  A component q changes ``x_j^T y_r`` by ``(x_j^T q)(q^T y_r)``, so later tests know which features
  cannot reach the observed score and skip them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from .deflation import Deflation, project_off, varying_columns
from .design import Design
from .null_distribution import tested_scores, unit_columns
from .permutation import Permutations
from .records import Floats, Indices, Mask, TestResult
from .scores import correlation_scores
from .threads import Workers

# Scores closer than this are equal: a permutation that reproduces y must count, whatever the rounding.
TIE = 1e-10
UNIT_ROUNDOFF = float(np.finfo(np.float32).eps) / 2
# Columns with a smaller fraction of their length left lose too many digits in single precision.
FRAGILE_SHARE = 0.1


def exceedance_limit(alpha: float, n_permutations: int) -> int:
    """Return the number of exceedances from which ``p < alpha`` is impossible."""
    return max(1, int(np.ceil(alpha * n_permutations - 1e-9)))


class _Tally:
    """Counts exceedances in the order of the permutations, up to the limit."""

    def __init__(self, score: float, alpha: float, count: int) -> None:
        self.score, self.limit, self.count = score, exceedance_limit(alpha, count), count
        self.exceedances = 0
        self.done = 0

    def add(self, exceeds: Mask) -> bool:
        """Count some permutations; return whether the decision is certain."""
        running = self.exceedances + np.cumsum(exceeds)
        reached = np.flatnonzero(running >= self.limit)
        seen = int(reached[0]) + 1 if len(reached) else len(exceeds)
        self.exceedances = int(running[seen - 1])
        self.done += seen
        return bool(len(reached))

    def result(self) -> TestResult:
        p_value = self.exceedances / max(self.done, 1)
        passed = self.exceedances < self.limit
        return TestResult(self.score, p_value, self.done, self.done < self.count, passed)


class MaxScoreTest:
    """The paper's test: the observed maximum against permutations of the whole response."""

    def __init__(self, design: Design, responses: Floats, permutations: Permutations, alpha: float) -> None:
        self._design, self._responses = design, responses
        self._permutations, self._alpha = permutations, alpha
        self._pieces = permutations.pieces(responses.shape[1])
        # For each piece: the largest score of each feature, and Q^T y for its permutations.
        self._reach: list[Floats] = []
        self._overlaps: list[list[Floats]] = [[] for _ in self._pieces]
        self._kept: dict[int, Floats] = {}
        # Q0 without the constant, which permutations of the response are orthogonal to anyway.
        self._start = np.empty((len(responses), 0))
        self._keep = 8 * responses.size * permutations.count <= permutations.memory_budget // 2

    def _permuted(self, pieces: Sequence[int], workers: Workers) -> list[Floats]:
        missing = [piece for piece in pieces if piece not in self._kept]
        drawn = self._permutations.permuted(self._responses, [self._pieces[piece] for piece in missing], workers)
        if self._start.shape[1]:
            drawn = [project_off(self._start, columns) for columns in drawn]
        found = self._kept | dict(zip(missing, drawn, strict=True))
        if self._keep:
            self._kept = found
        return [found[piece] for piece in pieces]

    def __call__(self, state: Deflation, workers: Workers) -> TestResult:
        """Test whether the deflated features still hold signal."""
        score = float(correlation_scores(state).max(initial=0.0))
        if score == 0.0:
            return TestResult(score, 1.0, 0, True, False)
        tally = _Tally(score, self._alpha, self._permutations.count)
        if self._reach:
            self._later_test(state, workers, tally)
        else:
            self._first_test(state, workers, tally)
        return tally.result()

    def _first_test(self, state: Deflation, workers: Workers, tally: _Tally) -> None:
        reach: list[Floats] = []
        self._start = state.basis[:, varying_columns(state.basis)]
        shrunk = np.sqrt(state.squared_norms) * state.inverse_norms
        clear = _clearly_significant(tally.score, self._design.shape, self._responses.shape[1])
        for batch in self._permutations.batches(self._responses.shape[1], clear):
            sizes = [self._pieces[piece][1] - self._pieces[piece][0] for piece in batch]
            exceeds, reached = single_precision_exceedances(
                self._design, workers, state, self._permuted(batch, workers), sizes, tally.score
            )
            reach += [np.divide(r, shrunk, out=np.zeros_like(r), where=shrunk > 0) for r in reached]
            if tally.add(exceeds):
                return
        self._reach = reach

    def _later_test(self, state: Deflation, workers: Workers, tally: _Tally) -> None:
        shrunk = np.sqrt(state.squared_norms) * state.inverse_norms
        for piece, (start, stop) in enumerate(self._pieces):
            rivals = np.flatnonzero(self._reach[piece] * shrunk >= tally.score - TIE)
            if not len(rivals):
                tally.add(np.zeros(stop - start, dtype=bool))
                continue
            overlap = np.array(self._overlaps[piece])
            exceeds, [reached] = single_precision_exceedances(
                self._design,
                workers,
                state,
                self._permuted([piece], workers),
                [stop - start],
                tally.score,
                rivals,
                overlap,
            )
            self._reach[piece][rivals] = reached / shrunk[rivals]
            if tally.add(exceeds):
                return

    def deflated(self, state: Deflation, workers: Workers) -> None:
        """Record by how much the newest component can change the permuted scores of each feature."""
        if not self._reach:
            return
        lengths = np.sqrt(state.squared_norms)
        fraction = np.divide(np.abs(state.loadings[:, -1]), lengths, out=np.zeros_like(lengths), where=lengths > 0)
        newest = state.basis[:, -1]

        def note(piece: int) -> None:
            overlap = newest @ self._permuted([piece], workers)[0]
            self._overlaps[piece].append(overlap)
            self._reach[piece] += fraction * np.abs(overlap).max() + TIE

        work = 4.0 * len(newest) * self._permutations.count
        workers.map(note, range(len(self._pieces)), work)


class ResidualTest:
    """The calibrated test: permutations of what is left of the response (Freedman and Lane)."""

    def __init__(self, design: Design, responses: Floats, permutations: Permutations, alpha: float) -> None:
        self._design, self._responses = design, responses
        self._permutations, self._alpha = permutations, alpha

    def __call__(self, state: Deflation, workers: Workers) -> TestResult:
        """Compare ``max |X_k^T e| / |e|`` with ``max |X_k^T P e_r| / |P e_r|``, e = P t."""
        scores, residuals = tested_scores(state, self._responses, "residual")
        score = float(scores.max(initial=0.0))
        if score == 0.0:
            return TestResult(score, 1.0, 0, True, False)
        tally = _Tally(score, self._alpha, self._permutations.count)
        pieces = self._permutations.pieces(residuals.shape[1])
        clear = _clearly_significant(score, self._design.shape, residuals.shape[1])
        for batch in self._permutations.batches(residuals.shape[1], clear):
            borders = [pieces[piece] for piece in batch]
            vectors = self._permutations.permuted(residuals, borders, workers)
            vectors = workers.map(
                lambda piece: unit_columns(project_off(state.basis, piece)),
                vectors,
                4.0 * sum(v.size for v in vectors),
            )
            sizes = [stop - start for start, stop in borders]
            if tally.add(single_precision_exceedances(self._design, workers, state, vectors, sizes, score)[0]):
                break
        return tally.result()

    def deflated(self, state: Deflation, workers: Workers) -> None:
        """Record nothing: every test permutes the current residuals."""


def _clearly_significant(score: float, shape: tuple[int, int], n_columns: int) -> bool:
    """Guess that the test will pass, so that it need not look at a few permutations first.

    Fisher's transform of a correlation is about normal; Bonferroni over all features. A wrong guess
    costs time, never the decision.
    """
    n, n_features = shape
    deviate = np.arctanh(min(score, 1 - 1e-12)) * np.sqrt(max(n - 3, 1))
    return bool(2 * ndtr(-deviate) * n_features * n_columns < 1e-3)


def single_precision_exceedances(
    design: Design,
    workers: Workers,
    state: Deflation,
    vectors: list[Floats],
    sizes: list[int],
    score: float,
    features: Indices | None = None,
    overlap: Floats | None = None,
) -> tuple[Mask, list[Floats]]:
    """Return which permutations reach the score, decided as in double precision, and the reach per piece.

    ``features`` restricts the search; ``overlap`` is Q^T y of the (then single) piece, whose y is not projected.
    """
    n = design.shape[0]
    inverse_norms = state.inverse_norms
    grown = np.sqrt(design.product_norms) * inverse_norms
    if features is not None:
        grown[np.setdiff1d(np.arange(len(grown)), features, assume_unique=True)] = 0.0
    fragile = np.flatnonzero(grown > 1 / FRAGILE_SHARE)
    sturdy_norms = inverse_norms.copy()
    sturdy_norms[fragile] = 0.0
    grown[fragile] = 0.0
    # The largest rounding error of a dot product of unit vectors, times its amplification by deflation.
    roundings = (n + state.basis.shape[1] + 6) * UNIT_ROUNDOFF
    bound = roundings / max(1 - roundings, 0.5) * max(1.0, grown.max()) + TIE
    explained = None if overlap is None else (state.loadings[:, -len(overlap) :], overlap)
    maxima, reach = _maxima(design, workers, vectors, sizes, sturdy_norms, np.float32, features, explained)
    exceeds = maxima > score + bound
    unsure = np.abs(maxima - score) <= bound
    start = 0
    for piece, size in enumerate(sizes):
        here = np.flatnonzero(unsure[start : start + size])
        if len(here):
            near = np.flatnonzero(reach[piece] >= score - bound)
            near = near if features is None else features[near]
            columns = _some(vectors[piece], size, here)
            some = None if explained is None else (explained[0], _some(explained[1], size, here))
            exact, _ = _maxima(design, workers, [columns], [len(here)], inverse_norms, np.float64, near, some)
            exceeds[start + here] = exact >= score - TIE
        start += size
    reach = [reached + bound for reached in reach]
    if len(fragile):
        exact, reached = _maxima(design, workers, vectors, sizes, inverse_norms, np.float64, fragile, explained)
        exceeds |= exact >= score - TIE
        places = fragile if features is None else np.searchsorted(features, fragile)
        for total, exact_reach in zip(reach, reached, strict=True):
            total[places] = exact_reach + TIE
    return exceeds, reach


def _some(columns: Floats, size: int, permutations: Indices) -> Floats:
    """Return the columns of some of the permutations of a piece."""
    return columns.reshape(len(columns), -1, size)[:, :, permutations].reshape(len(columns), -1)


def _maxima(
    design: Design,
    workers: Workers,
    vectors: list[Floats],
    sizes: list[int],
    multiplier: Floats,
    dtype: type[np.floating[Any]],
    features: Indices | None,
    explained: tuple[Floats, Floats] | None,
) -> tuple[Floats, list[Floats]]:
    """Return the largest score of each permutation, and of each feature within each piece."""
    of_vectors, reach = design.score_maxima(
        vectors, multiplier, workers, dtype=dtype, features=features, explained=explained
    )
    maxima = [piece.reshape(-1, size).max(axis=0) for piece, size in zip(of_vectors, sizes, strict=True)]
    return np.concatenate(maxima).astype(np.float64), [piece.astype(np.float64) for piece in reach]
