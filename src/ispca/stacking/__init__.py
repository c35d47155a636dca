"""Stacks: mixtures of the predictions of several methods, with weights from held-out samples."""

from .estimators import StackedClassifier, StackedCounts, StackedOrdinal, StackedRegressor, StackedSurvival

__all__ = ["StackedClassifier", "StackedCounts", "StackedOrdinal", "StackedRegressor", "StackedSurvival"]

# The stack for each kind of target.
STACKS = {
    stack.target.name: stack
    for stack in (StackedClassifier, StackedRegressor, StackedSurvival, StackedCounts, StackedOrdinal)
}
