"""Components and classes for tests of the models."""

import numpy as np

# scikit-learn compares numbers to seven digits, which draws have only if every rounding error is the same.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "weighted and repeated samples have the same posterior, "
    "but rounding sends the chains elsewhere"
}


def make_data(n_classes, n=60, K=4, seed=0):
    """Standard normal features, and a class that follows the first two."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, K))
    score = Z[:, 0] + 0.5 * Z[:, 1] + 0.5 * rng.logistic(size=n)
    return Z, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
