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

from ..._array_types import Floats, Indices
from ..._value_ranges import ColumnRanges, column_ranges, joined_ranges, refuse_out_of_range
from ..._warnings import notify
from ...containers.array_api import DeviceArray, like, on_host
from ..threads import Workers
from .base import MEAN_TOLERANCE, Block, Design, Moments, RowWeights, feature_blocks

# Columns in double precision that are worked on at once, in bytes: a few such blocks are on the device at a time.
BLOCK_BYTES = 2**27
# Up to this number of samples, all eigenvectors of a Gram matrix on the device are faster than Lanczos iterations.
LARGEST_EIGH = 4000


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
                if not _out_of_memory(error) or self.n_values < 2**14:
                    raise
            if self.n_values == BLOCK_BYTES // 8:
                notify("The device ran out of memory, so the fit goes on with smaller blocks.")
            self.n_values //= 4


def _out_of_memory(error: Exception) -> bool:
    return "OutOfMemory" in type(error).__name__ or "RESOURCE_EXHAUSTED" in str(error)


def device_design(
    source: DeviceArray, *, center: bool, scale: bool, rows: RowWeights | None = None
) -> DeviceDesign:
    """Compute the moments of the columns on the device, weighted if there are weights."""
    blocks = Blocks()
    with source.exact():
        found = blocks.retried(lambda: _moments(source, blocks, rows))
    low, high, n_missing, n_infinite, mean, deviation, n_below = found
    refuse_out_of_range(
        ColumnRanges(low, high, n_missing.astype(np.intp), n_infinite.astype(np.intp)), source.names
    )
    moments = Moments.of(source, mean, deviation, n_below, center=center, scale=scale, rows=rows)
    return DeviceDesign(source.shape, moments, moments.deviation > 0, source, blocks)


def _moments(source: DeviceArray, blocks: Blocks, rows: RowWeights | None) -> list[Floats]:
    xp, n = source.xp, source.shape[0]
    total = source.put(np.ones(n) if rows is None else rows.total)[None, :]
    counted = source.put(np.ones(n) if rows is None or rows.samples is None else rows.samples)[None, :]
    size = float(n if rows is None else rows.size)
    parts: list[list[Any]] = []
    for block in blocks.of(n, source.shape[1]):
        values = xp.astype(source.columns_here(block), xp.float64)
        low, high = xp.min(values, axis=0), xp.max(values, axis=0)
        n_missing, n_infinite = (
            xp.sum(xp.astype(bad(values), xp.float64), axis=0) for bad in (xp.isnan, xp.isinf)
        )
        mean = (total @ values)[0, :] / size
        values = values - mean
        # A second pass corrects the mean of columns that lie far from zero.
        correction = (total @ values)[0, :] / size
        values = values - correction
        deviation = xp.sqrt((total @ (values * values))[0, :] / max(size - 1, 1.0))
        below = (counted @ xp.astype(values < -MEAN_TOLERANCE * deviation, xp.float64))[0, :]
        parts.append([low, high, n_missing, n_infinite, mean + correction, deviation, below])
    return [on_host(xp.concat(list(part))) for part in zip(*parts, strict=True)]


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

    def _columns(self, block: Block, dtype: Any = None, multiplier: Any = None) -> Any:
        """Return standardized columns where X is; ``multiplier`` has an entry per feature of X."""
        xp = self.source.xp
        vectors = (self._mean, self._weight, multiplier)
        if isinstance(block, slice):
            chosen = [vector if vector is None else self.source.part(vector, block) for vector in vectors]
        else:
            places = self.source.put(np.asarray(block, np.int64))
            chosen = [vector if vector is None else xp.take(vector, places) for vector in vectors]
        mean, weight, extra = chosen
        values = xp.astype(self.source.columns_here(block), xp.float64) - mean
        values = values * (weight if extra is None else weight * extra)
        return values if dtype is None else xp.astype(values, dtype)

    def _standardized(
        self, features: Indices | None, dtype: Any = None, multiplier: Any = None
    ) -> Iterator[tuple[slice, Any]]:
        """Yield blocks of standardized columns and their places among the features."""
        count = self.shape[1] if features is None else len(features)
        for part in self.blocks.of(self.shape[0], count):
            yield part, self._columns(part if features is None else features[part], dtype, multiplier)

    def _computed(self, compute: Callable[[], Any]) -> Any:
        with self.source.exact():
            return self.blocks.retried(compute)

    def t_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        if features is not None and not len(features):
            return np.empty((0, vectors.shape[1]))
        product: Floats = on_host(self._t_dot(vectors, features, self.source.xp.float64))
        return product

    def t_dot_here(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Any:
        return self._t_dot(vectors, features, self.source.result_type)

    def _t_dot(self, vectors: Floats, features: Indices | None, dtype: Any) -> Any:
        xp = self.source.xp

        def compute() -> Any:
            here = self.source.put(vectors)
            products = [xp.astype(columns.T @ here, dtype) for _, columns in self._standardized(features)]
            return xp.concat(products, axis=0)

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
        xp = self.source.xp
        kind = xp.float32 if dtype == np.float32 else xp.float64

        def compute() -> tuple[list[Floats], list[Floats]]:
            pieces = [xp.astype(self.source.put(piece), kind) for piece in vectors]
            scaled = self.source.put(multiplier)
            largest: list[Any] = [xp.zeros(piece.shape[1], dtype=kind, device=piece.device) for piece in pieces]
            reached: list[list[Any]] = [[] for _ in pieces]
            for part, columns in self._standardized(features, kind, scaled):
                chosen: Block = part if features is None else features[part]
                for number, piece in enumerate(pieces):
                    product = columns.T @ piece
                    if explained is not None:
                        loadings = explained[0][chosen] * multiplier[chosen, None]
                        overlap = xp.astype(self.source.put(explained[1]), kind)
                        product = product - xp.astype(self.source.put(loadings), kind) @ overlap
                    product = xp.abs(product)
                    largest[number] = xp.maximum(largest[number], xp.max(product, axis=0))
                    reached[number].append(xp.max(product, axis=1))
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
        xp = self.source.xp

        def compute() -> Indices:
            here, scaled, counts = self.source.put(vectors), self.source.put(multiplier), []
            for part, columns in self._standardized(features, None, scaled):
                scores = xp.abs(columns.T @ here)
                scores = xp.reshape(scores, (-1, n_columns, vectors.shape[1] // n_columns))
                reaches = xp.max(scores, axis=1) >= self.source.put(levels[features[part]])[:, None]
                counts.append(xp.sum(xp.astype(reaches, xp.int64), axis=1))
            return on_host(xp.concat(counts))

        result: Indices = self._computed(compute)
        return result

    def columns(self, features: Indices) -> Floats:
        columns: Floats = self._computed(lambda: on_host(self._columns(features)))
        return columns

    def feature_gram(self, features: Indices, workers: Workers, rows: RowWeights | None = None) -> Floats:
        def compute() -> Floats:
            columns = self._columns(features)
            if rows is not None:
                columns = columns * self.source.put(rows.roots)[:, None]
            return on_host(columns.T @ columns)

        gram: Floats = self._computed(compute)
        return gram

    def _gram_here(self, features: Indices | None) -> Any:
        def compute() -> Any:
            total: Any = None
            for _, columns in self._standardized(features):
                gram = columns @ columns.T
                total = gram if total is None else total + gram
            return total

        if features is not None:
            return self._computed(compute)
        if "all" not in self._device_grams:
            self._device_grams["all"] = self._computed(compute)
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
        def compute() -> Floats:
            here, total = self.source.put(coefficients), self.source.put(np.zeros((1, 1)))
            for part, columns in self._standardized(features):
                total = total + columns @ self.source.part(here, part)
            return on_host(total)

        if not len(features):
            return np.zeros((self.shape[0], coefficients.shape[1]))
        product: Floats = self._computed(compute)
        return product

    def sample_gram_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        def compute() -> Floats:
            here, total = self.source.put(vectors), self.source.put(np.zeros((1, 1)))
            for _, columns in self._standardized(features):
                total = total + columns @ (columns.T @ here)
            return on_host(total)

        product: Floats = self._computed(compute)
        return product


def project_on_device(source: DeviceArray, mean: Any, scale: Any, projection: Any) -> Any:
    """Return ``((X - mean) / scale) @ projection.T`` where X is, or refuse values out of range."""
    xp, blocks = source.xp, Blocks()

    def compute() -> Any:
        total = source.put(np.zeros((1, 1)))
        here = [like(source.X, part) for part in (mean, scale, projection)]
        for block in blocks.of(source.shape[0], source.shape[1]):
            mean_here, scale_here = (source.part(vector, block) for vector in here[:2])
            values = (xp.astype(source.columns_here(block), xp.float64) - mean_here) / scale_here
            weights = xp.astype(source.part(here[2], block, axis=1), xp.float64)
            total = total + values @ weights.T
        return total

    with source.exact():
        product = blocks.retried(compute)
        if not bool(xp.all(xp.isfinite(product))):
            ranges = [column_ranges(source.load(block)) for block in blocks.of(*source.shape)]
            refuse_out_of_range(joined_ranges(ranges), source.names, varied=False)
    return product
