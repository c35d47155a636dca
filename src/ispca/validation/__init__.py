"""Validation of whole procedures: comparison, stacking, stability."""

from .baselines import compare_with_baselines
from .comparison import Comparison, compare
from .methods import paper_methods
from .stability import Stability, stability
from .stacking import StackedClassifier, StackedRegressor

__all__ = [
    "Comparison",
    "Stability",
    "StackedClassifier",
    "StackedRegressor",
    "compare",
    "compare_with_baselines",
    "paper_methods",
    "stability",
]
