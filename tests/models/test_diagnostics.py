"""Convergence diagnostics: agreement with ArviZ, and what R-hat and ESS must say in plain cases."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from ispca.models.diagnostics import Diagnostics, autocovariance, bulk_ess, r_hat, split_chains, tail_ess

# ArviZ 1.x wants them named; 0.x has them as its default.
TAILS = (0.05, 0.95)


def autoregressive(phi, n_chains=4, n_draws=1000, seed=0):
    """Chains x_t = phi x_{t-1} + noise, started from their stationary distribution."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_chains, n_draws))
    start = rng.normal(size=(n_chains, 1)) / np.sqrt(1 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=1, zi=phi * start)[0]


def formula_chains():
    """Chains without a random generator, so that their diagnostics can be written down."""
    t = np.arange(120.0)
    return np.array([np.sin(t**2 + k) + 0.3 * np.sin(0.1 * t + k) for k in range(3)])


REFERENCE = [1.0004961605318843, 117.78992511254636, 145.7897961452103]

CHAINS = {
    **{f"AR({phi})": autoregressive(phi) for phi in (-0.9, -0.3, 0.0, 0.5, 0.95, 0.999)},
    **{f"{n} draws": autoregressive(0.4, n_draws=n) for n in (4, 5, 7, 50, 333)},
    **{f"{n} chains": autoregressive(0.4, n, 301) for n in (2, 3, 8)},
    "rounded": np.round(autoregressive(0.5), 1),
    "rounded to few values": np.round(autoregressive(0.8, n_draws=501)),
    "rarely 1": (autoregressive(0.5) > 2.5).astype(float),
    "unequal means": autoregressive(0.5) + np.arange(4)[:, None],
    "unequal spreads": autoregressive(0.5) * (1 + np.arange(4)[:, None]),
    "trend": autoregressive(0.5) + np.linspace(0, 3, 1000),
    "heavy tails": np.random.default_rng(1).standard_cauchy((4, 400)),
    "one chain stuck": np.vstack([autoregressive(0.3, 3, 200), np.zeros((1, 200))]),
    "formula": formula_chains(),
}


def values(draws):
    """R-hat, bulk ESS and tail ESS of one quantity."""
    return [float(function(draws[:, :, None])[0]) for function in (r_hat, bulk_ess, tail_ess)]


@pytest.mark.parametrize("draws", CHAINS.values(), ids=CHAINS.keys())
def test_arviz_agrees(draws):
    arviz = pytest.importorskip("arviz", reason="ArviZ, which is compared with, is not installed")
    expected = [arviz.rhat(draws), arviz.ess(draws, method="bulk"), arviz.ess(draws, method="tail", prob=TAILS)]
    np.testing.assert_allclose(values(draws), [float(np.asarray(v)) for v in expected], rtol=1e-6)


def test_arviz_agrees_about_one_chain_and_constants():
    """ArviZ declines R-hat for these (NaN); the effective sample sizes are compared."""
    arviz = pytest.importorskip("arviz", reason="ArviZ, which is compared with, is not installed")
    for draws in (autoregressive(0.6, 1, 500), np.full((4, 100), 3.7)):
        expected = [arviz.ess(draws, method="bulk"), arviz.ess(draws, method="tail", prob=TAILS)]
        np.testing.assert_allclose(values(draws)[1:], [float(np.asarray(v)) for v in expected], rtol=1e-6)


def test_values_of_arviz_where_it_is_missing():
    # ArviZ 0.23.4 on the same chains.
    np.testing.assert_allclose(values(formula_chains()), REFERENCE, rtol=1e-6)


def test_quantities_do_not_mix():
    stacked = np.stack([CHAINS["AR(-0.3)"], CHAINS["AR(0.95)"], CHAINS["rounded"]], axis=2)
    for function in (r_hat, bulk_ess, tail_ess):
        alone = [function(stacked[:, :, [j]])[0] for j in range(3)]
        np.testing.assert_allclose(function(stacked), alone, rtol=1e-12)


def test_independent_draws_count_fully():
    draws = np.random.default_rng(2).normal(size=(4, 1000, 20))
    assert r_hat(draws).max() < 1.01
    assert bulk_ess(draws).mean() == pytest.approx(4000, rel=0.05)
    assert tail_ess(draws).mean() == pytest.approx(4000, rel=0.1)


@pytest.mark.parametrize("phi", [-0.4, 0.3, 0.9])
def test_autocorrelation_costs_what_theory_says(phi):
    """An AR(1) chain is worth n (1 - phi) / (1 + phi) independent draws."""
    draws = autoregressive(phi, 4 * 50, 5000, seed=3).reshape(50, 4, 5000).transpose(1, 2, 0)
    assert bulk_ess(draws).mean() == pytest.approx(20000 * (1 - phi) / (1 + phi), rel=0.05)


def test_a_shifted_chain_is_noticed():
    draws = np.random.default_rng(4).normal(size=(4, 500, 1))
    draws[3] += 3
    assert r_hat(draws)[0] > 1.3
    assert bulk_ess(draws)[0] < 20


def test_a_wider_chain_is_noticed():
    """The means agree, the spreads do not: this is what the folded R-hat is for."""
    draws = np.random.default_rng(5).normal(size=(4, 500, 1))
    draws[3] *= 5
    assert r_hat(draws)[0] > 1.1


def test_a_trend_within_one_chain_is_noticed():
    draws = np.random.default_rng(6).normal(size=(1, 1000, 1)) + np.linspace(0, 4, 1000)[:, None]
    assert r_hat(draws)[0] > 1.3


@pytest.mark.parametrize("n_draws", [8, 100, 128, 1000])
def test_chains_stuck_at_different_values_disagree(n_draws):
    draws = np.repeat(np.arange(4.0), n_draws).reshape(4, n_draws, 1)
    assert r_hat(draws)[0] > 1e6


def test_a_constant_quantity_is_no_reason_for_alarm():
    assert values(np.full((4, 100), 3.7)) == [1.0, 400.0, 400.0]


def test_monotone_transformations_change_nothing():
    draws = autoregressive(0.7)
    plain, exponential = values(draws), values(np.exp(draws))
    np.testing.assert_allclose(exponential[1:], plain[1:], rtol=1e-9)


def test_not_a_number_is_not_silent():
    draws = autoregressive(0.0)
    draws[2, 17] = np.nan
    with np.errstate(invalid="ignore"):
        bad = verdict(draws[:, :, None])
    assert not bad.converged
    assert not bad.r_hat[0] < 1.01
    assert not bad.bulk_ess[0] > 1


def test_split_leaves_out_the_middle_draw():
    halves = split_chains(np.arange(10.0).reshape(2, 5, 1))[:, :, 0]
    np.testing.assert_array_equal(halves, [[0, 1], [5, 6], [3, 4], [8, 9]])


def test_autocovariance_is_that_of_the_definition():
    x = autoregressive(0.5, 1, 12)[0]
    centred = x - x.mean()
    direct = [centred[: 12 - lag] @ centred[lag:] / 12 for lag in range(12)]
    np.testing.assert_allclose(autocovariance(x[None, :, None])[0, :, 0], direct, atol=1e-14)


def verdict(draws, n_divergent=0):
    names = tuple(f"quantity {j}" for j in range(draws.shape[2]))
    n = draws.shape[0] * draws.shape[1]
    return Diagnostics(r_hat(draws), bulk_ess(draws), tail_ess(draws), names, n, n_divergent, "nuts", 0.9)


def test_the_sentence_says_that_all_is_well():
    good = verdict(np.random.default_rng(7).normal(size=(4, 1000, 2)))
    assert good.converged
    assert str(good) == good.summary
    assert "The chains have converged" in good.summary
    assert "NOT" not in good.summary
    assert "4000 draws" in good.summary
    assert "0 divergent transitions." in good.summary
    assert "1 divergent transition." in replace(good, n_divergent=1).summary


def shifted():
    draws = np.random.default_rng(8).normal(size=(4, 1000, 2))
    draws[0, :, 1] += 2
    return verdict(draws)


def few():
    return verdict(np.random.default_rng(9).normal(size=(4, 50, 2)))


def divergent():
    return verdict(np.random.default_rng(10).normal(size=(4, 1000, 2)), n_divergent=21)


@pytest.mark.parametrize("make", [shifted, few, divergent])
def test_the_sentence_says_that_something_is_wrong(make):
    bad = make()
    assert not bad.converged
    assert "NOT converged" in bad.summary
    assert f"{bad.r_hat.max():.3f}" in bad.summary
    assert f"{bad.bulk_ess.min():.0f}" in bad.summary


def test_the_sentence_names_the_worst_quantity():
    assert "quantity 1" in shifted().summary


@pytest.mark.parametrize(("value", "text"), [(1.0104, "1.01040"), (1.0099, "1.00990"), (1.0042, "1.004")])
def test_rounding_hides_no_side_of_the_limit(value, text):
    found = Diagnostics(np.array([value]), *[np.array([1000.0])] * 2, ["a"], 4000, 0, "nuts", 0.9)
    assert found.converged == (value < 1.01)
    assert f"largest R-hat {text} (a)" in str(found)


def test_a_few_divergences_are_tolerated():
    """Up to 0.5 % of the draws."""
    draws = np.random.default_rng(10).normal(size=(4, 1000, 2))
    assert verdict(draws, n_divergent=20).converged
