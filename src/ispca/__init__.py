"""Iterative supervised principal components for few samples and very many features."""

from importlib.metadata import version

from .models import Diagnostics, HorseshoeClassifier, HorseshoeRegressor, Posterior, original_coefficients
from .penalized import PenalizedClassifier, PenalizedRegressor
from .reduction.records import Step
from .screening import ScoreTest, feature_scores, score_test
from .transformers import ISPCA, SPCA
from .validation import StackedClassifier, StackedRegressor

__version__ = version("ispca")
__all__ = [
    "ISPCA",
    "SPCA",
    "Diagnostics",
    "HorseshoeClassifier",
    "HorseshoeRegressor",
    "PenalizedClassifier",
    "PenalizedRegressor",
    "Posterior",
    "ScoreTest",
    "StackedClassifier",
    "StackedRegressor",
    "Step",
    "feature_scores",
    "original_coefficients",
    "score_test",
]
