"""The paper's method as pure functions on arrays: no estimator, no data frame."""
