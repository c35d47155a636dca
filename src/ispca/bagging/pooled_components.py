"""The linear features in which the draws of all bags are written, as a reduction that is already fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..foundation.arrays import Floats
from ..transformers.base import SupervisedComponents
from ..transformers.linear_projection import LinearProjection
from .bag import Bag
from .common_features import SampleBasis

# What a reduction knows about the columns of X.
OF_COLUMNS = (
    *("mean_", "scale_", "categories_", "adjusted_", "feature_mask_", "fill_values_", "n_missing_"),
    *("n_features_in_", "feature_names_in_"),
)


class PooledComponents(LinearProjection):
    """Projections of the samples, and the supervised directions of all bags.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        ``transform(X)`` is ``((X - mean_) / scale_) @ components_.T``.
    n_components_ : int
        Number of linear features.
    mean_, scale_, feature_mask_, adjusted_, categories_, fill_values_, n_missing_, n_features_in_,
    feature_names_in_
        As in ISPCA.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        name: SupervisedComponents._parameter_constraints[name] for name in ("adjust", "handle_unknown", "missing")
    }

    def __init__(self, adjust: Any = None, handle_unknown: str = "error", missing: str = "error") -> None:
        self.adjust = adjust
        self.handle_unknown = handle_unknown
        self.missing = missing

    @classmethod
    def of(cls, reduction: SupervisedComponents, basis: SampleBasis, bags: Sequence[Bag]) -> PooledComponents:
        """Return the linear features of the bags; ``reduction`` was fitted to the columns of X."""
        pooled = cls(reduction.adjust, reduction.handle_unknown, reduction.missing)
        for name in OF_COLUMNS:
            if hasattr(reduction, name):
                setattr(pooled, name, getattr(reduction, name))
        n_features = len(reduction.mean_)
        rows = [basis.projection(n_features), *(bag.directions(n_features) for bag in bags)]
        pooled.components_ = np.concatenate(rows)
        pooled.n_components_ = len(pooled.components_)
        # They are not principal components of their own: nothing is supervised, and no column is kept beside them.
        pooled.n_supervised_, pooled.kept_columns_ = 0, np.empty(0, np.intp)
        return pooled

    def project(self, encoded: Any) -> Floats:
        """Return the linear features of encoded samples."""
        return np.asarray(self._project(encoded, self.components_))

    @property
    def inverse_transform(self) -> Any:
        """Missing: the linear features of many bags are not components, from which features could be rebuilt."""
        raise AttributeError("PooledComponents has no inverse_transform: its features are not components.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Refuse: the features are those of bags."""
        raise TypeError("PooledComponents are made by BaggedPosterior.fit.")


def place_draws(bags: Sequence[Bag]) -> Floats:
    """Return coefficients (bag, draw, [class], linear feature), zero for the directions of other bags."""
    ends = np.cumsum([bag.own_coef.shape[-1] for bag in bags])
    width = bags[0].coef.shape[-1]
    coef = np.zeros((len(bags), *bags[0].coef.shape[:-1], width + ends[-1]))
    for row, bag, end in zip(coef, bags, width + ends, strict=True):
        row[..., :width] = bag.coef
        row[..., end - bag.own_coef.shape[-1] : end] = bag.own_coef
    return coef
