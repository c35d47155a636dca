"""Validation of whole procedures: comparison, stacking, stability."""

from .baseline_comparison import compare_with_baselines
from .comparison import Comparison, compare
from .held_out_verdict import verdict
from .methods import paper_methods, recommended_methods
from .stability import Stability, stability
from .stacking import StackedClassifier, StackedRegressor
from .stacking_counts import StackedCounts
from .stacking_ordinal import StackedOrdinal
from .stacking_survival import StackedSurvival
from .standard_methods import standard_methods

__all__ = [
    "Comparison",
    "Stability",
    "StackedClassifier",
    "StackedCounts",
    "StackedOrdinal",
    "StackedRegressor",
    "StackedSurvival",
    "compare",
    "compare_with_baselines",
    "paper_methods",
    "recommended_methods",
    "stability",
    "standard_methods",
    "verdict",
]
