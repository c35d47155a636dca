"""scikit-learn's own checks; cross-fitting and permutation tests depart from one of its conventions each."""

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca import ISPCA, SPCA, BaggedPosterior, HorseshoeClassifier, HorseshoeRegressor

ESTIMATORS = [ISPCA(), SPCA()]
VARIANTS = [
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
# A permutation exchanges samples whatever their weights, so that a test does not decide as on duplicated samples.
EQUIVALENCE = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]
WEIGHTS = [*EQUIVALENCE, "check_sample_weights_list", "check_sample_weights_not_overwritten"]
# Bootstrap samples of weighted and of repeated samples differ.
BAGGED = [
    BaggedPosterior(make_pipeline(ISPCA(2, alpha=None, n_supervised=1), model), n_bags=3, n_jobs=1, random_state=0)
    for model in (HorseshoeClassifier(), HorseshoeRegressor())
]


def expected_failures(estimator):
    if getattr(estimator, "statistic", "pearson") != "pearson":
        return dict.fromkeys(WEIGHTS, "rank statistics refuse weights")
    tested = estimator.n_supervised != 0 and estimator.alpha is not None
    tested = tested and getattr(estimator, "n_features", None) is getattr(estimator, "threshold", None)
    return dict.fromkeys(EQUIVALENCE, "permutation tests exchange samples, not weights") if tested else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_check_of_variants(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(CROSS_FITTED, expected_failed_checks=lambda _: DIFFERENT)
def test_scikit_learn_check_of_cross_fitting(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    BAGGED, expected_failed_checks=lambda _: dict.fromkeys(EQUIVALENCE, "other bootstrap samples")
)
def test_scikit_learn_check_of_bags(estimator, check):
    check(estimator)
