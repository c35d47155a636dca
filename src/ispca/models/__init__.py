"""Regression and classification under the regularized horseshoe prior."""

from .classifier import HorseshoeClassifier
from .coefficients import original_coefficients
from .regressor import HorseshoeRegressor

__all__ = ["HorseshoeClassifier", "HorseshoeRegressor", "original_coefficients"]
