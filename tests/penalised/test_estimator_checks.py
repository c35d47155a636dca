"""scikit-learn's own checks, none of them expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca.penalised import PenalisedClassifier, PenalisedRegressor

ESTIMATORS = [
    PenalisedClassifier(random_state=0),
    PenalisedClassifier(penalty="ridge", choice="best", n_lambdas=30, n_folds=3, random_state=0),
    PenalisedRegressor(random_state=0),
    PenalisedRegressor(penalty="ridge", choice="best", n_lambdas=30, n_folds=3, random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
