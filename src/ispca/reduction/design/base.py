"""The interface of all designs, and what they have in common: standardization and reductions of block products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from ...foundation.arrays import Floats, Indices, Mask
from ..threads import Workers

Result = TypeVar("Result")
Block = slice | Indices
Reducer = Callable[[Any, Block, int], Result]
# Whether columns are scaled to unit standard deviation, or what each of them is divided by.
Scale = bool | Floats

BLOCK_FEATURES = 512
# A value this close to the column mean (in standard deviations) is not below it, whatever the rounding.
MEAN_TOLERANCE = 1e-10
# A standard deviation this small compared with the mean is rounding noise of a constant column.
CONSTANT_TOLERANCE = 1e-13


def feature_blocks(n_features: int, width: int = BLOCK_FEATURES) -> list[slice]:
    """Cut the features into blocks whose borders depend on nothing else, for equal rounding everywhere."""
    return [slice(start, min(start + width, n_features)) for start in range(0, n_features, width)]


@dataclass(frozen=True, eq=False)
class RowWeights:
    """How much each sample counts, if not all count the same.

    Attributes
    ----------
    total : ndarray of shape (n,)
        Weights of the squares: sample weights times the variances of a null model, scaled to the sum ``size``.
    samples : ndarray of shape (n,) or None
        Sample weights: a weight of 2 stands for two equal samples. None if all are 1.
    """

    total: Floats
    samples: Floats | None = None

    @cached_property
    def size(self) -> float:
        """Number of samples that the weights stand for."""
        return float(len(self.total) if self.samples is None else self.samples.sum())

    @cached_property
    def roots(self) -> Floats:
        """What rows are multiplied by, ``sqrt(total)``."""
        roots: Floats = np.sqrt(self.total)
        return roots


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the columns of X, and how the columns are standardized.

    Attributes
    ----------
    mean, scale : ndarray of shape (D,)
        ``X_s = (X - mean) / scale``.
    deviation : ndarray of shape (D,)
        Standard deviation, zero for a constant column.
    n_below : ndarray of shape (D,)
        Number of values below the column mean, each counted with its sample weight.
    sum_squares : ndarray of shape (D,)
        (Weighted) sum of squares of the columns of ``X - mean``.
    rounding : ndarray of shape (D,)
        By how much a value of the column may have been rounded.
    """

    mean: Floats
    scale: Floats
    deviation: Floats
    n_below: Indices | Floats
    sum_squares: Floats
    rounding: Floats

    @classmethod
    def of(
        cls,
        X: Any,
        mean: Floats,
        deviation: Floats,
        n_below: Indices | Floats,
        *,
        center: bool,
        scale: Scale,
        rows: RowWeights | None = None,
    ) -> Moments:
        """Complete what has been computed from X."""
        n = X.shape[0] if rows is None else rows.size
        # A spread that is pure rounding error of the mean counts as zero.
        deviation = np.where(deviation > CONSTANT_TOLERANCE * np.abs(mean), deviation, 0.0)
        subtracted = mean if center else np.zeros_like(mean)
        # Integers are exact and become double precision.
        precision = float(np.finfo(np.float32 if X.dtype == np.float32 else np.float64).eps)
        return cls(
            subtracted,
            _scale(scale, deviation),
            deviation,
            n_below,
            (n - 1) * deviation**2 + n * (mean - subtracted) ** 2,
            # A value is off by half a unit in its last place when stored, and by a few more when it was computed.
            2 * precision * np.hypot(mean, deviation),
        )


def _scale(scale: Scale, deviation: Floats) -> Floats:
    if not isinstance(scale, bool):
        return scale
    return np.where(deviation > 0, deviation, 1.0) if scale else np.ones_like(deviation)


@dataclass(frozen=True, eq=False)
class Design(ABC):
    """A standardized X, which never changes; what takes long is run by the workers that are passed in.

    Attributes
    ----------
    shape : tuple of int
        Number of samples n and of features D.
    moments : Moments
        Moments of all columns.
    usable : ndarray of shape (D,)
        Features that take part; the standardized column of any other is zero.
    """

    sparse: ClassVar[bool]
    shape: tuple[int, int]
    moments: Moments
    usable: Mask
    _grams: dict[str, Floats] = field(default_factory=dict, init=False, repr=False)

    def restricted(self, usable: Mask) -> Design:
        """Return a design of the same data in which only these features take part."""
        return replace(self, usable=usable)

    @property
    def rows(self) -> RowWeights | None:
        """The weights of the samples; None if all count the same."""
        return None

    @property
    def size(self) -> float:
        """Number of samples, each counted with its weight."""
        return self.shape[0]

    @property
    def takes_classes(self) -> bool:
        """Whether `score_maxima` multiplies `PermutedClasses` faster than the responses they stand for."""
        return False

    @property
    def expands_classes(self) -> bool:
        """Whether `score_maxima` takes `PermutedClasses` only to save passes over X, and forms the responses."""
        return False

    @cached_property
    def weight(self) -> Floats:
        """What centered columns are multiplied by: ``1 / scale``, zero if not usable."""
        scale = self.moments.scale
        return np.divide(1.0, scale, out=np.zeros_like(scale), where=self.usable)

    @cached_property
    def squared_norms(self) -> Floats:
        """``|x_j|^2`` of the standardized columns."""
        return self.moments.sum_squares * self.weight**2

    @cached_property
    def product_norms(self) -> Floats:
        """The same for the columns as they enter products, by which rounding errors grow."""
        return self.squared_norms

    @cached_property
    def roundings(self) -> Floats:
        """``|e_j|^2`` of what rounding X to its own precision may have changed in the standardized columns."""
        return self.size * (self.moments.rounding * self.weight) ** 2

    @abstractmethod
    def t_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        """Return ``X_s^T vectors``, one row per feature."""

    def t_dot_here(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Any:
        """Return the same where X is: an array of its library."""
        return self.t_dot(vectors, workers, features)

    @abstractmethod
    def score_maxima(
        self,
        vectors: Sequence[Any],
        multiplier: Floats,
        workers: Workers,
        *,
        dtype: Any = np.float64,
        features: Indices | None = None,
        explained: tuple[Floats, Floats] | None = None,
    ) -> tuple[list[Floats], list[Floats]]:
        """Return the largest ``multiplier_j |x_j^T t|`` of each vector t, and of each feature j, per matrix.

        Every matrix in ``vectors`` has vectors in its columns, orthogonal to the constant if X is centered; a
        design that ``takes_classes`` or ``expands_classes`` takes `PermutedClasses` too.
        ``explained`` are loadings L (D x k) and Q^T t (k x vectors of all matrices) for the score of
        ``x_j^T t - L_j Q^T t``.
        """

    @abstractmethod
    def score_exceedances(
        self,
        vectors: Floats,
        n_columns: int,
        levels: Floats,
        multiplier: Floats,
        workers: Workers,
        features: Indices,
    ) -> Indices:
        """Count for each feature j the permutations whose largest ``multiplier_j |x_j^T t|`` reaches its level.

        ``vectors`` are as in `score_maxima`: the permutations of one of ``n_columns`` responses after the other.
        """

    def expect(self, features: Indices) -> None:
        """Prepare for requests for some of these columns: where X has to be read, they are read at once."""
        return

    @abstractmethod
    def columns(self, features: Indices) -> Floats:
        """Return the standardized columns, dense."""

    @abstractmethod
    def feature_gram(self, features: Indices, workers: Workers, rows: RowWeights | None = None) -> Floats:
        """Return ``X_s[:, features].T @ X_s[:, features]``, of weighted rows if there are weights."""

    def sample_gram(self, workers: Workers, features: Indices | None = None) -> Floats:
        """Return ``X_s[:, features] @ X_s[:, features].T``; that of all features is computed only once."""
        if features is not None:
            return self.compute_sample_gram(workers, features)
        if "all" not in self._grams:
            self._grams["all"] = self.compute_sample_gram(workers, None)
        return self._grams["all"]

    @abstractmethod
    def compute_sample_gram(self, workers: Workers, features: Indices | None) -> Floats:
        """Compute the Gram matrix of the samples."""

    def leading_left_vectors(
        self, workers: Workers, basis: Floats, count: int, features: Indices | None = None
    ) -> Floats | None:
        """Return the leading left singular vectors of ``P X_s``, strongest first; None to have them solved for."""
        return None

    def sample_gram_product(self, workers: Workers, features: Indices | None = None) -> Callable[[Floats], Floats]:
        """Return the product of that Gram matrix with a vector; a design need not form the matrix for it."""
        gram = self.sample_gram(workers, features)
        return lambda vector: gram @ vector

    @abstractmethod
    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        """Return ``X_s[:, features] @ coefficients``."""

    def sample_gram_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        """Return ``X_s[:, features] @ X_s[:, features].T @ vectors`` without forming the Gram matrix."""
        used = np.arange(self.shape[1]) if features is None else features
        return self.dot(self.t_dot(vectors, workers, features), used)


@dataclass(frozen=True, eq=False)
class GramFeatures:
    """The features that a Gram matrix of the samples will be needed of.

    Attributes
    ----------
    chosen : ndarray of shape (D,)
        Features that may take part.
    informative : callable
        Returns which features of a design take part, of those that may.
    """

    chosen: Mask
    informative: Callable[[Design], Mask]

    def of(self, block: slice) -> GramFeatures:
        """Return those of a block."""
        return replace(self, chosen=self.chosen[block])


class InMemoryDesign(Design):
    """A design that multiplies block by block, and reduces each product while it is in the cache."""

    def score_maxima(
        self,
        vectors: Sequence[Any],
        multiplier: Floats,
        workers: Workers,
        *,
        dtype: Any = np.float64,
        features: Indices | None = None,
        explained: tuple[Floats, Floats] | None = None,
    ) -> tuple[list[Floats], list[Floats]]:
        if explained is not None:
            loadings, borders = explained[0], np.cumsum([piece.shape[1] for piece in vectors])
            overlaps = np.split(explained[1].astype(dtype), borders[:-1], axis=1)

        def reduce(product: Floats, block: Block, piece: int) -> tuple[Floats, Floats]:
            if explained is not None:
                # x^T P t = x^T t - (x^T Q)(Q^T t): deflating the product, not the vectors.
                product -= (loadings[block] * multiplier[block, None]).astype(dtype) @ overlaps[piece]
            # The block is still in the cache: absolute value and both maxima cost little here.
            np.abs(product, out=product)
            return product.max(axis=0), product.max(axis=1)

        blocks = self.map_products(vectors, reduce, workers, features, multiplier, dtype)
        by_matrix = list(zip(*blocks, strict=True))
        of_vectors = [np.max([part[0] for part in parts], axis=0) for parts in by_matrix]
        return of_vectors, [np.concatenate([part[1] for part in parts]) for parts in by_matrix]

    def score_exceedances(
        self,
        vectors: Floats,
        n_columns: int,
        levels: Floats,
        multiplier: Floats,
        workers: Workers,
        features: Indices,
    ) -> Indices:
        shape = (-1, n_columns, vectors.shape[1] // n_columns)

        def reduce(product: Floats, block: Block, _: int) -> Indices:
            scores = np.abs(product, out=product).reshape(shape).max(axis=1)
            return np.count_nonzero(scores >= levels[block, None], axis=1)

        blocks = self.map_products([vectors], reduce, workers, features, multiplier, np.float64)
        return np.concatenate([count for [count] in blocks])

    @abstractmethod
    def map_products(
        self,
        vectors: Sequence[Any],
        reduce: Reducer[Result],
        workers: Workers,
        features: Indices | None,
        multiplier: Floats | None,
        dtype: Any,
    ) -> list[list[Result]]:
        """Return ``reduce(X_s[:, block].T @ vectors[i], block, i)`` for every block of features and every i.

        The product is only lent to ``reduce``: its memory is used again. The vectors are centered if X is, so
        ``X_s^T t = S^-1 X^T t``.
        """
