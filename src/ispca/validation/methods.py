"""The methods of the paper's experiments, and the recommended settings of ISPCA, ready for `compare`."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._transformer_base import SupervisedComponents
from ..ispca_transformer import ISPCA
from ..models.classifier import HorseshoeClassifier
from ..models.regressor import HorseshoeRegressor
from ..penalized import PenalizedClassifier, PenalizedRegressor
from ..spca_transformer import SPCA

# Where the settings of ISPCA that the command line and stacking use differ from those of the paper.
RECOMMENDED: dict[str, Any] = {"n_permutations": "auto"}
# The residual test finds more components, and cross-fitting keeps the model from trusting them too much.
HONEST: dict[str, Any] = RECOMMENDED | {"test": "residual", "cross_fit": 10}


def recommended_methods(
    n_components: int = 50, *, regression: bool = False, model: Any = None, random_state: Any = None
) -> dict[str, Any]:
    """Return the methods of `paper_methods`, with permutation tests that go on until their outcome is safe.

    ``ISPCA-cross-fitted``, with the residual test and honest training scores, is added. The command line fits and
    compares these, unless the paper's settings are requested.

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
        The names of `paper_methods`, and ``ISPCA-cross-fitted``.

    Examples
    --------
    >>> from ispca.validation import paper_methods, recommended_methods
    >>> set(recommended_methods()) - set(paper_methods())
    {'ISPCA-cross-fitted'}
    """
    methods = paper_methods(n_components, regression=regression, model=model, random_state=random_state)
    for name in ("ISPCA", "ISPCA-small", "ISPCA-residual"):
        methods[name]["reduction"].set_params(**RECOMMENDED)
    reduction, model = methods["ISPCA"]["reduction"], methods["ISPCA"]["model"]
    return methods | {"ISPCA-cross-fitted": reduced(clone(reduction).set_params(**HONEST), model)}


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
        kind = HorseshoeRegressor if regression else HorseshoeClassifier
        model = kind(random_state=random_state)
    shared: dict[str, Any] = {"whiten": True, "random_state": random_state}
    if regression:
        # An integer target is a quantity here, not classes.
        shared["family"] = "gaussian"
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
    linear = PenalizedRegressor if regression else PenalizedClassifier
    for penalty in ("ridge", "lasso"):
        methods[penalty] = linear(penalty=penalty, choice="one_standard_error", random_state=random_state)
        methods[f"{penalty}-best"] = linear(penalty=penalty, choice="best", random_state=random_state)
    return methods


def reduced(reduction: SupervisedComponents, model: Any) -> Pipeline:
    """Put a model after a reduction."""
    return Pipeline([("reduction", reduction), ("model", model)])
