"""What the features add to the covariates, for all kinds of targets."""

import numpy as np
import pytest

from ispca.foundation.splits import Split
from ispca.models import MODELS
from ispca.targets.samples import HeldOut, Prediction
from ispca.validation import compare_with_baselines, recommended_methods
from ispca.validation.baseline_comparison import BASE_RATE, COVARIATES, MODEL, covariate_gain
from ispca.validation.comparison import Comparison

N, D = 90, 20


def made_up(kind, y, own, alone, n_folds=3, units=None):
    """Return a comparison with these predictions of the model and of the covariates."""
    folds = [np.arange(k, len(y), n_folds) for k in range(n_folds)]
    splits = [Split(np.setdiff1d(np.arange(len(y)), test), test) for test in folds]
    predictions = [[Prediction(own[test]), Prediction(alone[test])] for test in folds]
    n_classes = 2 if kind == "classification" else 0
    observed = [HeldOut(y[test], n_classes) for test in folds]
    known = {"observed": observed, "rates": [row[1] for row in predictions], "units": units}
    return Comparison([MODEL, COVARIATES], COVARIATES, {}, predictions, splits, kind=kind, **known)


def test_the_accuracy_is_that_of_all_held_out_samples():
    y = np.repeat([0, 1], 20)
    own, alone = np.repeat([0, 1], 20), np.repeat([0, 1], 20)
    own[[3, 25]], alone[:14] = 1 - own[[3, 25]], 1
    found = covariate_gain(made_up("classification", y, own, alone), ["age", "sex"])
    assert (found["model"], found["covariates"]) == (pytest.approx(38 / 40), pytest.approx(26 / 40))
    # The standard error of a mean of paired differences, for training sets that overlap.
    paired = (own == np.repeat([0, 1], 20)).astype(float) - (alone == np.repeat([0, 1], 20))
    reach = 2.0227 * paired.std(ddof=1) / np.sqrt(40) * np.sqrt(1 + 40 / (40 * 2 / 3))
    assert found["high"] - found["difference"] == pytest.approx(reach, rel=0.1)
    assert found["sentence"].startswith(
        "The covariates alone (age, sex) reach 65% accuracy in held-out samples, and"
    )
    same = covariate_gain(made_up("classification", y, alone, alone), ["age"])
    assert (same["difference"], same["low"], same["high"]) == (0, 0, 0)
    assert "do not add to it significantly: 0 percentage points" in same["sentence"]


def test_groups_widen_the_interval():
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    y = np.repeat(y, 3)
    own, alone = y + np.repeat(rng.normal(size=60), 3) / 2, np.zeros(180)
    made = (made_up("regression", y, own, alone, units=units) for units in (None, np.arange(180) // 3))
    apart, together = (covariate_gain(comparison, ["age"]) for comparison in made)
    assert apart["difference"] == together["difference"] > 0.5
    assert together["high"] - together["low"] > 1.4 * (apart["high"] - apart["low"])


def targets(score, kind, rng):
    """Return a target of a kind that follows a score."""
    if kind == "survival":
        event = rng.random(N) < 0.8
        return np.array(list(zip(event, rng.exponential(np.exp(-score)) + 0.01, strict=True)), "?,f8").astype(
            [("event", "?"), ("time", "f8")]
        )
    if kind == "count":
        return rng.poisson(np.exp(1 + score / 2))
    if kind == "regression":
        return score + rng.normal(size=N) / 2
    return np.digitize(score + rng.normal(size=N) / 2, [-0.5, 0.5] if kind == "ordinal" else [0.0])


@pytest.mark.parametrize("kind", ["classification", "regression", "survival", "count", "ordinal"])
def test_covariates_alone_are_fitted_for_every_kind(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, D))
    X[:, -1] = 60 + 10 * X[:, -1]
    # The covariate carries all of it.
    y = targets(2 * (X[:, -1] - 60) / 10, kind, rng)
    model = MODELS[kind](n_draws=60, n_warmup=60, random_state=0)
    pipeline = recommended_methods(kind=kind, n_components=3, model=model, random_state=0)["SPCA"]
    pipeline[0].set_params(adjust=[-1], keep_adjusted=True)
    pipeline[-1].set_params(unpenalized=[-1])
    options = {"kind": kind, "cv": 2, "n_jobs": 1, "covariates": [D - 1]}
    found = compare_with_baselines(pipeline, X, y, **options)
    assert [name for name in found.methods if name != "lasso"] == [MODEL, COVARIATES, BASE_RATE]
    gain = covariate_gain(found, ["age"])
    assert gain["low"] <= gain["difference"] <= gain["high"]
    assert gain["difference"] < 0.1
    main = dict(zip(found.methods, found.scores[found.main_metric].mean(axis=0), strict=True))
    assert main[COVARIATES] > main[BASE_RATE]
