"""What a fitted ISPCA or SPCA does: project samples on its components, and carry results back to the features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..containers import ColumnSource
from ..containers.array_api import DeviceArray, exact, like, matching, namespace, on_host, stack_rows
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..foundation.messages import count
from ..inputs.input_encoding import InputColumns
from ..reduction.design.device import project_on_device
from ..reduction.design.partitioned import project_source

# Scores this close, compared with the largest, are those of the same sample.
SAME_SAMPLE = 1e-4
# Rows are transformed in blocks of about this many numbers.
TRANSFORM_BLOCK = 2**20


def component_names(n_components: int, n_supervised: int) -> list[str]:
    """Return the names of the components everywhere: supervised_1, ..., then unsupervised_K, numbered on."""
    kinds = ["supervised" if k <= n_supervised else "unsupervised" for k in range(1, n_components + 1)]
    return [f"{kind}_{k}" for k, kind in enumerate(kinds, start=1)]


def displayed_scores(reduction: Any, Z: Any) -> tuple[Floats, bool]:
    """Return the scores to show for samples, and whether those on supervised components are cross-fitted.

    Of Z, which ``transform`` returned, adjusted columns are dropped. If these are the training samples in the
    order of the fit, the scores that a model learned from are shown instead.
    """
    Z = np.asarray(Z, dtype=np.float64)[:, : reduction.n_components_]
    first = getattr(reduction, "_first_scores", None)
    if first is None or len(first) != len(Z) or np.abs(Z[:, 0] - first).max() > SAME_SAMPLE * np.abs(first).max():
        return Z, False
    return reduction.training_scores_[:, : reduction.n_components_], has_cross_fitted_scores(reduction)


def has_cross_fitted_scores(reduction: Any) -> bool:
    """Return whether the training scores on supervised components are cross-fitted."""
    first = getattr(reduction, "_first_scores", None)
    if first is None or not reduction.n_supervised_:
        return False
    # Scores on supervised components are not shrunken.
    return not np.array_equal(on_host(reduction.training_scores_)[:, 0], first)


@share_docs()
class LinearProjection(InputColumns, TransformerMixin, BaseEstimator):
    """A fitted projection on components: names, transform, its inverse, and coefficients of the features."""

    @property
    def projection_(self) -> Floats:
        """What ``transform`` multiplies by: ``components_`` and, with ``keep_adjusted``, a row per covariate."""
        if not len(self.kept_columns_):
            return self.components_
        rows = np.zeros((len(self.kept_columns_), self.components_.shape[1]))
        rows[np.arange(len(rows)), self.kept_columns_] = 1.0
        return stack_rows([self.components_, matching(self.components_, rows)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the components: ``supervised_1``, ..., then ``unsupervised_K``, numbered on.

        With ``keep_adjusted``, the names of the adjusted columns follow, such as ``age`` and ``batch=B``.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X, for the adjusted columns; by default those seen in ``fit``.

        Returns
        -------
        names : ndarray of str
            One name per column of ``transform``.
        """
        check_is_fitted(self)
        names = component_names(self.n_components_, self.n_supervised_)
        if len(self.kept_columns_):
            names += self.get_encoded_feature_names(input_features)[self.kept_columns_].tolist()
        return np.array(names, dtype=object)

    def transform(self, X: Any) -> Any:
        """Return the new features of any samples: ``((X - mean_) / scale_) @ projection_.T``.

        X is the encoded one, in which indicators replace categories, and means missing values.

        $same_samples

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The new features; with ``keep_adjusted``, the standardized adjusted columns follow.
        """
        X = self.encode(X)
        with exact(X):
            return as_output(self._project(X, self.projection_), X)

    def _project(self, X: Any, projection: Any) -> Any:
        """Return the new features of encoded samples in double precision, where X is."""
        if isinstance(X, DeviceArray):
            return project_on_device(X, self.mean_, self.scale_, projection)
        mean, scale, projection = (on_host(part) for part in (self.mean_, self.scale_, projection))
        weights = (projection / scale).T
        if isinstance(X, ColumnSource):
            Z = project_source(X, mean, weights)
        elif sp.issparse(X):
            Z = np.asarray(X @ weights) - mean @ weights
        else:
            Z = np.empty((X.shape[0], weights.shape[1]))
            rows = max(1, TRANSFORM_BLOCK // X.shape[1])
            for start in range(0, len(Z), rows):
                # Centering explicitly keeps the digits of data far from zero.
                part = slice(start, start + rows)
                Z[part] = np.subtract(X[part], mean, dtype=np.float64) @ weights
        return Z

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Return the features as far as the components explain them.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components_)
            New features, as ``transform`` returns them.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The best linear reconstruction, in the original units; left-out features are at their mean. Features
            are adjusted: what the covariates explain is not added. Columns are those of the encoded X.
        """
        check_is_fitted(self)
        Z = self._check_width(Z, "Z")
        directions = on_host(self.directions_)[self.n_supervised_ :]
        loadings = np.concatenate([on_host(self._supervised_loadings), directions])
        lengths = np.sqrt(on_host(self.explained_variance_)) if self.whiten else 1.0
        k = self.n_components_
        standardized = (Z[..., :k] * lengths) @ loadings
        standardized[..., self.kept_columns_] = Z[..., k:]
        return standardized * on_host(self.scale_) + on_host(self.mean_)

    def original_coefficients(self, coef: Any, intercept: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Carry a linear model on the new features back to the original features and units.

        Parameters
        ----------
        coef : array-like of shape (..., n_components_)
            Coefficients of the new features: one vector, one per class, or a stack of posterior draws; with
            ``keep_adjusted``, those of the adjusted columns follow.
        intercept : array-like of shape (...)
            Intercepts that go with them.

        Returns
        -------
        coef : ndarray of shape (..., n_features)
            Coefficients of the original features, one per entry of ``get_encoded_feature_names``.
        intercept : ndarray of shape (...)
            Intercepts, so that ``X @ coef.T + intercept`` equals the model on ``transform(X)``.

        Examples
        --------
        >>> import numpy as np
        >>> from ispca import ISPCA
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(5, 2, (30, 100)); y = X[:, 0] + X[:, 1]
        >>> ispca = ISPCA(n_components=2, random_state=0).fit(X, y)
        >>> coef, intercept = ispca.original_coefficients([1.0, -0.5], 3.0)
        >>> np.allclose(X @ coef + intercept, ispca.transform(X) @ [1.0, -0.5] + 3.0)
        True
        """
        check_is_fitted(self)
        projection, scale, mean = (on_host(part) for part in (self.projection_, self.scale_, self.mean_))
        original = self._check_width(coef, "coef") @ (projection / scale)
        return original, np.asarray(intercept) - original @ mean

    def _check_width(self, values: Any, name: str) -> Floats:
        values = np.asarray(on_host(values), dtype=np.float64)
        n_kept = len(self.kept_columns_)
        if values.ndim == 0 or values.shape[-1] != self.n_components_ + n_kept:
            kept = f" and {count(n_kept, 'adjusted column')}" if n_kept else ""
            raise ValueError(
                f"{name} has shape {values.shape}, but its last axis must be n_components_ = "
                f"{self.n_components_}{kept}."
            )
        return values


def as_output(Z: Any, X: Any) -> Any:
    """Return new features in the precision of X, single or double, and where X is."""
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    if not isinstance(X, DeviceArray):
        return Z.astype(dtype, copy=False)
    Z = like(X.X, Z)
    xp = namespace(Z)
    return xp.astype(Z, xp.float32 if dtype == np.float32 else xp.float64, copy=False)
