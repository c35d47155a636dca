"""HorseshoeClassifier and HorseshoeRegressor with ``prior="ridge"``, from the scale rule to the exports."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca import ISPCA, HorseshoeClassifier, HorseshoeRegressor
from ispca.models.coefficients import coefficients_by_column
from ispca.models.sampling import ridge_scale
from ispca.persistence import load_model, save_model
from model_data import EXPECTED_FAILURES, make_data

SHORT = {"prior": "ridge", "n_chains": 2, "n_warmup": 100, "n_draws": 100, "retry": False, "random_state": 0}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [HorseshoeClassifier(**SHORT), HorseshoeRegressor(**SHORT)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def wide_data(kind):
    """Return more features than samples, and a target of this many classes (0: numbers)."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 8)) @ rng.normal(size=(8, 120)) + 0.02 * rng.normal(size=(40, 120))
    score = X[:, :30].sum(axis=1)
    score = (score - score.mean()) / score.std() + 0.3 * rng.normal(size=40)
    return X, score if kind == 0 else np.digitize(score, [0.0] if kind == 2 else [-0.5, 0.5])


@pytest.fixture(scope="module", params=[0, 2, 3])
def fitted(request):
    X, y = wide_data(request.param)
    last = (HorseshoeClassifier if request.param else HorseshoeRegressor)(**SHORT)
    with warnings.catch_warnings():
        # Nothing is said about spreads that differ a hundredfold.
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The chains have NOT converged")
        return make_pipeline(ISPCA(len(X) - 1, n_supervised=0), last).fit(X, y), X, y


def test_all_components_in_natural_scale(fitted):
    model, X, y = fitted
    spread = model[:-1].transform(X).std(axis=0)
    assert model[-1].n_features_in_ == len(X) - 1
    assert spread.max() > 100 * spread.min()
    assert model.score(X, y) > 0.8


def test_a_regression_converges():
    X, y = wide_data(0)
    Z = ISPCA(len(X) - 1, n_supervised=0).fit_transform(X, y)
    assert HorseshoeRegressor(prior="ridge", random_state=0).fit(Z, y).diagnostics_.converged


def test_there_are_no_local_scales(fitted):
    posterior = fitted[0][-1].posterior_
    assert posterior.local_scale is None
    assert posterior.slab is None
    assert (posterior.tau > 0).all()


def test_coefficients_of_the_features_reproduce_the_predictor(fitted):
    model, X, _ = fitted
    table = coefficients_by_column(model)
    coef, intercept = model[-1].posterior_.contrasts()
    Z = model[:-1].transform(X)
    expected = Z @ np.atleast_2d(coef.mean(axis=(0, 1))).T + intercept.mean(axis=(0, 1))
    rows = table["mean"].reshape(expected.shape[1], -1)
    np.testing.assert_allclose(rows[:, 0] + X @ rows[:, 1:].T, expected, atol=1e-8)
    assert (table["q5"] < table["mean"]).all()
    assert (table["mean"] < table["q95"]).all()


def test_arviz_gets_what_there_is(fitted):
    pytest.importorskip("arviz", reason="ArviZ is not installed")
    model = fitted[0][-1]
    noise = {"sigma"} if isinstance(model, HorseshoeRegressor) else set()
    assert set(model.to_arviz()["posterior"].data_vars) == {"intercept", "coef", "tau"} | noise


def test_model_files(fitted, tmp_path):
    model, X, _ = fitted
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded[-1].prior == "ridge"
    assert loaded[-1].posterior_.slab is None
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_the_scale_of_tau_is_that_of_the_predictor():
    Z = np.random.default_rng(0).normal(3, 1, size=(50, 6)) * np.geomspace(100, 0.01, 6)
    size = np.sqrt(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert ridge_scale(Z.std(axis=0), 2.0) * size == pytest.approx(2.0)
    assert ridge_scale(1000 * Z.std(axis=0), 2.0) == pytest.approx(ridge_scale(Z.std(axis=0), 2.0) / 1000)
    assert ridge_scale(np.zeros(2), 2.0) == 2.0


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_predictions_do_not_depend_on_the_unit(unit):
    Z, y = make_data(2)
    fits = [HorseshoeClassifier(prior="ridge", random_state=0).fit(c * Z, y) for c in (1.0, unit)]
    np.testing.assert_allclose(fits[1].predict_proba(unit * Z), fits[0].predict_proba(Z), atol=0.02)
    np.testing.assert_allclose(unit * fits[1].coef_, fits[0].coef_, atol=0.1)


@pytest.mark.parametrize("kind", [HorseshoeClassifier, HorseshoeRegressor])
@pytest.mark.parametrize("prior", ["lasso", "", None, 1, ["ridge"]])
def test_an_unknown_prior_is_refused(kind, prior):
    with pytest.raises((ValueError, TypeError), match=r"'prior' parameter .* must be a str among"):
        kind(prior=prior).fit(*make_data(2))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_constant_features_leave_the_base_rate():
    y = np.repeat([0, 1], [10, 30])
    model = HorseshoeClassifier(prior="ridge", random_state=0).fit(np.zeros((40, 3)), y)
    assert model.predict_proba(np.zeros((1, 3)))[0, 1] == pytest.approx(0.75, abs=0.05)
