"""Ridge and lasso on the original features, with the penalty chosen by cross-validation as R's glmnet does."""

from .classifier import PenalizedClassifier
from .counts import PenalizedCounts
from .regressor import PenalizedRegressor
from .survival import PenalizedSurvival

__all__ = ["PenalizedClassifier", "PenalizedCounts", "PenalizedRegressor", "PenalizedSurvival"]
