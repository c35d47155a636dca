"""Validation of whole procedures: comparison, stacking, stability."""

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
    "paper_methods",
    "stability",
]
