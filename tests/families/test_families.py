"""The families: their formulas agree with each other, with SciPy, and nobody else asks which one it is."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import bernoulli, multinomial, norm, poisson

from ispca.families import FAMILIES, class_family
from ispca.families.binomial import BINOMIAL
from ispca.families.counts import POISSON
from ispca.families.cox import COX
from ispca.families.gaussian import GAUSSIAN
from ispca.families.multinomial import MULTINOMIAL
from ispca.families.survival_target import survival_target
from ispca.targets import choose_family

SOURCE = Path(__file__).parents[2] / "src" / "ispca"
# The families with penalized models.
PENALIZED = {name: family for name, family in FAMILIES.items() if family.penalized}
EACH = pytest.mark.parametrize("family", PENALIZED.values(), ids=PENALIZED.keys())
# Those whose likelihood is a sum over the samples.
SUMS = pytest.mark.parametrize("family", [family for family in PENALIZED.values() if family is not COX])
N, K = 7, 2


@pytest.fixture
def eta(rng, family):
    return rng.normal(size=(N, 3 if family.per_class else 1, K))


@pytest.fixture
def y(rng, family):
    codes = np.array([0, 1, 2, 1, 0, 2, 1])
    if family is POISSON:
        return codes
    if family is COX:
        return survival_target((codes > 0, [2.0, 1.0, 1.0, 3.0, 1.0, 2.5, 3.0]))
    if not family.classification:
        return rng.normal(size=N)
    return codes if family.per_class else codes % 2


def test_a_weight_of_two_is_a_duplicated_sample_of_the_partial_likelihood(rng):
    y = survival_target((rng.random(N) < 0.7, np.round(rng.exponential(size=N), 1) + 0.1))
    loss, twice = COX.penalized, np.r_[np.arange(N), 0, 3]
    weights = np.bincount(twice)[:, None, None].astype(float)
    target, eta = loss.outputs(y).T[:, :, None], rng.normal(size=(N, 1, 1))
    total = (weights * loss.losses(target, eta, weights)).sum()
    assert total == pytest.approx(loss.losses(target[twice], eta[twice], None).sum())


@EACH
def test_the_loss_falls_along_the_residuals(family, eta, y, rng):
    target = family.penalized.outputs(y).T[:, :, None]
    direction = rng.normal(size=eta.shape)
    step = 1e-5 * direction
    losses = family.penalized.losses
    change = (losses(target, eta + step, None) - losses(target, eta - step, None)).sum(axis=(0, 1)) / 2e-5
    residual = family.penalized.residual(target, family.penalized.state(eta, target, None))
    np.testing.assert_allclose(change, -(residual * direction).sum(axis=(0, 1)), rtol=1e-5)


@EACH
@pytest.mark.parametrize("weighted", [False, True])
def test_the_curvature_is_the_change_of_the_residuals(family, eta, y, rng, weighted):
    loss, target = family.penalized, family.penalized.outputs(y).T[:, :, None]
    weights = rng.uniform(0.5, 2, (N, 1, 1)) if weighted else None
    direction = rng.normal(size=eta.shape)

    def residual(eta):
        return loss.residual(target, loss.state(eta, target, weights))

    change = (residual(eta - 1e-5 * direction) - residual(eta + 1e-5 * direction)) / 2e-5
    curved = loss.curvature(loss.state(eta, target, weights), direction, target, weights)
    np.testing.assert_allclose(curved, change, rtol=1e-5, atol=1e-9)


@SUMS
def test_the_mean_curvature_is_that_of_unit_directions(family, eta):
    loss = family.penalized
    mean = loss.state(eta, None, None)
    units = [np.broadcast_to(unit[:, None], eta.shape) for unit in np.eye(eta.shape[1])]
    diagonal = [loss.curvature(mean, unit, None, None)[:, i] for i, unit in enumerate(units)]
    np.testing.assert_allclose(loss.mean_curvature(mean), np.mean(diagonal, axis=(0, 1)))


@SUMS
@pytest.mark.parametrize("weights", [None, np.arange(1.0, N + 1)])
def test_no_features_leave_the_means_of_the_outputs(family, y, weights):
    outputs = family.penalized.outputs(y)
    null = family.penalized.null_intercepts(outputs.T, None, weights)
    mean = family.penalized.state(null[None, :, None], None, None)
    np.testing.assert_allclose(mean[0, :, 0], np.average(outputs, axis=1, weights=weights))
    if family.per_class:
        assert null.sum() == pytest.approx(0)


@SUMS
def test_the_deviance_is_minus_twice_the_log_likelihood(family, eta, y):
    draws = eta.transpose(0, 2, 1) if family.per_class else eta[:, 0]
    log_likelihood = family.log_likelihood(draws, y, 1.0)
    # Without the terms that do not depend on the predictor.
    constant = {GAUSSIAN.name: np.log(2 * np.pi), POISSON.name: -2 * poisson.logpmf(y, np.abs(y))[:, None]}
    expected = -2 * log_likelihood - constant.get(family.name, 0)
    np.testing.assert_allclose(family.penalized.deviances(eta.transpose(2, 1, 0), y), expected.T)


@SUMS
def test_the_log_likelihood_is_scipys(family, eta, y):
    draws = eta.transpose(0, 2, 1) if family.per_class else eta[:, 0]
    sigma = np.array([0.5, 2.0])
    mean = family.penalized.state(eta, None, None)
    expected = {
        "gaussian": lambda: norm.logpdf(y[:, None], draws, sigma),
        "binomial": lambda: bernoulli.logpmf(y[:, None], mean[:, 0]),
        "poisson": lambda: poisson.logpmf(y[:, None], mean[:, 0]),
        "multinomial": lambda: multinomial.logpmf(np.eye(3)[y][:, None], 1, mean.transpose(0, 2, 1)),
    }
    np.testing.assert_allclose(family.log_likelihood(draws, y, sigma), expected[family.name]())


@pytest.mark.parametrize("family", [BINOMIAL, MULTINOMIAL])
def test_probabilities_of_classes(family, eta, y):
    draws = eta.transpose(0, 2, 1) if family.per_class else eta[:, 0]
    averaged = family.probabilities(draws)
    np.testing.assert_allclose(averaged.sum(axis=1), 1)
    each = [np.exp(family.log_probabilities(eta[:, :, k])) for k in range(K)]
    np.testing.assert_allclose(averaged, np.mean(each, axis=0))
    observed = np.exp(family.log_likelihood(draws, y, None)).mean(axis=1)
    np.testing.assert_allclose(averaged[np.arange(N), y], observed)


def test_large_predictors_have_finite_deviances():
    y = np.array([1, 0])
    assert np.isfinite(BINOMIAL.penalized.deviances(np.array([[[-1e4, 1e4]]]), y)).all()
    assert np.isfinite(MULTINOMIAL.penalized.deviances(np.array([[[1e4, 0], [0, 1e4], [0, 0]]]), y)).all()


@pytest.mark.parametrize(
    ("family", "n", "features", "expected"),
    [
        (GAUSSIAN, 10, 50, ("blocked", "blocked")),
        (BINOMIAL, 199, 5, ("nuts", "nuts")),
        (BINOMIAL, 200, 5, ("blocked", "nuts")),
        (BINOMIAL, 599, 50, ("nuts", "nuts")),
        (BINOMIAL, 600, 50, ("blocked", "nuts")),
        (POISSON, 600, 50, ("blocked", "nuts")),
        (MULTINOMIAL, 5000, 5, ("nuts", "nuts")),
    ],
)
def test_the_sampler_and_that_of_a_second_attempt(family, n, features, expected):
    assert family.samplers(n, features) == expected


def test_the_choice_of_a_family():
    assert class_family(2) is BINOMIAL
    assert class_family(3) is MULTINOMIAL
    assert choose_family("auto", np.array([0.5, 1.5])) is GAUSSIAN
    assert choose_family("auto", np.array(["a", "b"])) is BINOMIAL
    assert choose_family("auto", np.arange(11)) is GAUSSIAN
    assert choose_family("auto", np.arange(11), labels=True) is MULTINOMIAL
    assert choose_family("multinomial", np.arange(11)) is MULTINOMIAL


def test_no_other_package_asks_which_family_it_is():
    names = "|".join([*FAMILIES, *(family.sampler_model for family in FAMILIES.values())])
    # One family has the name of a kind of target, which is another question.
    question = re.compile(rf"(?<!kind )(?<!kind\"\] )[=!]= *[\"']({names})[\"']|type_of_target")
    files = [path for path in SOURCE.rglob("*.py") if path.parent.name != "families"]
    assert [path.name for path in files if question.search(path.read_text())] == []
