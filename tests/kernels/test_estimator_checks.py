"""scikit-learn's own checks; cross-fitted scores depart from one of its conventions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca import KernelClassifier, KernelRegressor, KernelScores

# fit_transform returns left-out scores, which is their purpose; TargetEncoder does the same.
DIFFERENT = dict.fromkeys(
    ["check_transformer_general", "check_transformer_data_not_an_array"], "fit_transform is not fit and transform"
)


def expected_failures(estimator):
    return DIFFERENT if isinstance(estimator, KernelScores) else {}


@pytest.mark.grid(3)
@parametrize_with_checks([KernelRegressor(), KernelScores()], expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@parametrize_with_checks([KernelClassifier(kernels=["linear"])])
def test_scikit_learn_check_of_classes(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([KernelClassifier(), KernelRegressor(scale=False, missing="mean")])
def test_scikit_learn_check_of_variants(estimator, check):
    check(estimator)
