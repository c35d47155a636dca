"""Base class of the transformers ISPCA and SPCA: checks, fitted attributes, transform and its inverse."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._array_types import Floats, Indices, Mask
from ._checks import (
    check_new_data,
    check_training_data,
    column_mask,
    integer_seed,
)
from ._splits import checked_groups, make_fold_splits
from ._warnings import notify
from .families.target_kind import is_category
from .reduction.cross_fitting import (
    Fold,
    FoldComponents,
    HeldOut,
    cross_fitted_scores,
    held_out_scores,
    make_folds,
)
from .reduction.deflation import constant_basis
from .reduction.design import Design, make_design, make_subset_design
from .reduction.permutation import Permutations
from .reduction.records import Reduction
from .reduction.response import FAMILY_CHOICES, Response, make_response
from .reduction.reuse import Reuse, reused
from .reduction.threads import Workers, workers

# Scores this close, compared with the largest, are those of the same sample.
SAME_SAMPLE = 1e-4
# Rows are transformed in blocks of about this many numbers.
TRANSFORM_BLOCK = 2**20


def component_names(n_components: int, n_supervised: int) -> list[str]:
    """Return the names of the components everywhere: supervised_1, ..., then unsupervised_K, numbered on.

    Parameters
    ----------
    n_components, n_supervised : int
        Number of components, and how many of them, the first ones, are supervised.
    """
    kinds = ["supervised" if k <= n_supervised else "unsupervised" for k in range(1, n_components + 1)]
    return [f"{kind}_{k}" for k, kind in enumerate(kinds, start=1)]


def displayed_scores(reduction: Any, Z: Any) -> tuple[Floats, bool]:
    """Return the scores to show for samples, and whether they are cross-fitted.

    Parameters
    ----------
    reduction : ISPCA or SPCA
        Fitted reduction.
    Z : ndarray of shape (n_samples, n_components_)
        What ``transform`` returned. If these are the training samples in the order of the fit, their
        cross-fitted scores are shown instead, where there are any.
    """
    Z = np.asarray(Z, dtype=np.float64)
    first = getattr(reduction, "_first_scores", None)
    if first is None or not reduction.n_supervised_ or len(first) != len(Z):
        return Z, False
    if np.abs(Z[:, 0] - first).max() > SAME_SAMPLE * np.abs(first).max():
        return Z, False
    return reduction.training_scores_, True


class SupervisedComponents(TransformerMixin, BaseEstimator):
    """Base class of ISPCA and SPCA: checks, fitted attributes, transform and its inverse."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_supervised": [Interval(Integral, 0, None, closed="left"), None],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left")],
        "family": [StrOptions(set(FAMILY_CHOICES))],
        "center": ["boolean"],
        "scale": ["boolean"],
        "whiten": ["boolean"],
        "cross_fit": ["cv_object"],
        "exclude": ["array-like", str, Integral, None],
        "memory_budget": [Interval(Real, 2**20, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
        "verbose": ["verbose"],
    }

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, reuse: Reuse | None = None) -> Any:
        """Find the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features; dense, any SciPy sparse format, a pandas or a polars frame.
        y : array-like of shape (n_samples,)
            The target: class labels (strings too) or numbers. Not needed when ``n_supervised=0``.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as those of one patient, are held out together by ``cross_fit``.
        reuse : Reuse, optional
            Results to share with other fits to the same X; `compare` passes it. The fit does not depend on it.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, groups, reuse)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, groups: Any = None, reuse: Reuse | None = None) -> Any:
        """Find the components and return the new features of the training samples.

        With ``cross_fit``, these differ from ``fit(X, y).transform(X)``: they are ``training_scores_``, found
        without each sample's own target, from which a model should learn. New samples need ``transform``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The target.
        groups : array-like of shape (n_samples,), optional
            As in ``fit``.
        reuse : Reuse, optional
            As in ``fit``.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The new features, orthogonal to each other unless they are cross-fitted.
        """
        return self._fit(X, y, groups, reuse)

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit(self, X: Any, y: Any, groups: Any, reuse: Reuse | None) -> np.ndarray:
        needs_target = self.n_supervised != 0
        given, labels = X, is_category(y)
        X, y = check_training_data(self, X, y, needs_target)
        response = make_response(y, self.family, labels) if needs_target else None
        self._check_screening(X, response)
        names = getattr(self, "feature_names_in_", None)
        excluded = column_mask(self.exclude, X.shape[1], names)
        with workers() as threads:
            key = ("design", self.center, self.scale)
            make = partial(make_design, X, threads, center=self.center, scale=self.scale)
            whole = reused(reuse, given, key, make)
            usable = self._informative(whole) & ~excluded
            design = reused(reuse, given, (*key, usable.tobytes()), partial(whole.restricted, usable))
            if not design.usable.any():
                raise ValueError(
                    "No feature is left: every column of X is constant, decided by one sample (one value alone on "
                    "its side of the mean, as in any column of 3 samples), or excluded. "
                    "Pass at least one feature that varies, or more samples."
                )
            if self.verbose:
                left_out = len(design.usable) - np.count_nonzero(design.usable)
                print(f"[{type(self).__name__}] {left_out} of {X.shape[1]} features left out")
            reduction = self._reduce(X, design, constant_basis(X.shape[0], self.center), response, threads, reuse)
            Z = self._keep(reduction, design, response)
            if self.cross_fit is not None:
                Z = self._cross_fit(X, groups, whole, excluded, response, Z, threads, reuse)
        return Z.astype(_output_dtype(X), copy=False)

    def _check_screening(self, X: Any, response: Response | None) -> None:
        """Refuse settings that contradict each other or do not fit the data."""

    def _cross_fit(
        self,
        X: Any,
        groups: Any,
        design: Design,
        excluded: Mask,
        response: Response | None,
        Z: Floats,
        threads: Workers,
        reuse: Reuse | None,
    ) -> Floats:
        """Return the scores with those on supervised components replaced by held-out ones, and store both."""
        honest, count = Z.copy(), self.n_supervised_
        if response is not None and count:
            splits = self._fold_splits(X, checked_groups(groups, len(Z)), response)
            if splits is None:
                return Z
            rows = sp.csr_array(X) if design.sparse else X
            lengths = np.ones(count) if self.whiten else np.sqrt(self.explained_variance_[:count])

            def make(samples: Indices) -> Design:
                part = make_subset_design(rows, samples, threads, center=self.center, scale=self.scale)
                return part.restricted(self._informative(part) & ~excluded)

            def find(fold: Fold, part: Design) -> FoldComponents:
                return self._fold_components(X, part, fold, constant_basis(part.shape[0], self.center), threads)

            def held_out() -> tuple[list[Fold], list[HeldOut]]:
                folds = make_folds(design, response, splits, threads)
                return folds, held_out_scores(rows, folds, make, find, threads)

            indices = tuple(part.tobytes() for split in splits for part in split)
            key = (response.columns.tobytes(), excluded.tobytes(), indices, count, self._fold_settings())
            folds, parts = reused(reuse, design, ("held-out scores", type(self), *key), held_out)
            found = cross_fitted_scores(Z[:, :count] / lengths, folds, parts)
            honest[:, :count] = found * lengths
        # Training samples are recognized by their scores on the first component.
        self._first_scores = Z[:, 0].copy()
        self.training_scores_ = honest
        return honest

    def _fold_splits(self, X: Any, groups: Any, response: Response) -> list[tuple[Indices, Indices]] | None:
        """Return training and held-out samples of each fold; None, with a warning, if two folds are impossible."""
        cv, classification = self.cross_fit, response.family.classification
        target: Any = response.columns[:, 0]
        if classification:
            target = np.unique(response.columns, axis=0, return_inverse=True)[1].ravel()
        if isinstance(cv, Integral):
            units = np.arange(len(target)) if groups is None else groups
            strata = [units[target == code] for code in np.unique(target)] if classification else [units]
            most = min(len(np.unique(stratum)) for stratum in strata)
            if most < 2:
                where = "The smallest class has" if classification else "There is"
                unit = "sample" if groups is None else "group"
                notify(
                    f"{where} only one {unit}, so the training scores are not cross-fitted: they look better than "
                    "those of new samples."
                )
                return None
            cv = min(int(cv), most)
        splits = make_fold_splits(cv, X, target, groups, classification, integer_seed(self.random_state))
        return [(split.train, split.test) for split in splits]

    def _permutations(self, n_samples: int, most: int, reuse: Reuse | None) -> Permutations:
        seed = integer_seed(self.random_state)
        return Permutations(seed, n_samples, most, int(self.memory_budget), reuse)

    def _most_supervised(self, basis: Floats, n_features: int) -> int:
        limits = (self.n_components, self.n_supervised, basis.shape[0] - basis.shape[1], n_features)
        return min(limit for limit in limits if limit is not None)

    def _keep(self, reduction: Reduction, design: Design, response: Response | None) -> np.ndarray:
        n_found = len(reduction.projection)
        variance = reduction.scores.var(axis=0, ddof=1)
        self.components_ = reduction.projection
        Z = reduction.scores
        if self.whiten:
            self.components_ = self.components_ / np.sqrt(variance)[:, None]
            Z = Z / np.sqrt(variance)
        self.directions_ = reduction.directions
        self._supervised_loadings = reduction.loadings
        self.explained_variance_ = variance
        self.explained_variance_ratio_ = reduction.explained_variance_ratio(design.squared_norms.sum())
        self.n_components_ = n_found
        self.n_supervised_ = reduction.n_supervised
        self.steps_ = list(reduction.steps)
        self.mean_, self.scale_, self.feature_mask_ = design.moments.mean, design.moments.scale, design.usable
        for name in ("classes_", "training_scores_", "_first_scores"):
            self.__dict__.pop(name, None)
        if response is not None and response.classes is not None:
            self.classes_ = response.classes
        if self.n_components is not None and n_found < self.n_components:
            noun = "component" if n_found == 1 else "components"
            notify(f"n_components={self.n_components}, but X has only rank {n_found}: returning {n_found} {noun}.")
        return Z

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the components: ``supervised_1``, ..., then ``unsupervised_K``, numbered on.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Ignored; scikit-learn's interface requires it.

        Returns
        -------
        names : ndarray of str of shape (n_components_,)
            One name per column of ``transform``.
        """
        check_is_fitted(self)
        return np.array(component_names(self.n_components_, self.n_supervised_), dtype=object)

    def transform(self, X: Any) -> Any:
        """Return the new features of any samples: ``((X - mean_) / scale_) @ components_.T``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The same features, in the same order, as in ``fit``.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The new features.
        """
        check_is_fitted(self)
        X = check_new_data(self, X)
        weights = (self.components_ / self.scale_).T
        if sp.issparse(X):
            Z = np.asarray(X @ weights) - self.mean_ @ weights
        else:
            Z = np.empty((X.shape[0], weights.shape[1]))
            rows = max(1, TRANSFORM_BLOCK // X.shape[1])
            for start in range(0, len(Z), rows):
                # Centering explicitly keeps the digits of data far from zero.
                part = slice(start, start + rows)
                Z[part] = np.subtract(X[part], self.mean_, dtype=np.float64) @ weights
        return Z.astype(_output_dtype(X), copy=False)

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Return the features as far as the components explain them.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components_)
            New features.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The best linear reconstruction, in the original units; left-out features are at their mean.
        """
        check_is_fitted(self)
        Z = self._check_width(Z, "Z")
        loadings = np.concatenate([self._supervised_loadings, self.directions_[self.n_supervised_ :]])
        lengths = np.sqrt(self.explained_variance_) if self.whiten else 1.0
        return (Z * lengths) @ loadings * self.scale_ + self.mean_

    def original_coefficients(self, coef: Any, intercept: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Carry a linear model on the new features back to the original features and units.

        Parameters
        ----------
        coef : array-like of shape (..., n_components_)
            Coefficients of the new features: one vector, one per class, or a stack of posterior draws.
        intercept : array-like of shape (...)
            Intercepts that go with them.

        Returns
        -------
        coef : ndarray of shape (..., n_features)
            Coefficients of the original features.
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
        original = self._check_width(coef, "coef") @ (self.components_ / self.scale_)
        return original, np.asarray(intercept) - original @ self.mean_

    def _check_width(self, values: Any, name: str) -> Floats:
        values = np.asarray(values, dtype=np.float64)
        if values.ndim == 0 or values.shape[-1] != self.n_components_:
            raise ValueError(
                f"{name} has shape {values.shape}, but its last axis must be n_components_ = {self.n_components_}."
            )
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.n_supervised != 0
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _output_dtype(X: Any) -> type[np.floating[Any]]:
    """Single precision in, single precision out."""
    return np.float32 if X.dtype == np.float32 else np.float64
