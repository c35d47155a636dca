"""scikit-learn's own checks; cross-validation departs from one of its conventions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca.penalized import PenalizedClassifier, PenalizedRegressor

ESTIMATORS = [
    PenalizedClassifier(random_state=0),
    PenalizedClassifier(penalty="ridge", choice="best", n_lambdas=30, cv=3, random_state=0),
    PenalizedClassifier(penalty="ridge", choice="average", n_lambdas=30, cv=3, random_state=0),
    PenalizedRegressor(random_state=0),
    PenalizedRegressor(penalty="ridge", choice="best", n_lambdas=30, cv=3, random_state=0),
    PenalizedRegressor(choice="average", n_lambdas=30, cv=3, random_state=0),
]
# A sample is in one fold, whatever its weight, but its copies may be in several.
EQUIVALENCE = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "copies of a sample may be in different folds",
)


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EQUIVALENCE)
def test_scikit_learn_check(estimator, check):
    check(estimator)
