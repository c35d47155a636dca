"""Regression and classification under the regularised horseshoe prior."""

from .coefficients import original_coefficients
from .estimators import HorseshoeClassifier, HorseshoeRegressor

__all__ = ["HorseshoeClassifier", "HorseshoeRegressor", "original_coefficients"]
