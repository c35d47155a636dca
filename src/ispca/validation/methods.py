"""Methods for `compare`: those of the paper, those recommended for each kind of target, and standard ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ..families import GAUSSIAN, class_family
from ..foundation.arrays import Floats
from ..models import MODELS
from ..penalized import PENALIZED
from ..stacking.candidates import HONEST, RECOMMENDED, kernel_method, reduction_pipeline
from ..targets import CLASSES, QUANTITY, Target, find_target
from ..transformers.base import SupervisedComponents
from ..transformers.ispca_transformer import ISPCA
from ..transformers.spca_transformer import SPCA
from .baseline_comparison import KERNELS
from .centroid_classifiers import DiagonalDiscriminant, ShrunkenCentroids

N_TREES = 500
N_FOLDS = 5
# These lie inside the folds that choose the components, where a small class has fewer samples.
N_CALIBRATION_FOLDS = 3
PLS_COMPONENTS = [1, 2, 3, 4, 5]


def recommended_methods(
    n_components: int = 50, *, kind: str = "classification", model: Any = None, random_state: Any = None
) -> dict[str, Any]:
    """Return methods for a kind of target, with permutation tests that go on until their outcome is safe.

    For classes and quantities, these are the methods of `paper_methods`, ``ISPCA-cross-fitted``, with the residual
    test and honest training scores, and ``kernels``, the mixture of kernels of `ispca.KernelClassifier` or
    `ispca.KernelRegressor`. The command line fits and compares them, unless the paper's settings are requested.
    For the other kinds, these are ``PCA``, ``SPCA`` (for survival times in the style of R's superpc), ``ISPCA``
    and ``ISPCA-cross-fitted``, each with the horseshoe model for the kind of target; for survival times and counts
    also ``ridge``, ``ridge-best``, ``lasso`` and ``lasso-best``; ``kernels``, the scores of `ispca.KernelScores`
    with the model for the kind of target; and the ``base rate``, which does not use the features.

    Parameters
    ----------
    n_components : int, default=50
        Number of components; fewer where the training data have a lower rank.
    kind : str, default="classification"
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
    >>> [name for name in recommended_methods() if name not in paper_methods()]
    ['ISPCA-cross-fitted', 'kernels']
    >>> list(recommended_methods(kind="ordinal"))
    ['PCA', 'SPCA', 'ISPCA', 'ISPCA-cross-fitted', 'kernels', 'base rate']
    """
    target = find_target(kind)
    kernels = kernel_method(kind)
    if isinstance(kernels, Pipeline):
        kernels.set_params(model__random_state=random_state)
    if target.plain:
        methods = paper_methods(n_components, regression=target.numeric, model=model, random_state=random_state)
        for name in ("ISPCA", "ISPCA-small", "ISPCA-residual"):
            methods[name]["reduction"].set_params(**RECOMMENDED)
        reduction, model = methods["ISPCA"]["reduction"], methods["ISPCA"]["model"]
        honest = reduction_pipeline(clone(reduction).set_params(**HONEST), model)
        return methods | {"ISPCA-cross-fitted": honest, KERNELS: kernels}
    model = MODELS[kind](random_state=random_state) if model is None else model
    shared = {"whiten": True, "family": target.choose_family(None).name, "random_state": random_state}
    reductions: dict[str, SupervisedComponents] = {
        "PCA": ISPCA(n_components, n_supervised=0, **shared),
        "SPCA": SPCA(n_components, **shared),
        "ISPCA": ISPCA(n_components, **shared, **RECOMMENDED),
        "ISPCA-cross-fitted": ISPCA(n_components, **shared, **HONEST),
    }
    methods = {name: reduction_pipeline(step, model) for name, step in reductions.items()}
    more = {KERNELS: kernels, "base rate": target.base_rate()}
    return methods | penalized_methods(kind, random_state) | more


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
    target: Target = QUANTITY if regression else CLASSES
    model = MODELS[target.name](random_state=random_state) if model is None else model
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
    methods: dict[str, Any] = {name: reduction_pipeline(step, model) for name, step in reductions.items()}
    return methods | penalized_methods(target.name, random_state)


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


class PLSDiscriminant(ClassifierMixin, BaseEstimator):
    """PLS-DA: partial least squares regression of the indicators of the classes, which gives decision values.

    Of two classes, only the second has an indicator.
    """

    def __init__(self, n_components: int = 2) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any) -> PLSDiscriminant:
        """Fit the regression of the indicators."""
        from sklearn.cross_decomposition import PLSRegression

        self.classes_, codes = np.unique(y, return_inverse=True)
        indicators = class_family(len(self.classes_)).contrasts(codes).columns
        self.regression_ = PLSRegression(self.n_components, scale=False).fit(X, indicators)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the predicted indicators."""
        values = np.asarray(self.regression_.predict(X), dtype=np.float64)
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest predicted indicator."""
        values = self.decision_function(X)
        codes = (values > 0.5).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]


class NormalErrors(RegressorMixin, BaseEstimator):
    """Add a predictive distribution to a regressor: normal, with the root mean squared error of five folds."""

    def __init__(self, regressor: Any, *, random_state: Any = None) -> None:
        self.regressor = regressor
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> NormalErrors:
        """Fit to all samples, and to all but each fold."""
        y = np.asarray(y, dtype=np.float64)
        folds = KFold(min(N_FOLDS, len(y)), shuffle=True, random_state=self.random_state)
        errors = y - np.ravel(cross_val_predict(self.regressor, X, y, cv=folds))
        self.deviation_ = max(float(np.sqrt(np.mean(errors**2))), float(np.finfo(np.float64).tiny))
        self.regressor_ = clone(self.regressor).fit(X, y)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predicted values, and optionally their standard deviations."""
        value: Floats = np.ravel(self.regressor_.predict(X))
        return (value, np.full(len(value), self.deviation_)) if return_std else value


def standard_methods(*, regression: bool = False, random_state: Any = None) -> dict[str, Any]:
    """Return standard methods from scikit-learn by name, with ordinary settings, the same for all data.

    For classes:

    - ``SVM``: linear support vector machine (``C=1``) on standardized features, with Platt scaling by five folds
    - ``random-forest``: 500 trees; the probabilities are those of the leaves, averaged over the trees
    - ``gradient-boosting``: 100 trees of depth 3 with learning rate 0.1, each on half of the samples and with
      the square root of the number of features tried at every split
    - ``PLS-DA``: partial least squares regression of the indicators of the classes on standardized features, with
      Platt scaling by three folds; the number of components, 1 to 5, has the best log density in five folds
    - ``shrunken-centroids``: nearest shrunken centroids (Tibshirani and others, 2002), with the threshold of the
      best log density in five folds, and Platt scaling by five folds
    - ``diagonal-LDA``: linear discriminant analysis that ignores the correlations of the features, with Platt
      scaling by five folds

    Platt scaling needs at least as many training samples of each class as folds. For a continuous target: ``SVM``
    (the target is standardized too), ``random-forest`` (with a third of the features tried at every split),
    ``gradient-boosting``, and ``PLS`` with 1 to 5 components, chosen by five folds. Their predictive distribution
    is normal, with the root mean squared error of five folds as its standard deviation.

    Sparse data become dense in ``SVM``, ``PLS-DA`` and ``PLS``.

    Parameters
    ----------
    regression : bool, default=False
        Whether the target is a quantity rather than a class.
    random_state : int or None, default=None
        Seed of every method; None leaves it to `compare`.

    Returns
    -------
    methods : dict of str to estimator
        Pass them to `compare`, alone or together with others.

    Examples
    --------
    >>> from ispca.validation import standard_methods
    >>> list(standard_methods())
    ['SVM', 'random-forest', 'gradient-boosting', 'PLS-DA', 'shrunken-centroids', 'diagonal-LDA']
    """
    return _regressors(random_state) if regression else _classifiers(random_state)


def _classifiers(seed: Any) -> dict[str, Any]:
    # Imported here, because ``import ispca`` would take longer.
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.svm import SVC

    machine = CalibratedClassifierCV(SVC(kernel="linear"), cv=N_FOLDS, ensemble=False)
    # Decision values of different numbers of components have different scales: calibrate first, then choose.
    discriminant = CalibratedClassifierCV(PLSDiscriminant(), cv=N_CALIBRATION_FOLDS, ensemble=False)
    grid = {"estimator__n_components": PLS_COMPONENTS}
    shrunken, diagonal = (
        CalibratedClassifierCV(method, cv=N_FOLDS, ensemble=False)
        for method in (ShrunkenCentroids(random_state=seed), DiagonalDiscriminant())
    )
    return {
        "SVM": _standardize(machine),
        "random-forest": RandomForestClassifier(N_TREES, random_state=seed),
        "gradient-boosting": GradientBoostingClassifier(subsample=0.5, max_features="sqrt", random_state=seed),
        "PLS-DA": _standardize(GridSearchCV(discriminant, grid, scoring="neg_log_loss", cv=N_FOLDS)),
        "shrunken-centroids": shrunken,
        "diagonal-LDA": diagonal,
    }


def _regressors(seed: Any) -> dict[str, Any]:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.svm import SVR

    machine = TransformedTargetRegressor(SVR(kernel="linear"), transformer=StandardScaler())
    pls = GridSearchCV(PLSRegression(scale=False), {"n_components": PLS_COMPONENTS}, cv=N_FOLDS)
    values = {
        "SVM": _standardize(machine),
        "random-forest": RandomForestRegressor(N_TREES, max_features=1 / 3, random_state=seed),
        "gradient-boosting": GradientBoostingRegressor(subsample=0.5, max_features="sqrt", random_state=seed),
        "PLS": _standardize(pls),
    }
    return {name: NormalErrors(regressor, random_state=seed) for name, regressor in values.items()}


def _standardize(model: Any) -> Pipeline:
    dense = FunctionTransformer(as_dense, accept_sparse=True)
    return Pipeline([("dense", dense), ("scale", StandardScaler()), ("model", model)])


def as_dense(X: Any) -> Any:
    """Return X, as an array if it is sparse."""
    return X.toarray() if sp.issparse(X) else X
