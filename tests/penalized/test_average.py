"""Predictions averaged over penalties, and the warning at the edge of a path."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, softmax
from scipy.stats import norm

from ispca.models.coefficients import coefficients_by_column
from ispca.penalized import PenalizedClassifier, PenalizedRegressor, base
from ispca.reduction.reuse import share_results


def linear_predictors(model, X):
    """Return penalties x samples x outputs, one penalty at a time."""
    pairs = zip(model.averaged_coef_, model.averaged_intercept_, strict=True)
    return np.stack([X @ coef.T + intercept for coef, intercept in pairs])


@pytest.mark.grid(3)
@pytest.mark.parametrize("penalty", ["ridge", "lasso"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_probabilities_are_averaged(expression, penalty, n_classes, container):
    X, _, numbers = expression
    y = np.digitize(numbers, np.quantile(numbers, [0.5] if n_classes == 2 else [0.3, 0.6]))
    model = PenalizedClassifier(penalty=penalty, choice="average", random_state=0).fit(container(X), y)
    weights = model.weights_[model.weights_ > 0]
    assert len(weights) > 1
    assert weights.sum() == pytest.approx(1)
    assert model.weights_.shape == model.lambdas_.shape
    eta = linear_predictors(model, X)
    each = (
        np.stack([1 - expit(eta[:, :, 0]), expit(eta[:, :, 0])], axis=2)
        if n_classes == 2
        else softmax(eta, axis=2)
    )
    probabilities = model.predict_proba(container(X))
    np.testing.assert_allclose(probabilities, np.tensordot(weights, each, axes=1), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), probabilities.argmax(axis=1))
    np.testing.assert_allclose(model.log_predictive_density(X, y), np.log(probabilities[np.arange(40), y]))
    decision = model.decision_function(X)
    shown = expit(decision) if n_classes == 2 else softmax(decision, axis=1)
    np.testing.assert_allclose(shown, probabilities[:, 1] if n_classes == 2 else probabilities, atol=1e-12)
    np.testing.assert_allclose(model.coef_, np.tensordot(weights, model.averaged_coef_, axes=1))
    np.testing.assert_allclose(model.intercept_, weights @ model.averaged_intercept_)
    np.testing.assert_allclose(
        coefficients_by_column(model)["mean"].reshape(len(model.coef_), -1)[:, 1:], model.coef_
    )


@pytest.mark.parametrize("penalty", ["ridge", "lasso"])
def test_normals_are_averaged(expression, penalty):
    X, _, y = expression
    model = PenalizedRegressor(penalty=penalty, choice="average", random_state=0).fit(X, y)
    weights = model.weights_[model.weights_ > 0]
    assert len(weights) > 1
    means = linear_predictors(model, X)[:, :, 0]
    scales = np.sqrt(model.cv_deviance_[model.weights_ > 0])
    mean, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, weights @ means)
    np.testing.assert_allclose(deviation**2, weights @ (means**2 + scales[:, None] ** 2) - mean**2)
    density = weights @ norm.pdf(y, means, scales[:, None])
    np.testing.assert_allclose(model.log_predictive_density(X, y), np.log(density))


def test_each_averaged_solution_is_that_of_its_penalty(expression, monkeypatch):
    """Choosing the same penalty alone gives the same coefficients."""
    X, labels, _ = expression
    model = PenalizedClassifier(penalty="ridge", choice="average", random_state=0).fit(X, labels)
    positions = np.flatnonzero(model.weights_)
    for number in (0, len(positions) - 1):
        alone = np.zeros(len(model.lambdas_))
        alone[positions[number]] = 1
        monkeypatch.setattr(base, "averaging_weights", lambda *_, alone=alone: alone)
        single = PenalizedClassifier(penalty="ridge", choice="average", random_state=0).fit(X, labels)
        assert single.lambda_ == model.lambdas_[positions[number]]
        np.testing.assert_array_equal(single.coef_, model.averaged_coef_[number])


def test_a_new_choice_forgets_the_average(expression):
    X, labels, _ = expression
    model = PenalizedClassifier(penalty="ridge", choice="average", random_state=0).fit(X, labels)
    model.set_params(choice="one_standard_error").fit(X, labels)
    expected = PenalizedClassifier(penalty="ridge", random_state=0).fit(X, labels)
    assert model.weights_ is None
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_one_extension_serves_both_choices(expression, monkeypatch):
    X, labels, _ = expression
    calls = []
    for name in ("cross_validated_path", "extend_path"):
        original = getattr(base, name)
        monkeypatch.setattr(
            base, name, lambda *a, name=name, original=original: calls.append(name) or original(*a)
        )
    choices = ("one_standard_error", "best", "average", "one_standard_error")
    with share_results(X):
        models = [
            PenalizedClassifier(penalty="ridge", choice=choice, random_state=3).fit(X, labels)
            for choice in choices
        ]
    assert calls == ["cross_validated_path", "extend_path"]
    assert len(models[0].lambdas_) == len(models[3].lambdas_) == 100 < len(models[1].lambdas_)
    for model in models[1:3]:
        alone = PenalizedClassifier(penalty="ridge", choice=model.choice, random_state=3).fit(X, labels)
        np.testing.assert_array_equal(alone.predict_proba(X), model.predict_proba(X))


def test_warning_at_the_edge():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    y = X @ rng.normal(size=20)  # without noise, less penalty is always better
    with pytest.warns(UserWarning, match=r"lambda = .* is the smallest on the path.*better\.$"):
        PenalizedRegressor(penalty="ridge", choice="best", random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="is the smallest on the path"):
        PenalizedRegressor(choice="best", n_lambdas=5, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match='Pass choice="best" or choice="average" to extend the path'):
        PenalizedRegressor(penalty="ridge", n_lambdas=5, random_state=0).fit(X, y)


def test_no_warning_where_smaller_penalties_change_little():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 100))
    y = wide @ rng.normal(size=100)
    X = rng.normal(size=(60, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lasso = PenalizedRegressor(choice="best", random_state=0).fit(X, X[:, 0])
        ridge = PenalizedRegressor(penalty="ridge", choice="best", random_state=0).fit(wide, y)
    assert lasso.lambda_ == lasso.lambdas_[-1], "the path ended early, at 99.9% of the variance"
    assert ridge.lambda_ == ridge.lambdas_[-1], "the error falls very slowly towards that without a penalty"
