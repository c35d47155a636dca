"""Iterative supervised principal components for few samples and very many features."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from .penalized import PenalizedClassifier, PenalizedCounts, PenalizedRegressor, PenalizedSurvival
    from .reduction.records import Step
    from .screening import ScoreTest, feature_scores, score_test
    from .spca_transformer import SPCA
    from .validation import StackedClassifier, StackedCounts, StackedOrdinal, StackedRegressor, StackedSurvival

# Loaded when used: all of it takes two seconds, which ``ispca --help`` and ``ispca app`` need not wait for.
MEMBERS = {
    "_warnings": (
        *("BatchWarning", "BorderlineWarning", "DataWarning", "DuplicateWarning", "FileOrderWarning"),
        *("LeakWarning", "OddFeaturesWarning", "OutlierWarning", "ScaleWarning", "SmallClassWarning"),
    ),
    "ispca_transformer": ("ISPCA",),
    "models": (
        *("Diagnostics", "HorseshoeClassifier", "HorseshoeCounts", "HorseshoeOrdinal", "HorseshoeRegressor"),
        *("HorseshoeSurvival", "Posterior", "original_coefficients"),
    ),
    "penalized": ("PenalizedClassifier", "PenalizedCounts", "PenalizedRegressor", "PenalizedSurvival"),
    "reduction.records": ("Step",),
    "screening": ("ScoreTest", "feature_scores", "score_test"),
    "spca_transformer": ("SPCA",),
    "validation": ("StackedClassifier", "StackedCounts", "StackedOrdinal", "StackedRegressor", "StackedSurvival"),
}
HOMES = {name: module for module, names in MEMBERS.items() for name in names}
PACKAGES = ("anndata", "datasets", "models", "penalized", "plots", "readers", "report", "selection", "validation")
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
    if name in PACKAGES:
        return import_module(f".{name}", __name__)
    if name not in HOMES:
        raise AttributeError(f"module 'ispca' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, *PACKAGES})
