"""scikit-learn's own checks; cross-validation departs from one of its conventions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca.penalized import PenalizedClassifier, PenalizedRegressor

ESTIMATORS = [PenalizedClassifier(random_state=0), PenalizedRegressor(random_state=0)]
VARIANTS = [
    PenalizedClassifier(penalty="ridge", choice="best", n_lambdas=30, cv=3, random_state=0),
    PenalizedClassifier(penalty="ridge", choice="average", n_lambdas=30, cv=3, random_state=0),
    PenalizedRegressor(penalty="ridge", choice="best", n_lambdas=30, cv=3, random_state=0),
    PenalizedRegressor(choice="average", n_lambdas=30, cv=3, random_state=0),
]
DENSE, SPARSE = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))


def expected_failures(estimator):
    """A sample is in one fold, whatever its weight, but its copies may be in several."""
    if estimator.penalty == "ridge":
        failed = [DENSE, SPARSE]
    else:
        failed = [DENSE] if isinstance(estimator, PenalizedClassifier) else []
    return dict.fromkeys(failed, "copies of a sample may be in different folds")


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_check_of_variants(estimator, check):
    check(estimator)
