"""The common part of the penalized estimators: parameters, path, and choice of the penalty."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._array_types import Floats
from .._checks import check_new_data, checked_offset, checked_weights, integer_seed
from .._warnings import notify
from ..families import Family
from ..reduction.reuse import Reuse, reused
from .folds import make_folds
from .path import averaging_weights, cross_validated_path, extended_path
from .records import Path, Problem


class Penalized(BaseEstimator):
    """Base class of both estimators."""

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

    def _fit_path(
        self,
        given: Any,
        X: Any,
        y: np.ndarray,
        family: Family,
        groups: Any,
        reuse: Reuse | None,
        sample_weight: Any = None,
        offset: Any = None,
        strata: Any = None,
    ) -> tuple[Floats, Floats]:
        """Fit the path, or reuse one; return the chosen solution.

        ``given`` is X as it was passed to ``fit``. Each of the ``strata``, integers from 0 on, is spread evenly
        over the folds; by default these are the classes, if there are any.
        """
        weights, offset = checked_weights(sample_weight, len(y)), checked_offset(offset, len(y))
        problem = Problem(X, y, family, self.n_lambdas, weights, offset)
        stratified = family.classification or strata is not None
        spread = y if strata is None else strata
        folds = make_folds(self.cv, X, spread, groups, stratified, integer_seed(self.random_state))
        extras = tuple(None if extra is None else extra.tobytes() for extra in (weights, offset))
        key = (family.name, self.penalty, self.n_lambdas, folds.tobytes(), y.tobytes(), *extras)
        make = partial(cross_validated_path, problem, self.penalty, folds)
        path = reused(reuse, given, ("path", *key), make)
        if self.penalty == "ridge" and self.choice != "one_standard_error":
            extend = partial(extended_path, path, problem, folds)
            path = reused(reuse, given, ("extended path", *key), extend)
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
            notify(self._edge_message())
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
        check_is_fitted(self)
        return self.weights_ is not None

    def _all_predictors(self, X: Any, offset: Any = None) -> tuple[Floats, Floats]:
        """Return linear predictors of one output (samples x averaged penalties, or one) and their weights."""
        if self._averages:
            predictors, weights = self._averaged_predictors(X)
            predictors = predictors[:, :, 0].T
        else:
            predictors, weights = self._predictors(X), np.ones(1)
        offset = checked_offset(offset, len(predictors))
        return predictors if offset is None else predictors + offset[:, None], weights

    def _predictors(self, X: Any) -> Floats:
        """Return the linear predictors of ``coef_`` (samples x outputs)."""
        check_is_fitted(self)
        X = check_new_data(self, X)
        return np.asarray(X @ np.atleast_2d(self.coef_).T + self.intercept_, dtype=np.float64)

    def _averaged_predictors(self, X: Any) -> tuple[Floats, Floats]:
        """Return linear predictors at the averaged penalties (penalties x samples x outputs) and their weights."""
        check_is_fitted(self)
        X = check_new_data(self, X)
        n_averaged, n_outputs, n_features = self.averaged_coef_.shape
        flat = np.asarray(X @ self.averaged_coef_.reshape(-1, n_features).T, dtype=np.float64)
        predictors = flat.reshape(-1, n_averaged, n_outputs) + self.averaged_intercept_
        return predictors.transpose(1, 0, 2), self.weights_[self.weights_ > 0]
