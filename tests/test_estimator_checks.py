"""scikit-learn's own checks; only cross-fitting departs from one of its conventions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca import ISPCA, SPCA

ESTIMATORS = [
    ISPCA(),
    SPCA(),
    ISPCA(n_components=2, test="residual", n_permutations=100, random_state=0),
    ISPCA(n_components=1, n_supervised=0),
    ISPCA(n_components=1, alpha=None, whiten=True),
    SPCA(n_components=1, n_supervised=1, alpha=0.5, n_permutations=100, statistic="spearman"),
    SPCA(n_features=1),
    SPCA(threshold=0.5, whiten=True),
]
# Cross-fitted scores differ from those of the fit, which is their purpose; TargetEncoder does the same.
CROSS_FITTED = [ISPCA(1, alpha=None, cross_fit=3), SPCA(n_features=1, cross_fit=3)]
DIFFERENT = dict.fromkeys(
    ["check_transformer_general", "check_transformer_data_not_an_array"], "fit_transform is not fit and transform"
)


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@parametrize_with_checks(CROSS_FITTED, expected_failed_checks=lambda _: DIFFERENT)
def test_scikit_learn_check_of_cross_fitting(estimator, check):
    check(estimator)
