"""Validation of whole procedures: comparison and stability."""

from ..bagging.stability import Stability
from ..stacking import StackedClassifier, StackedCounts, StackedOrdinal, StackedRegressor, StackedSurvival
from .baseline_comparison import compare_with_baselines
from .comparison import Comparison, compare
from .held_out_verdict import verdict
from .left_out_verdict import kernel_verdict
from .methods import paper_methods, recommended_methods, standard_methods
from .stability import stability
from .winner import BestMethod, best_method

__all__ = [
    "BestMethod",
    "Comparison",
    "Stability",
    "StackedClassifier",
    "StackedCounts",
    "StackedOrdinal",
    "StackedRegressor",
    "StackedSurvival",
    "best_method",
    "compare",
    "compare_with_baselines",
    "kernel_verdict",
    "paper_methods",
    "recommended_methods",
    "stability",
    "standard_methods",
    "verdict",
]
