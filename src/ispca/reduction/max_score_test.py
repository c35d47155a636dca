"""The permutation test of the largest score, at the cost of one matrix product.

The decision equals that of a plain double-precision test on the same permutations (see the algorithm
page of the documentation):

- the test stops as soon as its stopping rule allows, which for a fixed number R of permutations is when
  ``exceedances >= alpha R``, so that the decision can no longer change;
- the product is computed in single precision, and a permutation whose maximum lies within the rounding
  bound of the observed score is recomputed in double precision;
- the first product also gives ``reach``, the largest score of each feature over a piece of the permutations.
  A component q changes ``x_j^T y_r`` by ``(x_j^T q)(q^T y_r)``, so later tests know which features
  cannot reach the observed score and skip them. A later test may need more permutations than those before it:
  it computes their products in full, and their reach serves the tests after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..foundation.arrays import Floats, Indices, Mask
from .deflation import Deflation, project_off, varying_columns
from .design import Design
from .design.permuted_classes import Codes, PermutedClasses, class_table, classes_pay
from .null_distribution import permuted_responses, tested_scores, whole_responses
from .permutation import CODE_SHARE, RESPONSE_BYTES, Permutations
from .reduction_result import TestResult
from .response import Response
from .stopping_rule import PASSED, UNDECIDED, StoppingRule, is_borderline, p_value_interval
from .threads import Workers

Vectors = Floats | PermutedClasses

# Scores closer than this are equal: a permutation that reproduces y must count, whatever the rounding.
TIE = 1e-10
UNIT_ROUNDOFF = float(np.finfo(np.float32).eps) / 2
# Columns with a smaller fraction of their length left lose too many digits in single precision.
FRAGILE_SHARE = 0.1
# The reach of this many permutations, the default number, is stored whatever the memory.
USUAL_PERMUTATIONS = 1000


class _Tally:
    """Counts exceedances in the order of the permutations, until the rule says stop."""

    def __init__(self, score: float, rule: StoppingRule) -> None:
        self.score, self.rule = score, rule
        self.exceedances = self.done = 0
        self.outcome = UNDECIDED

    def add(self, exceeds: Mask) -> bool:
        """Count some permutations; return whether the test is over."""
        running = self.exceedances + np.cumsum(exceeds)
        outcomes = self.rule.outcomes(self.done + np.arange(1, len(exceeds) + 1), running)
        decided = np.flatnonzero(outcomes != UNDECIDED)
        seen = int(decided[0]) + 1 if len(decided) else len(exceeds)
        self.exceedances = int(running[seen - 1])
        self.outcome = int(outcomes[seen - 1])
        self.done += seen
        return bool(len(decided))

    def result(self) -> TestResult:
        p_value, interval = self.exceedances / self.done, p_value_interval(self.exceedances, self.done)
        return TestResult(
            self.score,
            p_value,
            self.done,
            stopped_early=self.done < self.rule.most,
            passed=self.outcome == PASSED,
            p_value_interval=interval,
            limit_reached=self.outcome == UNDECIDED,
            borderline=is_borderline(p_value, interval, self.rule.alpha),
        )


class MaxScoreTest:
    """The paper's test: the observed maximum against permutations of the whole response."""

    def __init__(self, design: Design, response: Response, permutations: Permutations, rule: StoppingRule) -> None:
        self._design, self._responses, self._exchange = design, response.columns, response.exchange
        self._permutations, self._rule = permutations, rule
        self._classes: tuple[Codes, Floats] | None = None
        self._width = RESPONSE_BYTES
        if response.target.plain:
            self._use_classes(response)
        self._n_columns = 1 if self._classes else self._responses.shape[1]
        self._pieces = permutations.pieces(self._n_columns, self._width)
        # For each piece that a test has used: the largest score of each feature, and Q^T y for its permutations.
        self._reach: list[Floats] = []
        self._overlaps: list[list[Floats]] = []
        self._most_reaches = self._affordable_reaches()
        self._kept: dict[int, Vectors] = {}
        # Q0 without the constant, which permutations of the response are orthogonal to anyway.
        self._start = np.empty((len(self._responses), 0))
        self._n_start = -1

    def _use_classes(self, response: Response) -> None:
        """Permute classes instead of responses if their products are faster, or save passes over X."""
        n, n_columns = response.columns.shape
        together = self._permutations.fit_together(n_columns, self._rule.first_pass)
        if self._design.expands_classes and not together:
            self._classes = class_table(response.columns, response.class_codes, most=n)
        elif self._design.takes_classes and response.family.classification and classes_pay(n_columns):
            self._classes = class_table(response.columns, response.class_codes)
        if self._classes:
            self._width = CODE_SHARE * self._classes[0].itemsize

    def _affordable_reaches(self) -> int:
        """Return for how many pieces to store the reach: those of the default test, or what memory allows."""
        budget = self._permutations.memory_budget // 4
        usual = sum(start < USUAL_PERMUTATIONS for start, _ in self._pieces)
        return max(usual, budget // (8 * self._design.shape[1]))

    def _permute(self, pieces: Sequence[int], workers: Workers) -> list[Vectors]:
        missing = [piece for piece in pieces if piece not in self._kept]
        borders = [self._pieces[piece] for piece in missing]
        drawn: Sequence[Vectors]
        if self._classes:
            drawn = self._permutations.permuted_classes(self._classes, borders, workers)
        else:
            drawn = whole_responses(
                self._permutations, self._responses, borders, self._exchange, self._start, workers
            )
        found = self._kept | dict(zip(missing, drawn, strict=True))
        return [found[piece] for piece in pieces]

    def __call__(self, state: Deflation, workers: Workers) -> TestResult:
        """Test whether the deflated features still hold signal."""
        scores, _, state = tested_scores(self._design, state, self._responses, "paper", self._exchange)
        score = float(scores.max(initial=0.0))
        if score == 0.0:
            return TestResult(score, 1.0, 0, True, False)
        if self._n_start < 0:
            self._n_start = state.basis.shape[1]
            self._start = state.basis[:, varying_columns(state.basis)]
        tally = _Tally(score, self._rule)
        if not self._known_pieces(state, workers, tally):
            self._further_pieces(state, workers, tally)
        return tally.result()

    def _known_pieces(self, state: Deflation, workers: Workers, tally: _Tally) -> bool:
        """Count the permutations of earlier tests, whose reach excludes most features."""
        shrunk = np.sqrt(state.squared_norms) * state.inverse_norms
        for piece, reach in enumerate(self._reach):
            size = self._pieces[piece][1] - self._pieces[piece][0]
            rivals = np.flatnonzero(reach * shrunk >= tally.score - TIE)
            if len(rivals):
                exceeds, [reached] = single_precision_exceedances(
                    self._design,
                    workers,
                    state,
                    self._permute([piece], workers),
                    [size],
                    tally.score,
                    rivals,
                    np.array(self._overlaps[piece]) if self._overlaps[piece] else None,
                )
                reach[rivals] = reached / shrunk[rivals]
            else:
                exceeds = np.zeros(size, dtype=bool)
            if tally.add(exceeds):
                return True
        return False

    def _further_pieces(self, state: Deflation, workers: Workers, tally: _Tally) -> None:
        """Count permutations without a reach, and store their reach for later tests while memory allows."""
        shrunk = np.sqrt(state.squared_norms) * state.inverse_norms
        components = state.basis[:, self._n_start :]
        clear = _clearly_significant(tally.score, self._design.shape, self._responses.shape[1])
        for batch in self._permutations.batches(
            self._n_columns, self._rule.first_pass, clear, len(self._reach), self._width
        ):
            permuted = self._permute(batch, workers)
            self._keep(batch, permuted)
            overlaps = [_overlap(components, piece) for piece in permuted]
            exceeds, reached = self._fresh(state, workers, batch, permuted, overlaps, tally.score)
            room = self._most_reaches - len(self._reach)
            for overlap, largest in list(zip(overlaps, reached, strict=True))[:room]:
                np.divide(largest, shrunk, out=largest, where=shrunk > 0)
                largest[shrunk == 0] = 0.0
                self._reach.append(largest)
                self._overlaps.append(list(overlap))
            if tally.add(exceeds):
                return

    def _fresh(
        self,
        state: Deflation,
        workers: Workers,
        batch: Sequence[int],
        permuted: Sequence[Vectors],
        overlaps: Sequence[Floats],
        score: float,
    ) -> tuple[Mask, list[Floats]]:
        """Return which permutations of a batch reach the score, and the reach of its pieces."""
        sizes = [self._pieces[piece][1] - self._pieces[piece][0] for piece in batch]
        n_components = len(overlaps[0])
        vectors: Sequence[Any] = permuted
        overlap = None
        if n_components and self._classes:
            # Classes cannot be projected off the components, but their products can.
            overlap = np.concatenate(overlaps, axis=1)
        elif n_components:
            vectors = [project_off(state.basis[:, self._n_start :], columns) for columns in vectors]
        return single_precision_exceedances(self._design, workers, state, vectors, sizes, score, overlap=overlap)

    def _keep(self, pieces: Sequence[int], permuted: Sequence[Vectors]) -> None:
        """Keep permuted responses for later tests while they fit into half of the memory."""
        held = sum(columns.nbytes for columns in self._kept.values())
        for piece, columns in zip(pieces, permuted, strict=True):
            if piece not in self._kept and held + columns.nbytes <= self._permutations.memory_budget // 2:
                self._kept[piece] = columns
                held += columns.nbytes

    def note_component(self, state: Deflation, workers: Workers) -> None:
        """Record by how much the newest component can change the permuted scores of each feature."""
        if not self._reach:
            return
        lengths = np.sqrt(state.squared_norms)
        fraction = np.divide(np.abs(state.loadings[:, -1]), lengths, out=np.zeros_like(lengths), where=lengths > 0)
        newest = state.basis[:, -1]

        def note(piece: int) -> None:
            [overlap] = _overlap(newest[:, None], self._permute([piece], workers)[0])
            self._overlaps[piece].append(overlap)
            self._reach[piece] += fraction * np.abs(overlap).max() + TIE

        work = 4.0 * len(newest) * self._pieces[len(self._reach) - 1][1]
        workers.map(note, range(len(self._reach)), work)


class ResidualTest:
    """The calibrated test: permutations of what is left of the response (Freedman and Lane)."""

    def __init__(self, design: Design, response: Response, permutations: Permutations, rule: StoppingRule) -> None:
        self._design, self._responses, self._exchange = design, response.columns, response.exchange
        self._permutations, self._rule = permutations, rule

    def __call__(self, state: Deflation, workers: Workers) -> TestResult:
        """Compare ``max |X_k^T e| / |e|`` with ``max |X_k^T P e_r| / |P e_r|``, e = P t."""
        scores, residuals, state = tested_scores(self._design, state, self._responses, "residual", self._exchange)
        score = float(scores.max(initial=0.0))
        if score == 0.0:
            return TestResult(score, 1.0, 0, True, False)
        tally = _Tally(score, self._rule)
        pieces = self._permutations.pieces(residuals.shape[1])
        clear = _clearly_significant(score, self._design.shape, residuals.shape[1])
        for batch in self._permutations.batches(residuals.shape[1], self._rule.first_pass, clear):
            borders = [pieces[piece] for piece in batch]
            vectors = permuted_responses(
                self._permutations, residuals, borders, self._exchange, state.basis, workers
            )
            sizes = [stop - start for start, stop in borders]
            if tally.add(single_precision_exceedances(self._design, workers, state, vectors, sizes, score)[0]):
                break
        return tally.result()

    def note_component(self, state: Deflation, workers: Workers) -> None:
        """Record nothing: every test permutes the current residuals."""


def _clearly_significant(score: float, shape: tuple[int, int], n_columns: int) -> bool:
    """Guess that the test will pass, so that it need not look at a few permutations first.

    Fisher's transform of a correlation is about normal; Bonferroni over all features. A wrong guess
    costs time, never the decision.
    """
    n, n_features = shape
    deviate = np.arctanh(min(score, 1 - 1e-12)) * np.sqrt(max(n - 3, 1))
    return bool(2 * ndtr(-deviate) * n_features * n_columns < 1e-3)


def _overlap(basis: Floats, vectors: Vectors) -> Floats:
    """Return ``Q^T y`` of permuted responses y."""
    if isinstance(vectors, PermutedClasses):
        return vectors.t_dot(basis)
    overlap: Floats = basis.T @ vectors
    return overlap


def single_precision_exceedances(
    design: Design,
    workers: Workers,
    state: Deflation,
    vectors: Sequence[Any],
    sizes: list[int],
    score: float,
    features: Indices | None = None,
    overlap: Floats | None = None,
) -> tuple[Mask, list[Floats]]:
    """Return which permutations reach the score, decided as in double precision, and the reach per piece.

    ``features`` restricts the search; ``overlap`` is Q^T y of all pieces, whose y are not projected then.
    """
    inverse_norms = state.inverse_norms
    grown = np.sqrt(design.product_norms) * inverse_norms
    if features is not None:
        grown[np.setdiff1d(np.arange(len(grown)), features, assume_unique=True)] = 0.0
    fragile = np.flatnonzero(grown > 1 / FRAGILE_SHARE)
    sturdy_norms = inverse_norms.copy()
    sturdy_norms[fragile] = 0.0
    grown[fragile] = 0.0
    bound = _rounding_bound(design, vectors, state.basis.shape[1]) * max(1.0, grown.max()) + TIE
    explained = None if overlap is None else (state.loadings[:, -len(overlap) :], overlap)
    maxima, reach = _maxima(design, workers, vectors, sizes, sturdy_norms, np.float32, features, explained)
    exceeds = maxima > score + bound
    unsure = np.abs(maxima - score) <= bound
    start = first = 0
    for piece, size in enumerate(sizes):
        width, here = vectors[piece].shape[1], np.flatnonzero(unsure[start : start + size])
        if len(here):
            near = np.flatnonzero(reach[piece] >= score - bound)
            near = near if features is None else features[near]
            chosen = vectors[piece]
            columns = chosen.some(here) if isinstance(chosen, PermutedClasses) else _some(chosen, size, here)
            some = None
            if explained is not None:
                some = explained[0], _some(explained[1][:, first : first + width], size, here)
            exact, _ = _maxima(design, workers, [columns], [len(here)], inverse_norms, np.float64, near, some)
            exceeds[start + here] = exact >= score - TIE
        start, first = start + size, first + width
    for of_features in reach:
        of_features += bound
    if len(fragile):
        exact, reached = _maxima(design, workers, vectors, sizes, inverse_norms, np.float64, fragile, explained)
        exceeds |= exact >= score - TIE
        places = fragile if features is None else np.searchsorted(features, fragile)
        for total, exact_reach in zip(reach, reached, strict=True):
            total[places] = exact_reach + TIE
    return exceeds, reach


def _rounding_bound(design: Design, vectors: Sequence[Any], n_components: int) -> float:
    """Return the largest rounding error of a score in single precision, without its amplification by deflation."""
    terms = max(_terms(design, piece) for piece in vectors)
    roundings = (terms + n_components + 6) * UNIT_ROUNDOFF
    longest = 1.0
    if design.rows is not None:
        # It is not the responses of weighted rows that have unit length.
        longest = max(1.0, *(float(np.linalg.norm(columns, axis=0).max()) for columns in vectors))
    return roundings / max(1 - roundings, 0.5) * longest


def _terms(design: Design, vectors: Vectors) -> float:
    """Return how many roundings a product in single precision may amount to."""
    if isinstance(vectors, PermutedClasses) and design.takes_classes:
        return vectors.terms
    return vectors.shape[0]


def _some(columns: Floats, size: int, permutations: Indices) -> Floats:
    """Return the columns of some of the permutations of a piece."""
    return columns.reshape(len(columns), -1, size)[:, :, permutations].reshape(len(columns), -1)


def _maxima(
    design: Design,
    workers: Workers,
    vectors: Sequence[Any],
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
