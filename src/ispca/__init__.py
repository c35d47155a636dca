"""Iterative supervised principal components for few samples and very many features."""

from importlib.metadata import version

from .models import HorseshoeClassifier, HorseshoeRegressor, original_coefficients
from .penalized import PenalizedClassifier, PenalizedRegressor
from .screening import ScoreTest, feature_scores, score_test
from .transformers import ISPCA, SPCA
from .validation import StackedClassifier, StackedRegressor

__version__ = version("ispca")
__all__ = [
    "ISPCA",
    "SPCA",
    "HorseshoeClassifier",
    "HorseshoeRegressor",
    "PenalizedClassifier",
    "PenalizedRegressor",
    "ScoreTest",
    "StackedClassifier",
    "StackedRegressor",
    "feature_scores",
    "original_coefficients",
    "score_test",
]
