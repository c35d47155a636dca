"""Submodels, whose draws are those of a reference projected onto a few features, and panels of columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..containers import ColumnSource
from ..foundation.arrays import Floats, Indices
from ..foundation.docstrings import share_docs
from ..foundation.parameters import column_mask, fit_context
from ..inputs.checks import check_container, check_training_data, known_names, read_new_data, read_training_data
from ..models.classifiers import PosteriorClassifier, PosteriorOrdinal
from ..models.posterior import Posterior
from ..models.posterior_predictor import DENSE, PosteriorModel
from ..models.regressors import PosteriorCounts, PosteriorRegressor
from ..models.survival import PosteriorSurvival, with_hazard
from ..targets import Target
from ..targets.samples import Samples
from .projection import project
from .reference import ReferencePredictions
from .search import columns

DOCS = {
    "means": """
        coef_ : ndarray of shape (n_features,)
            Means of the projected coefficients.
        intercept_ : float
            Mean of the projected intercepts.""",
    "attributes": "posterior_ : Posterior\n    The projected draws, as one chain.\n$features_in",
}


@share_docs()
class ProjectedModel(PosteriorModel):
    """Base class of submodels: predictions and coefficients come from projected draws."""

    _parameter_constraints: dict[str, list[Any]] = {}  # noqa: RUF012

    def fit(self, X: Any, predictions: ReferencePredictions, classes: Any = None) -> Self:
        """Project the draws of a reference onto the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the submodel for the samples of the predictions, in original units. There may be none.
        predictions : ReferencePredictions
            What the reference predicts, draw by draw. All draws need the same weight, so clusters do not suit.
        classes : array-like of shape (n_classes,), optional
            Class labels in the order of the predictions, if the target consists of classes.

        $fitted
        """
        options: dict[str, Any] = DENSE | {"ensure_min_features": 0}
        Z, _ = check_training_data(self, X, None, needs_target=False, **options)
        if not Z.shape[1] and hasattr(self, "feature_names_in_"):
            # Tables without columns have no names that later ones could be compared with.
            del self.feature_names_in_
        family = predictions.family
        if len(Z) != predictions.n_samples:
            raise ValueError(f"X has {len(Z)} samples, but there are predictions for {predictions.n_samples}.")
        if np.ptp(predictions.weights) > 1e-6 / predictions.n_draws:
            raise ValueError("The draws of the predictions have different weights: project draws, not clusters.")
        if (family.classification or family.ordered) != (classes is not None):
            raise ValueError("Pass classes if the target consists of classes, and only then.")
        if classes is not None:
            self.classes_ = np.asarray(classes)
        found = project(Z, predictions)
        extra: dict[str, Any] = {} if found.extra is None else {family.extra: found.extra[None]}
        self.posterior_ = Posterior(family.name, found.intercept[None], found.coef[None], **extra)
        self._complete(Z, predictions)
        return self

    def _complete(self, Z: Floats, predictions: ReferencePredictions) -> None:
        """Set what follows from the draws."""
        self._set_means()


@share_docs(**DOCS)
class ProjectedClassifier(PosteriorClassifier, ProjectedModel):
    """Logistic or softmax regression of a submodel; see `ProjectionSelector.submodel`.

    Attributes
    ----------
    $class_labels
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Means of the projected coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Means of the projected intercepts.
    $attributes
    """


@share_docs(**DOCS)
class ProjectedRegressor(PosteriorRegressor, ProjectedModel):
    """Gaussian regression of a submodel; see `ProjectionSelector.submodel`.

    Attributes
    ----------
    $means
    $attributes
    """


@share_docs(**DOCS)
class ProjectedCounts(PosteriorCounts, ProjectedModel):
    """Poisson or negative-binomial regression of a submodel; see `ProjectionSelector.submodel`.

    Attributes
    ----------
    $means
    $attributes
    """


@share_docs(**DOCS)
class ProjectedOrdinal(PosteriorOrdinal, ProjectedModel):
    """Cumulative logit regression of a submodel; see `ProjectionSelector.submodel`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes from lowest to highest.
    coef_ : ndarray of shape (n_features,)
        Means of the projected coefficients.
    intercept_ : float
        Minus the first of the thresholds.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Means of the thresholds between neighboring classes.
    $attributes
    """


@share_docs(**DOCS)
class ProjectedSurvival(PosteriorSurvival, ProjectedModel):
    """Cox regression of a submodel; see `ProjectionSelector.submodel`.

    The baseline hazards are estimated again for each projected draw.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Means of the projected coefficients, log hazard ratios per unit of the feature.
    intercept_ : float
        Always 0.
    unique_times_, event_times_ : ndarray
        Distinct times of the training samples, and those at which events happened.
    cumulative_hazard_ : CumulativeHazard
        Breslow's cumulative baseline hazard, for at most 1,000 of the draws.
    $attributes
    """

    def _complete(self, Z: Floats, predictions: ReferencePredictions) -> None:
        data = Samples(Z, predictions.y, None, predictions.sample_weight).of_positive_weight()
        self.posterior_ = with_hazard(self.posterior_, data)
        super()._complete(Z, predictions)
        self._set_curves(data)


# The submodel for each kind of target.
SUBMODELS: dict[str, type[ProjectedModel]] = {
    model.target.name: model
    for model in (ProjectedClassifier, ProjectedRegressor, ProjectedCounts, ProjectedOrdinal, ProjectedSurvival)
}


def find_submodel(target: Target) -> type[ProjectedModel]:
    """Return the submodel for a kind of target, or say that there is none."""
    if target.name not in SUBMODELS:
        raise ValueError(f"Panels cannot be selected for {target.labels}: this kind of target has no submodel.")
    return SUBMODELS[target.name]


@share_docs()
class FeaturePanel(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Keep the features of a panel, in the order of the panel.

    Parameters
    ----------
    features : names or indices of features, default=()
        The panel; it may be empty. Names need a data frame.

    Attributes
    ----------
    panel_columns_ : ndarray of shape (n_panel,)
        Indices of the features in the order of the panel.
    $features_in

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.selection import FeaturePanel
    >>> FeaturePanel([2, 0]).fit_transform(np.array([[1, 2, 3], [4, 5, 6]]))
    array([[3, 1],
           [6, 4]])
    """

    _parameter_constraints = {"features": ["array-like"]}  # noqa: RUF012

    def __init__(self, features: Any = ()) -> None:
        self.features = features

    @fit_context(skip_nested=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the features of the panel.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            A table with all features.
        y : ignored
            Not used.

        $fitted
        """
        X = self._read(X, reset=True)
        names = getattr(X, "columns", None)
        if names is not None and all(isinstance(name, str) for name in names):
            # scikit-learn before 1.9 does not see the names of newer polars frames.
            self.feature_names_in_ = np.asarray(names, dtype=object)
        masks = [column_mask([f], X.shape[1], known_names(self), "features") for f in self.features]
        found = np.array([np.flatnonzero(mask)[0] for mask in masks], dtype=np.intp)
        if len(set(found.tolist())) < len(found):
            raise ValueError("features contains a feature more than once.")
        self.panel_columns_ = found
        return self

    def transform(self, X: Any) -> Self:
        """Return the columns of the panel.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            A table with all features. Values of features outside of the panel are not looked at.

        Returns
        -------
        panel : ndarray or data frame of shape (n_samples, n_panel)
            A data frame if X is one.
        """
        check_is_fitted(self)
        return _columns(self._read(X, reset=False), self.panel_columns_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features in the order of the panel.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of all features, if the transformer was fitted without names.

        Returns
        -------
        names : ndarray of shape (n_panel,)
            Names of features.
        """
        return super().get_feature_names_out(input_features)[self.panel_columns_]

    def _read(self, X: Any, reset: bool) -> Any:
        """Return a table whose width and names were checked, but not its values."""
        X = check_container(X)
        if isinstance(X, ColumnSource):
            return read_training_data(self, X, None, needs_target=False)[0] if reset else read_new_data(self, X)
        if hasattr(X, "columns"):
            return validate_data(self, X, reset=reset, skip_check_array=True)
        return validate_data(self, X, reset=reset, accept_sparse=["csr", "csc"], ensure_all_finite=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _columns(X: Any, chosen: Indices) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, chosen]
    if sp.issparse(X):
        return columns(X, chosen)
    # A polars frame without columns would have no rows either.
    return X[:, chosen.tolist()] if len(chosen) else np.empty((X.shape[0], 0))
