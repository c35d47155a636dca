"""HorseshoeOrdinal: recovered parameters, the order of the classes, and probabilities recomputed by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from ispca import HorseshoeClassifier, HorseshoeOrdinal

SHORT = {"n_chains": 2, "n_warmup": 100, "n_draws": 100, "retry": False, "random_state": 0}
NEW = np.random.default_rng(3).normal(size=(7, 4))
COEF, THRESHOLDS = [1.5, -0.8, 0.0, 0.0], [-1.0, 0.5, 2.0]
LABELS = np.array(["low", "medium", "high", "severe"])
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make_grades(n, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    return Z, np.digitize(Z @ COEF + rng.logistic(size=n), THRESHOLDS)


@pytest.fixture(scope="module")
def fitted():
    Z, y = make_grades(200)
    return HorseshoeOrdinal(categories=LABELS, random_state=0).fit(Z, LABELS[y])


@pytest.mark.slow
def test_parameters_are_recovered(fitted):
    posterior = fitted.posterior_
    assert fitted.diagnostics_.converged
    assert "threshold" in fitted.diagnostics_.quantities
    assert "intercept" not in fitted.diagnostics_.quantities
    for draws, truth in ((posterior.coef, COEF), (posterior.thresholds, THRESHOLDS)):
        assert (np.abs(draws.mean(axis=(0, 1)) - truth) < 3.5 * draws.std(axis=(0, 1))).all()
    assert (np.diff(posterior.thresholds, axis=2) > 0).all()
    np.testing.assert_allclose(fitted.thresholds_, posterior.thresholds.mean(axis=(0, 1)))
    assert fitted.intercept_ == -fitted.thresholds_[0]


def test_probabilities_are_averages_over_draws(fitted):
    draws = fitted.posterior_
    eta = np.einsum("ik,cdk->icd", NEW, draws.coef)
    below = expit(draws.thresholds - eta[..., None]).mean(axis=(1, 2))
    expected = np.diff(np.column_stack([np.zeros(7), below, np.ones(7)]), axis=1)
    found = fitted.predict_proba(NEW)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(fitted.predict(NEW), LABELS[found.argmax(axis=1)])
    y = LABELS[np.arange(7) % 4]
    np.testing.assert_allclose(
        fitted.log_predictive_density(NEW, y), np.log(found[np.arange(7), np.arange(7) % 4])
    )
    far = fitted.log_predictive_density(1e4 * NEW[:1], ["medium"])
    assert np.isfinite(far).all()
    assert far[0] < -100


@pytest.mark.slow
def test_probabilities_are_calibrated(fitted):
    Z, y = make_grades(4000, seed=1)
    for k, probability in enumerate(fitted.predict_proba(Z).T):
        assert np.mean(y == k) == pytest.approx(probability.mean(), abs=0.06)
    below = expit(THRESHOLDS - (Z @ COEF)[:, None])
    truth = np.diff(np.column_stack([np.zeros(4000), below, np.ones(4000)]), axis=1)
    assert fitted.score(Z, LABELS[y]) > np.mean(truth.argmax(axis=1) == y) - 0.03


def test_the_order_comes_from_the_categories_the_frame_or_the_numbers(fitted):
    Z, y = make_grades(60)
    named = HorseshoeOrdinal(categories=LABELS.tolist(), **SHORT).fit(Z, LABELS[y])
    frame = pd.Series(pd.Categorical(LABELS[y], LABELS, ordered=True))
    for target in (frame, 10 * y + 5.0):
        other = HorseshoeOrdinal(**SHORT).fit(Z, target)
        np.testing.assert_array_equal(other.posterior_.coef, named.posterior_.coef)
    assert named.classes_.tolist() == LABELS.tolist()
    assert other.classes_.tolist() == [5, 15, 25, 35]
    np.testing.assert_array_equal(
        HorseshoeOrdinal(**SHORT).fit(Z, frame).log_predictive_density(Z, frame),
        named.log_predictive_density(Z, LABELS[y]),
    )


@pytest.mark.slow
def test_the_opposite_order_has_opposite_coefficients():
    Z, y = make_grades(200)
    options = {"random_state": 0, "n_warmup": 300, "n_draws": 400, "retry": False}
    up, down = (HorseshoeOrdinal(**options).fit(Z, labels) for labels in (y, -y))
    deviation = up.posterior_.coef.std(axis=(0, 1))
    assert (np.abs(up.coef_ + down.coef_) < 0.3 * deviation).all()
    assert (np.abs(up.thresholds_ + down.thresholds_[::-1]) < 0.1).all()


def test_two_classes_are_a_logistic_regression():
    Z, y = make_grades(150)
    ordinal = HorseshoeOrdinal(random_state=0).fit(Z, y > 1)
    logistic = HorseshoeClassifier(random_state=0).fit(Z, y > 1)
    # The prior scales differ a little: pi / sqrt(3) in place of 2.
    np.testing.assert_allclose(ordinal.predict_proba(NEW), logistic.predict_proba(NEW), atol=0.02)


def test_categories_that_do_not_occur_are_left_out():
    Z, y = make_grades(60)
    labels = np.where(y == 1, "low", LABELS[y])
    model = HorseshoeOrdinal(categories=LABELS, **SHORT).fit(Z, labels)
    assert model.classes_.tolist() == ["low", "high", "severe"]
    assert model.predict_proba(Z).shape == (60, 3)
    weighted = HorseshoeOrdinal(categories=LABELS, **SHORT).fit(Z, LABELS[y], sample_weight=y > 1)
    assert weighted.classes_.tolist() == ["high", "severe"]


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (LABELS[[0, 1, 2, 0]], {}, "order"),
        (LABELS[[0, 1, 2, 0]], {"categories": LABELS[:2]}, "high"),
        ([1, 1, 1, 1], {}, "one class only"),
        ([1, np.nan, 2, 3], {}, "Input y contains NaN"),
        ([1.2, 3.4, 2.2, 3.1], {}, "Unknown label type: continuous"),
    ],
)
def test_bad_classes(y, options, message):
    with pytest.raises(ValueError, match=message):
        HorseshoeOrdinal(**options, **SHORT).fit(NEW[:4], y)


def test_unknown_labels(fitted):
    with pytest.raises(ValueError, match="'mild', which was not seen in fit"):
        fitted.log_predictive_density(NEW, ["mild"] * 7)
    with pytest.raises(ValueError, match="one class only"):
        HorseshoeOrdinal(**SHORT).fit(NEW, [1, 2, 2, 2, 2, 2, 2], sample_weight=[0, 1, 1, 1, 1, 1, 1])
