"""A start basis of more than the constant: everything is projected off it first, as a naive computation would."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.reduction.algorithm import iterate, start_steps, take_components
from ispca.reduction.deflation import correlation_scores, start_deflation
from ispca.reduction.design import make_design
from ispca.reduction.max_score_test import MaxScoreTest, ResidualTest
from ispca.reduction.null_distribution import null_maxima
from ispca.reduction.permutation import Permutations
from ispca.reduction.response import make_response
from ispca.reduction.stopping_rule import FixedNumber
from ispca.reduction.threads import workers
from ispca.reduction.threshold import SearchSettings

N_PERMUTATIONS = 300
PERMUTATIONS = Permutations(5, 50, N_PERMUTATIONS, 2**24)


@pytest.fixture(params=["dense", "sparse"])
def problem(request):
    """Features and a target that a covariate explains in part; the covariate with the constant as Q0."""
    rng = np.random.default_rng(3)
    covariate = rng.normal(size=50)
    X = rng.normal(size=(50, 40)) + np.outer(covariate, rng.normal(size=40) / 2)
    if request.param == "sparse":
        X = np.where(rng.random(X.shape) < 0.6, 0.0, X)
    y = X[:, :4] @ [1.5, 1.2, 1, 1] + 0.5 * covariate + rng.normal(size=50)
    basis = np.linalg.qr(np.column_stack([np.ones(50), covariate]))[0]
    basis[:, 0] = 50**-0.5
    centered = X - X.mean(axis=0)
    left = centered / centered.std(axis=0, ddof=1)
    left = left - basis @ (basis.T @ left)
    with workers() as threads:
        design = make_design(sp.csr_array(X) if request.param == "sparse" else X, threads, center=True, scale=True)
        yield design, threads, make_response(y), basis, left


def naive_scores(left, basis, columns):
    """Correlate what is left of every feature with what Q0 leaves of the columns."""
    lengths = np.linalg.norm(left, axis=0)[:, None]
    products = left.T @ (columns - basis @ (basis.T @ columns))
    return np.abs(products) / np.where(lengths > 1e-9, lengths, np.inf)


def permuted(target, basis):
    """Permute a response and scale what Q0 leaves of it to unit length."""
    columns = target[PERMUTATIONS.indices(0, N_PERMUTATIONS), 0].T
    columns = columns - basis @ (basis.T @ columns)
    return columns / np.linalg.norm(columns, axis=0)


def test_scores_are_those_of_projected_features(problem):
    design, threads, response, basis, left = problem
    found = correlation_scores(start_deflation(design, threads, response.columns, basis))
    np.testing.assert_allclose(found, naive_scores(left, basis, response.columns), atol=1e-10)


def test_the_max_score_test_projects_the_permuted_responses(problem):
    design, threads, response, basis, left = problem
    target = response.columns
    test = MaxScoreTest(design, response, PERMUTATIONS, FixedNumber(1.0, N_PERMUTATIONS))
    state = start_deflation(design, threads, target, basis)
    maxima = naive_scores(left, basis, permuted(target, basis)).max(axis=0)
    observed = naive_scores(left, basis, target).max()
    result = test(state, threads)
    assert result.score == pytest.approx(observed)
    assert result.p_value == np.mean(maxima >= observed - 1e-10)
    found = null_maxima(design, threads, state, target, PERMUTATIONS, "paper", basis, response.exchange)
    np.testing.assert_allclose(found, maxima, atol=1e-10)


@pytest.mark.parametrize("kind", [MaxScoreTest, ResidualTest, None])
def test_components_are_orthogonal_to_the_start_basis(problem, kind):
    design, threads, response, basis, left = problem
    test = None if kind is None else kind(design, response, PERMUTATIONS, FixedNumber(0.95, N_PERMUTATIONS))
    options = {"max_supervised": 3, "n_components": 6, "listen": lambda step: None}
    found = iterate(
        start_steps(design, threads, response, test, SearchSettings(20, 10), basis), threads, **options
    )
    assert found.n_supervised > 0
    np.testing.assert_allclose(basis.T @ found.scores, 0, atol=1e-9)
    np.testing.assert_allclose(left @ found.projection.T, found.scores, atol=1e-8)


def test_later_tests_count_as_naive_ones(problem):
    design, threads, response, basis, left = problem
    test = MaxScoreTest(design, response, PERMUTATIONS, FixedNumber(1.0, N_PERMUTATIONS))
    options = {"max_supervised": 4, "n_components": None, "listen": lambda step: None}
    # One feature per component leaves signal for later tests.
    found = iterate(start_steps(design, threads, response, test, SearchSettings(1, 1), basis), threads, **options)
    columns = permuted(response.columns, basis)
    assert len({step.p_value for step in found.steps} - {0.0, 1.0}) > 1
    for step, component in zip(found.steps, found.scores.T, strict=False):
        observed = naive_scores(left, basis, response.columns).max()
        assert step.p_value == np.mean(naive_scores(left, basis, columns).max(axis=0) >= observed - 1e-10)
        basis = np.column_stack([basis, component / np.linalg.norm(component)])
        left = left - basis @ (basis.T @ left)


def test_screened_components_are_those_of_the_projected_features(problem):
    design, threads, _, basis, left = problem
    features = np.arange(10)
    found = take_components(design, threads, features, n_supervised=2, n_components=2, basis=basis)
    lengths = np.linalg.svd(left[:, features], compute_uv=False)[:2]
    np.testing.assert_allclose(np.linalg.norm(found.scores, axis=0), lengths, rtol=1e-8)
    np.testing.assert_allclose(basis.T @ found.scores, 0, atol=1e-9)


def test_new_samples_can_be_projected_off_the_start_basis(problem):
    """The scores of a sample need its row of Q0 and the regression of the scores on Q0, K numbers per column."""
    design, threads, response, basis, _ = problem
    options = {"max_supervised": 2, "n_components": 4, "listen": lambda step: None}
    found = iterate(
        start_steps(design, threads, response, None, SearchSettings(20, 10), basis), threads, **options
    )
    unadjusted = design.dot(found.projection.T, np.arange(design.shape[1]))
    coefficients = basis.T @ unadjusted
    assert np.abs(coefficients).max() > 0.1
    new = np.arange(7)
    np.testing.assert_allclose(unadjusted[new] - basis[new] @ coefficients, found.scores[new], atol=1e-8)
