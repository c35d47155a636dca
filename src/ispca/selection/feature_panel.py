"""FeaturePanel: the columns of a panel, in the order in which its features were chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils.validation import check_is_fitted, validate_data

from .._array_types import Indices
from .._checks import check_container, column_mask, known_names, read_new_data, read_training_data
from ..containers import ColumnSource
from .candidates import columns


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
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> FeaturePanel:
        """Find the features of the panel.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            A table with all features.
        y : ignored
            Not used.

        Returns
        -------
        self : FeaturePanel
            The fitted transformer.
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

    def transform(self, X: Any) -> Any:
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
