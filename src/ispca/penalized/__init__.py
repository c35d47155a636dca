"""Ridge and lasso on the original features, with the penalty chosen by cross-validation as R's glmnet does."""

from .estimators import PenalizedClassifier, PenalizedCounts, PenalizedRegressor, PenalizedSurvival

__all__ = ["PenalizedClassifier", "PenalizedCounts", "PenalizedRegressor", "PenalizedSurvival"]

# The model on the original features, for the kinds of targets that have one.
PENALIZED = {
    model.target.name: model
    for model in (PenalizedClassifier, PenalizedRegressor, PenalizedSurvival, PenalizedCounts)
}
