"""Any design with weighted rows: products with ``diag(r) X_s``, r the square roots of the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...foundation.arrays import Floats, Indices, Mask
from ..threads import Workers
from .base import Design, RowWeights


@dataclass(frozen=True, eq=False)
class WeightedDesign(Design):
    """A design whose moments are weighted, with its rows multiplied by the roots of the weights.

    ``(diag(r) X_s)^T v = X_s^T (r v)``, so that X is neither copied nor densified. What is orthogonal to r here is
    centered when multiplied by r, as the products of a centered sparse X require.
    """

    base: Design
    row_weights: RowWeights

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        """Whether X is sparse."""
        return self.base.sparse

    @property
    def rows(self) -> RowWeights:
        return self.row_weights

    @property
    def size(self) -> float:
        return self.row_weights.size

    @property
    def _roots(self) -> Floats:
        return self.row_weights.roots[:, None]

    @cached_property
    def product_norms(self) -> Floats:
        # Products use the columns as they are stored: those of a sparse X are not centered.
        shift = self.base.product_norms - self.base.squared_norms
        return self.squared_norms + shift * (self.size / self.shape[0])

    def restricted(self, usable: Mask) -> WeightedDesign:
        return replace(self, usable=usable, base=self.base.restricted(usable))

    def t_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        return self.base.t_dot(self._roots * vectors, workers, features)

    def t_dot_here(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Any:
        return self.base.t_dot_here(self._roots * vectors, workers, features)

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
        weighted = [self._roots * piece for piece in vectors]
        return self.base.score_maxima(
            weighted, multiplier, workers, dtype=dtype, features=features, explained=explained
        )

    def score_exceedances(
        self,
        vectors: Floats,
        n_columns: int,
        levels: Floats,
        multiplier: Floats,
        workers: Workers,
        features: Indices,
    ) -> Indices:
        weighted = self._roots * vectors
        return self.base.score_exceedances(weighted, n_columns, levels, multiplier, workers, features)

    def expect(self, features: Indices) -> None:
        self.base.expect(features)

    def columns(self, features: Indices) -> Floats:
        return self._roots * self.base.columns(features)

    def feature_gram(self, features: Indices, workers: Workers, rows: RowWeights | None = None) -> Floats:
        return self.base.feature_gram(features, workers, self.row_weights)

    def compute_sample_gram(self, workers: Workers, features: Indices | None) -> Floats:
        # Not in place: the base may keep its matrix.
        gram = self.base.compute_sample_gram(workers, features) * self._roots
        gram *= self.row_weights.roots
        return gram

    def sample_gram_product(self, workers: Workers, features: Indices | None = None) -> Callable[[Floats], Floats]:
        product = self.base.sample_gram_product(workers, features)
        return lambda vector: self.row_weights.roots * product(self.row_weights.roots * vector)

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        return self._roots * self.base.dot(coefficients, features)

    def sample_gram_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        return self._roots * self.base.sample_gram_dot(self._roots * vectors, workers, features)


def with_row_weights(design: Design, rows: RowWeights | None) -> Design:
    """Return the design with weighted rows; itself without weights."""
    if rows is None:
        return design
    return WeightedDesign(design.shape, design.moments, design.usable, design, rows)


def total_weights(sample_weight: Floats | None, variances: Floats | None) -> RowWeights | None:
    """Return the weights of the rows, or None if all are equal."""
    if sample_weight is None:
        if variances is None or np.ptp(variances) <= 1e-12 * variances.max():
            return None
        return RowWeights(variances * (len(variances) / variances.sum()))
    total = sample_weight if variances is None else sample_weight * variances
    return RowWeights(total * (sample_weight.sum() / total.sum()), sample_weight)
