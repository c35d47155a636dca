"""Ridge and lasso on the original features, with the penalty chosen by cross-validation as R's glmnet does."""

from .classifier import PenalisedClassifier
from .regressor import PenalisedRegressor

__all__ = ["PenalisedClassifier", "PenalisedRegressor"]
