"""Ridge and lasso on the original features, with the penalty chosen by cross-validation as R's glmnet does."""

from .classifier import PenalizedClassifier
from .regressor import PenalizedRegressor

__all__ = ["PenalizedClassifier", "PenalizedRegressor"]
