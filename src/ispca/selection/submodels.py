"""Submodels: estimators whose posterior draws are those of a reference, projected onto a few features."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .._checks import check_training_data
from ..models.baseline_hazard import with_hazard
from ..models.posterior import Posterior
from ..models.posterior_classifier import PosteriorClassifier
from ..models.posterior_counts import PosteriorCounts
from ..models.posterior_model import DENSE, PosteriorModel
from ..models.posterior_ordinal import PosteriorOrdinal
from ..models.posterior_regressor import PosteriorRegressor
from ..models.posterior_survival import PosteriorSurvival
from ..models.sampling import Training
from .projection import project
from .reference import ReferencePredictions


class ProjectedModel(PosteriorModel):
    """Base class of submodels: predictions and coefficients come from projected draws."""

    _parameter_constraints: dict[str, list[Any]] = {}  # noqa: RUF012

    def fit(self, X: Any, predictions: ReferencePredictions, classes: Any = None) -> Any:
        """Project the draws of a reference onto the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the submodel for the samples of the predictions, in original units. There may be none.
        predictions : ReferencePredictions
            What the reference predicts, draw by draw. All draws need the same weight, so clusters do not suit.
        classes : array-like of shape (n_classes,), optional
            Class labels in the order of the predictions, if the target consists of classes.

        Returns
        -------
        self : estimator
            The fitted submodel.
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


class ProjectedClassifier(PosteriorClassifier, ProjectedModel):
    """Logistic or softmax regression of a submodel; see `ProjectionSelector.submodel`.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Means of the projected coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Means of the projected intercepts.
    posterior_ : Posterior
        The projected draws, as one chain.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """


class ProjectedRegressor(PosteriorRegressor, ProjectedModel):
    """Gaussian regression of a submodel; see `ProjectionSelector.submodel`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Means of the projected coefficients.
    intercept_ : float
        Mean of the projected intercepts.
    posterior_ : Posterior
        The projected draws, as one chain.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """


class ProjectedCounts(PosteriorCounts, ProjectedModel):
    """Poisson or negative-binomial regression of a submodel; see `ProjectionSelector.submodel`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Means of the projected coefficients.
    intercept_ : float
        Mean of the projected intercepts.
    posterior_ : Posterior
        The projected draws, as one chain.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """


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
    posterior_ : Posterior
        The projected draws, as one chain.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """


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
    posterior_ : Posterior
        The projected draws, as one chain.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    def _complete(self, Z: Floats, predictions: ReferencePredictions) -> None:
        data = Training(Z, predictions.y, predictions.sample_weight).of_positive_weight()
        self.posterior_ = with_hazard(self.posterior_, data)
        super()._complete(Z, predictions)
        self._set_curves(data)


SUBMODELS: dict[str, type[ProjectedModel]] = {
    "classification": ProjectedClassifier,
    "regression": ProjectedRegressor,
    "count": ProjectedCounts,
    "ordinal": ProjectedOrdinal,
    "survival": ProjectedSurvival,
}


def submodel_for(kind: str) -> type[ProjectedModel]:
    """Return the class of the submodels for a kind of target."""
    return SUBMODELS[kind]
