"""Projection predictive selection: the smallest set of original features that predicts like a reference."""

from .selector import ProjectionSelector
from .submodels_and_panels import (
    FeaturePanel,
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
