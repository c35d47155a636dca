"""Standard methods that people use for such data, ready for `compare`, each with ordinary settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from .._array_types import Floats
from ..families import class_family

N_TREES = 500
N_FOLDS = 5
# These lie inside the folds that choose the components, where a small class has fewer samples.
N_CALIBRATION_FOLDS = 3
PLS_COMPONENTS = [1, 2, 3, 4, 5]


class PLSDiscriminant(ClassifierMixin, BaseEstimator):
    """PLS-DA: partial least squares regression of the indicators of the classes, which gives decision values.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    regression_ : PLSRegression
        The regression of the indicators; of two classes, only the second has one.
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
    """Add a predictive distribution to a regressor: normal, with the spread of cross-validated errors.

    Parameters
    ----------
    regressor : estimator
        Predicts values only.
    random_state : int or None, default=None
        Seed of the five folds.

    Attributes
    ----------
    regressor_ : estimator
        The regressor, fitted to all samples.
    deviation_ : float
        Root mean squared error of the out-of-fold predictions.
    """

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
    ['SVM', 'random-forest', 'gradient-boosting', 'PLS-DA']
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
    return {
        "SVM": _standardized(machine),
        "random-forest": RandomForestClassifier(N_TREES, random_state=seed),
        "gradient-boosting": GradientBoostingClassifier(subsample=0.5, max_features="sqrt", random_state=seed),
        "PLS-DA": _standardized(GridSearchCV(discriminant, grid, scoring="neg_log_loss", cv=N_FOLDS)),
    }


def _regressors(seed: Any) -> dict[str, Any]:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.svm import SVR

    machine = TransformedTargetRegressor(SVR(kernel="linear"), transformer=StandardScaler())
    pls = GridSearchCV(PLSRegression(scale=False), {"n_components": PLS_COMPONENTS}, cv=N_FOLDS)
    values = {
        "SVM": _standardized(machine),
        "random-forest": RandomForestRegressor(N_TREES, max_features=1 / 3, random_state=seed),
        "gradient-boosting": GradientBoostingRegressor(subsample=0.5, max_features="sqrt", random_state=seed),
        "PLS": _standardized(pls),
    }
    return {name: NormalErrors(regressor, random_state=seed) for name, regressor in values.items()}


def _standardized(model: Any) -> Pipeline:
    dense = FunctionTransformer(as_dense, accept_sparse=True)
    return Pipeline([("dense", dense), ("scale", StandardScaler()), ("model", model)])


def as_dense(X: Any) -> Any:
    """Return X, as an array if it is sparse."""
    return X.toarray() if sp.issparse(X) else X
