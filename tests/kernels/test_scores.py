"""KernelScores before models of survival times, counts and ordered classes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ispca import HorseshoeCounts, HorseshoeOrdinal, HorseshoeSurvival, KernelRegressor, KernelScores

SHORT = {"prior": "ridge", "n_draws": 100, "n_warmup": 150, "n_chains": 2, "retry": False, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4)) @ rng.normal(size=(4, 200)) + rng.normal(size=(160, 200))
    signal = X[:, :30].mean(axis=1)
    return X, signal / signal.std(), rng


def survival(signal, rng):
    times, censoring = rng.exponential(np.exp(-2 * signal)), rng.exponential(3.0, len(signal))
    return np.rec.fromarrays([times < censoring, np.minimum(times, censoring)], names="event,time")


def made_targets(signal):
    rng = np.random.default_rng(1)
    return {
        "survival": (HorseshoeSurvival, {}, survival(signal, rng)),
        "counts": (HorseshoeCounts, {"family": "poisson"}, rng.poisson(np.exp(1 + signal))),
        "ordinal": (
            HorseshoeOrdinal,
            {"family": "ordinal"},
            np.digitize(signal + rng.normal(size=160) / 3, [-0.5, 0.5]),
        ),
    }


@pytest.mark.parametrize("kind", ["survival", "counts", "ordinal"])
def test_models_learn_from_scores(problem, kind):
    X, signal, _ = problem
    model, options, y = made_targets(signal)[kind]
    pipeline = make_pipeline(KernelScores(**options), model(**SHORT)).fit(X[:80], y[:80])
    gain = pipeline[-1].log_predictive_density(pipeline[0].transform(X[80:]), y[80:]).mean()
    nothing = model(**SHORT).fit(np.zeros((80, 1)) + np.arange(80)[:, None] % 2, y[:80])
    without = nothing.log_predictive_density(np.zeros((80, 1)), y[80:]).mean()
    assert gain > without + 0.1
    if kind == "survival":
        curve = pipeline[-1].predict_survival_function(pipeline[0].transform(X[80:82]))[0]
        assert 1 >= curve(0.1) >= curve(1.0) >= 0


def test_scores_of_a_quantity_are_what_the_regression_adds_to_the_mean(problem):
    X, signal, rng = problem
    y = signal + rng.normal(size=160)
    scores, model = KernelScores(family="gaussian").fit(X, y), KernelRegressor().fit(X, y)
    assert np.corrcoef(scores.transform(X)[:, 0], model.predict(X))[0, 1] > 0.999
    assert np.corrcoef(scores.training_scores_[:, 0], model.leave_one_out_)[0, 1] > 0.99


@pytest.mark.parametrize("family", ["cox", "poisson", "gaussian"])
def test_noise_gives_no_score(family):
    correlations = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(50, 500)), rng.poisson(3, 50).astype(float)
        target = survival(np.zeros(50), rng) if family == "cox" else y
        transformer = KernelScores(family=family)
        scores = transformer.fit_transform(X, target)
        if not scores.any():
            assert not transformer.transform(X[:3]).any()
        residual = y - y.mean()
        correlations.append(0.0 if family == "cox" else residual @ scores[:, 0])
    # A left-out score is never against its target as a whole.
    assert min(correlations) > -1e-6


def test_offset_weights_groups_and_names(problem):
    X, signal, rng = problem
    exposure = 2 * rng.normal(size=160)
    y = rng.poisson(np.exp(1 + signal + exposure))
    known = KernelScores(family="poisson").fit(X, y, offset=exposure)
    ignored = KernelScores(family="poisson").fit(X, y)
    quality = [np.corrcoef(one.training_scores_[:, 0], signal)[0, 1] for one in (known, ignored)]
    assert quality[0] > quality[1]
    weights = np.r_[np.zeros(10), np.full(20, 2.0), np.ones(130)]
    again = np.r_[np.arange(10, 160), np.arange(10, 30)]
    weighted = KernelScores(family="poisson").fit(X, y, sample_weight=weights, offset=exposure)
    copied = KernelScores(family="poisson").fit(X[again], y[again], offset=exposure[again])
    assert np.allclose(weighted.transform(X), copied.transform(X), rtol=0, atol=1e-6)
    assert np.allclose(weighted.training_scores_[again], copied.training_scores_, rtol=0, atol=1e-6)
    assert np.allclose(weighted.training_scores_[:10], copied.transform(X[:10]), rtol=0, atol=1e-6)
    grouped = KernelScores(family="poisson").fit(X, y, np.arange(160) // 2)
    assert not np.allclose(grouped.training_scores_, ignored.training_scores_, atol=1e-3)
    assert grouped.get_feature_names_out().tolist() == ["kernel_score_1"]
    assert np.array_equal(clone(known).fit(X, y, offset=exposure).training_scores_, known.training_scores_)


def test_classes_have_one_score_each(problem):
    X, signal, _ = problem
    scores = KernelScores().fit_transform(X, np.digitize(signal, [-0.5, 0.5]).astype(str))
    assert scores.shape[1] == len(KernelScores().fit(X, np.digitize(signal, [-0.5, 0.5])).get_feature_names_out())
