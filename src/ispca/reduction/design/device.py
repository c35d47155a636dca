"""X on a device as a design: everything of the size of X stays there, and vectors come and go.

The method decides on the host in double precision; the device multiplies. One number per feature (scores, norms,
loadings of a component) is small beside X.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...containers.array_api import DeviceArray, like, on_host
from ...foundation.arrays import ColumnRanges, Floats, Indices, column_ranges, join_ranges, refuse_out_of_range
from ...foundation.messages import notify
from ..threads import Workers
from . import device_blocks as blockwise
from .base import Design, Moments, RowWeights, Scale, feature_blocks

# Columns in double precision that are worked on at once, in bytes: a few such blocks are on the device at a time.
BLOCK_BYTES = 2**26
# Up to this number of samples, all eigenvectors of a Gram matrix on the device are faster than Lanczos iterations.
LARGEST_EIGH = 4000
# A block of fewer values does not need less memory than what is beside it.
SMALLEST_BLOCK = 2**12


@dataclass
class Blocks:
    """How many values a block may have: fewer after the device has run out of memory."""

    n_values: int = BLOCK_BYTES // 8

    def of(self, n_samples: int, count: int) -> list[slice]:
        """Return the blocks of some columns."""
        return feature_blocks(count, max(1, self.n_values // n_samples))

    def retried(self, compute: Callable[[], Any]) -> Any:
        """Return what a function computes, with smaller blocks if the memory of the device does not suffice."""
        while True:
            try:
                return compute()
            except Exception as error:
                if not out_of_memory(error) or self.n_values < SMALLEST_BLOCK:
                    raise
            if self.n_values == BLOCK_BYTES // 8:
                notify("The device ran out of memory, so the fit goes on with smaller blocks.")
            self.n_values //= 4


def out_of_memory(error: Exception) -> bool:
    """Return whether an error of any library means that the memory of the device does not suffice."""
    return "OutOfMemory" in type(error).__name__ or "RESOURCE_EXHAUSTED" in str(error)


def device_design(
    source: DeviceArray, *, center: bool, scale: Scale, rows: RowWeights | None = None
) -> DeviceDesign:
    """Compute the moments of the columns on the device, weighted if there are weights."""
    blocks, n = Blocks(), source.shape[0]
    size = float(n if rows is None else rows.size)

    def compute() -> list[Floats]:
        total = source.put(np.ones((1, n)) if rows is None else rows.total[None, :])
        counted = source.put(np.ones((1, n)) if rows is None or rows.samples is None else rows.samples[None, :])
        describe = source.compile(blockwise.moments)
        parts = [
            describe(
                source.X, block.start, total, counted, size=size, width=block.stop - block.start, xp=source.xp
            )
            for block in blocks.of(*source.shape)
        ]
        return [on_host(source.xp.concat(list(part))) for part in zip(*parts, strict=True)]

    with source.exact():
        low, high, n_missing, n_infinite, mean, deviation, n_below = blocks.retried(compute)
    counts = (n_missing.astype(np.intp), n_infinite.astype(np.intp))
    refuse_out_of_range(ColumnRanges(low, high, *counts), source.names)
    moments = Moments.of(source, mean, deviation, n_below, center=center, scale=scale, rows=rows)
    return DeviceDesign(source.shape, moments, moments.deviation > 0, source, blocks)


@dataclass(frozen=True, eq=False)
class DeviceDesign(Design):
    """X on a device, held by reference; each block is centered explicitly, which keeps all digits."""

    sparse = False
    source: DeviceArray
    blocks: Blocks
    _device_grams: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def _mean(self) -> Any:
        return self.source.put(self.moments.mean)

    @cached_property
    def _weight(self) -> Any:
        return self.source.put(self.weight)

    def _results(
        self, operation: Callable[..., Any], features: Indices | None, *arguments: Any, **settings: Any
    ) -> Iterator[tuple[slice, Any]]:
        """Yield what an operation gives for each block of the features, and the places of the block among them."""
        count = self.shape[1] if features is None else len(features)
        compiled = self.source.compile(operation)
        for part in self.blocks.of(self.shape[0], count):
            place: Any = part.start
            width: int | None = part.stop - part.start
            if features is not None:
                place, width = self.source.put(np.asarray(features[part], np.int64)), None
            columns = (self.source.X, self._mean, self._weight, place)
            yield part, compiled(columns, *arguments, width=width, xp=self.source.xp, **settings)

    def _computed(self, compute: Callable[[], Any]) -> Any:
        with self.source.exact():
            return self.blocks.retried(compute)

    def _sum(self, operation: Callable[..., Any], features: Indices | None, *arguments: Any) -> Any:
        """Return the sum of an operation over all blocks, where X is."""

        def compute() -> Any:
            total: Any = None
            here = [self.source.put(argument) for argument in arguments]
            for _, result in self._results(operation, features, *here):
                total = result if total is None else total + result
            return total

        return self._computed(compute)

    def t_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        if features is not None and not len(features):
            return np.empty((0, vectors.shape[1]))
        product: Floats = on_host(self._t_dot(vectors, features, self.source.xp.float64))
        return product

    def t_dot_here(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Any:
        return self._t_dot(vectors, features, self.source.result_type)

    def _t_dot(self, vectors: Floats, features: Indices | None, dtype: Any) -> Any:
        def compute() -> Any:
            results = self._results(blockwise.t_dot, features, self.source.put(vectors), dtype=dtype)
            return self.source.xp.concat([product for _, product in results], axis=0)

        return self._computed(compute)

    def score_maxima(
        self,
        vectors: Sequence[Floats],
        multiplier: Floats,
        workers: Workers,
        *,
        dtype: Any = np.float64,
        features: Indices | None = None,
        explained: tuple[Floats, Floats] | None = None,
    ) -> tuple[list[Floats], list[Floats]]:
        xp, put = self.source.xp, self.source.put
        kind = xp.float32 if dtype == np.float32 else xp.float64

        def compute() -> tuple[list[Floats], list[Floats]]:
            pieces = [xp.astype(put(piece), kind) for piece in vectors]
            subtracted = None
            if explained is not None:
                subtracted = tuple(xp.astype(put(part), kind) for part in explained)
            largest: list[Any] = [xp.zeros(piece.shape[1], dtype=kind, device=piece.device) for piece in pieces]
            reached: list[list[Any]] = [[] for _ in pieces]
            arguments = (put(multiplier), tuple(pieces), subtracted)
            for _, found in self._results(blockwise.maxima, features, *arguments, dtype=kind):
                for number, (of_vectors, of_features) in enumerate(found):
                    largest[number] = xp.maximum(largest[number], of_vectors)
                    reached[number].append(of_features)
            return [on_host(part) for part in largest], [on_host(xp.concat(parts)) for parts in reached]

        result: tuple[list[Floats], list[Floats]] = self._computed(compute)
        return result

    def score_exceedances(
        self,
        vectors: Floats,
        n_columns: int,
        levels: Floats,
        multiplier: Floats,
        workers: Workers,
        features: Indices,
    ) -> Indices:
        xp, put = self.source.xp, self.source.put

        def compute() -> Indices:
            arguments = (put(multiplier), put(vectors), put(levels))
            results = self._results(blockwise.exceedances, features, *arguments, n_columns=n_columns)
            return on_host(xp.concat([counts for _, counts in results]))

        result: Indices = self._computed(compute)
        return result

    def columns(self, features: Indices) -> Floats:
        def compute() -> Floats:
            parts = [on_host(part) for _, part in self._results(blockwise.standardized, features)]
            return np.concatenate(parts, axis=1) if parts else np.empty((self.shape[0], 0))

        columns: Floats = self._computed(compute)
        return columns

    def feature_gram(self, features: Indices, workers: Workers, rows: RowWeights | None = None) -> Floats:
        columns = self.columns(features)
        if rows is not None:
            columns = columns * rows.roots[:, None]

        def compute() -> Floats:
            here = self.source.put(columns)
            return on_host(here.T @ here)

        gram: Floats = self._computed(compute)
        return gram

    def _gram_here(self, features: Indices | None) -> Any:
        if features is not None:
            return self._sum(blockwise.sample_gram, features)
        if "all" not in self._device_grams:
            self._device_grams["all"] = self._sum(blockwise.sample_gram, None)
        return self._device_grams["all"]

    def compute_sample_gram(self, workers: Workers, features: Indices | None) -> Floats:
        gram: Floats = on_host(self._gram_here(features))
        return gram

    def leading_left_vectors(
        self, workers: Workers, basis: Floats, count: int, features: Indices | None = None
    ) -> Floats | None:
        if self.shape[0] > LARGEST_EIGH:
            return None

        def compute() -> Floats:
            gram, own = self._gram_here(features), self.source.put(basis)
            gram = gram - own @ (own.T @ gram)
            gram = gram - (gram @ own) @ own.T
            vectors = self.source.xp.linalg.eigh((gram + gram.T) / 2)[1]
            return on_host(vectors)[:, : -count - 1 : -1]

        vectors: Floats = self._computed(compute)
        return vectors

    def sample_gram_product(self, workers: Workers, features: Indices | None = None) -> Callable[[Floats], Floats]:
        gram = self._gram_here(features)

        def product(vector: Floats) -> Floats:
            with self.source.exact():
                result: Floats = on_host(gram @ self.source.put(vector))
            return result

        return product

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        if not len(features):
            return np.zeros((self.shape[0], coefficients.shape[1]))

        def compute() -> Floats:
            total: Any = None
            for part in self.blocks.of(self.shape[0], len(features)):
                here = self.source.put(coefficients[part])
                for _, product in self._results(blockwise.dot, features[part], here):
                    total = product if total is None else total + product
            return on_host(total)

        product: Floats = self._computed(compute)
        return product

    def sample_gram_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        product: Floats = on_host(self._sum(blockwise.sample_gram_dot, features, vectors))
        return product


def project_on_device(source: DeviceArray, mean: Any, scale: Any, projection: Any) -> Any:
    """Return ``((X - mean) / scale) @ projection.T`` where X is, or refuse values out of range."""
    blocks, project = Blocks(), source.compile(blockwise.project)

    def compute() -> Any:
        total: Any = None
        here = tuple(like(source.X, part) for part in (mean, scale, projection))
        for block in blocks.of(*source.shape):
            product = project(source.X, block.start, *here, width=block.stop - block.start, xp=source.xp)
            total = product if total is None else total + product
        return total

    with source.exact():
        product = blocks.retried(compute)
        if not bool(source.xp.all(source.xp.isfinite(product))):
            ranges = [column_ranges(source.load(block)) for block in blocks.of(*source.shape)]
            refuse_out_of_range(join_ranges(ranges), source.names, varied=False)
    return product
