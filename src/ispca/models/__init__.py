"""Regression and classification under the regularized horseshoe prior."""

from .classifier import HorseshoeClassifier
from .coefficients import original_coefficients
from .diagnostics import Diagnostics
from .posterior import Posterior
from .regressor import HorseshoeRegressor

__all__ = ["Diagnostics", "HorseshoeClassifier", "HorseshoeRegressor", "Posterior", "original_coefficients"]
