"""What the method needs of X: products with the standardized matrix, some of its columns, its moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from .records import Floats, Indices, Mask
from .threads import Workers

Result = TypeVar("Result")
Block = slice | Indices
Reducer = Callable[[Any, Block], Result]

BLOCK_FEATURES = 512
# A value this close to the column mean (in standard deviations) is not below it, whatever the rounding.
MEAN_TOLERANCE = 1e-10
# A standard deviation this small against the mean is rounding noise of a constant column.
CONSTANT_TOLERANCE = 1e-13


def feature_blocks(n_features: int, width: int = BLOCK_FEATURES) -> list[slice]:
    """Cut the features into blocks whose borders depend on nothing else, for equal rounding everywhere."""
    return [slice(start, min(start + width, n_features)) for start in range(0, n_features, width)]


class Design(Protocol):
    """What the method needs of X: products with it, some of its columns, its moments.

    In ``map_products`` every vector is centered (or ``center`` is off), so ``X_s^T p = S^-1 X^T p``:
    a sparse X is never densified and its center costs nothing.

    Attributes
    ----------
    mean, scale : ndarray of shape (D,)
        ``X_s = (X - mean) / scale``.
    deviation : ndarray of shape (D,)
        Standard deviation, zero for a constant column.
    n_below : ndarray of shape (D,)
        How many values lie below the column mean.
    usable : ndarray of shape (D,)
        Features that take part; the standardized column of any other is zero.
    squared_norms : ndarray of shape (D,)
        ``|x_j|^2`` of the standardized columns.
    product_norms : ndarray of shape (D,)
        The same for the columns as they enter products, uncentred where X is sparse: rounding goes by them.
    roundings : ndarray of shape (D,)
        ``|e_j|^2`` of what rounding X to its own precision may have changed in the standardized columns.
    """

    sparse: bool
    workers: Workers
    shape: tuple[int, int]
    mean: Floats
    scale: Floats
    deviation: Floats
    n_below: Indices
    usable: Mask
    squared_norms: Floats
    product_norms: Floats
    roundings: Floats

    def use(self, usable: Mask) -> None:
        """Leave out every feature that is not usable."""

    def map_products(
        self,
        vectors: Sequence[Floats],
        reduce: Reducer[Result],
        *,
        features: Indices | None = None,
        multiplier: Floats | None = None,
        dtype: Any = np.float64,
    ) -> list[list[Result]]:
        """Return ``reduce(X_s[:, block].T @ vectors[i], block)`` for every block of features and every i.

        The product is only lent to ``reduce``: its memory is used again.
        """

    def t_dot(self, vectors: Floats, features: Indices | None = None) -> Floats:
        """Return ``X_s^T vectors``, one row per feature."""

    def columns(self, features: Indices) -> Floats:
        """Return the standardized columns, dense."""

    def feature_gram(self, features: Indices) -> Floats:
        """Return ``X_s[:, features].T @ X_s[:, features]``."""

    def sample_gram(self, features: Indices | None) -> Floats:
        """Return ``X_s[:, features] @ X_s[:, features].T``."""

    def sample_gram_product(self, features: Indices | None) -> Callable[[Floats], Floats]:
        """Return the product of that Gram matrix with a vector, for when it is too large to form."""

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        """Return ``X_s[:, features] @ coefficients``."""


def precision_of(X: Any) -> float:
    """Return the relative spacing of the numbers in X; integers are exact and become double precision."""
    return float(np.finfo(np.float32 if X.dtype == np.float32 else np.float64).eps)


class Standardized:
    """The part that dense and sparse designs share: moments, and which features take part."""

    shape: tuple[int, int]

    def _standardize(
        self, mean: Floats, deviation: Floats, n_below: Indices, precision: float, center: bool, scale: bool
    ) -> None:
        # A spread that is pure rounding error of the mean counts as zero.
        self.deviation = np.where(deviation > CONSTANT_TOLERANCE * np.abs(mean), deviation, 0.0)
        self.n_below = n_below
        self.mean = mean if center else np.zeros_like(mean)
        self.scale = np.where(self.deviation > 0, self.deviation, 1.0) if scale else np.ones_like(mean)
        n = self.shape[0]
        # A value is off by half a unit in its last place when stored, and by a few more when it was computed.
        self._rounding = 2 * precision * np.hypot(mean, self.deviation)
        self._sum_squares = (n - 1) * self.deviation**2 + n * (mean - self.mean) ** 2
        self.use(self.deviation > 0)

    def use(self, usable: Mask) -> None:
        self.usable = usable
        self._weight = np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=usable)
        self.squared_norms = self._sum_squares * self._weight**2
        self.product_norms = self.squared_norms
        self.roundings = self.shape[0] * (self._rounding * self._weight) ** 2
