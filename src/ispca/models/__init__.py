"""Regression of classes, numbers, counts and survival times under the regularized horseshoe prior."""

from .classifiers import HorseshoeClassifier, HorseshoeOrdinal
from .coefficients import original_coefficients
from .diagnostics import Diagnostics
from .posterior import Posterior
from .regressors import HorseshoeCounts, HorseshoeRegressor
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

# The model on the components for each kind of target.
MODELS = {
    model.target.name: model
    for model in (HorseshoeClassifier, HorseshoeRegressor, HorseshoeSurvival, HorseshoeCounts, HorseshoeOrdinal)
}
