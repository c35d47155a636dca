"""Permuted targets as one code per sample and permutation.

A permuted response is a function of the permuted class, so that every entry of a sparse feature belongs to one
class: its sums by class give the products with the responses of all classes at the cost of one. Dense features
outside of memory need codes for another reason: those of all permutations fit into memory, so that one pass over X
is enough. Every value of a quantity is then a class of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...foundation.arrays import Floats, Indices
from ...foundation.extras import load_engine

Codes = np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]

# Permutations whose codes lie together in memory, entries that the engine sums in single precision, its most
# classes.
STRIP = 64
CHUNK = 256
MOST_CLASSES = 256
# Without vector instructions, fewer responses than this are multiplied faster one by one.
FEW_RESPONSES = 3
# For dense features, responses are formed in parts of this many samples and columns.
EXPANDED_SAMPLES, EXPANDED_COLUMNS = 4096, 512


@lru_cache(maxsize=1)
def _engine() -> Any:
    try:
        return load_engine()
    except ImportError:
        return None


def classes_pay(n_responses: int) -> bool:
    """Return whether sums by class are faster than products with this number of responses."""
    engine = _engine()
    return engine is not None and (n_responses >= FEW_RESPONSES or engine.simd() != "baseline")


def class_table(columns: Floats, codes: Indices, most: int = MOST_CLASSES) -> tuple[Codes, Floats] | None:
    """Return a code per sample, 0 for the largest class, and the responses of each class; None for too many.

    ``columns`` are equal for samples with equal ``codes``.
    """
    _, first, own, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    if not 2 <= len(first) <= most:
        return None
    order = np.argsort(-counts, kind="stable")
    dtype = np.min_scalar_type(len(first) - 1)
    return np.argsort(order).astype(dtype)[own.ravel()], np.ascontiguousarray(columns[first[order]])


@dataclass(frozen=True, eq=False)
class PermutedClasses:
    """Permuted responses, those of one response together: a matrix of shape (n, K * size) that is not formed.

    Attributes
    ----------
    codes : ndarray of unsigned integers of shape (strips, n, STRIP)
        Classes of the samples in each permutation; of one byte for `products`.
    table : ndarray of shape (C, K)
        What each class is in each response.
    size : int
        Number of permutations; the last strip may have room for more.
    """

    codes: Codes
    table: Floats
    size: int

    @classmethod
    def of(cls, codes: Codes, table: Floats, orders: Iterable[Indices], size: int) -> PermutedClasses:
        """Permute the classes; each array has orders of the samples in its rows."""
        strips = np.zeros((-(-size // STRIP), len(codes), STRIP), dtype=codes.dtype)
        done = 0
        for rows in orders:
            start = 0
            while start < len(rows):
                strip, place = divmod(done, STRIP)
                stop = min(len(rows), start + STRIP - place)
                strips[strip, :, place : place + stop - start] = codes[rows[start:stop]].T
                done, start = done + stop - start, stop
        return cls(strips, table, size)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of permuted responses."""
        return self.codes.shape[1], self.table.shape[1] * self.size

    @property
    def nbytes(self) -> int:
        """Memory of the codes."""
        return self.codes.nbytes

    @property
    def terms(self) -> float:
        """How many roundings to single precision a product with a unit vector may amount to.

        Sums of chunks are single, everything else is double precision. Sums are counted from class 0, so that an
        error is multiplied by the difference of two responses.
        """
        longest = np.abs(self.table[0]).max() * np.sqrt(self.shape[0])
        return (min(self.shape[0], CHUNK) + 2) * (1.0 + float(longest))

    def some(self, permutations: Indices) -> PermutedClasses:
        """Return some of the permutations."""
        kept = np.zeros((-(-len(permutations) // STRIP), self.shape[0], STRIP), dtype=self.codes.dtype)
        for place, permutation in enumerate(permutations):
            kept[place // STRIP, :, place % STRIP] = self.codes[permutation // STRIP, :, permutation % STRIP]
        return replace(self, codes=kept, size=len(permutations))

    def products(self, data: Any, indices: Any, indptr: Any, scale: Floats, out: Any) -> Any:
        """Return the products of features in compressed rows, each times its scale, in ``out``."""
        _engine().class_products(
            data,
            np.ascontiguousarray(indices, dtype=np.int32),
            np.ascontiguousarray(indptr, dtype=np.int64),
            scale,
            self.codes,
            self.table,
            self.size,
            out,
        )
        return out

    def dense_products(self, columns: Any, out: Any) -> Any:
        """Return the products of the columns of an array in ``out``, with responses formed in small parts."""
        n, n_responses = self.shape[0], self.table.shape[1]
        table = self.table.astype(out.dtype)
        by_response = out.reshape(len(out), n_responses, self.size)
        by_response[:] = 0
        width = max(1, min(STRIP, EXPANDED_COLUMNS // n_responses))
        for first in range(0, self.size, STRIP):
            codes = self.codes[first // STRIP]
            for start in range(0, min(STRIP, self.size - first), width):
                stop = min(start + width, STRIP, self.size - first)
                total = by_response[:, :, first + start : first + stop]
                for sample in range(0, n, EXPANDED_SAMPLES):
                    samples = slice(sample, sample + EXPANDED_SAMPLES)
                    # Out of bounds is impossible; to clip is faster than to check.
                    responses = np.take(table, codes[samples, start:stop], axis=0, mode="clip")
                    product = columns[samples].T @ responses.reshape(len(responses), -1)
                    total += product.reshape(len(out), stop - start, n_responses).transpose(0, 2, 1)
        return out

    def t_dot(self, vectors: Floats) -> Floats:
        """Return the products of the columns of a matrix with the permuted responses."""
        n, count = vectors.shape
        if _engine() is None or self.codes.dtype != np.uint8:
            return self.dense_products(vectors, np.empty((count, self.shape[1])))
        indptr = np.arange(0, (count + 1) * n, n)
        data = np.ascontiguousarray(vectors.T).ravel()
        out = np.empty((count, self.shape[1]))
        return self.products(data, np.tile(np.arange(n, dtype=np.int32), count), indptr, np.ones(count), out)

    def expanded(self) -> Floats:
        """Return the permuted responses themselves."""
        n, strips = self.shape[0], len(self.codes)
        codes = self.codes.transpose(1, 0, 2).reshape(n, strips * STRIP)[:, : self.size]
        return self.table[codes].transpose(0, 2, 1).reshape(n, -1)
