"""Predictions of classes from the posterior draws of a logistic or softmax regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from .._array_types import Floats
from .._checks import observed_codes
from ..families import class_family
from .posterior import log_predictive_density
from .posterior_model import PosteriorModel


class PosteriorClassifier(ClassifierMixin, PosteriorModel):
    """A classifier that predicts from posterior draws, whatever they come from."""

    def _set_means(self) -> None:
        self.coef_ = np.atleast_2d(self.posterior_.coef.mean(axis=(0, 1)))
        self.intercept_ = np.atleast_1d(self.posterior_.intercept.mean(axis=(0, 1)))

    def predict_proba(self, X: Any) -> Floats:
        """Return the posterior predictive probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Averages over the draws, in the order of ``classes_``.
        """
        Z = self._check_new(X)
        average = class_family(len(self.classes_)).probabilities
        blocks = self.posterior_.blocks(Z)
        return np.concatenate([average(self.posterior_.linear_predictor(Z[part])) for part in blocks])

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        most_probable = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_probable]

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log posterior predictive probability of each observed class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels seen in ``fit``.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        Z = self._check_new(X)
        return log_predictive_density(self.posterior_, Z, observed_codes(y, self.classes_, len(Z)))
