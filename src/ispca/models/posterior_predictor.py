"""The common part of all estimators that predict from posterior draws: checks of new data, and export to ArviZ."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..families import FAMILIES
from ..foundation.arrays import Floats
from ..foundation.extras import load_extra
from ..inputs.checks import check_new_data
from ..targets.target import Predictions
from ..targets.target_and_prediction_checks import check_offset
from .posterior import Posterior, log_likelihood, log_predictive_density, part_of

# Dense rows of doubles, as the engine needs them.
DENSE: dict[str, Any] = {"accept_sparse": False, "dtype": np.float64, "order": "C"}


class PosteriorModel(Predictions, BaseEstimator):
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

    def _log_density(self, Z: Floats, y: np.ndarray, offset: Floats | None) -> Floats:
        return log_predictive_density(self.posterior_, Z, y, offset)

    def to_arviz(self, X: Any = None, y: Any = None, *, offset: Any = None, feature_names: Any = None) -> Any:
        """Return the posterior for ArviZ: InferenceData (0.x) or a DataTree (1.x).

        Parameters
        ----------
        X, y : array-like, optional
            The training samples as this model sees them. With both, ``log_likelihood`` is added, so that
            ``arviz.loo`` works: ``pipeline[-1].to_arviz(pipeline[:-1].transform(X), y)``. As components were found
            with the target, its estimate is that of the model on given components.
        offset : array-like of shape (n_samples,), optional
            Offset of the samples, as in ``fit``, for the models that take one.
        feature_names : array-like of shape (n_features,), optional
            Names of the coefficients, such as ``pipeline[:-1].get_feature_names_out()``; by default those seen in
            ``fit``, or numbers.

        Returns
        -------
        posterior : arviz.InferenceData or xarray.DataTree
            Groups ``posterior``, unless the draws were projected ``sample_stats``, and with X and y
            ``log_likelihood``.
        """
        check_is_fitted(self)
        features = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        if feature_names is not None:
            features = np.asarray(feature_names)
            if features.shape != (self.n_features_in_,):
                raise ValueError(f"feature_names must have {self.n_features_in_} entries, got {features.size}.")
        if (X is None) != (y is None):
            raise ValueError("X and y belong together: pass both for the log likelihood, or neither.")
        likelihood = None
        if X is not None:
            Z, posterior = self._check_new(X), self.posterior_
            target, offset = self._check_y(y, len(Z)), check_offset(offset, len(Z))
            blocks = posterior.blocks(Z)
            parts = [log_likelihood(posterior, Z[part], target[part], part_of(offset, part)) for part in blocks]
            likelihood = np.concatenate(parts).T.reshape(*posterior.coef.shape[:2], len(Z))
        samples = getattr(X, "index", None)
        return _to_arviz(self.posterior_, features, getattr(self, "classes_", None), likelihood, samples)


def _to_arviz(
    posterior: Posterior, features: Any, classes: Any = None, likelihood: Floats | None = None, samples: Any = None
) -> Any:
    """Return InferenceData (ArviZ 0.x) or a DataTree (ArviZ 1.x) with named dimensions.

    ``likelihood`` contains the log likelihoods of some samples, with axes (chain, draw, sample).
    """
    arviz = load_extra("Exporting to ArviZ", "arviz")
    family = FAMILIES[posterior.family]
    names = ["intercept"] if family.intercept else []
    names += ["coef", "tau", "local_scale", "slab", *([family.extra] if family.monitored else [])]
    draws = {name: getattr(posterior, name) for name in names if getattr(posterior, name) is not None}
    by_class = ["class"] if family.per_class else []
    dims = {"intercept": by_class, "coef": [*by_class, "feature"], "local_scale": [*by_class, "feature"]}
    dims = {name: axes for name, axes in (dims | {"thresholds": ["class_below"]}).items() if name in draws}
    coords = {"feature": list(features)} | ({"class": list(classes)} if by_class else {})
    if posterior.thresholds is not None:
        coords["class_below"] = list(classes[:-1])
    groups: dict[str, Any] = {"posterior": draws}
    if posterior.divergent is not None:
        groups["sample_stats"] = {"diverging": posterior.divergent}
    if likelihood is not None:
        groups["log_likelihood"], dims["y"] = {"y": likelihood}, ["sample"]
        coords["sample"] = list(range(likelihood.shape[2]) if samples is None else samples)
    from_dict: Any = arviz.from_dict
    if int(arviz.__version__.partition(".")[0]) == 0:
        return from_dict(**groups, coords=coords, dims=dims)
    return from_dict(groups, coords=coords, dims=dims)
