"""Projections: what they reproduce, and that no other submodel is closer to the reference."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from ispca.selection.projection import make_problems, null_unknowns, project, solve
from made_references import KINDS, features, reference_of


@pytest.fixture(scope="module", params=KINDS)
def case(request):
    """Return the kind, the features, a linear reference and its predictions."""
    Z = features()
    return request.param, Z, *reference_of(request.param, Z)


def test_all_features_reproduce_a_linear_reference(case):
    kind, Z, _, predictions = case
    found = project(Z, predictions)
    assert found.divergence.max() < 1e-12
    problems = make_problems(predictions, Z)
    coef = found.coef if found.coef.ndim == 3 else found.coef[:, None]
    intercept = found.intercept if found.intercept.ndim == 2 else found.intercept[:, None]
    if kind == "multinomial":  # relative to the first class
        coef, intercept = coef[:, 1:] - coef[:, :1], intercept[:, 1:] - intercept[:, :1]
    eta = coef @ Z.T + intercept[:, :, None]
    if predictions.offset is not None:
        eta += predictions.offset.T[:, None]
    means = problems.loss.mean(eta)
    if kind == "ordinal":  # the thresholds contain the level
        shift = (predictions.extra - found.extra).mean(axis=1)
        means = means + shift[:, None, None]
    if kind == "cox":  # the baseline hazard contains the level
        means = means * (problems.targets / means).mean(axis=2, keepdims=True)
    np.testing.assert_allclose(means, problems.targets, atol=1e-6)


def test_no_other_submodel_is_closer(case):
    _, Z, _, predictions = case
    problems = make_problems(predictions, Z[:, :1]).part(np.arange(3))
    found = solve(problems, null_unknowns(problems))
    losses = problems.losses(problems.predictors(found))
    for place in range(3):
        single = problems.part(np.array([place]))

        def loss(values, single=single):
            return single.losses(single.predictors(values.reshape(1, *found.shape[1:])))[0]

        best = minimize(loss, found[place].ravel() + 0.1, method="BFGS", options={"gtol": 1e-9})
        assert losses[place] <= best.fun + 1e-10


def test_more_features_never_increase_the_divergence(case):
    _, Z, _, predictions = case
    divergences = [project(Z[:, :size], predictions).divergence for size in range(7)]
    assert (np.diff(divergences, axis=0) <= 1e-12).all()


def test_sample_weights_equal_duplicated_samples():
    Z = features(60)
    _, predictions = reference_of("binomial", Z)
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    twice = np.repeat(np.arange(60), weight.astype(int))
    weighted = project(Z[:, :2], predictions._replace(sample_weight=weight))
    repeated = project(Z[twice, :2], predictions._replace(mean=predictions.mean[twice]))
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-8)
    np.testing.assert_allclose(weighted.divergence, repeated.divergence, atol=1e-12)


def test_collinear_and_constant_columns_are_harmless():
    Z = features()
    _, predictions = reference_of("binomial", Z)
    alone = project(Z[:, :2], predictions)
    doubled = project(np.column_stack([Z[:, :2], Z[:, 0], np.full(len(Z), 7.0)]), predictions)
    np.testing.assert_allclose(doubled.divergence, alone.divergence, atol=1e-9)
    assert np.isfinite(doubled.coef).all()


def test_units_of_features_do_not_matter():
    Z = features()
    _, predictions = reference_of("binomial", Z)
    scale, shift = np.array([1e6, 1e-6]), np.array([1e7, -3.0])
    plain, other = project(Z[:, :2], predictions), project(Z[:, :2] * scale + shift, predictions)
    np.testing.assert_allclose(other.coef * scale, plain.coef, rtol=1e-5, atol=1e-6)


def test_the_noise_of_a_gaussian_submodel_contains_what_it_does_not_explain():
    Z = features()
    _, predictions = reference_of("gaussian", Z)
    empty = project(Z[:, :0], predictions)
    expected = np.sqrt(predictions.extra**2 + predictions.mean.var(axis=0))
    np.testing.assert_allclose(empty.extra, expected)
    np.testing.assert_allclose(empty.divergence, np.log(expected / predictions.extra))


def test_certain_predictions_give_finite_submodels():
    Z = features()
    _, predictions = reference_of("binomial", Z)
    certain = predictions._replace(mean=(predictions.mean > 0.5).astype(float))
    found = project(Z[:, :2], certain)
    assert np.isfinite(found.coef).all()
    assert np.isfinite(found.divergence).all()
    # The submodel separates the classes that the reference predicts from these features.
    perfect = predictions._replace(mean=np.repeat((Z[:, :1] > 0).astype(float), predictions.n_draws, axis=1))
    found = project(Z[:, :1], perfect)
    probabilities = expit(Z[:, :1] @ found.coef.T + found.intercept)
    assert ((probabilities > 0.5) == (Z[:, :1] > 0)).mean() > 0.99
