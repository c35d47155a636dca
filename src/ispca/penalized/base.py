"""The common part of the penalized estimators: parameters, path, and choice of the penalty."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..families import Family
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..foundation.messages import PathEndWarning, notify
from ..foundation.parameters import fit_context, integer_seed
from ..inputs.checks import check_new_data, check_training_data
from ..reduction.reuse import find_or_make, find_reuse
from ..targets.samples import Samples, select_samples
from ..targets.target import Predictions
from .cross_validation import averaging_weights, cross_validated_path, extend_path, folds_of_kept, make_folds
from .problem import Path, Problem

# What the docstrings of all estimators say.
DOCS = {
    "conventions": """The conventions are those of R's glmnet and cv.glmnet: features are standardized internally,
    the intercept is not penalized, and the penalty is chosen from a path by the cross-validated""",
    "parameters": """
    penalty : {"lasso", "ridge"}, default="lasso"
        Sum of absolute values, or half the sum of squares, of the standardized coefficients.
    choice : {"one_standard_error", "best", "average"}, default="one_standard_error"
        The largest penalty whose $error is within one standard error of the minimum, that of the minimum, or
        predictions averaged over penalties, each weighted by exp(total held-out log density). For ridge, "best"
        and "average" extend the path below glmnet's end until it goes at least a decade past the minimum, or to
        0.000001 of that end. A chosen penalty at the end of the path gives a warning.
    n_lambdas : int, default=100
        Length of glmnet's path; it ends early when the deviance is explained or no longer falls.
    cv : int, splitter or iterable, default=10
        Number of cross-validation folds (never more than samples, or groups), or a scikit-learn splitter or
        list of (training indices, test indices) that holds out every sample exactly once.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds.""",
    "attributes": """
    lambda_, lambda_best_, lambda_one_standard_error_ : float
        The chosen penalty (of an average, the one with the largest weight), the best, and glmnet's default.
    lambdas_, cv_deviance_, cv_deviance_error_ : ndarray
        The path: penalties, mean $error of held-out samples, and its standard error.
    weights_ : ndarray or None
        Weight of each penalty in ``lambdas_``, with ``choice="average"``. The sum is 1. At most 12 penalties, a
        third of a decade or more apart, are averaged, and weights below 1% of the largest are set to 0.
    averaged_coef_ : ndarray of shape (n_averaged, n_outputs, n_features) or None
        Coefficients at each penalty with a positive weight; with more than two classes, each is an output.
    averaged_intercept_ : ndarray of shape (n_averaged, n_outputs) or None
        Intercepts at each penalty with a positive weight.
    n_nonzero_ : int
        Number of features with a nonzero coefficient.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.""",
    "error": "deviance",
}
FIT_DOCS = {
    "options": """
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in fits and held-out deviances; 0 leaves a sample out."""
}


class Penalized(Predictions, BaseEstimator):
    """Base class of the penalized estimators."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "penalty": [StrOptions({"lasso", "ridge"})],
        "choice": [StrOptions({"one_standard_error", "best", "average"})],
        "n_lambdas": [Interval(Integral, 2, None, closed="left")],
        "cv": ["cv_object"],
        "random_state": ["random_state", np.random.Generator],
    }

    # None unless predictions are averaged.
    weights_: Any
    averaged_coef_: Any
    averaged_intercept_: Any

    def __init__(
        self,
        *,
        penalty: str = "lasso",
        choice: str = "one_standard_error",
        n_lambdas: int = 100,
        cv: Any = 10,
        random_state: Any = None,
    ) -> None:
        self.penalty = penalty
        self.choice = choice
        self.n_lambdas = n_lambdas
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @share_docs(**FIT_DOCS)
    @fit_context(skip_nested=True)
    def fit(self, X: Any, y: Any, groups: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the path and choose the penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels, or values.
        $options

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        given, (X, y) = X, self._check_training(X, y)
        self._fit(given, select_samples(X, y, sample_weight, None, groups))
        return self

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return checked X and y."""
        return check_training_data(self, X, y)

    def _fit(self, given: Any, samples: Samples) -> None:
        """Fit; ``given`` is X as it was passed to ``fit``."""
        raise NotImplementedError

    def _fit_path(self, given: Any, samples: Samples, family: Family, strata: Any = None) -> tuple[Floats, Floats]:
        """Fit the path, or reuse one; return the chosen solution.

        Each of the ``strata``, integers from 0 on, is spread evenly over the folds; by default these are the
        classes, if there are any.
        """
        X, y, groups, weights, offset, _, kept = samples
        problem = Problem(samples, family, self.n_lambdas)
        stratified = family.classification or strata is not None
        spread, cv = y if strata is None else strata, folds_of_kept(self.cv, kept)
        folds = make_folds(cv, X, spread, groups, stratified, integer_seed(self.random_state))
        extras = tuple(None if extra is None else extra.tobytes() for extra in (weights, offset, kept))
        key = (family.name, self.penalty, self.n_lambdas, folds.tobytes(), y.tobytes(), *extras)
        make = partial(cross_validated_path, problem, self.penalty, folds)
        reuse = find_reuse(given)
        path = find_or_make(reuse, given, ("path", *key), make)
        if self.penalty == "ridge" and self.choice != "one_standard_error":
            extend = partial(extend_path, path, problem, folds)
            path = find_or_make(reuse, given, ("extended path", *key), extend)
        self.lambdas_ = path.lambdas
        self.cv_deviance_ = path.mean
        self.cv_deviance_error_ = path.error
        self.lambda_best_ = float(path.lambdas[path.best])
        self.lambda_one_standard_error_ = float(path.lambdas[path.one_standard_error])
        total = len(y) if weights is None else weights.sum()
        averaging = averaging_weights(path, family, total) if self.choice == "average" else None
        coef, intercept = self._choose(path, averaging)
        self.n_nonzero_ = int(np.count_nonzero(coef.any(axis=0)))
        return coef, intercept

    def _choose(self, path: Path, weights: Floats | None) -> tuple[Floats, Floats]:
        """Store the choice; return the solution at one penalty, or the weighted mean of several."""
        self.weights_ = weights
        self.averaged_coef_ = self.averaged_intercept_ = None
        if weights is None:
            chosen = path.best if self.choice == "best" else path.one_standard_error
            coef, intercept = path.solution(chosen)
        else:
            chosen = int(weights.argmax())
            positions = np.flatnonzero(weights)
            parts = [path.solution(int(position)) for position in positions]
            self.averaged_coef_ = np.stack([part[0] for part in parts])
            self.averaged_intercept_ = np.stack([part[1] for part in parts])
            coef = np.tensordot(weights[positions], self.averaged_coef_, axes=1)
            intercept = weights[positions] @ self.averaged_intercept_
        self.lambda_ = float(path.lambdas[chosen])
        if chosen == len(path.lambdas) - 1 > 0 and not path.settled:
            notify(self._edge_message(), PathEndWarning)
        return coef, intercept

    def _edge_message(self) -> str:
        message = (
            f"The chosen penalty, lambda = {self.lambda_:.3g}, is the smallest on the path, so a smaller one "
            "might predict better."
        )
        if self.penalty == "ridge" and self.choice == "one_standard_error":
            message += ' Pass choice="best" or choice="average" to extend the path.'
        return message

    @property
    def _averages(self) -> bool:
        return self.weights_ is not None

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_new_data(self, X)

    def _mean_predictor(self, Z: Any) -> Floats:
        """Return the linear predictors of ``coef_`` (samples x outputs)."""
        return np.asarray(Z @ np.atleast_2d(self.coef_).T + self.intercept_, dtype=np.float64)

    def _predictors(self, Z: Any, offset: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the linear predictors at the averaged penalties, or at the chosen one, and their weights.

        The predictors have the shape (penalties, samples, outputs).
        """
        if self._averages:
            n_averaged, n_outputs, n_features = self.averaged_coef_.shape
            flat = np.asarray(Z @ self.averaged_coef_.reshape(-1, n_features).T, dtype=np.float64)
            predictors = (flat.reshape(-1, n_averaged, n_outputs) + self.averaged_intercept_).transpose(1, 0, 2)
            weights = self.weights_[self.weights_ > 0]
        else:
            predictors, weights = self._mean_predictor(Z)[None], np.ones(1)
        return predictors if offset is None else predictors + offset[:, None], weights

    def _likelihood(self) -> tuple[Family, Any]:
        """Return the family of the target, and what its likelihood needs beside the linear predictor."""
        raise NotImplementedError

    def _log_density(self, Z: Any, y: np.ndarray, offset: Floats | None) -> Floats:
        predictors, weights = self._predictors(Z, offset)
        family, extra = self._likelihood()
        return np.asarray(logsumexp(family.log_likelihood(predictors[:, :, 0].T, y, extra), axis=1, b=weights))


class OffsetPenalized(Penalized):
    """Base class of the penalized estimators whose linear predictor may have an offset."""

    @share_docs(**FIT_DOCS)
    @fit_context(skip_nested=True)
    def fit(self, X: Any, y: Any, groups: Any = None, *, sample_weight: Any = None, offset: Any = None) -> Self:
        """Fit the path and choose the penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,), structured array, frame or tuple
            Counts, integers of 0 or more; or event (whether it was observed) and time, as scikit-survival's
            ``Surv`` makes them, as two columns of a frame, or as ``(event, time)``.
        $options
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor; for counts, it is the logarithm of the exposure.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        given, (X, y) = X, self._check_training(X, y)
        self._fit(given, select_samples(X, y, sample_weight, offset, groups))
        return self
