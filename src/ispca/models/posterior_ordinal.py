"""Predictions of ordered classes from the posterior draws of a cumulative logit regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from .._array_types import Floats
from .._checks import observed_codes
from ..families.ordinal import probabilities
from .posterior import log_predictive_density
from .posterior_model import PosteriorModel


class PosteriorOrdinal(ClassifierMixin, PosteriorModel):
    """A cumulative logit regression that predicts from posterior draws, whatever they come from."""

    def _set_means(self) -> None:
        super()._set_means()
        self.thresholds_ = self.posterior_.flat("thresholds").mean(axis=0)
        self.intercept_ = -float(self.thresholds_[0])

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
        posterior = self.posterior_
        thresholds = posterior.flat("thresholds")
        blocks = posterior.blocks(Z)
        return np.concatenate([probabilities(posterior.linear_predictor(Z[part]), thresholds) for part in blocks])

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
            Classes seen in ``fit``.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        Z = self._check_new(X)
        return log_predictive_density(self.posterior_, Z, observed_positions(y, self.classes_, len(Z)))


def observed_positions(y: Any, classes: np.ndarray, n_samples: int) -> np.ndarray:
    """Return the positions, among classes in any order, of those that were observed beside new data."""
    order = np.argsort(classes, kind="stable")
    return order[observed_codes(y, classes[order], n_samples)]
