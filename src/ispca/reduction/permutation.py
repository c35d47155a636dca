"""The permutation test of the largest score, at the price of one matrix product (design.md, section 3).

The decision is the one a plain double-precision test takes on the same permutations:

- it stops as soon as ``exceedances >= alpha R``, when nothing can change it any more;
- the product is made in single precision, and a permutation whose maximum lies within the rounding
  bound of the observed score is made again in double precision;
- that first product also gives ``reach``, the largest score of each feature over all permutations.
  A component q changes ``x_j^T y_r`` by ``(x_j^T q)(q^T y_r)`` only, so in later tests the
  features that cannot reach the observed score are known beforehand and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .deflation import Deflation, project_off
from .design import Block, Design
from .records import Floats, Indices, Mask, TestResult
from .scores import correlation_scores
from .threads import Workers

# Scores closer than this are equal: a permutation that reproduces y must count, whatever the rounding.
TIE = 1e-10
CHUNK = 64
FIRST_BATCH = CHUNK
BATCH_COLUMNS = 1024
UNIT_ROUNDOFF = float(np.finfo(np.float32).eps) / 2
# Columns with a smaller share of their length left lose too many digits in single precision.
FRAGILE_SHARE = 0.1


def exceedance_limit(alpha: float, n_permutations: int) -> int:
    """Return the number of exceedances from which ``p < alpha`` is impossible."""
    return max(1, int(np.ceil(alpha * n_permutations - 1e-9)))


def draw_permutations(seed: int, n_samples: int, start: int, stop: int) -> Indices:
    """Return permutations ``start`` to ``stop``, one per row: the same ones however they are batched."""
    drawn = []
    for chunk in range(start // CHUNK, -(-stop // CHUNK)):
        # Each chunk has a stream of its own, so any chunk can be drawn without those before it.
        generator = np.random.Generator(np.random.PCG64(seed).jumped(chunk))
        rows = np.tile(np.arange(n_samples, dtype=np.intp), (CHUNK, 1))
        generator.permuted(rows, axis=1, out=rows)
        first = chunk * CHUNK
        drawn.append(rows[max(start - first, 0) : stop - first])
    return np.concatenate(drawn)


@dataclass(frozen=True)
class Permutations:
    """R permutations of n samples, made when asked for, and how much memory a batch of them may take."""

    seed: int
    n_samples: int
    count: int
    memory_budget: int
    workers: Workers

    def batches(self, n_columns: int) -> Iterator[tuple[int, int]]:
        """Yield the borders of the batches; the first is small, since a failing test needs few."""
        fitting = self.memory_budget // (64 * self.n_samples * n_columns)
        largest = max(1, min(fitting, BATCH_COLUMNS // n_columns))
        start = 0
        while start < self.count:
            stop = min(self.count, start + (min(FIRST_BATCH, largest) if start == 0 else largest))
            yield start, stop
            start = stop

    def permuted(self, columns: Floats, start: int, stop: int) -> Floats:
        """Return the permuted columns, shape (n, C * batch), the permutations of one column together."""
        return np.take(columns.T, self.indices(start, stop), axis=1).reshape(-1, self.n_samples).T

    def indices(self, start: int, stop: int) -> Indices:
        """Return some of the permutations, one per row."""
        borders = [(first, min(stop, first + CHUNK)) for first in range(start, stop, CHUNK)]
        drawn = self.workers.map(
            lambda part: draw_permutations(self.seed, self.n_samples, *part), borders, 20.0 * (stop - start) * self.n_samples
        )
        return np.concatenate(drawn)


class _Tally:
    """Counts exceedances in the order of the permutations, up to the limit."""

    def __init__(self, score: float, limit: int, count: int) -> None:
        self.score, self.limit, self.count = score, limit, count
        self.exceedances = 0
        self.done = 0

    def add(self, exceeds: Mask) -> bool:
        """Count one batch; return whether the decision is certain."""
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


class MaximumTest:
    """The paper's test: the observed maximum against permutations of the whole response."""

    def __init__(self, design: Design, responses: Floats, permutations: Permutations, alpha: float) -> None:
        self._design = design
        self._responses = responses
        self._permutations = permutations
        self._limit = exceedance_limit(alpha, permutations.count)
        self._reach: Floats | None = None
        self._overlaps: list[Floats] = []
        self._kept: dict[int, Floats] = {}
        size = 8 * responses.size * permutations.count
        self._keep = size <= permutations.memory_budget // 2

    def _permuted(self, start: int, stop: int) -> Floats:
        if start not in self._kept:
            columns = self._permutations.permuted(self._responses, start, stop)
            if not self._keep:
                return columns
            self._kept[start] = columns
        return self._kept[start]

    def _batches(self) -> Iterator[tuple[int, int]]:
        return self._permutations.batches(self._responses.shape[1])

    def __call__(self, state: Deflation) -> TestResult:
        """Test whether the deflated features still hold signal."""
        score = float(correlation_scores(state).max(initial=0.0))
        tally = _Tally(score, self._limit, self._permutations.count)
        if score == 0.0:
            return TestResult(score, 1.0, 0, True, False)
        if self._reach is None:
            self._first_test(state, tally)
        else:
            self._later_test(state, tally)
        return tally.result()

    def _first_test(self, state: Deflation, tally: _Tally) -> None:
        reach = np.zeros(self._design.shape[1])
        for start, stop in self._batches():
            vectors = self._permuted(start, stop)
            exceeds, reached = single_precision_exceedances(self._design, state, vectors, stop - start, tally.score)
            np.maximum(reach, reached, out=reach)
            if tally.add(exceeds):
                return
        self._reach = reach

    def _later_test(self, state: Deflation, tally: _Tally) -> None:
        assert self._reach is not None
        inverse_norms = state.inverse_norms
        shrunk = np.sqrt(state.squared_norms) * inverse_norms
        rivals = np.flatnonzero(self._reach * shrunk >= tally.score - TIE)
        if not len(rivals):
            tally.add(np.zeros(self._permutations.count, dtype=bool))
            return
        explained = state.loadings[:, -len(self._overlaps) :]
        overlaps = np.array(self._overlaps)
        reach = np.zeros(len(rivals))
        for start, stop in self._batches():
            overlap = overlaps[:, self._column_slice(start, stop)]

            def deflate(product: Floats, block: Block, overlap: Floats = overlap) -> None:
                # x^T P y = x^T y - (x^T Q)(Q^T y): deflating the product, not the permutations.
                product -= (explained[block] * inverse_norms[block, None]) @ overlap

            maxima, reached = _maxima(
                self._design, self._permuted(start, stop), stop - start, inverse_norms, np.float64, rivals, deflate
            )
            np.maximum(reach, reached, out=reach)
            if tally.add(maxima >= tally.score - TIE):
                return
        present = shrunk[rivals] > 0
        self._reach[rivals[present]] = reach[present] / shrunk[rivals][present] + TIE

    def _column_slice(self, start: int, stop: int) -> slice:
        n_columns = self._responses.shape[1]
        return slice(start * n_columns, stop * n_columns)

    def deflated(self, state: Deflation) -> None:
        """Take note of the newest component: by how much it can change any feature's permuted score."""
        if self._reach is None:
            return
        overlap = np.concatenate([state.basis[:, -1] @ self._permuted(*batch) for batch in self._batches()])
        self._overlaps.append(overlap)
        lengths = np.sqrt(state.squared_norms)
        share = np.divide(np.abs(state.loadings[:, -1]), lengths, out=np.zeros_like(lengths), where=lengths > 0)
        self._reach += share * np.abs(overlap).max() + TIE


class ResidualTest:
    """The calibrated test: permutations of what is left of the response (Freedman and Lane)."""

    def __init__(self, design: Design, responses: Floats, permutations: Permutations, alpha: float) -> None:
        self._design = design
        self._responses = responses
        self._permutations = permutations
        self._limit = exceedance_limit(alpha, permutations.count)

    def __call__(self, state: Deflation) -> TestResult:
        """Compare ``max |X_k^T e| / |e|`` with ``max |X_k^T P e_r| / |P e_r|``, e = P t."""
        residuals = project_off(state.basis, self._responses)
        lengths = np.linalg.norm(residuals, axis=0)
        left = lengths > 1e-9
        scores = correlation_scores(state)[:, left] / lengths[left]
        score = float(scores.max(initial=0.0))
        if score == 0.0:
            return TestResult(score, 1.0, 0, True, False)
        residuals = residuals[:, left]
        tally = _Tally(score, self._limit, self._permutations.count)
        for start, stop in self._permutations.batches(residuals.shape[1]):
            vectors = project_off(state.basis, self._permutations.permuted(residuals, start, stop))
            vectors /= np.linalg.norm(vectors, axis=0)
            if tally.add(single_precision_exceedances(self._design, state, vectors, stop - start, score)[0]):
                break
        return tally.result()

    def deflated(self, state: Deflation) -> None:
        """Nothing to note: every test draws on the newest residuals."""


def single_precision_exceedances(
    design: Design, state: Deflation, vectors: Floats, batch: int, score: float
) -> tuple[Mask, Floats]:
    """Return which permutations reach the score, decided as in double precision, and each feature's reach."""
    inverse_norms = state.inverse_norms
    share = np.sqrt(state.squared_norms) * inverse_norms
    fragile = share > 1 / FRAGILE_SHARE
    bound = (len(vectors) + 3) * UNIT_ROUNDOFF / (FRAGILE_SHARE if share.max() > 1 + 1e-6 else 1.0)
    sturdy_norms = np.where(fragile, 0.0, inverse_norms)
    maxima, reach = _maxima(design, vectors, batch, sturdy_norms, np.float32)
    exceeds = maxima > score + bound
    unsure = np.flatnonzero(np.abs(maxima - score) <= bound)
    if len(unsure):
        near = np.flatnonzero(reach >= score - bound)
        columns = vectors.reshape(len(vectors), -1, batch)[:, :, unsure].reshape(len(vectors), -1)
        exact, _ = _maxima(design, columns, len(unsure), inverse_norms, np.float64, near)
        exceeds[unsure] = exact >= score - TIE
    if fragile.any():
        exact, _ = _maxima(design, vectors, batch, inverse_norms, np.float64, np.flatnonzero(fragile))
        exceeds |= exact >= score - TIE
    return exceeds, reach + bound


def _maxima(
    design: Design,
    vectors: Floats,
    batch: int,
    multiplier: Floats,
    dtype: type[np.floating],
    features: Indices | None = None,
    adjust: Callable[[Floats, Block], None] | None = None,
) -> tuple[Floats, Floats]:
    """Return the largest score of each permutation and of each feature."""

    def reduce(product: Floats, block: Block) -> tuple[Floats, Floats]:
        if adjust is not None:
            adjust(product, block)
        # The block is still in the cache: absolute value and both maxima cost little here.
        np.abs(product, out=product)
        return product.max(axis=0), product.max(axis=1)

    parts = design.map_products(vectors, reduce, features=features, multiplier=multiplier, dtype=dtype)
    maxima = np.max([part[0] for part in parts], axis=0).reshape(-1, batch).max(axis=0)
    return maxima.astype(np.float64), np.concatenate([part[1] for part in parts]).astype(np.float64)
