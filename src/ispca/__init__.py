"""Iterative supervised principal components for few samples and very many features."""

from importlib.metadata import version

from .screening import ScoreTest, feature_scores, score_test
from .transformers import ISPCA, SPCA

__version__ = version("ispca")
__all__ = ["ISPCA", "SPCA", "ScoreTest", "feature_scores", "score_test"]
