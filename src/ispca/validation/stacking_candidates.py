"""Default candidates for stacking: reductions with the horseshoe model, penalized models and the base rate."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ..families import class_family
from ..ispca_transformer import ISPCA
from ..spca_transformer import SPCA
from .base_rates import BASE_RATES
from .methods import FAMILY_NAMES, HONEST, MODELS, PENALIZED, reduced

# As in the paper; with many classes, each component has a coefficient per class.
N_COMPONENTS = 50
N_COMPONENTS_MANY_CLASSES = 20


def default_candidates(kind: str, n_classes: int = 2) -> list[tuple[str, Any]]:
    """Return the candidates by name, for a kind of target and a number of classes; their seeds are None."""
    # Named, because more than a few integers would be taken as a quantity.
    family = FAMILY_NAMES.get(kind, class_family(n_classes).name)
    many = kind == "classification" and n_classes > 2
    count = N_COMPONENTS_MANY_CLASSES if many else N_COMPONENTS
    model = MODELS[kind]()
    options: dict[str, Any] = {"whiten": True, "family": family}
    reductions = [
        ("PCA", reduced(ISPCA(count, n_supervised=0, **options), model)),
        ("SPCA", reduced(SPCA(count, **options), model)),
        ("ISPCA-cross-fitted", reduced(ISPCA(count, **options, **HONEST), model)),
        ("ISPCA-small-cross-fitted", reduced(ISPCA(**options, **HONEST), model)),
    ]
    linear = PENALIZED.get(kind)
    penalized = []
    if linear is not None:
        penalized = [
            ("lasso", linear(penalty="lasso", choice="best")),
            ("ridge", linear(penalty="ridge", choice="average")),
        ]
    return [*reductions, *penalized, ("base rate", clone(BASE_RATES[kind]))]
