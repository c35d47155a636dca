"""Default candidates for stacking: four reductions with the horseshoe model, lasso, ridge and the base rate."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from .._array_types import Floats
from ..families import GAUSSIAN, class_family
from ..ispca_transformer import ISPCA
from ..models.classifier import HorseshoeClassifier
from ..models.regressor import HorseshoeRegressor
from ..penalized import PenalizedClassifier, PenalizedRegressor
from ..spca_transformer import SPCA
from .methods import HONEST, reduced
from .prediction import n_rows

# As in the paper; with many classes, each component has a coefficient per class.
N_COMPONENTS = 50
N_COMPONENTS_MANY_CLASSES = 20
SMALLEST_DEVIATION = 1e-8


class BaseRateRegressor(RegressorMixin, BaseEstimator):
    """Predict a normal distribution with the mean and standard deviation of the target, without using X.

    Attributes
    ----------
    mean_, deviation_ : float
        Mean and standard deviation of the training target.
    """

    _parameter_constraints: dict[str, list[Any]] = {}  # noqa: RUF012

    def fit(self, X: Any, y: Any) -> BaseRateRegressor:
        """Compute mean and standard deviation of the target; of X, only the number of features is stored."""
        validate_data(self, X, skip_check_array=True)
        if y is None:
            raise ValueError("BaseRateRegressor requires y to be passed, but the target y is None.")
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, ensure_min_samples=2), warn=True)
        check_consistent_length(X, y)
        self.mean_ = float(y.mean())
        # A constant target gets a density, too.
        self.deviation_ = max(float(y.std(ddof=1)), SMALLEST_DEVIATION * max(1.0, abs(self.mean_)))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of the target for every sample, and optionally its standard deviation."""
        check_is_fitted(self)
        mean = np.full(n_rows(X), self.mean_)
        return (mean, np.full(len(mean), self.deviation_)) if return_std else mean

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log normal density of each observed value."""
        check_is_fitted(self)
        density: Floats = norm.logpdf(np.asarray(y, dtype=np.float64), self.mean_, self.deviation_)
        return density

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.regressor_tags.poor_score = True
        tags.no_validation = True
        return tags


def default_candidates(n_classes: int | None) -> list[tuple[str, Any]]:
    """Return the candidates by name, for a number of classes or, if None, for regression; their seeds are None."""
    regression = n_classes is None
    # Named, because more than a few integers would be taken as a quantity.
    family = GAUSSIAN if n_classes is None else class_family(n_classes)
    count = N_COMPONENTS if regression or n_classes == 2 else N_COMPONENTS_MANY_CLASSES
    model: Any = HorseshoeRegressor() if regression else HorseshoeClassifier()
    linear = PenalizedRegressor if regression else PenalizedClassifier
    options: dict[str, Any] = {"whiten": True, "family": family.name}
    return [
        ("PCA", reduced(ISPCA(count, n_supervised=0, **options), model)),
        ("SPCA", reduced(SPCA(count, **options), model)),
        ("ISPCA-cross-fitted", reduced(ISPCA(count, **options, **HONEST), model)),
        ("ISPCA-small-cross-fitted", reduced(ISPCA(**options, **HONEST), model)),
        ("lasso", linear(penalty="lasso", choice="best")),
        ("ridge", linear(penalty="ridge", choice="average")),
        ("base rate", BaseRateRegressor() if regression else DummyClassifier(strategy="prior")),
    ]
