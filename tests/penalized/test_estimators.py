"""The penalized estimators: containers, choices, predictions, reuse, and one clear error for bad input."""

import numpy as np
import pandas as pd
import pytest

from ispca.families import GAUSSIAN, class_family
from ispca.penalized import PenalizedClassifier, PenalizedRegressor, base
from ispca.penalized.cross_validation import choices, mean_and_error
from ispca.reduction.reuse import share_results


@pytest.mark.grid(3)
def test_containers_agree(container, expression):
    X, labels, numbers = expression
    expected = PenalizedClassifier(random_state=0).fit(X, labels)
    model = PenalizedClassifier(random_state=0).fit(container(X), labels)
    assert model.lambda_ == pytest.approx(expected.lambda_, rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(container(X)), expected.predict_proba(X), atol=2e-4)
    regressor = PenalizedRegressor(penalty="ridge", random_state=0).fit(container(X), numbers)
    reference = PenalizedRegressor(penalty="ridge", random_state=0).fit(X, numbers)
    np.testing.assert_allclose(regressor.predict(container(X)), reference.predict(X), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("penalty", ["lasso", "ridge"])
def test_other_numbers(dtype, penalty, rng):
    X = rng.poisson(3, size=(40, 60)).astype(dtype)
    y = X[:, 0].astype(float) + rng.normal(size=40) > 3
    model = PenalizedClassifier(penalty=penalty, random_state=0).fit(X, y)
    same = PenalizedClassifier(penalty=penalty, random_state=0).fit(X.astype(float), y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-7, atol=1e-9)


def test_attributes(expression):
    X, labels, _ = expression
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])
    model = PenalizedClassifier(random_state=1).fit(frame, labels)
    assert model.classes_.tolist() == ["healthy", "sick"]
    assert model.feature_names_in_[2] == "gene2"
    assert model.coef_.shape == (1, 120)
    assert model.lambda_ == model.lambda_one_standard_error_ >= model.lambda_best_
    assert model.lambdas_.shape == model.cv_deviance_.shape == model.cv_deviance_error_.shape
    assert model.n_nonzero_ == np.count_nonzero(model.coef_)
    best = PenalizedClassifier(choice="best", random_state=1).fit(frame, labels)
    assert best.lambda_ == best.lambda_best_ == model.lambda_best_
    assert best.cv_deviance_.min() == best.cv_deviance_[best.lambdas_ == best.lambda_][0]
    probabilities = model.predict_proba(frame)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.predict(frame) == labels).mean() > 0.8
    column = np.searchsorted(model.classes_, labels)
    np.testing.assert_allclose(
        model.log_predictive_density(frame, labels), np.log(probabilities[np.arange(40), column])
    )
    np.testing.assert_allclose(1 / (1 + np.exp(-model.decision_function(frame))), probabilities[:, 1])


def test_regressor(expression):
    X, _, numbers = expression
    model = PenalizedRegressor(random_state=0).fit(X, numbers)
    mean, deviation = model.predict(X, return_std=True)
    at = model.lambdas_ == model.lambda_
    assert model.residual_scale_ == pytest.approx(np.sqrt(model.cv_deviance_[at][0]))
    np.testing.assert_array_equal(deviation, model.residual_scale_)
    expected = -0.5 * ((numbers - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(model.log_predictive_density(X, numbers), expected)
    scaled = PenalizedRegressor(random_state=0).fit(X, 1000 * numbers + 5)
    np.testing.assert_allclose(scaled.coef_, 1000 * model.coef_, rtol=1e-5, atol=1e-6)


def test_several_classes(rng):
    X = rng.normal(size=(90, 30))
    y = np.array(["a", "b", "c"])[(X[:, :3] + 0.3 * rng.normal(size=(90, 3))).argmax(axis=1)]
    for penalty in ("lasso", "ridge"):
        model = PenalizedClassifier(penalty=penalty, random_state=0).fit(X, y)
        assert model.coef_.shape == (3, 30)
        assert model.decision_function(X).shape == (90, 3)
        assert model.score(X, y) > 0.8


def test_one_path_serves_both_choices(expression, monkeypatch):
    X, labels, _ = expression
    calls = []
    original = base.cross_validated_path
    monkeypatch.setattr(base, "cross_validated_path", lambda *a: calls.append(1) or original(*a))
    with share_results(X):
        first = PenalizedClassifier(random_state=3).fit(X, labels)
        second = PenalizedClassifier(choice="best", random_state=3).fit(X, labels)
        assert len(calls) == 1
        PenalizedClassifier(random_state=4).fit(X, labels)
        PenalizedClassifier(penalty="ridge", random_state=3).fit(X, labels)
        assert len(calls) == 3
        PenalizedClassifier(random_state=3).fit(X, labels[::-1])
    assert len(calls) == 4, "another target has a path of its own"
    assert first.lambda_best_ == second.lambda_
    alone = PenalizedClassifier(choice="best", random_state=3).fit(X, labels)
    np.testing.assert_array_equal(alone.coef_, second.coef_)


def test_few_members_and_few_samples(rng):
    X = rng.normal(size=(40, 20))
    y = np.r_[np.zeros(37), np.ones(3)]
    model = PenalizedClassifier(choice="best", random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    tiny = PenalizedClassifier(random_state=0).fit(X[:4], [0, 0, 1, 1])  # ten folds become four
    assert np.isfinite(tiny.predict_proba(X)).all()
    assert np.isfinite(PenalizedRegressor(random_state=0).fit(X[:4], [1.0, 2, 3, 5]).predict(X)).all()
    imbalanced = np.r_[np.zeros(30), np.ones(8), np.full(2, 2)]
    for penalty in ("lasso", "ridge"):
        assert np.isfinite(PenalizedClassifier(penalty=penalty, random_state=0).fit(X, imbalanced).coef_).all()


def test_bad_input(rng):
    X = rng.normal(size=(20, 5))
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="one class only"):
        PenalizedClassifier().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="class 2 has a single training sample"):
        PenalizedClassifier().fit(X, np.r_[y[:19], 2])
    with pytest.raises(ValueError, match="y is constant"):
        PenalizedRegressor().fit(X, np.full(20, 0.1))
    with pytest.raises(ValueError, match=r"missing values \(NaN\): 1 value"):
        PenalizedClassifier().fit(np.where(np.arange(100).reshape(20, 5) == 7, np.nan, X), y)
    with pytest.raises(ValueError, match="'penalty' parameter"):
        PenalizedClassifier(penalty="elastic").fit(X, y)
    with pytest.raises(ValueError, match="'cv' parameter"):
        PenalizedRegressor(cv=1).fit(X, X[:, 0])
    model = PenalizedClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="label 7, which was not seen"):
        model.log_predictive_density(X, np.full(20, 7))
    with pytest.raises(ValueError, match="one label per sample"):
        model.log_predictive_density(X, y[:5])


def test_deviance_by_hand():
    eta = np.array([[[0.0, 50.0, -50.0]]])
    np.testing.assert_allclose(
        class_family(2).penalized.deviances(eta, np.array([1, 1, 1]))[0], -2 * np.log([0.5, 1 - 1e-5, 1e-5])
    )
    np.testing.assert_allclose(GAUSSIAN.penalized.deviances(eta, np.array([1, 50, 0]))[0], [1, 0, 2500])
    deviance = np.array([[1.0, 2, 3, 4, 5, 6, 7]])
    mean, error = mean_and_error(deviance, np.array([0, 0, 0, 0, 1, 1, 1]))
    assert mean[0] == 4
    assert error[0] == pytest.approx(np.sqrt((4 * 1.5**2 + 3 * 2**2) / 7))
    mean, error = mean_and_error(deviance, np.array([0, 0, 1, 1, 2, 2, 3]))  # too few per fold: one by one
    assert error[0] == pytest.approx(np.sqrt(4 / 6))
    assert choices(np.array([5.0, 3, 2, 1, 2]), np.full(5, 1.5)) == (3, 2)
