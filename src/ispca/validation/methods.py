"""The methods of the paper's experiments, and those recommended for each kind of target, ready for `compare`."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._messages import suggestion
from .._transformer_base import SupervisedComponents
from ..families import COX, GAUSSIAN, NEGATIVE_BINOMIAL, ORDINAL
from ..ispca_transformer import ISPCA
from ..models.classifier import HorseshoeClassifier
from ..models.counts import HorseshoeCounts
from ..models.ordinal import HorseshoeOrdinal
from ..models.regressor import HorseshoeRegressor
from ..models.survival import HorseshoeSurvival
from ..penalized import PenalizedClassifier, PenalizedCounts, PenalizedRegressor, PenalizedSurvival
from ..spca_transformer import SPCA
from .base_rates import BASE_RATES

# Where the settings of ISPCA that the command line and stacking use differ from those of the paper.
RECOMMENDED: dict[str, Any] = {"n_permutations": "auto"}
# The residual test finds more components, and cross-fitting keeps the model from trusting them too much.
HONEST: dict[str, Any] = RECOMMENDED | {"test": "residual", "cross_fit": 10}


# The model on the components for each kind of target.
MODELS: dict[str, Any] = {
    "classification": HorseshoeClassifier,
    "regression": HorseshoeRegressor,
    "survival": HorseshoeSurvival,
    "count": HorseshoeCounts,
    "ordinal": HorseshoeOrdinal,
}
# The penalized model on the original features, for kinds of targets that have one.
PENALIZED: dict[str, Any] = {
    "classification": PenalizedClassifier,
    "regression": PenalizedRegressor,
    "survival": PenalizedSurvival,
    "count": PenalizedCounts,
}
# The family of the reductions; that of classes depends on their number.
FAMILY_NAMES = {
    "regression": GAUSSIAN.name,
    "survival": COX.name,
    "count": NEGATIVE_BINOMIAL.name,
    "ordinal": ORDINAL.name,
}


def recommended_methods(
    n_components: int = 50, *, kind: str = "classification", model: Any = None, random_state: Any = None
) -> dict[str, Any]:
    """Return methods for a kind of target, with permutation tests that go on until their outcome is safe.

    For classes and quantities, these are the methods of `paper_methods` and ``ISPCA-cross-fitted``, with the
    residual test and honest training scores. The command line fits and compares them, unless the paper's settings
    are requested. For the other kinds, these are ``PCA``, ``SPCA`` (for survival times in the style of R's
    superpc), ``ISPCA`` and ``ISPCA-cross-fitted``, each with the horseshoe model for the kind of target; for
    survival times and counts also ``ridge``, ``ridge-best``, ``lasso`` and ``lasso-best``; and the ``base rate``,
    which does not use the features.

    Parameters
    ----------
    n_components : int, default=50
        Number of components; fewer where the training data have a lower rank.
    kind : {"classification", "regression", "survival", "count", "ordinal"}, default="classification"
        What the target contains, as in `compare`.
    model : estimator, optional
        The model on the components; by default the horseshoe model for the kind of target.
    random_state : int or None, default=None
        Seed of every method; None leaves it to `compare`.

    Returns
    -------
    methods : dict of str to estimator
        Pass them to `compare`.

    Examples
    --------
    >>> from ispca.validation import paper_methods, recommended_methods
    >>> set(recommended_methods()) - set(paper_methods())
    {'ISPCA-cross-fitted'}
    >>> list(recommended_methods(kind="ordinal"))
    ['PCA', 'SPCA', 'ISPCA', 'ISPCA-cross-fitted', 'base rate']
    """
    if kind not in MODELS:
        raise ValueError(f"kind={kind!r} is unknown. {suggestion(str(kind), list(MODELS))}")
    if kind in ("classification", "regression"):
        regression = kind == "regression"
        methods = paper_methods(n_components, regression=regression, model=model, random_state=random_state)
        for name in ("ISPCA", "ISPCA-small", "ISPCA-residual"):
            methods[name]["reduction"].set_params(**RECOMMENDED)
        reduction, model = methods["ISPCA"]["reduction"], methods["ISPCA"]["model"]
        return methods | {"ISPCA-cross-fitted": reduced(clone(reduction).set_params(**HONEST), model)}
    model = MODELS[kind](random_state=random_state) if model is None else model
    shared = {"whiten": True, "family": FAMILY_NAMES[kind], "random_state": random_state}
    reductions: dict[str, SupervisedComponents] = {
        "PCA": ISPCA(n_components, n_supervised=0, **shared),
        "SPCA": SPCA(n_components, **shared),
        "ISPCA": ISPCA(n_components, **shared, **RECOMMENDED),
        "ISPCA-cross-fitted": ISPCA(n_components, **shared, **HONEST),
    }
    methods = {name: reduced(step, model) for name, step in reductions.items()}
    return methods | penalized_methods(kind, random_state) | {"base rate": clone(BASE_RATES[kind])}


def paper_methods(
    n_components: int = 50, *, regression: bool = False, model: Any = None, random_state: Any = None
) -> dict[str, Any]:
    """Return the methods of the paper by name, and two of our own.

    Parameters
    ----------
    n_components : int, default=50
        Number of components; fewer where the training data have a lower rank.
    regression : bool, default=False
        Whether the target is a quantity rather than a class.
    model : estimator, optional
        The model on the components; by default the horseshoe model for the kind of target.
    random_state : int or None, default=None
        Seed of every method; None leaves it to `compare`.

    Returns
    -------
    methods : dict of str to estimator
        ``PCA``, ``SPCA``, ``PSPCA``, ``ISPCA-naive`` (no test), ``ISPCA-small`` (supervised components only) and
        ``ISPCA``, each with the model; ``ridge`` and ``lasso`` on the original features at the one-standard-error
        penalty, glmnet's default. Ours: ``ISPCA-residual`` (the residual test), ``ridge-best`` and ``lasso-best``
        (the penalty of the best cross-validated deviance).

    Examples
    --------
    >>> from ispca.validation import paper_methods
    >>> list(paper_methods(n_components=50))[:3]
    ['PCA', 'SPCA', 'PSPCA']
    """
    if model is None:
        model = MODELS["regression" if regression else "classification"](random_state=random_state)
    shared: dict[str, Any] = {"whiten": True, "random_state": random_state}
    if regression:
        # An integer target is a quantity here, not classes.
        shared["family"] = GAUSSIAN.name
    reductions: dict[str, SupervisedComponents] = {
        "PCA": ISPCA(n_components, n_supervised=0, **shared),
        "SPCA": SPCA(n_components, **shared),
        "PSPCA": SPCA(n_components, n_supervised=-(-n_components // 2), **shared),
        "ISPCA-naive": ISPCA(n_components, alpha=None, **shared),
        "ISPCA-small": ISPCA(**shared),
        "ISPCA": ISPCA(n_components, **shared),
        "ISPCA-residual": ISPCA(n_components, test="residual", **shared),
    }
    methods: dict[str, Any] = {name: reduced(step, model) for name, step in reductions.items()}
    return methods | penalized_methods("regression" if regression else "classification", random_state)


def penalized_methods(kind: str, random_state: Any) -> dict[str, Any]:
    """Return ridge and lasso with both choices of the penalty; nothing for a kind of target without them."""
    linear = PENALIZED.get(kind)
    methods: dict[str, Any] = {}
    if linear is None:
        return methods
    for penalty in ("ridge", "lasso"):
        methods[penalty] = linear(penalty=penalty, choice="one_standard_error", random_state=random_state)
        methods[f"{penalty}-best"] = linear(penalty=penalty, choice="best", random_state=random_state)
    return methods


def reduced(reduction: SupervisedComponents, model: Any) -> Pipeline:
    """Put a model after a reduction."""
    return Pipeline([("reduction", reduction), ("model", model)])
