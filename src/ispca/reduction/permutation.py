"""Random permutations of the samples: the same ones for any batches, threads and memory budget.

With groups, such as patients with several samples, only what is exchangeable is exchanged: samples within their
group if the target varies within groups, otherwise whole groups of equal size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..foundation.arrays import Floats, Indices
from .design.permuted_classes import Codes, PermutedClasses
from .reuse import Reuse, find_or_make
from .threads import Workers

# Permutations per random stream.
CHUNK = 64
# Permutations in the first piece: most failing tests need no more.
FIRST_PIECE = 32
# Permutations per later piece: the scores of a block of features then fit the cache.
PIECE = 256
# Mean size of strata of similar samples, and the largest number of strata.
STRATUM, MOST_STRATA = 20, 5
ROUNDING = 1e-9
# Memory of a permuted value: permuted, projected and in single precision, and its products. Codes get half of the
# memory, blocks of X the rest.
RESPONSE_BYTES = 64
CODE_SHARE = 2


@dataclass(frozen=True, eq=False)
class Exchange:
    """What may be exchanged: samples with the same code, or whole units of samples with the same code.

    Attributes
    ----------
    codes : ndarray of int
        One per sample, or one per unit.
    units : list of ndarray of int, optional
        The samples of each unit, in corresponding order; units with the same code have the same size.
    """

    codes: Indices
    units: Sequence[Indices] | None = None

    @cached_property
    def key(self) -> bytes:
        """What tells it from others of the same number of samples."""
        units = [] if self.units is None else self.units
        return b"|".join(part.tobytes() for part in (self.codes, *units))

    def draw(self, generator: np.random.Generator, count: int) -> Indices:
        """Return random permutations of the samples, one per row."""
        # Sorting random numbers within each code permutes what has that code.
        numbers = generator.random((count, len(self.codes)))
        order = np.lexsort((numbers, np.broadcast_to(self.codes, numbers.shape)), axis=1)
        permuted = np.empty_like(order)
        permuted[:, np.argsort(self.codes, kind="stable")] = order
        if self.units is None:
            return permuted
        places = np.concatenate(self.units)
        samples = np.empty((count, len(places)), dtype=np.intp)
        for row, units in zip(samples, permuted, strict=True):
            row[places] = np.concatenate([self.units[unit] for unit in units])
        return samples


def exchange_within_groups(groups: Any, target: Indices) -> Exchange:
    """Return what groups of samples leave to be exchanged; ``target`` has one code per distinct target."""
    codes = np.unique(groups, return_inverse=True)[1].ravel()
    n_groups = codes.max() + 1
    pairs = np.unique(np.column_stack([codes, target]), axis=0)
    if len(pairs) > n_groups:
        return Exchange(codes)
    units = [np.flatnonzero(codes == code) for code in range(n_groups)]
    sizes = np.array([len(unit) for unit in units])
    if len(np.unique(sizes)) == n_groups:
        raise ValueError(
            "The target is constant within every group and no two groups have the same number of samples, so the "
            "permutation test has nothing to exchange. Omit groups, or take equally many samples of each group."
        )
    return Exchange(sizes, units)


def exchange_of_similar(values: Floats) -> Exchange:
    """Return an exchange of samples of similar values: within strata of about equal size."""
    n = len(values)
    n_strata = max(1, min(MOST_STRATA, n // STRATUM))
    # Values that differ by rounding are equal, and equal values are in the same stratum.
    ranks = np.searchsorted(np.sort(values), values - ROUNDING * np.ptp(values))
    return Exchange(ranks * n_strata // n)


# The chunk that was drawn last, and its permutations: where memory is scarce, the next piece is of the same chunk.
Recent = dict[str, tuple[int, Indices]]


def drawn_parts(
    seed: int,
    n_samples: int,
    start: int,
    stop: int,
    exchange: Exchange | None = None,
    recent: Recent | None = None,
) -> Iterator[Indices]:
    """Yield permutations ``start`` to ``stop``, one per row, which do not depend on the batches, part by part."""
    # Long permutations come in smaller chunks: a chunk is always drawn whole.
    size = max(1, min(CHUNK, 2**22 // n_samples))
    recent = {} if recent is None or stop - start >= size else recent
    for chunk in range(start // size, -(-stop // size)):
        number, rows = recent.get("chunk", (-1, None))
        if number != chunk or rows is None:
            rows = _chunk(seed, n_samples, chunk, size, exchange)
            recent["chunk"] = (chunk, rows)
        first = chunk * size
        yield rows[max(start - first, 0) : stop - first]


def _chunk(seed: int, n_samples: int, chunk: int, size: int, exchange: Exchange | None) -> Indices:
    # Each chunk has a stream of its own, so any chunk can be drawn without those before it.
    generator = np.random.Generator(np.random.PCG64(seed).jumped(chunk))
    if exchange is not None:
        return exchange.draw(generator, size)
    rows = np.tile(np.arange(n_samples, dtype=np.intp), (size, 1))
    generator.permuted(rows, axis=1, out=rows)
    return rows


def draw_permutations(
    seed: int,
    n_samples: int,
    start: int,
    stop: int,
    exchange: Exchange | None = None,
    recent: Recent | None = None,
) -> Indices:
    """Return the same permutations together."""
    return np.concatenate(list(drawn_parts(seed, n_samples, start, stop, exchange, recent)))


@dataclass(frozen=True)
class Permutations:
    """At most ``count`` permutations of n samples, drawn on demand in pieces that fit into memory."""

    seed: int
    n_samples: int
    count: int
    memory_budget: int
    reuse: Reuse | None = None
    exchange: Exchange | None = None
    _recent: Recent = field(default_factory=dict, init=False, repr=False, compare=False)

    def pieces(self, n_columns: int, width: int = RESPONSE_BYTES) -> list[tuple[int, int]]:
        """Return the borders of the pieces for a response with this number of columns.

        ``width`` is the memory of a permuted value.
        """
        fitting = self.memory_budget // (width * self.n_samples * n_columns)
        first, later = max(1, min(FIRST_PIECE, fitting)), max(1, min(PIECE, fitting))
        starts = [0, *range(first, self.count, later)]
        return list(zip(starts, [*starts[1:], self.count], strict=True))

    def fit_together(self, n_columns: int, count: int) -> bool:
        """Return whether this many permuted responses fit into memory, so that one pass over X is enough."""
        n_pieces = sum(start < count for start, _ in self.pieces(n_columns))
        return n_pieces <= self._together(n_columns, RESPONSE_BYTES)

    def _together(self, n_columns: int, width: int) -> int:
        """Return how many pieces fit into memory."""
        return max(1, self.memory_budget // (width * self.n_samples * n_columns * PIECE))

    def batches(
        self, n_columns: int, first_pass: int, likely_passes: bool, start: int = 0, width: int = RESPONSE_BYTES
    ) -> Iterator[list[int]]:
        """Yield pieces to work on together, from piece ``start`` on: as many as fit into memory.

        The first piece comes alone if the test may fail. A test cannot pass before ``first_pass`` permutations;
        after that, each batch adds a quarter, so that little is computed in vain.
        """
        pieces = self.pieces(n_columns, width)
        together = self._together(n_columns, width)
        while start < len(pieces):
            done = pieces[start][0]
            wanted = max(first_pass if start or likely_passes else 0, done + done // 4)
            most = min(len(pieces), start + together)
            stop = start + 1
            while stop < most and pieces[stop][0] < wanted:
                stop += 1
            yield list(range(start, stop))
            start = stop

    def indices(self, start: int, stop: int) -> Indices:
        """Return some of the permutations, one per row."""
        key = (self.seed, self.n_samples, start, stop)
        reuse = self.reuse if self._is_shared(stop) else None
        named = ("permutations", key, None if self.exchange is None else self.exchange.key)
        return find_or_make(reuse, None, named, lambda: draw_permutations(*key, self.exchange, self._recent))

    def _is_shared(self, stop: int) -> bool:
        """Return whether other fits find permutations again: only what fits into memory."""
        return self.reuse is not None and 8 * self.n_samples * stop <= self.memory_budget

    def permuted_classes(
        self, classes: tuple[Codes, Floats], pieces: Sequence[tuple[int, int]], workers: Workers
    ) -> list[PermutedClasses]:
        """Return for each piece the same of responses with one code per class, and their table."""

        def permute(piece: tuple[int, int]) -> PermutedClasses:
            start, stop = piece
            orders: Iterable[Indices]
            if self._is_shared(stop):
                orders = [self.indices(start, stop)]
            else:
                orders = drawn_parts(self.seed, self.n_samples, start, stop, self.exchange, self._recent)
            return PermutedClasses.of(*classes, orders, stop - start)

        size = sum(stop - start for start, stop in pieces) * self.n_samples
        return workers.map(permute, pieces, 20.0 * size)

    def permute_columns(
        self, columns: Floats, pieces: Sequence[tuple[int, int]], workers: Workers
    ) -> list[Floats]:
        """Return for each piece the permuted columns, (n, C * size), those of one column together."""

        def permute(piece: tuple[int, int]) -> Floats:
            permuted = np.take(columns.T, self.indices(*piece), axis=1)
            return np.ascontiguousarray(permuted.reshape(-1, self.n_samples).T)

        size = sum(stop - start for start, stop in pieces) * self.n_samples
        return workers.map(permute, pieces, 20.0 * size)
