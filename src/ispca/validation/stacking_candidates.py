"""Default candidates for stacking: four reductions with the horseshoe model, lasso, ridge and the base rate."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ..families import GAUSSIAN, class_family
from ..ispca_transformer import ISPCA
from ..models.classifier import HorseshoeClassifier
from ..models.regressor import HorseshoeRegressor
from ..penalized import PenalizedClassifier, PenalizedRegressor
from ..spca_transformer import SPCA
from .base_rates import BASE_RATES
from .methods import HONEST, reduced

# As in the paper; with many classes, each component has a coefficient per class.
N_COMPONENTS = 50
N_COMPONENTS_MANY_CLASSES = 20


def default_candidates(kind: str, n_classes: int = 2) -> list[tuple[str, Any]]:
    """Return the candidates by name, for a kind of target and a number of classes; their seeds are None."""
    regression = kind == "regression"
    # Named, because more than a few integers would be taken as a quantity.
    family = GAUSSIAN if regression else class_family(n_classes)
    count = N_COMPONENTS if regression or n_classes == 2 else N_COMPONENTS_MANY_CLASSES
    model: Any = HorseshoeRegressor() if regression else HorseshoeClassifier()
    linear = PenalizedRegressor if regression else PenalizedClassifier
    options: dict[str, Any] = {"whiten": True, "family": family.name}
    return [
        ("PCA", reduced(ISPCA(count, n_supervised=0, **options), model)),
        ("SPCA", reduced(SPCA(count, **options), model)),
        ("ISPCA-cross-fitted", reduced(ISPCA(count, **options, **HONEST), model)),
        ("ISPCA-small-cross-fitted", reduced(ISPCA(**options, **HONEST), model)),
        ("lasso", linear(penalty="lasso", choice="best")),
        ("ridge", linear(penalty="ridge", choice="average")),
        ("base rate", clone(BASE_RATES[kind])),
    ]
