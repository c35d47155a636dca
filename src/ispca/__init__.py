"""Iterative supervised principal components for few samples and very many features."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ._warnings import (
    BatchWarning,
    BorderlineWarning,
    DataWarning,
    DuplicateWarning,
    FileOrderWarning,
    LeakWarning,
    OddFeaturesWarning,
    OutlierWarning,
    ScaleWarning,
    SmallClassWarning,
)
from .ispca_transformer import ISPCA
from .models import (
    Diagnostics,
    HorseshoeClassifier,
    HorseshoeCounts,
    HorseshoeOrdinal,
    HorseshoeRegressor,
    HorseshoeSurvival,
    Posterior,
    original_coefficients,
)
from .reduction.records import Step
from .screening import ScoreTest, feature_scores, score_test
from .spca_transformer import SPCA

if TYPE_CHECKING:
    from .penalized import PenalizedClassifier, PenalizedCounts, PenalizedRegressor, PenalizedSurvival
    from .validation import StackedClassifier, StackedCounts, StackedOrdinal, StackedRegressor, StackedSurvival

# Loaded when used, because ``import ispca`` would take longer.
LATER = {
    "PenalizedClassifier": "ispca.penalized",
    "PenalizedCounts": "ispca.penalized",
    "PenalizedRegressor": "ispca.penalized",
    "PenalizedSurvival": "ispca.penalized",
    "StackedClassifier": "ispca.validation",
    "StackedCounts": "ispca.validation",
    "StackedOrdinal": "ispca.validation",
    "StackedRegressor": "ispca.validation",
    "StackedSurvival": "ispca.validation",
}
__version__ = version("ispca")
__all__ = [
    "ISPCA",
    "SPCA",
    "BatchWarning",
    "BorderlineWarning",
    "DataWarning",
    "Diagnostics",
    "DuplicateWarning",
    "FileOrderWarning",
    "HorseshoeClassifier",
    "HorseshoeCounts",
    "HorseshoeOrdinal",
    "HorseshoeRegressor",
    "HorseshoeSurvival",
    "LeakWarning",
    "OddFeaturesWarning",
    "OutlierWarning",
    "PenalizedClassifier",
    "PenalizedCounts",
    "PenalizedRegressor",
    "PenalizedSurvival",
    "Posterior",
    "ScaleWarning",
    "ScoreTest",
    "SmallClassWarning",
    "StackedClassifier",
    "StackedCounts",
    "StackedOrdinal",
    "StackedRegressor",
    "StackedSurvival",
    "Step",
    "feature_scores",
    "original_coefficients",
    "score_test",
]


def __getattr__(name: str) -> Any:
    if name in LATER:
        return getattr(import_module(LATER[name]), name)
    raise AttributeError(f"module 'ispca' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *LATER})
