"""The common part of the penalized estimators: parameters, path, and choice of the penalty."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._checks import check_new_data, integer_seed
from ..families import Family
from ..reduction.records import Floats
from ..reduction.reuse import Reuse, reused
from .folds import make_folds
from .path import cross_validated_path


class Penalized(BaseEstimator):
    """Base class of both estimators."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "penalty": [StrOptions({"lasso", "ridge"})],
        "choice": [StrOptions({"one_standard_error", "best"})],
        "n_lambdas": [Interval(Integral, 2, None, closed="left")],
        "cv": ["cv_object"],
        "random_state": ["random_state", np.random.Generator],
    }

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
        self, given: Any, X: Any, y: np.ndarray, family: Family, groups: Any, reuse: Reuse | None
    ) -> tuple[Floats, Floats]:
        """Fit the path, or reuse one; return the chosen solution. ``given`` is X as it was passed to ``fit``."""
        folds = make_folds(self.cv, X, y, groups, family.classification, integer_seed(self.random_state))
        make = partial(cross_validated_path, X, y, family, self.penalty, folds, self.n_lambdas)
        key = ("path", family.name, self.penalty, self.n_lambdas, folds.tobytes(), y.tobytes())
        path = reused(reuse, given, key, make)
        chosen = path.best if self.choice == "best" else path.one_standard_error
        self.lambdas_ = path.lambdas
        self.cv_deviance_ = path.mean
        self.cv_deviance_error_ = path.error
        self.lambda_best_ = float(path.lambdas[path.best])
        self.lambda_one_standard_error_ = float(path.lambdas[path.one_standard_error])
        self.lambda_ = float(path.lambdas[chosen])
        self._chosen = chosen
        coef, intercept = path.solution(chosen)
        self.n_nonzero_ = int(np.count_nonzero(coef.any(axis=0)))
        return coef, intercept

    def _predictors(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = check_new_data(self, X)
        return np.asarray(X @ np.atleast_2d(self.coef_).T + self.intercept_, dtype=np.float64)
