"""Default candidates for stacking: kernels, the lasso, reductions with the horseshoe model, and the base rate."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from ..families import class_family
from ..kernels import KERNEL_METHODS, KernelScores
from ..models import MODELS
from ..penalized import PENALIZED
from ..targets import find_target
from ..transformers.base import SupervisedComponents
from ..transformers.ispca_transformer import ISPCA
from ..transformers.spca_transformer import SPCA

# Where the settings of ISPCA that the command line and stacking use differ from those of the paper.
RECOMMENDED: dict[str, Any] = {"n_permutations": "auto"}
# The residual test finds more components, and cross-fitting keeps the model from trusting them too much.
HONEST: dict[str, Any] = RECOMMENDED | {"test": "residual", "cross_fit": 10}
# As in the paper; with many classes, each component has a coefficient per class.
N_COMPONENTS = 50
N_COMPONENTS_MANY_CLASSES = 20


def default_candidates(kind: str, n_classes: int = 2) -> list[tuple[str, Any]]:
    """Return the candidates by name, for a kind of target and a number of classes; their seeds are None."""
    target = find_target(kind)
    count = N_COMPONENTS_MANY_CLASSES if target.unordered and n_classes > 2 else N_COMPONENTS
    model = MODELS[kind]()
    # Named, because more than a few integers would be taken as a quantity.
    options: dict[str, Any] = {"whiten": True, "family": (target.family or class_family(n_classes)).name}
    reductions = [("ISPCA-cross-fitted", reduced(ISPCA(count, **options, **HONEST), model))]
    if not target.unordered or n_classes == 2:
        # With more classes it takes long, and adds nothing (docs/predictions.md).
        reductions.insert(0, ("SPCA", reduced(SPCA(count, **options), model)))
    linear = PENALIZED.get(kind)
    penalized = [] if linear is None else [("lasso", linear(penalty="lasso", choice="best"))]
    return [("kernels", kernel_method(kind)), *penalized, *reductions, ("base rate", target.base_rate())]


def kernel_method(kind: str) -> Any:
    """Return the mixture of kernels for a kind of target: with other targets, a model learns from its scores."""
    if kind in KERNEL_METHODS:
        return KERNEL_METHODS[kind]()
    family = find_target(kind).family
    assert family is not None
    return reduced(KernelScores(family=family.name), MODELS[kind](prior="ridge"))


def reduced(reduction: SupervisedComponents | KernelScores, model: Any) -> Pipeline:
    """Put a model after a reduction."""
    return Pipeline([("reduction", reduction), ("model", model)])
