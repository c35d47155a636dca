"""HorseshoeSurvival: recovered parameters, and predictions recomputed by hand and by scikit-survival."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from ispca import HorseshoeSurvival
from ispca.models import survival as survival_models
from ispca.models.survival import breslow

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False, "random_state": 0}
NEW = np.random.default_rng(3).normal(size=(7, 4))
COEF = [1.0, -0.5, 0.0, 0.0]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make_times(n, seed=0, offset=0.0):
    """Exponential times with a baseline hazard of 0.5, about a third of them censored."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    death, end = rng.exponential(2 * np.exp(-Z @ COEF - offset)), rng.exponential(4, size=n)
    return Z, (death <= end, np.minimum(death, end))


@pytest.fixture(scope="module")
def fitted():
    return HorseshoeSurvival(random_state=0).fit(*make_times(200))


@pytest.mark.slow
def test_parameters_are_recovered(fitted):
    draws = fitted.posterior_.coef
    assert fitted.diagnostics_.converged
    assert "intercept" not in fitted.diagnostics_.quantities
    assert (np.abs(fitted.coef_ - COEF) < 3.5 * draws.std(axis=(0, 1))).all()
    assert (fitted.posterior_.intercept == 0).all()
    assert fitted.intercept_ == 0
    # The baseline hazard is 0.5.
    assert np.exp(fitted.posterior_.hazard.log_rates).mean() == pytest.approx(0.5, abs=0.15)


def test_the_risk_is_the_mean_linear_predictor(fitted):
    expected = np.einsum("ik,cdk->icd", NEW, fitted.posterior_.coef).mean(axis=(1, 2))
    np.testing.assert_allclose(fitted.predict(NEW), expected, rtol=1e-10)
    np.testing.assert_allclose(fitted.predict(NEW, offset=np.arange(7.0)), expected + np.arange(7), rtol=1e-10)


def by_hand(model, Z, times):
    """Return survival probabilities of each thinned draw: draws x samples x times."""
    train, (event, time) = make_times(200)
    hazard = model.cumulative_hazard_
    coef = model.posterior_.flat("coef")[hazard.draws]
    cumulative = np.stack([np.exp(breslow(train @ b[:, None], event, time)[1][0]) for b in coef])
    place = np.searchsorted(model.event_times_, times, side="right")
    cumulative = np.column_stack([np.zeros(len(coef)), cumulative])[:, place]
    return np.exp(-cumulative[:, None, :] * np.exp(Z @ coef.T).T[:, :, None])


def test_survival_curves_are_averages_over_draws(fitted):
    times = np.array([0.0, 0.3, 1.0, 2.0, 1000.0])
    draws = by_hand(fitted, NEW, times)
    assert len(draws) == 1000
    curves = fitted.survival_curves(NEW, times, level=0.8)
    np.testing.assert_allclose(curves.mean, draws.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(curves.lower, np.quantile(draws, 0.1, axis=0), atol=1e-12)
    np.testing.assert_allclose(curves.upper, np.quantile(draws, 0.9, axis=0), atol=1e-12)
    assert (curves.mean[:, 0] == 1).all()


def test_survival_curves_are_those_of_the_simulation(fitted):
    times = np.array([0.5, 1.0, 2.0])
    truth = np.exp(-0.5 * times * np.exp(NEW @ COEF)[:, None])
    curves = fitted.survival_curves(NEW, times)
    assert np.abs(curves.mean - truth).max() < 0.15
    assert np.mean((curves.lower < truth) & (truth < curves.upper)) > 0.6


def test_survival_functions_follow_scikit_survivals_convention(fitted):
    functions = fitted.predict_survival_function(NEW)
    array = fitted.predict_survival_function(NEW, return_array=True)
    assert array.shape == (7, len(fitted.unique_times_))
    for function, row in zip(functions, array, strict=True):
        np.testing.assert_array_equal(function.x, fitted.unique_times_)
        np.testing.assert_array_equal(function.y, row)
        np.testing.assert_array_equal(function(fitted.unique_times_), row)
        assert (np.diff(row) <= 0).all()
    np.testing.assert_allclose(array, fitted.survival_curves(NEW).mean, atol=1e-15)
    shifted = fitted.predict_survival_function(NEW, return_array=True, offset=np.full(7, 0.5))
    assert (shifted <= array).all()


def test_median_survival(fitted):
    medians = fitted.median_survival(np.vstack([NEW, [-20.0, 0, 0, 0]]))
    assert medians[-1] == np.inf
    for row, median in zip(fitted.predict_survival_function(NEW), medians, strict=False):
        if np.isfinite(median):
            assert row(median) <= 0.5 < row(median - 1e-9)
    assert np.corrcoef(np.log(medians[:7]), -NEW @ COEF)[0, 1] > 0.95
    assert np.abs(np.log(medians[:7]) - np.log(2 * np.log(2)) + NEW @ COEF).mean() < 0.5


def test_log_predictive_density_by_hand(fitted):
    Z, (event, time) = make_times(20, seed=5)
    hazard, coef = fitted.posterior_.hazard, fitted.posterior_.flat("coef")
    rates, eta = np.exp(hazard.log_rates), Z @ coef.T
    found = np.empty(eta.shape)
    ends = np.append(hazard.starts[1:], np.inf)
    for i, t in enumerate(time):
        spent = np.clip(t - hazard.starts, 0, ends - hazard.starts)
        found[i] = -(rates @ spent) * np.exp(eta[i])
        if event[i]:
            found[i] += np.log(rates[:, np.flatnonzero(hazard.starts < t)[-1]]) + eta[i]
    expected = logsumexp(found, axis=1) - np.log(len(coef))
    np.testing.assert_allclose(fitted.log_predictive_density(Z, (event, time)), expected, rtol=1e-9)


def test_log_predictive_density_is_near_that_of_the_simulation(fitted):
    Z, (event, time) = make_times(2000, seed=5)
    rate = 0.5 * np.exp(Z @ COEF)
    truth = event * np.log(rate) - rate * time
    density = fitted.log_predictive_density(Z, (event, time))
    assert truth.mean() - 0.06 < density.mean() < truth.mean()
    nobody = fitted.log_predictive_density(Z[:3], (np.zeros(3, bool), time[:3]))
    assert (nobody < 0).all(), "samples without any event can be scored"


def test_training_likelihoods_in_blocks(fitted, monkeypatch):
    from ispca.models import posterior

    Z, y = make_times(40)
    whole = HorseshoeSurvival(**SHORT).fit(Z, y)
    monkeypatch.setattr(posterior, "BLOCK_NUMBERS", 700)
    parts = HorseshoeSurvival(**SHORT).fit(Z, y)
    np.testing.assert_allclose(parts.posterior_.hazard.log_rates, whole.posterior_.hazard.log_rates, atol=1e-10)


def test_every_form_of_the_target():
    Z, (event, time) = make_times(40)
    records = np.array(list(zip(event, time, strict=True)), dtype=[("dead", "?"), ("months", "f8")])
    frame = pd.DataFrame({"time": time, "event": event.astype(int)})
    first = HorseshoeSurvival(**SHORT).fit(Z, (event, time))
    for y in (records, frame):
        np.testing.assert_array_equal(HorseshoeSurvival(**SHORT).fit(Z, y).coef_, first.coef_)
        assert first.score(Z, y) == first.score(Z, (event, time))


def test_only_the_order_of_the_times_matters_for_the_coefficients():
    Z, (event, time) = make_times(40)
    plain, stretched = (HorseshoeSurvival(**SHORT).fit(Z, (event, t)) for t in (time, time**3))
    np.testing.assert_array_equal(plain.coef_, stretched.coef_)
    assert plain.score(Z, (event, time)) == stretched.score(Z, (event, time**3))


def test_offsets_take_over_a_known_effect():
    offset = np.random.default_rng(1).normal(size=300)
    Z, y = make_times(300, offset=offset)
    model = HorseshoeSurvival(random_state=0, n_warmup=300, n_draws=200, retry=False).fit(Z, y, offset=offset)
    assert (np.abs(model.coef_ - COEF) < 3.5 * model.posterior_.coef.std(axis=(0, 1))).all()
    assert model.score(Z, y, offset=offset) > model.score(Z, y) + 0.05
    gain = model.log_predictive_density(Z, y, offset=offset).mean() - model.log_predictive_density(Z, y).mean()
    assert gain > 0.1


def test_few_draws_are_all_used():
    model = HorseshoeSurvival(**SHORT).fit(*make_times(40))
    assert model.cumulative_hazard_.draws.tolist() == list(range(100))
    assert survival_models.MOST_DRAWS == 1000


# Against scikit-survival


def test_the_score_is_scikit_survivals(fitted):
    metrics = pytest.importorskip("sksurv.metrics")
    Z, (event, time) = make_times(150, seed=9)
    time = np.ceil(4 * time) / 4
    expected = metrics.concordance_index_censored(event, time, fitted.predict(Z))[0]
    assert fitted.score(Z, (event, time)) == pytest.approx(expected, abs=1e-12)


def test_wide_priors_agree_with_scikit_survivals_cox_model():
    linear = pytest.importorskip("sksurv.linear_model")
    util = pytest.importorskip("sksurv.util")
    Z, (event, time) = make_times(300)
    time = np.ceil(20 * time) / 20
    other = linear.CoxPHSurvivalAnalysis(ties="efron").fit(Z, util.Surv.from_arrays(event, time))
    model = HorseshoeSurvival(unpenalized=slice(None), random_state=0).fit(Z, util.Surv.from_arrays(event, time))
    deviation = model.posterior_.coef.std(axis=(0, 1))
    assert (np.abs(model.coef_ - other.coef_) < 0.15 * deviation).all()
    ours = model.predict_survival_function(NEW, return_array=True)
    theirs = other.predict_survival_function(NEW, return_array=True)
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(model.unique_times_, other.unique_times_)
    np.testing.assert_allclose(ours, theirs, atol=0.03)


def test_survival_functions_serve_scikit_survivals_brier_score(fitted):
    metrics, util = pytest.importorskip("sksurv.metrics"), pytest.importorskip("sksurv.util")
    train = util.Surv.from_arrays(*make_times(200)[1])
    Z, y = make_times(150, seed=9)
    test, times = util.Surv.from_arrays(*y), np.linspace(0.2, 2, 10)
    functions = fitted.predict_survival_function(Z)
    predicted = np.stack([function(times) for function in functions])
    assert metrics.integrated_brier_score(train, test, predicted, times) < 0.2


# Bad input


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.arange(7.0), "an event and a time"),
        ((np.zeros(7), np.arange(1.0, 8)), "No event was observed"),
        ((np.ones(7), np.arange(7.0) - 1), "negative"),
        ((np.ones(5), np.arange(1.0, 6)), "X has 7 samples, but y has 5"),
        ((np.ones(7), np.full(7, np.nan)), "missing or infinite in 7 samples"),
        ((np.ones(7), np.arange(1.0, 8), np.zeros(7)), "entry times"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        HorseshoeSurvival(**SHORT).fit(NEW, y)


def test_bad_predictions(fitted):
    with pytest.raises(ValueError, match="level=0 must lie between 0 and 1"):
        fitted.survival_curves(NEW, [1.0], level=0)
    with pytest.raises(ValueError, match="times must be a list of finite numbers"):
        fitted.survival_curves(NEW, [1.0, np.nan])
    with pytest.raises(ValueError, match="X has 7 samples, but y has 200"):
        fitted.score(NEW, make_times(200)[1])
    Z, (event, time) = make_times(20)
    with pytest.raises(ValueError, match="No event was observed"):
        HorseshoeSurvival(**SHORT).fit(Z, (event, time), sample_weight=~event)
