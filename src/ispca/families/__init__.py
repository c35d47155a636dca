"""The families: one record for each distribution of the target, and the choice between them."""

from __future__ import annotations

from .binomial import BINOMIAL
from .classification import ClassFamily
from .counts import POISSON, CountFamily
from .cox import COX
from .family import Family
from .gaussian import GAUSSIAN
from .multinomial import MULTINOMIAL
from .negative_binomial import NEGATIVE_BINOMIAL
from .ordinal import ORDINAL

__all__ = [
    "COX",
    "FAMILIES",
    "GAUSSIAN",
    "NEGATIVE_BINOMIAL",
    "ORDINAL",
    "POISSON",
    "ClassFamily",
    "CountFamily",
    "Family",
    "class_family",
]

FAMILIES: dict[str, Family] = {
    family.name: family for family in (GAUSSIAN, BINOMIAL, MULTINOMIAL, POISSON, NEGATIVE_BINOMIAL, COX, ORDINAL)
}


def class_family(n_classes: int) -> ClassFamily:
    """Return the family for a number of classes."""
    return BINOMIAL if n_classes <= 2 else MULTINOMIAL
