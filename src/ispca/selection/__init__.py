"""Projection predictive selection: the smallest set of original features that predicts like a reference."""

from .feature_panel import FeaturePanel
from .selector import ProjectionSelector
from .submodels import (
    ProjectedClassifier,
    ProjectedCounts,
    ProjectedOrdinal,
    ProjectedRegressor,
    ProjectedSurvival,
)

__all__ = [
    "FeaturePanel",
    "ProjectedClassifier",
    "ProjectedCounts",
    "ProjectedOrdinal",
    "ProjectedRegressor",
    "ProjectedSurvival",
    "ProjectionSelector",
]
