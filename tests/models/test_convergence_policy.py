"""What happens when chains do not converge: they are continued, retried, and never silently accepted.

A stand-in for the engine returns draws of known quality and writes down how it was called.
"""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from ispca import HorseshoeClassifier, HorseshoeRegressor
from ispca.models import sampling
from ispca.models.sampling import prior_scale, thread_count

N_CHAINS = 4


class Engine:
    """Draws independent normals; ``quality`` maps the arguments of a call to what is wrong with its draws."""

    def __init__(self, quality):
        self.quality = quality
        self.calls = []

    def sample(self, model, X, y, **options):
        wrong = self.quality(options)
        self.calls.append({"model": model, **options})
        rng = np.random.default_rng(len(self.calls))
        shape = (options["n_chains"], options["n_draws"])
        outputs = options["n_classes"] if model == "softmax" else 1
        draws = {
            "intercept": rng.normal(size=(*shape, outputs)),
            "coef": rng.normal(size=(*shape, outputs, X.shape[1])),
            "log_lambda": rng.normal(size=(*shape, outputs, X.shape[1])),
            "log_tau": rng.normal(size=shape),
            "log_c2": rng.normal(size=shape),
            "divergent": rng.uniform(size=shape) < wrong.get("divergent", 0.0),
            "state": f"state {len(self.calls)}".encode(),
        }
        if model == "gaussian":
            draws["sigma"] = np.exp(rng.normal(size=shape))
        draws["coef"][..., 0] += wrong.get("apart", 0.0) * np.arange(N_CHAINS)[:, None, None]
        draws["coef"][0, 0] += wrong.get("broken", 0.0)
        return draws


@pytest.fixture
def engine(monkeypatch):
    def install(quality):
        stand_in = Engine(quality)
        monkeypatch.setattr(sampling, "load_engine", lambda: SimpleNamespace(sample=stand_in.sample))
        return stand_in

    return install


def fit(kind=HorseshoeClassifier, n=40, **settings):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 3))
    settings = {"n_draws": 1000, "n_warmup": 500, "random_state": 7} | settings
    return kind(**settings).fit(Z, (Z[:, 0] > 0).astype(int))


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.usefixtures("no_warnings")
def test_good_chains_are_taken_at_once(engine):
    stand_in = engine(lambda options: {})
    model = fit()
    assert len(stand_in.calls) == 1
    assert "state" not in stand_in.calls[0]
    assert model.diagnostics_.converged
    assert model.diagnostics_.n_draws == 4000


@pytest.mark.usefixtures("no_warnings")
def test_too_few_draws_are_continued_from_where_they_ended(engine):
    stand_in = engine(lambda options: {})
    model = fit(n_draws=80)  # 320 independent draws are less than an effective sample size of 400
    assert len(stand_in.calls) >= 2
    first, *later = stand_in.calls
    assert "state" not in first
    assert [call["state"] for call in later] == [f"state {i + 1}".encode() for i in range(len(later))]
    for call in later:
        assert {key: value for key, value in call.items() if key != "state"} == first
    assert model.posterior_.coef.shape == (4, 80 * len(stand_in.calls), 3)
    assert model.posterior_.divergent.shape == model.posterior_.tau.shape == (4, 80 * len(stand_in.calls))
    assert model.diagnostics_.converged


@pytest.mark.usefixtures("no_warnings")
@pytest.mark.parametrize("kind", [HorseshoeClassifier, HorseshoeRegressor])
def test_chains_apart_are_continued_then_retried_with_small_steps(engine, kind):
    stand_in = engine(lambda options: {"apart": 2.0} if options["target_accept"] < 0.99 else {})
    model = fit(kind)
    *first, retry = stand_in.calls
    assert len(first) == sampling.LARGEST_EXTENSION
    assert {call["target_accept"] for call in first} == {0.9}
    assert retry["target_accept"] == 0.99
    assert retry["n_warmup"] == 1000
    assert "state" not in retry, "the retry starts afresh"
    assert retry["seed"] != first[0]["seed"]
    assert model.diagnostics_.converged
    assert model.diagnostics_.target_accept == 0.99
    assert model.diagnostics_.n_draws == 4000, "no draw of the bad chains is left"


@pytest.mark.parametrize("prior", ["horseshoe", "ridge"])
def test_in_the_end_a_warning_says_what_to_do(engine, prior):
    stand_in = engine(lambda options: {"apart": 2.0})
    with pytest.warns(UserWarning, match="NOT converged") as caught:
        model = fit(prior=prior)
    assert len(stand_in.calls) == 2 * sampling.LARGEST_EXTENSION, "the work is bounded"
    assert len(caught) == 1
    message = str(caught[0].message)
    for word in ("Do not rely", "R-hat", "n_warmup", "n_draws", "random_state"):
        assert word in message
    assert ("whitened" in message) == (prior == "horseshoe"), "the ridge prior is for unscaled components"
    assert caught[0].filename == __file__, "the warning points at the user's line"
    assert not model.diagnostics_.converged
    assert "NOT converged" in str(model.diagnostics_)


@pytest.mark.usefixtures("no_warnings")
def test_divergences_lead_to_the_retry_at_once(engine):
    """More draws do not help against a step that is too large."""
    stand_in = engine(lambda options: {"divergent": 0.02} if options["target_accept"] < 0.99 else {})
    model = fit()
    assert [call["target_accept"] for call in stand_in.calls] == [0.9, 0.99]
    assert model.diagnostics_.n_divergent == 0


def test_divergences_that_stay_are_reported(engine):
    engine(lambda options: {"divergent": 0.02})
    with pytest.warns(UserWarning, match=r"NOT converged.*divergent"):
        model = fit()
    assert model.diagnostics_.n_divergent == model.posterior_.divergent.sum() > 20


@pytest.mark.usefixtures("no_warnings")
def test_single_divergences_are_tolerated(engine):
    stand_in = engine(lambda options: {"divergent": 0.001})
    fit()
    assert len(stand_in.calls) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "kept"), [(4.0, 1.0, 0.99), (1.0, 4.0, 0.9)])
def test_of_two_bad_runs_the_better_is_kept(engine, first, second, kept):
    engine(lambda options: {"apart": first if options["target_accept"] < 0.99 else second})
    with pytest.warns(UserWarning, match="NOT converged"):
        model = fit()
    assert model.diagnostics_.target_accept == kept


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_draws_that_are_not_finite_are_never_accepted(engine, value):
    engine(lambda options: {"broken": value})
    with pytest.warns(UserWarning, match="NOT converged"):
        model = fit()
    assert not model.diagnostics_.converged


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("first_is_broken", [True, False])
def test_finite_draws_are_preferred_to_broken_ones(engine, first_is_broken):
    broken, apart = {"broken": np.nan}, {"apart": 2.0}
    first, second = (broken, apart) if first_is_broken else (apart, broken)
    engine(lambda options: first if options["target_accept"] < 0.99 else second)
    with pytest.warns(UserWarning, match="NOT converged"):
        model = fit()
    assert np.isfinite(model.posterior_.coef).all()


@pytest.mark.usefixtures("no_warnings")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_broken_first_run_is_replaced_by_a_good_retry(engine):
    engine(lambda options: {"broken": np.nan} if options["target_accept"] < 0.99 else {})
    with np.errstate(all="ignore"):
        model = fit()
    assert np.isfinite(model.posterior_.coef).all()
    assert model.diagnostics_.converged


def test_a_higher_target_is_not_lowered_by_the_retry(engine):
    stand_in = engine(lambda options: {"apart": 2.0})
    with pytest.warns(UserWarning, match="NOT converged"):
        fit(target_accept=0.995)
    assert {call["target_accept"] for call in stand_in.calls} == {0.995}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n", "chosen", "samplers"),
    [
        (HorseshoeClassifier, 40, "auto", ["nuts", "nuts"]),
        (HorseshoeClassifier, 400, "auto", ["blocked", "nuts"]),
        (HorseshoeClassifier, 40, "blocked", ["blocked", "blocked"]),
        (HorseshoeClassifier, 400, "nuts", ["nuts", "nuts"]),
        (HorseshoeRegressor, 40, "auto", ["blocked", "blocked"]),
        (HorseshoeRegressor, 40, "nuts", ["nuts", "nuts"]),
    ],
)
def test_the_sampler_of_the_retry(engine, kind, n, chosen, samplers):
    """With "auto" a blocked sampler that fails gives way to NUTS; a sampler that was asked for stays."""
    stand_in = engine(lambda options: {"apart": 2.0})
    with pytest.warns(UserWarning, match="NOT converged"):
        fit(kind, n, sampler=chosen)
    half = sampling.LARGEST_EXTENSION
    assert [call["sampler"] for call in stand_in.calls] == [samplers[0]] * half + [samplers[1]] * half


@pytest.mark.usefixtures("no_warnings")
def test_a_shift_common_to_all_classes_is_not_watched(engine, monkeypatch):
    """It changes no prediction and mixes slowly."""
    stand_in = engine(lambda options: {})
    honest = stand_in.sample

    def shifted(*args, **options):
        draws = honest(*args, **options)
        draws["coef"] += 3 * np.arange(N_CHAINS)[:, None, None, None]
        draws["intercept"] -= 3 * np.arange(N_CHAINS)[:, None, None]
        return draws

    monkeypatch.setattr(sampling, "load_engine", lambda: SimpleNamespace(sample=shifted))
    rng = np.random.default_rng(0)
    model = HorseshoeClassifier(random_state=0).fit(rng.normal(size=(40, 3)), np.arange(40) % 3)
    assert model.diagnostics_.converged
    assert len(stand_in.calls) == 1


def test_what_is_watched(engine):
    engine(lambda options: {})
    assert set(fit().diagnostics_.quantities) == {
        "coefficient",
        "intercept",
        "log tau",
        "log predictive density",
    }
    regression = fit(HorseshoeRegressor).diagnostics_
    assert "log sigma" in regression.quantities
    assert regression.r_hat.shape == regression.bulk_ess.shape == regression.tail_ess.shape
    assert len(regression.quantities) == len(regression.r_hat) == 3 + 4


def test_the_prior_scale_of_tau():
    assert prior_scale(1, 51, 100, 2.0) == pytest.approx(1 / 50 * 2 / 10)
    assert prior_scale(5, 20, 25, 1.0) == pytest.approx(5 / 15 / 5)
    for features in (1, 2, 3):  # K <= p0: K - p0 counts as 1
        assert prior_scale(3, features, 100, 2.0) == pytest.approx(3 * 2 / 10)


@pytest.mark.parametrize(
    ("kind", "scale"), [(HorseshoeClassifier, 1 / 2 * 2 / np.sqrt(40)), (HorseshoeRegressor, 1 / 2 / np.sqrt(40))]
)
def test_the_prior_reaches_the_engine(engine, kind, scale):
    stand_in = engine(lambda options: {})
    fit(kind, slab_df=7, slab_scale=2.5, intercept_scale=3)
    call = stand_in.calls[0]
    assert call["tau0"] == pytest.approx(scale)
    assert (call["slab_df"], call["slab_scale"], call["intercept_scale"]) == (7.0, 2.5, 3.0)


def test_thread_counts():
    assert thread_count(1, 4) == 1
    assert thread_count(3, 4) == 3
    assert thread_count(-1, 4) == 4
    assert 1 <= thread_count(None, 4) <= 4
