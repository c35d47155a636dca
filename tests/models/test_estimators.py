"""HorseshoeClassifier and HorseshoeRegressor: what a user calls, recomputed by hand from the draws."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logsumexp, softmax
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca import ISPCA, HorseshoeClassifier, HorseshoeRegressor
from ispca.models import posterior as posterior_module
from model_data import EXPECTED_FAILURES, make_data

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "random_state": 0}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [HorseshoeClassifier(retry=False, **SHORT), HorseshoeRegressor(retry=False, **SHORT)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


NEW = np.random.default_rng(3).normal(size=(7, 4))


# Shapes, labels, containers


def test_shapes_of_two_classes(two):
    chains, draws = 4, two.posterior_.tau.shape[1]
    assert draws >= 1000
    assert two.classes_.tolist() == ["healthy", "sick"]
    assert (two.coef_.shape, two.intercept_.shape) == ((1, 4), (1,))
    assert two.posterior_.coef.shape == two.posterior_.local_scale.shape == (chains, draws, 4)
    for name in ("intercept", "tau", "slab", "divergent"):
        assert getattr(two.posterior_, name).shape == (chains, draws), name
    assert two.posterior_.sigma is None


def test_shapes_of_three_classes(three):
    chains, draws = three.posterior_.tau.shape
    assert three.classes_.tolist() == [5, 6, 7]
    assert (three.coef_.shape, three.intercept_.shape) == ((3, 4), (3,))
    assert three.posterior_.coef.shape == three.posterior_.local_scale.shape == (chains, draws, 3, 4)
    assert three.posterior_.intercept.shape == (chains, draws, 3)
    assert three.posterior_.slab.shape == (chains, draws)


def test_shapes_of_a_regression(numeric):
    chains, draws = numeric.posterior_.tau.shape
    assert numeric.coef_.shape == (4,)
    assert isinstance(numeric.intercept_, float)
    assert numeric.posterior_.coef.shape == (chains, draws, 4)
    assert numeric.posterior_.intercept.shape == numeric.posterior_.sigma.shape == (chains, draws)


@pytest.mark.parametrize("name", ["two", "three", "numeric"])
def test_coefficients_are_posterior_means(name, request):
    model = request.getfixturevalue(name)
    np.testing.assert_allclose(np.squeeze(model.coef_), model.posterior_.coef.mean(axis=(0, 1)))
    np.testing.assert_allclose(np.squeeze(model.intercept_), model.posterior_.intercept.mean(axis=(0, 1)))


@pytest.mark.parametrize("name", ["two", "three", "numeric"])
def test_scales_are_positive_and_the_chains_converged(name, request):
    model = request.getfixturevalue(name)
    assert (model.posterior_.tau > 0).all()
    assert (model.posterior_.slab > 0).all()
    assert (model.posterior_.local_scale > 0).all()
    assert model.diagnostics_.converged
    assert str(model.diagnostics_).startswith("The chains have converged")


def test_signal_is_found(two, three, numeric):
    assert two.coef_[0, 0] > 1
    assert two.score(*labelled(2)) > 0.75
    assert three.coef_[2, 0] > three.coef_[1, 0] > three.coef_[0, 0]
    assert numeric.coef_ == pytest.approx([3, -1, 0, 0], abs=0.5)
    assert numeric.intercept_ == pytest.approx(10, abs=0.5)
    assert numeric.posterior_.sigma.mean() == pytest.approx(2, abs=0.3)


def labelled(n_classes):
    Z, y = make_data(n_classes, n=500, seed=4)
    return Z, np.array(["healthy", "sick"])[y] if n_classes == 2 else y + 5


def test_data_frames_in():
    Z, y = make_data(2)
    frame = pd.DataFrame(Z, columns=["a", "b", "c", "d"])
    labels = pd.Series(y).map({0: "no", 1: "yes"})
    settings = {"n_draws": 300, "random_state": 3}
    from_frame = HorseshoeClassifier(**settings).fit(frame, labels)
    from_arrays = HorseshoeClassifier(**settings).fit(Z, labels.to_numpy())
    assert from_frame.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(from_frame.posterior_.coef, from_arrays.posterior_.coef)
    np.testing.assert_array_equal(from_frame.predict(frame), from_arrays.predict(Z))
    with pytest.raises(ValueError, match="feature names"):
        from_frame.predict(frame[["d", "c", "b", "a"]])


def test_labels_are_only_names():
    Z, y = make_data(2)
    settings = {"n_draws": 300, "random_state": 3}
    numbers = HorseshoeClassifier(**settings).fit(Z, y)
    words = HorseshoeClassifier(**settings).fit(Z, np.array(["x", "y"])[y])
    flags = HorseshoeClassifier(**settings).fit(Z, y == 1)
    np.testing.assert_array_equal(numbers.coef_, words.coef_)
    np.testing.assert_array_equal(numbers.coef_, flags.coef_)
    assert set(flags.predict(NEW)) <= {True, False}


@pytest.mark.parametrize("estimator", [HorseshoeClassifier(), HorseshoeRegressor()])
def test_nothing_works_before_fit(estimator):
    for call in (lambda: estimator.predict(NEW), estimator.to_arviz):
        with pytest.raises(NotFittedError):
            call()


# Predictions


def test_probabilities_of_two_classes_are_averages_over_draws(two):
    draws = two.posterior_
    eta = np.einsum("ik,cdk->icd", NEW, draws.coef) + draws.intercept
    expected = expit(eta).mean(axis=(1, 2))
    probabilities = two.predict_proba(NEW)
    np.testing.assert_allclose(probabilities[:, 1], expected, rtol=1e-12)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    at_the_mean = expit(NEW @ two.coef_[0] + two.intercept_)
    assert np.abs(probabilities[:, 1] - at_the_mean).max() > 1e-3, "plugging in the mean is not averaging"


def test_probabilities_of_three_classes_are_averages_over_draws(three):
    draws = three.posterior_
    eta = np.einsum("ik,cdhk->icdh", NEW, draws.coef) + draws.intercept
    expected = softmax(eta, axis=3).mean(axis=(1, 2))
    np.testing.assert_allclose(three.predict_proba(NEW), expected, rtol=1e-12)
    np.testing.assert_allclose(three.predict_proba(NEW).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("name", ["two", "three"])
def test_the_most_probable_class_is_predicted(name, request):
    model = request.getfixturevalue(name)
    best = model.predict_proba(NEW).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(NEW), model.classes_[best])


@pytest.mark.parametrize("name", ["two", "three"])
def test_log_predictive_density_of_classes(name, request):
    model = request.getfixturevalue(name)
    y = model.classes_[np.arange(7) % len(model.classes_)]
    expected = np.log(model.predict_proba(NEW)[np.arange(7), np.arange(7) % len(model.classes_)])
    np.testing.assert_allclose(model.log_predictive_density(NEW, y), expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["two", "three"])
def test_log_predictive_density_is_computed_in_log_space(name, request):
    """Far out the probability itself is 0 in double precision; its logarithm is about minus the predictor."""
    model = request.getfixturevalue(name)
    far = np.array([[5e3, 0, 0, 0], [-5e3, 0, 0, 0]])
    wrong = model.classes_[[0, -1]]
    density = model.log_predictive_density(far, wrong)
    assert np.isfinite(density).all()
    assert (density < -100).all()
    flat = model.posterior_.coef.reshape(-1, *model.posterior_.coef.shape[2:])
    intercept = model.posterior_.intercept.reshape(-1, *model.posterior_.intercept.shape[2:])
    if name == "two":
        eta = far @ flat.T + intercept
        by_hand = [logsumexp(-np.logaddexp(0, s * row)) for s, row in zip((1, -1), eta, strict=True)]
    else:
        eta = np.einsum("ik,dhk->idh", far, flat) + intercept
        by_hand = [logsumexp(e[:, j] - logsumexp(e, axis=1)) for e, j in zip(eta, (0, 2), strict=True)]
    np.testing.assert_allclose(density, np.array(by_hand) - np.log(len(flat)), rtol=1e-10)


def test_extreme_features_give_probabilities(two, three):
    for model in (two, three):
        probabilities = model.predict_proba(1e6 * NEW)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_log_predictive_density_of_a_regression(numeric):
    y = np.linspace(0, 20, 7)
    draws = numeric.posterior_
    eta = np.einsum("ik,cdk->icd", NEW, draws.coef) + draws.intercept
    expected = np.log(norm.pdf(y[:, None, None], eta, draws.sigma).mean(axis=(1, 2)))
    np.testing.assert_allclose(numeric.log_predictive_density(NEW, y), expected, rtol=1e-10)
    assert np.isfinite(numeric.log_predictive_density(NEW, np.full(7, 1e6))).all()


def test_large_inputs_are_cut_into_blocks(two, three, numeric, monkeypatch):
    y = [two.classes_[[0, 1, 0, 1, 0, 1, 1]], three.classes_[[0, 1, 2, 0, 1, 2, 2]], np.arange(7.0)]
    models = [two, three, numeric]

    def everything():
        predictions = [two.predict_proba(NEW), three.predict_proba(NEW), numeric.predict(NEW, return_std=True)[1]]
        return predictions + [m.log_predictive_density(NEW, labels) for m, labels in zip(models, y, strict=True)]

    whole = everything()
    # Two samples at a time for the one-output models.
    monkeypatch.setattr(posterior_module, "BLOCK_NUMBERS", 2 * two.posterior_.n_draws)
    assert len(list(two.posterior_.blocks(NEW))) == 4
    for parts, one in zip(everything(), whole, strict=True):
        np.testing.assert_allclose(parts, one, rtol=1e-12)


def test_regression_mean_and_deviation(numeric):
    mean, deviation = numeric.predict(NEW, return_std=True)
    np.testing.assert_array_equal(mean, numeric.predict(NEW))
    draws = numeric.posterior_
    eta = np.einsum("ik,cdk->icd", NEW, draws.coef) + draws.intercept
    np.testing.assert_allclose(mean, eta.mean(axis=(1, 2)), rtol=1e-10)
    variance = eta.var(axis=(1, 2)) + (draws.sigma**2).mean()
    np.testing.assert_allclose(deviation, np.sqrt(variance), rtol=1e-10)


def test_predictive_draws_have_the_predictive_moments(numeric):
    draws = numeric.predict_draws(NEW)
    assert draws.shape == (numeric.posterior_.n_draws, 7)
    mean, deviation = numeric.predict(NEW, return_std=True)
    # Six standard errors of a mean of so many nearly independent draws.
    assert np.abs(draws.mean(axis=0) - mean).max() < 6 * deviation.max() / np.sqrt(len(draws))
    np.testing.assert_allclose(draws.std(axis=0), deviation, rtol=0.06)
    np.testing.assert_array_equal(draws, numeric.predict_draws(NEW))
    assert not np.array_equal(draws, numeric.predict_draws(NEW, random_state=1))


@pytest.mark.slow
def test_intervals_cover_new_observations(numeric):
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(3000, 4))
    y = 10 + 3 * Z[:, 0] - Z[:, 1] + 2 * rng.normal(size=3000)
    for level in (0.5, 0.9):
        low, high = numeric.predict_interval(Z, level).T
        assert np.mean((low < y) & (y < high)) == pytest.approx(level, abs=0.04)


def test_intervals_are_central_and_nested(numeric):
    wide, narrow = numeric.predict_interval(NEW, 0.95), numeric.predict_interval(NEW, 0.5)
    assert wide.shape == (7, 2)
    assert (wide[:, 0] < narrow[:, 0]).all()
    assert (narrow[:, 1] < wide[:, 1]).all()
    draws = numeric.predict_draws(NEW)
    np.testing.assert_allclose((draws < narrow[:, 0]).mean(axis=0), 0.25, atol=0.001)


# Units


def dyadic_regression():
    """A target whose mean and squares carry no rounding error, whatever the unit."""
    rng = np.random.default_rng(6)
    Z = rng.normal(size=(64, 3))
    y = np.round((2 * Z[:, 0] + rng.normal(size=64)) * 1024) / 1024
    return Z, y


@pytest.mark.grid(2)
@pytest.mark.parametrize("sampler", ["blocked", "nuts"])
def test_regression_follows_the_units_of_the_target(sampler):
    Z, y = dyadic_regression()
    settings = {"random_state": 0, "sampler": sampler, "n_draws": 500, "target_accept": 0.95}
    plain = HorseshoeRegressor(**settings).fit(Z, y)
    other = HorseshoeRegressor(**settings).fit(Z, 16 + 4 * y)
    np.testing.assert_allclose(other.posterior_.coef, 4 * plain.posterior_.coef, rtol=1e-12)
    np.testing.assert_allclose(other.posterior_.sigma, 4 * plain.posterior_.sigma, rtol=1e-12)
    np.testing.assert_allclose(other.predict(Z), 16 + 4 * plain.predict(Z), rtol=1e-12)
    interval = 16 + 4 * plain.predict_interval(Z)
    np.testing.assert_allclose(other.predict_interval(Z), interval, rtol=1e-9)
    density = plain.log_predictive_density(Z, y) - np.log(4)
    np.testing.assert_allclose(other.log_predictive_density(Z, 16 + 4 * y), density, rtol=1e-9)


@pytest.mark.grid(2)
@pytest.mark.parametrize(("a", "b"), [(1e6, 1e-3), (-5.0, -3.0), (0.0, 1e-8), (1e9, 1e8)])
def test_regression_in_any_unit_is_the_same_posterior(a, b):
    """Rounding sends the chains elsewhere, but the posterior stays."""
    Z, y = dyadic_regression()
    plain, other = (HorseshoeRegressor(random_state=0).fit(Z, t) for t in (y, a + b * y))
    deviation = plain.posterior_.coef.std(axis=(0, 1))
    assert np.abs(other.coef_ / b - plain.coef_).max() < 0.2 * deviation.max()
    np.testing.assert_allclose(other.posterior_.sigma.mean() / abs(b), plain.posterior_.sigma.mean(), rtol=0.03)


# Reproducibility and scikit-learn's conventions


@pytest.mark.grid(2)
@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
@pytest.mark.parametrize("kind", [HorseshoeClassifier, HorseshoeRegressor])
def test_the_seed_fixes_the_draws_for_any_number_of_threads(kind, sampler):
    Z, y = make_data(2)
    settings = {"n_draws": 300, "n_warmup": 300, "sampler": sampler}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence is not the point here
        fits = [kind(random_state=9, n_jobs=jobs, **settings).fit(Z, y) for jobs in (1, 4, -1, None)]
        other = kind(random_state=10, **settings).fit(Z, y)
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.posterior_.coef, fits[0].posterior_.coef)
        np.testing.assert_array_equal(fit.posterior_.tau, fits[0].posterior_.tau)
    assert not np.array_equal(other.posterior_.coef, fits[0].posterior_.coef)


def test_every_kind_of_random_state_serves():
    Z, y = make_data(2)
    for make in (lambda: np.random.default_rng(0), lambda: np.random.RandomState(0), lambda: 2**32 - 1):
        first, second = (HorseshoeClassifier(random_state=make(), n_draws=300).fit(Z, y) for _ in range(2))
        np.testing.assert_array_equal(first.coef_, second.coef_)


@pytest.mark.parametrize("name", ["two", "three", "numeric"])
def test_pickling_keeps_everything(name, request):
    model = request.getfixturevalue(name)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(NEW), model.predict(NEW))
    np.testing.assert_array_equal(copy.posterior_.coef, model.posterior_.coef)
    assert str(copy.diagnostics_) == str(model.diagnostics_)


def test_clone_takes_parameters_only(two):
    copy = clone(two)
    assert copy.get_params() == two.get_params()
    assert not hasattr(copy, "posterior_")


def test_cross_validation_of_a_whole_pipeline(expression):
    X, labels, numbers = expression
    settings = {"n_draws": 250, "random_state": 0}
    classifier = make_pipeline(ISPCA(5, whiten=True, random_state=0), HorseshoeClassifier(**settings))
    assert cross_val_score(classifier, X, labels, cv=3).mean() > 0.7
    regressor = make_pipeline(ISPCA(5, whiten=True, random_state=0), HorseshoeRegressor(**settings))
    assert cross_val_score(regressor, X, numbers, cv=3).mean() > 0.3


# Warnings


@pytest.mark.parametrize("kind", [HorseshoeClassifier, HorseshoeRegressor])
def test_wildly_different_scales_are_pointed_out(kind):
    Z, y = make_data(2)
    with pytest.warns(UserWarning, match="factor of .*whiten=True") as caught:
        kind(random_state=0).fit(Z * [1, 1, 1, 1000], y)
    assert caught[0].filename == __file__, "the warning points at the user's line"


@pytest.mark.parametrize("kind", [HorseshoeClassifier, HorseshoeRegressor])
def test_ordinary_data_give_no_warning(kind):
    Z, y = make_data(2)
    scales = [1, 1, 20, 0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(random_state=0).fit(Z * scales, y)
