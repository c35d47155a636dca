"""The posterior as ArviZ gets it."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from ispca import HorseshoeClassifier, HorseshoeCounts, HorseshoeOrdinal, HorseshoeRegressor, HorseshoeSurvival
from model_data import make_data

pytestmark = pytest.mark.slow

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "random_state": 0}


@pytest.mark.parametrize("name", ["two", "three", "numeric"])
def test_arviz_gets_names_and_groups(name, request):
    pytest.importorskip("arviz", reason="ArviZ is not installed")
    model = request.getfixturevalue(name)
    data = model.to_arviz()
    draws, stats = data["posterior"], data["sample_stats"]
    expected = {"intercept", "coef", "tau", "local_scale", "slab"} | ({"sigma"} if name == "numeric" else set())
    assert set(draws.data_vars) == expected
    by_class = ("class",) if name == "three" else ()
    assert draws["coef"].dims == draws["local_scale"].dims == ("chain", "draw", *by_class, "feature")
    assert draws["intercept"].dims == ("chain", "draw", *by_class)
    assert draws["tau"].dims == stats["diverging"].dims == ("chain", "draw")
    assert draws["feature"].to_numpy().tolist() == [0, 1, 2, 3]
    if by_class:
        assert draws["class"].to_numpy().tolist() == [5, 6, 7]
    np.testing.assert_array_equal(draws["coef"].to_numpy(), model.posterior_.coef)
    assert stats["diverging"].dtype == bool


def test_arviz_gets_the_names_of_a_data_frame():
    pytest.importorskip("arviz", reason="ArviZ is not installed")
    Z, y = make_data(2)
    frame = pd.DataFrame(Z, columns=["a", "b", "c", "d"])
    data = HorseshoeClassifier(n_draws=300, random_state=0).fit(frame, y).to_arviz()
    assert data["posterior"]["feature"].to_numpy().tolist() == ["a", "b", "c", "d"]


def test_arviz_missing_is_said(two, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"pip install arviz"):
        two.to_arviz()


def test_leave_one_out_of_arviz_is_that_of_refits(rng):
    arviz = pytest.importorskip("arviz")
    Z = pd.DataFrame(rng.normal(size=(25, 3)), columns=["a", "b", "c"], index=[f"s{i}" for i in range(25)])
    y = 2 * Z["a"].to_numpy() + rng.normal(size=25)
    model = HorseshoeRegressor(random_state=0, n_draws=500).fit(Z, y)
    data = model.to_arviz(Z, y)
    assert data["log_likelihood"]["y"].dims == ("chain", "draw", "sample")
    assert data["log_likelihood"]["sample"].to_numpy().tolist() == Z.index.tolist()
    found = arviz.loo(data, pointwise=True)
    held_out = np.empty(25)
    for i in range(25):
        rest = np.arange(25) != i
        refit = HorseshoeRegressor(random_state=1, n_draws=500).fit(Z[rest], y[rest])
        held_out[i] = refit.log_predictive_density(Z[i : i + 1], y[i : i + 1])[0]
    values = getattr(found, "loo_i", None)
    values = found.elpd_i if values is None else values
    np.testing.assert_allclose(np.asarray(values), held_out, atol=0.1)


def targets(rng, Z):
    eta = Z[:, 0]
    return {
        HorseshoeClassifier: np.array(["a", "b", "c"])[np.digitize(eta, [-0.5, 0.5])],
        HorseshoeRegressor: eta + rng.normal(size=len(Z)),
        HorseshoeOrdinal: np.digitize(eta, [-0.5, 0.5]),
        HorseshoeCounts: rng.poisson(np.exp(eta)),
        HorseshoeSurvival: (np.arange(len(Z)) % 3 > 0, rng.exponential(np.exp(-eta))),
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_model_has_log_likelihoods(rng):
    pytest.importorskip("arviz")
    Z = rng.normal(size=(40, 2))
    for kind, y in targets(rng, Z).items():
        model = kind(**SHORT, retry=False).fit(Z, y)
        data = model.to_arviz(Z, y, feature_names=["u", "v"])
        assert data["posterior"]["feature"].to_numpy().tolist() == ["u", "v"]
        draws = data["log_likelihood"]["y"].to_numpy().reshape(-1, 40)
        expected = model.log_predictive_density(Z, y)
        np.testing.assert_allclose(logsumexp(draws, axis=0) - np.log(len(draws)), expected, atol=1e-10)
    with pytest.raises(ValueError, match="X and y belong together"):
        model.to_arviz(Z)
    with pytest.raises(ValueError, match="feature_names must have 2 entries, got 1"):
        model.to_arviz(feature_names=["u"])
