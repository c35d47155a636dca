"""Iterative supervised principal components for few samples and very many features."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from .analysis.analysis import Analysis
    from .analysis.analysis_loading import load
    from .analysis.analyze import analyze
    from .analysis.settings import Settings
    from .bagging import BaggedPosterior
    from .foundation.messages import DataWarning
    from .kernels import KernelClassifier, KernelRegressor, KernelScores
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
    from .reduction.reduction_result import Step
    from .stacking import StackedClassifier, StackedCounts, StackedOrdinal, StackedRegressor, StackedSurvival
    from .transformers.ispca_transformer import ISPCA
    from .transformers.screening import ScoreTest, feature_scores, score_test
    from .transformers.spca_transformer import SPCA

# Loaded when used: all of it takes two seconds, which ``ispca --help`` and ``ispca app`` need not wait for.
MEMBERS = {
    "analysis.analysis": ("Analysis",),
    "analysis.analysis_loading": ("load",),
    "analysis.analyze": ("analyze",),
    "analysis.settings": ("Settings",),
    "bagging": ("BaggedPosterior",),
    "foundation.messages": ("DataWarning",),
    "transformers.ispca_transformer": ("ISPCA",),
    "kernels": ("KernelClassifier", "KernelRegressor", "KernelScores"),
    "models": (
        *("Diagnostics", "HorseshoeClassifier", "HorseshoeCounts", "HorseshoeOrdinal", "HorseshoeRegressor"),
        *("HorseshoeSurvival", "Posterior", "original_coefficients"),
    ),
    "penalized": ("PenalizedClassifier", "PenalizedCounts", "PenalizedRegressor", "PenalizedSurvival"),
    "reduction.reduction_result": ("Step",),
    "transformers.screening": ("ScoreTest", "feature_scores", "score_test"),
    "transformers.spca_transformer": ("SPCA",),
    "stacking": ("StackedClassifier", "StackedCounts", "StackedOrdinal", "StackedRegressor", "StackedSurvival"),
}
HOMES = {name: module for module, names in MEMBERS.items() for name in names}
PACKAGES = (
    *("anndata", "datasets", "kernels", "models", "penalized", "plots", "readers", "report", "selection"),
    "validation",
)
__all__ = [
    "ISPCA",
    "SPCA",
    "Analysis",
    "BaggedPosterior",
    "DataWarning",
    "Diagnostics",
    "HorseshoeClassifier",
    "HorseshoeCounts",
    "HorseshoeOrdinal",
    "HorseshoeRegressor",
    "HorseshoeSurvival",
    "KernelClassifier",
    "KernelRegressor",
    "KernelScores",
    "PenalizedClassifier",
    "PenalizedCounts",
    "PenalizedRegressor",
    "PenalizedSurvival",
    "Posterior",
    "ScoreTest",
    "Settings",
    "StackedClassifier",
    "StackedCounts",
    "StackedOrdinal",
    "StackedRegressor",
    "StackedSurvival",
    "Step",
    "analyze",
    "feature_scores",
    "load",
    "original_coefficients",
    "score_test",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    if name in PACKAGES:
        return import_module(f".{name}", __name__)
    if name not in HOMES:
        raise AttributeError(f"module 'ispca' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *PACKAGES, "__version__"])
