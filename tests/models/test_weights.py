"""Sample weights and unpenalized features: what reaches the engine, and what follows for the posterior."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ispca import HorseshoeClassifier, HorseshoeCounts, HorseshoeOrdinal, HorseshoeRegressor, HorseshoeSurvival
from ispca.foundation.extras import load_engine
from ispca.models import sampling

SHORT = {"n_chains": 2, "n_warmup": 100, "n_draws": 50, "retry": False, "random_state": 0}
SETTINGS = ("sampler", "n_chains", "n_warmup", "n_draws", "target_accept", "seed", "n_threads")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Captured(Exception):
    """What an estimator asks the engine for."""


@pytest.fixture
def asked(monkeypatch):
    """Return a function that fits an estimator up to the engine, and returns the log density it would sample."""

    def sample(*data, **options):
        raise Captured(data, {name: value for name, value in options.items() if name not in SETTINGS})

    def ask(estimator, *args, **fit_options):
        monkeypatch.setattr(sampling, "load_engine", lambda: SimpleNamespace(sample=sample))
        with pytest.raises(Captured) as caught:
            estimator.fit(*args, **fit_options)
        (model, Z, y), options = caught.value.args
        return lambda q: load_engine().log_density(model, Z, y, q, **options)

    return ask


def problem(kind, n=40, K=5):
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(n, K))
    y = Z[:, 0] + rng.normal(size=n)
    if kind == "cox":
        # Rounded, so that there are ties.
        target = np.empty(n, dtype=[("event", bool), ("time", float)])
        target["event"], target["time"] = rng.random(n) < 0.7, np.ceil(4 * rng.exponential(np.exp(-y))) / 4
        return Z, target
    if kind in ("poisson", "negative-binomial"):
        return Z, rng.poisson(np.exp(1 + y))
    return Z, y if kind == "numbers" else np.digitize(y, [0] if kind == "two" else [-1, 1])


def estimator(kind, **options):
    if kind in ("poisson", "negative-binomial"):
        return HorseshoeCounts(family=kind, **options)
    others = {"numbers": HorseshoeRegressor, "cox": HorseshoeSurvival, "ordinal": HorseshoeOrdinal}
    return others.get(kind, HorseshoeClassifier)(**options)


def length(kind, K, unpenalized, prior):
    """Return the number of parameters: intercepts, (z, log lambda), tau, c2, those of the family, fixed ones."""
    outputs = 3 if kind == "three" else 1
    local = prior == "horseshoe"
    scales = 1 + local + {"numbers": 1, "negative-binomial": 1, "ordinal": 2, "cox": 0}.get(kind, 0)
    return outputs * ((kind not in ("cox", "ordinal")) + (1 + local) * (K - unpenalized) + unpenalized) + scales


KINDS = ["two", "three", "numbers", "poisson", "negative-binomial", "cox", "ordinal"]


@pytest.mark.parametrize("prior", ["horseshoe", "ridge"])
@pytest.mark.parametrize("unpenalized", [None, [0, 3]])
@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_two_is_a_duplicated_sample(asked, kind, unpenalized, prior):
    Z, y = problem(kind)
    weights = np.where(np.arange(len(Z)) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(len(Z)), weights.astype(int))
    model = estimator(kind, prior=prior, unpenalized=unpenalized)
    weighted, duplicated = asked(model, Z, y, sample_weight=weights), asked(model, Z[rows], y[rows])
    size = length(kind, 5, 2 if unpenalized else 0, prior)
    for q in 0.5 * np.random.default_rng(1).normal(size=(5, size)):
        for one, other in zip(weighted(q), duplicated(q), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    assert abs(weighted(q)[0] - asked(model, Z, y)(q)[0]) > 1e-3, "weights matter"


@pytest.mark.parametrize("kind", KINDS)
def test_equal_weights_are_none_and_zero_leaves_samples_out(kind):
    Z, y = problem(kind)
    plain = estimator(kind, **SHORT).fit(Z, y).posterior_
    ones = estimator(kind, **SHORT).fit(Z, y, sample_weight=np.ones(len(Z))).posterior_
    np.testing.assert_array_equal(plain.coef, ones.coef)
    kept = np.arange(len(Z)) % 4 > 0
    some = estimator(kind, **SHORT).fit(Z[kept], y[kept]).posterior_
    zeros = estimator(kind, **SHORT).fit(Z, y, sample_weight=kept).posterior_
    np.testing.assert_array_equal(some.coef, zeros.coef)
    assert not np.array_equal(plain.coef, some.coef)


def test_a_class_without_weight_is_unknown():
    Z, y = problem("three")
    model = HorseshoeClassifier(**SHORT).fit(Z, y, sample_weight=y != 1)
    assert model.classes_.tolist() == [0, 2]
    with pytest.raises(ValueError, match="one class only"):
        HorseshoeClassifier(**SHORT).fit(Z, y, sample_weight=y == 1)


def test_weights_are_routed_through_pipelines():
    Z, y = problem("two")
    weights = 1 + np.arange(len(Z)) % 3
    plain = HorseshoeClassifier(**SHORT).fit(StandardScaler().fit_transform(Z), y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = HorseshoeClassifier(**SHORT).set_fit_request(sample_weight=True)
        routed = make_pipeline(scaler, model).fit(Z, y, sample_weight=weights)
    np.testing.assert_array_equal(routed[-1].posterior_.coef, plain.posterior_.coef)


# Unpenalized features


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", KINDS)
def test_unpenalized_features_by_name_index_mask_and_slice(kind):
    Z, y = problem(kind)
    frame = pd.DataFrame(Z, columns=["g1", "g2", "g3", "age", "sex"])
    first = estimator(kind, unpenalized=["sex", "age"], **SHORT).fit(frame, y).posterior_
    for columns in ([3, 4], [-1, -2], np.array([False, False, False, True, True]), slice(3, None)):
        again = estimator(kind, unpenalized=columns, **SHORT).fit(Z, y).posterior_
        np.testing.assert_array_equal(again.coef, first.coef)
    assert (first.local_scale[..., 3:] == 1).all()
    assert not (first.local_scale[..., :3] == 1).any()
    assert not np.array_equal(estimator(kind, **SHORT).fit(Z, y).posterior_.coef, first.coef)


def test_unknown_columns_are_named():
    Z, y = problem("two")
    with pytest.raises(ValueError, match="unpenalized contains indices outside 0 to 4"):
        HorseshoeClassifier(unpenalized=[5], **SHORT).fit(Z, y)
    frame = pd.DataFrame(Z, columns=list("abcde"))
    with pytest.raises(ValueError, match="unpenalized contains names"):
        HorseshoeClassifier(unpenalized=["age"], **SHORT).fit(frame, y)


@pytest.mark.parametrize("kind", KINDS)
def test_the_unit_of_an_unpenalized_feature_does_not_matter(asked, kind):
    Z, y = problem(kind)
    model = estimator(kind, unpenalized=[0])
    plain, scaled = asked(model, Z, y), asked(model, Z * [1024, 1, 1, 1, 1], y)
    q = np.random.default_rng(2).normal(size=length(kind, 5, 1, "horseshoe"))
    np.testing.assert_allclose(plain(q)[0], scaled(q)[0], rtol=1e-12)


@pytest.mark.parametrize("prior", ["horseshoe", "ridge"])
def test_unpenalized_features_do_not_enter_the_scale_of_the_others(asked, prior):
    Z, y = problem("two")
    wide = np.column_stack([Z, 1000 * y + Z[:, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = asked(HorseshoeClassifier(prior=prior), Z, y)
        with_covariate = asked(HorseshoeClassifier(prior=prior, unpenalized=[-1]), wide, y)
    q = np.random.default_rng(2).normal(size=length("two", 5, 0, prior))
    # A covariate without effect changes nothing.
    np.testing.assert_allclose(with_covariate(np.append(q, 0.0))[0], alone(q)[0], rtol=1e-12)


def test_unpenalized_coefficients_are_those_of_least_squares():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(60, 3)) * [1, 30, 1]
    y = 5 + 0.3 * Z[:, 0] + 0.01 * Z[:, 1] + rng.normal(size=60)
    model = HorseshoeRegressor(unpenalized=slice(None), random_state=0).fit(Z, y)
    least_squares = LinearRegression().fit(Z, y)
    deviations = model.posterior_.coef.std(axis=(0, 1))
    assert (np.abs(model.coef_ - least_squares.coef_) < 0.1 * deviations).all()
    shrunk = HorseshoeRegressor(random_state=0).fit(Z * [1, 1 / 30, 1], y).coef_ / [1, 30, 1]
    assert (np.abs(shrunk) < np.abs(least_squares.coef_) - 0.1 * deviations).all(), "the horseshoe shrinks them"


def test_a_constant_unpenalized_feature_is_another_intercept():
    Z, y = problem("numbers")
    Z[:, 0] = 1
    model = HorseshoeRegressor(unpenalized=[0], random_state=0, n_draws=200, retry=False).fit(Z, y)
    assert np.isfinite(model.coef_).all()
