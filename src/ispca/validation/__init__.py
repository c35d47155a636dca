"""Validation of whole procedures: comparison, stacking, stability."""

from .baseline_comparison import compare_with_baselines
from .comparison import Comparison, compare
from .methods import paper_methods, recommended_methods
from .stability import Stability, stability
from .stacking import StackedClassifier, StackedRegressor
from .standard_methods import standard_methods

__all__ = [
    "Comparison",
    "Stability",
    "StackedClassifier",
    "StackedRegressor",
    "compare",
    "compare_with_baselines",
    "paper_methods",
    "recommended_methods",
    "stability",
    "standard_methods",
]
