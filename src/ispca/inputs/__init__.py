"""What the estimators accept: the columns of X, covariates, missing values, weights, offsets and groups."""
