"""The whole path, its cross-validation and its choices against glmnet, which was run tightly on the same folds."""

import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent / "reference"
sys.path.append(str(HERE))
from glmnet_problems import PATH_ONLY, REAL, SIMULATED, family_of, folds_of, simulate  # noqa: E402

from ispca.families import FAMILIES  # noqa: E402
from ispca.penalized.cross_validation import cross_validated_path  # noqa: E402
from ispca.penalized.problem import Problem  # noqa: E402
from ispca.targets.samples import Samples  # noqa: E402

CASES = [(name, penalty) for name in SIMULATED for penalty in ("lasso", "ridge")]
REAL_CASES = [(name, penalty) for name, penalties in REAL.items() for penalty in penalties]


def check(X, y, folds, name, penalty, exact_coef=True):
    with np.load(HERE / f"{name}-{penalty}.npz") as file:
        expected = dict(file)
    path = cross_validated_path(Problem(Samples(X, y), FAMILIES[family_of(name)], 100), penalty, folds)
    assert len(path.lambdas) == len(expected["lambdas"])
    np.testing.assert_allclose(path.lambdas, expected["lambdas"], rtol=1e-9)
    np.testing.assert_allclose(path.mean, expected["mean"], rtol=2e-5)
    np.testing.assert_allclose(path.error, expected["error"], rtol=2e-4)
    np.testing.assert_allclose(path.lambdas[[path.best, path.one_standard_error]], expected["choices"], rtol=1e-9)
    for position, coef, intercept in zip(
        expected["positions"].astype(int), expected["coef"], expected["intercept"], strict=True
    ):
        ours, level = path.solution(position)
        if exact_coef:
            np.testing.assert_allclose(ours, coef, atol=1e-4 * np.abs(coef).max(), rtol=0)
            np.testing.assert_allclose(level, intercept, rtol=0, atol=1e-4 * (1 + np.abs(intercept).max()))
        else:  # equal columns share their coefficient in any way: compare what the samples see
            expected_eta, eta = X @ coef.T + intercept, X @ ours.T + level
            np.testing.assert_allclose(eta, expected_eta, rtol=0, atol=2e-3 * np.abs(expected_eta).max())


@pytest.mark.grid(3)
@pytest.mark.parametrize(("name", "penalty"), CASES)
def test_simulated(name, penalty):
    check(*simulate(name), name, penalty)


@pytest.mark.parametrize("penalty", ["lasso", "ridge"])
@pytest.mark.parametrize("name", PATH_ONLY)
def test_path_only(name, penalty):
    X, y, folds = simulate(name)
    with np.load(HERE / f"{name}-{penalty}.npz") as file:
        expected = dict(file)
    path = cross_validated_path(Problem(Samples(X, y), FAMILIES[family_of(name)], 100), penalty, folds)
    np.testing.assert_allclose(path.lambdas[: len(expected["lambdas"])], expected["lambdas"], rtol=1e-8)
    for position, coef in zip(expected["positions"].astype(int), expected["coef"], strict=True):
        np.testing.assert_allclose(path.solution(position)[0], coef, atol=1e-4 * np.abs(coef).max(), rtol=0)


@pytest.mark.grid(3)
@pytest.mark.parametrize(("name", "penalty"), REAL_CASES)
def test_real(real_data, name, penalty):
    X, y = real_data(name)
    codes = np.unique(y, return_inverse=True)[1]
    check(X, codes, folds_of(codes, len(codes)), name, penalty, exact_coef=name != "pcmac")
