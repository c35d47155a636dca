"""Regression of classes, numbers, counts and survival times under the regularized horseshoe prior."""

from .classifier import HorseshoeClassifier
from .coefficients import original_coefficients
from .counts import HorseshoeCounts
from .diagnostics import Diagnostics
from .ordinal import HorseshoeOrdinal
from .posterior import Posterior
from .regressor import HorseshoeRegressor
from .survival import HorseshoeSurvival

__all__ = [
    "Diagnostics",
    "HorseshoeClassifier",
    "HorseshoeCounts",
    "HorseshoeOrdinal",
    "HorseshoeRegressor",
    "HorseshoeSurvival",
    "Posterior",
    "original_coefficients",
]
