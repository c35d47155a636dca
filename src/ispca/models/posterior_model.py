"""The common part of all estimators that predict from posterior draws: checks of new data, and export to ArviZ."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._array_types import Floats
from .._checks import check_new_data
from .arviz import to_arviz
from .posterior import Posterior

# Dense rows of doubles, as the engine needs them.
DENSE: dict[str, Any] = {"accept_sparse": False, "dtype": np.float64, "order": "C"}


class PosteriorModel(BaseEstimator):
    """Base class of the estimators that predict from posterior draws, whatever they come from."""

    posterior_: Posterior
    n_features_in_: int
    coef_: Floats
    intercept_: Any

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def _check_new(self, X: Any) -> Floats:
        check_is_fitted(self)
        # A model without features takes tables without columns.
        return check_new_data(self, X, **DENSE, ensure_min_features=min(1, self.n_features_in_))

    def _set_means(self) -> None:
        """Set the attributes that are averages over the draws."""
        self.coef_ = self.posterior_.coef.mean(axis=(0, 1))
        self.intercept_ = float(self.posterior_.intercept.mean())

    def to_arviz(self) -> Any:
        """Return the posterior for ArviZ: InferenceData (0.x) or a DataTree (1.x).

        Returns
        -------
        posterior : arviz.InferenceData or xarray.DataTree
            Groups ``posterior`` and, unless the draws were projected, ``sample_stats``.
        """
        check_is_fitted(self)
        features = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return to_arviz(self.posterior_, features, getattr(self, "classes_", None))
