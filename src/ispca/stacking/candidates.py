"""The candidates of mixtures: the default ones, and fits of them with short chains that share computations."""

from __future__ import annotations

import warnings
from typing import Any

import joblib
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from ..families import class_family
from ..fitting.fit_and_predict import fit_timed
from ..foundation.messages import PathEndWarning, RankWarning
from ..kernels import KERNEL_METHODS, KernelScores
from ..models import MODELS
from ..models.base import Horseshoe
from ..penalized import PENALIZED
from ..reduction.reuse import share_results
from ..targets import find_target
from ..targets.samples import Samples
from ..transformers.base import SupervisedComponents
from ..transformers.ispca_transformer import ISPCA
from ..transformers.spca_transformer import SPCA

# Where the settings of ISPCA that the command line and stacking use differ from those of the paper.
RECOMMENDED: dict[str, Any] = {"n_permutations": "auto"}
# The residual test finds more components. Cross-fitting keeps the model from trusting them too much, and shrunken
# scores do so for unsupervised ones.
HONEST: dict[str, Any] = RECOMMENDED | {"test": "residual", "cross_fit": 10, "shrink_scores": True}
# Whether a borderline component is added matters little to a mixture; to be sure may take 100,000 permutations.
MIXTURE_PERMUTATIONS = 1000
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
    honest = HONEST | {"n_permutations": MIXTURE_PERMUTATIONS}
    reductions = [("ISPCA-cross-fitted", reduction_pipeline(ISPCA(count, **options, **honest), model))]
    if not target.unordered or n_classes == 2:
        # With more classes it takes long, and adds nothing (docs/predictions.md).
        reductions.insert(0, ("SPCA", reduction_pipeline(SPCA(count, **options), model)))
    linear = PENALIZED.get(kind)
    penalized = [] if linear is None else [("lasso", linear(penalty="lasso", choice="best"))]
    return [("kernels", kernel_method(kind)), *penalized, *reductions, ("base rate", target.base_rate())]


def kernel_method(kind: str) -> Any:
    """Return the mixture of kernels for a kind of target: with other targets, a model learns from its scores."""
    if kind in KERNEL_METHODS:
        return KERNEL_METHODS[kind]()
    family = find_target(kind).family
    assert family is not None
    return reduction_pipeline(KernelScores(family=family.name), MODELS[kind](prior="ridge"))


def reduction_pipeline(reduction: SupervisedComponents | KernelScores, model: Any) -> Pipeline:
    """Put a model after a reduction."""
    return Pipeline([("reduction", reduction), ("model", model)])


# Mixtures do not need long chains: predictions are averages over the draws.
FOLD_DRAWS = {"n_chains": 2, "n_warmup": 400, "n_draws": 400}


def in_fold(estimator: Any) -> Any:
    """Return a candidate with shorter chains and no second attempt."""
    estimator = clone(estimator)
    for step in [estimator, *estimator.get_params(deep=True).values()]:
        if isinstance(step, Horseshoe):
            shorter = {name: min(most, getattr(step, name)) for name, most in FOLD_DRAWS.items()}
            step.set_params(retry=False, **shorter)
    return estimator


def fit_together(
    samples: Samples, X: Any, elsewhere: bool, estimators: list[Any]
) -> tuple[list[Any], list[Warning]]:
    """Return the fitted candidates and their warnings, which a worker process would print itself."""
    samples = samples._replace(X=X).read_only()
    if elsewhere:
        # Arrays from the network may be unaligned in memory, and are then summed in another order.
        samples = samples.copy().read_only()
    recorded = warnings.catch_warnings(record=True)
    with threadpool_limits(1), joblib.parallel_config(backend="sequential"), recorded as caught:
        warnings.simplefilter("always")
        # For candidates, n_components is an upper limit, and what a penalty at the end of its path or a short
        # chain costs lowers their weight: none needs a warning.
        for category in (RankWarning, PathEndWarning, ConvergenceWarning):
            warnings.filterwarnings("ignore", category=category)
        with share_results(samples.X):
            for estimator in estimators:
                fit_timed(estimator, samples)
    return estimators, [warning.message for warning in caught if isinstance(warning.message, Warning)]
