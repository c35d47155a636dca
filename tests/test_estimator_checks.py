"""Item 2: scikit-learn's own checks, none of them expected to fail."""

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


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
