"""scikit-learn's own checks, none of them expected to fail."""

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


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
