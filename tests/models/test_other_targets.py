"""What models of counts, ordered classes and survival times share: conventions, coefficients, diagnostics."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca import HorseshoeCounts, HorseshoeOrdinal, HorseshoeSurvival, plots
from ispca.models.coefficients import coefficients_by_column
from model_data import EXPECTED_FAILURES

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False, "random_state": 0}
GRADES = np.array(["low", "medium", "high"])
MODELS = {
    "poisson": HorseshoeCounts(family="poisson", **SHORT),
    "negative-binomial": HorseshoeCounts(**SHORT),
    "ordinal": HorseshoeOrdinal(categories=GRADES, **SHORT),
    "cox": HorseshoeSurvival(**SHORT),
}
FRACTIONS = dict.fromkeys(
    [
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_regressor_data_not_an_array",
        "check_regressors_no_decision_function",
        "check_regressors_train",
    ],
    "the target contains fractions, which are not counts",
)
UNORDERED = {
    "check_classifiers_classes": "the order of classes that are text is unknown",
    "check_classifiers_train": "the classes have no order that a model with one predictor could find",
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks(
    [HorseshoeCounts(family="poisson", **SHORT), HorseshoeCounts(**SHORT), HorseshoeOrdinal(**SHORT)],
    expected_failed_checks=lambda estimator: (
        EXPECTED_FAILURES | (FRACTIONS if isinstance(estimator, HorseshoeCounts) else UNORDERED)
    ),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_get_params_invariance",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
    ],
)
def test_scikit_learn_check_of_survival(check):
    """Its other checks have no survival targets."""
    getattr(estimator_checks, check)("HorseshoeSurvival", HorseshoeSurvival(**SHORT))


def problem(name, n=60):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(3 + 2 * rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    score = (frame["a"].to_numpy() - 3) / 2 + 0.5 * rng.normal(size=n)
    if name == "cox":
        target = np.empty(n, dtype=[("event", bool), ("time", float)])
        target["event"], target["time"] = rng.random(n) < 0.7, rng.exponential(np.exp(-score))
        return frame, target
    return frame, GRADES[np.digitize(score, [-0.5, 0.5])] if name == "ordinal" else rng.poisson(np.exp(1 + score))


@cache
def fitted(name):
    return make_pipeline(StandardScaler(), clone(MODELS[name])).fit(*problem(name))


@pytest.mark.parametrize("name", MODELS)
def test_nothing_works_before_fit(name):
    X, y = problem(name)
    model = clone(MODELS[name])
    for call in (lambda: model.predict(X), lambda: model.log_predictive_density(X, y), model.to_arviz):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("name", MODELS)
def test_coefficients_of_the_original_features(name):
    X, _ = problem(name)
    model = fitted(name)
    table = coefficients_by_column(model)
    assert table["feature"].tolist() == ["(intercept)", "a", "b", "c"]
    assert set(table["target_class"]) == {""}
    eta = X.to_numpy() @ table["mean"][1:] + table["mean"][0]
    Z = model[0].transform(X)
    np.testing.assert_allclose(eta, Z @ model[-1].coef_ + model[-1].intercept_, atol=1e-9)
    np.testing.assert_allclose(table["sd"][1:], model[-1].posterior_.coef.std(axis=(0, 1)) / model[0].scale_)
    assert table["p_sign"][1] > 0.95
    assert plots.coefficient_table(model)["feature"][0] == "a"


@pytest.mark.parametrize("name", ["cox"])
def test_a_cox_model_alone_has_an_intercept_of_zero(name):
    X, y = problem(name)
    row = coefficients_by_column(clone(MODELS[name]).fit(X / 2, y))[0]
    assert (row["feature"], row["mean"], row["sd"]) == ("(intercept)", 0, 0)


@pytest.mark.parametrize("name", MODELS)
def test_arviz_gets_names_and_groups(name):
    pytest.importorskip("arviz", reason="ArviZ is not installed")
    draws = fitted(name)[-1].to_arviz()["posterior"]
    extra = {"negative-binomial": {"dispersion"}, "ordinal": {"thresholds"}}.get(name, set())
    intercept = set() if name in ("cox", "ordinal") else {"intercept"}
    assert set(draws.data_vars) == {"coef", "tau", "local_scale", "slab"} | extra | intercept
    if name == "ordinal":
        assert draws["thresholds"].dims == ("chain", "draw", "class_below")
        assert draws["class_below"].to_numpy().tolist() == ["low", "medium"]


@pytest.mark.parametrize("name", MODELS)
def test_diagnostics_name_what_is_monitored(name):
    expected = {"coefficient", "log tau", "log predictive density"}
    expected |= {"cox": set(), "ordinal": {"threshold"}}.get(name, {"intercept"})
    expected |= {"log dispersion"} if name == "negative-binomial" else set()
    assert set(fitted(name)[-1].diagnostics_.quantities) == expected


@pytest.mark.parametrize("name", MODELS)
def test_pickling_and_the_seed_keep_everything(name):
    X, y = problem(name)
    copy = pickle.loads(pickle.dumps(fitted(name)))
    again = clone(fitted(name)).fit(X, y)
    for other in (copy, again):
        np.testing.assert_array_equal(other.predict(X), fitted(name).predict(X))
        np.testing.assert_array_equal(other[-1].posterior_.coef, fitted(name)[-1].posterior_.coef)
        assert str(other[-1].diagnostics_) == str(fitted(name)[-1].diagnostics_)


@pytest.mark.parametrize("name", MODELS)
def test_cross_validation_of_a_pipeline(name):
    X, y = problem(name, n=150)
    scores = cross_val_score(clone(fitted(name)), X, y, cv=3)
    assert scores.mean() > {"cox": 0.6, "ordinal": 0.45}.get(name, 0.2)


@pytest.mark.parametrize("name", MODELS)
def test_the_ridge_prior(name):
    X, y = problem(name)
    model = clone(fitted(name)).set_params(**{f"{fitted(name).steps[-1][0]}__prior": "ridge"}).fit(X, y)
    assert model[-1].posterior_.local_scale is None
    assert coefficients_by_column(model)["p_sign"][1] > 0.95


@pytest.mark.parametrize("name", MODELS)
def test_the_blocked_sampler_is_not_offered(name):
    with pytest.raises(ValueError, match="sampler"):
        clone(MODELS[name]).set_params(sampler="blocked").fit(*problem(name))
