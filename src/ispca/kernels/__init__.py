"""Kernel ridge regression with exact left-out values: predictions of classes, quantities and scores."""

from .estimators import KernelClassifier, KernelRegressor
from .scores import KernelScores

__all__ = ["KERNEL_METHODS", "KernelClassifier", "KernelRegressor", "KernelScores"]

# The kernel method for each kind of target that has one; for others, a model learns from KernelScores.
KERNEL_METHODS = {method.target.name: method for method in (KernelClassifier, KernelRegressor)}
