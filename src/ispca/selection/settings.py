"""What a search may choose from."""

from __future__ import annotations

from typing import NamedTuple

from .._array_types import Floats, Indices


class SearchSettings(NamedTuple):
    """What a search may choose from.

    Attributes
    ----------
    max_features : int
        Number of features at which the search stops.
    always, never : ndarray of int
        Features of every submodel, in this order, and of none.
    costs : ndarray of shape (n_features,) or None
        Price of each feature: the search maximizes the gain per unit of price.
    """

    max_features: int
    always: Indices
    never: Indices
    costs: Floats | None = None
