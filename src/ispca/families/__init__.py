"""The families: one record for each distribution of the target, and the choice between them."""

from __future__ import annotations

from typing import Any

from .binomial import BINOMIAL
from .classification import ClassFamily
from .cox import COX
from .family import Family
from .gaussian import GAUSSIAN
from .multinomial import MULTINOMIAL
from .negative_binomial import NEGATIVE_BINOMIAL
from .ordinal import ORDINAL
from .poisson import POISSON
from .survival_target import is_survival
from .target_kind import guess_kind

__all__ = [
    "COX",
    "FAMILIES",
    "GAUSSIAN",
    "NEGATIVE_BINOMIAL",
    "ORDINAL",
    "POISSON",
    "ClassFamily",
    "Family",
    "choose_family",
    "class_family",
]

FAMILIES: dict[str, Family] = {
    family.name: family for family in (GAUSSIAN, BINOMIAL, MULTINOMIAL, POISSON, NEGATIVE_BINOMIAL, COX, ORDINAL)
}


def class_family(n_classes: int) -> ClassFamily:
    """Return the family for a number of classes."""
    return BINOMIAL if n_classes <= 2 else MULTINOMIAL


def choose_family(name: str, y: Any, labels: bool = False) -> Family:
    """Return a family by its name, or for "auto" by the kind of the target, unless it is known to be labels."""
    if name != "auto":
        return FAMILIES[name]
    if is_survival(y):
        return COX
    if labels or guess_kind(y)[0] == "classification":
        return class_family(len(set(y.tolist())))
    return GAUSSIAN
