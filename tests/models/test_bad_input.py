"""Bad and extreme input: a clear error or finite draws, never a hang, never a silent bad posterior."""

import re
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ispca import HorseshoeClassifier, HorseshoeRegressor

BOTH = pytest.mark.parametrize("kind", [HorseshoeClassifier, HorseshoeRegressor])


@pytest.fixture
def Z(rng):
    return rng.normal(size=(40, 4))


@pytest.fixture
def y(rng, Z):
    return (Z[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int)


def refused(estimator, Z, y, *words):
    """Fitting fails with every word in one message, and leaves the estimator unfitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            estimator.fit(Z, y)
    for word in words:
        assert re.search(word, str(caught.value)), f"{word!r} is not in: {caught.value}"
    assert not hasattr(estimator, "posterior_")


def sampled(estimator, Z, y):
    """Fit; all draws are finite, and a warning is given exactly if the chains have not converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.set_params(random_state=0).fit(Z, y)
    draws = estimator.posterior_
    for name in ("coef", "intercept", "tau", "slab", "local_scale", "sigma"):
        values = getattr(draws, name)
        assert values is None or np.isfinite(values).all(), name
    assert np.isfinite(estimator.coef_).all()
    warned = any("NOT converged" in str(warning.message) for warning in caught)
    assert warned == (not estimator.diagnostics_.converged)
    unexpected = [w for w in caught if issubclass(w.category, RuntimeWarning)]
    assert not unexpected, unexpected[0]
    return estimator


# Refused


def test_one_class(Z):
    refused(HorseshoeClassifier(), Z, np.zeros(40), "one class only", "2 classes")
    refused(HorseshoeClassifier(), Z, ["a"] * 40, "'a'")


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_features_that_are_not_finite(kind, Z, y, value):
    bad = Z.copy()
    bad[3, 2] = value
    refused(kind(), bad, y, "NaN" if np.isnan(value) else "infinity")
    fitted = kind(n_draws=200, random_state=0).fit(Z, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.predict(bad)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_targets_that_are_not_finite(Z, y, value):
    refused(HorseshoeRegressor(), Z, np.where(y, value, 1.0), "NaN|infinity")
    refused(HorseshoeClassifier(), Z, np.where(y, value, 1.0), "NaN|infinity")


@BOTH
def test_fewer_than_two_samples(kind, Z):
    refused(kind(), Z[:1], [1], "1 sample", "minimum of 2")
    refused(kind(), Z[:0], [], "0 sample")


@BOTH
def test_no_features(kind, y):
    refused(kind(), np.empty((40, 0)), y, "0 feature")
    refused(kind(), pd.DataFrame(index=range(40)), y, "0 feature")


@BOTH
def test_y_of_the_wrong_length(kind, Z, y):
    refused(kind(), Z, y[:-1], "40", "39")
    fitted = kind(n_draws=200, random_state=0).fit(Z, y)
    with pytest.raises(ValueError, match="40 samples"):
        fitted.log_predictive_density(Z, y[:-1])


@BOTH
def test_sparse_features(kind, Z, y):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        kind().fit(sp.csr_array(Z), y)


def test_a_continuous_target_for_a_classifier(Z):
    refused(HorseshoeClassifier(), Z, Z[:, 0], "continuous")


def test_a_constant_target_for_a_regression(Z):
    for value in (0.0, 1.0, -1e6):
        refused(HorseshoeRegressor(), Z, np.full(40, value), "constant", "varies")


def test_unknown_labels(Z, y):
    words = np.array(["no", "yes"])[y]
    model = HorseshoeClassifier(n_draws=200, random_state=0).fit(Z, words)
    with pytest.raises(ValueError, match=r"'maybe'.*not seen in fit"):
        model.log_predictive_density(Z, np.where(np.arange(40) == 7, "maybe", words))
    with pytest.raises(ValueError, match="not seen in fit"):
        model.log_predictive_density(Z, y)


def test_observed_values_that_are_not_finite(Z, y):
    model = HorseshoeRegressor(n_draws=200, random_state=0).fit(Z, y)
    with pytest.raises(ValueError, match=r"NaN|finite"):
        model.log_predictive_density(Z, np.where(np.arange(40) == 7, np.nan, 1.0))


def test_levels_outside_0_and_1(Z, y):
    model = HorseshoeRegressor(n_draws=200, random_state=0).fit(Z, y)
    for level in (0, 1, -0.1, 90, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_interval(Z, level)


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("p0", 0),
        ("p0", -1),
        ("p0", np.nan),
        ("p0", np.inf),
        ("p0", "few"),
        ("slab_df", 0),
        ("slab_df", np.inf),
        ("slab_scale", -5),
        ("slab_scale", np.inf),
        ("intercept_scale", 0),
        ("intercept_scale", np.inf),
        ("n_chains", 0),
        ("n_chains", 1.5),
        ("n_warmup", 0),
        ("n_draws", 3),
        ("sampler", "gibbs"),
        ("target_accept", 0),
        ("target_accept", 1),
        ("n_jobs", "all"),
        ("random_state", "today"),
    ],
)
def test_wrong_parameters(kind, name, value, Z, y):
    # tau0 is what p0 becomes.
    refused(kind(**{name: value}), Z, y, f"{name}|tau0" if name == "p0" else name)


@pytest.mark.parametrize("scale", [1e200, 1e305, 1e-200])
def test_targets_of_absurd_size(Z, y, scale):
    """Their squares overflow or vanish in double precision."""
    refused(HorseshoeRegressor(), Z, scale * (y + 0.1 * Z[:, 1]), "spread of y", "unit")


@BOTH
def test_features_of_absurd_size(kind, Z, y):
    refused(kind(), 1e200 * Z, y, r"1e\+30", "Rescale")


# Sampled


@pytest.mark.grid(3)
@BOTH
@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_constant_columns_leave_the_rest_alone(kind, constant, Z, y):
    """A constant column tells nothing: with the same tau0, the other coefficients have the same posterior."""
    target = y + 0.5 * Z[:, 1]
    target = y if kind is HorseshoeClassifier else target
    settings = {"n_draws": 2000}
    without = sampled(kind(p0=1, **settings), Z, target)
    # 1.25 / (5 - 1.25) = 1 / (4 - 1)
    extra = np.full(40, constant)
    added = sampled(kind(p0=1.25, **settings), np.column_stack([Z, extra]), target)
    assert without.diagnostics_.converged
    assert added.diagnostics_.converged
    before, after = without.posterior_.coef, added.posterior_.coef[..., :4]
    spread = before.std(axis=(0, 1))
    assert np.abs(after.mean(axis=(0, 1)) - before.mean(axis=(0, 1)))[0] < 0.15 * spread[0]
    quantiles = [np.quantile(d, [0.05, 0.5, 0.95], axis=(0, 1)) for d in (before, after)]
    assert (np.abs(quantiles[0] - quantiles[1]) < 0.25 * spread).all()
    if constant == 0:  # nothing but its symmetric prior is known about the coefficient
        assert (added.posterior_.coef[..., 4] > 0).mean() == pytest.approx(0.5, abs=0.07)


@BOTH
def test_nothing_but_constant_columns(kind, y):
    model = sampled(kind(), np.zeros((40, 3)), y)
    assert model.diagnostics_.converged
    if kind is HorseshoeClassifier:
        assert model.predict_proba(np.zeros((1, 3)))[0, 1] == pytest.approx(y.mean(), abs=0.05)
    else:
        assert model.predict(np.zeros((1, 3)))[0] == pytest.approx(y.mean(), abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "sampler"), [(2, "nuts"), (2, "blocked"), (3, "auto"), (6, "auto")])
def test_separated_classes_converge(sampler, n_classes):
    """The normal case with many features: no finite maximum of the likelihood, but a proper posterior."""
    rng = np.random.default_rng(1)
    y = np.arange(45) % n_classes
    Z = np.column_stack([4.0 * np.eye(n_classes)[y], rng.normal(size=(45, 4))])
    model = sampled(HorseshoeClassifier(sampler=sampler), Z, y)
    assert model.diagnostics_.converged
    assert model.score(Z, y) == 1
    assert model.predict_proba(Z)[np.arange(45), y].min() > 0.9
    assert np.abs(model.posterior_.coef).max() < 1e4, "the slab keeps the coefficients bounded"


@BOTH
def test_more_features_than_samples(kind):
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(15, 30))
    target = np.arange(15) % 2 if kind is HorseshoeClassifier else Z[:, 0] + rng.normal(size=15)
    model = sampled(kind(), Z, target)
    assert model.posterior_.coef.shape[2] == 30


@BOTH
def test_duplicated_rows_count_as_samples(kind, Z, y):
    target = y if kind is HorseshoeClassifier else y + 0.5 * Z[:, 1]
    once = sampled(kind(), Z, target)
    thrice = sampled(kind(), np.repeat(Z, 3, axis=0), np.repeat(target, 3))
    assert thrice.diagnostics_.converged
    ratio = thrice.posterior_.coef[..., 0].std() / once.posterior_.coef[..., 0].std()
    assert ratio == pytest.approx(1 / np.sqrt(3), abs=0.15)


@BOTH
def test_duplicated_columns_share_the_effect(kind, Z, y):
    model = sampled(kind(), np.column_stack([Z, Z]), y)
    shares = model.posterior_.coef[..., :4] + model.posterior_.coef[..., 4:]
    single = sampled(kind(), Z, y).posterior_.coef
    difference = shares[..., 0].mean() - single[..., 0].mean()
    assert abs(difference) < 0.5 * single[..., 0].std()


def test_a_target_without_noise():
    rng = np.random.default_rng(3)
    for K in (1, 4):
        Z = rng.normal(size=(40, K))
        model = sampled(HorseshoeRegressor(), Z, 2 * Z[:, 0])
        assert model.diagnostics_.converged
        np.testing.assert_allclose(model.predict(Z), 2 * Z[:, 0], atol=1e-3)
        assert model.posterior_.sigma.max() < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e6, 1e-6])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_extreme_units(n_classes, scale, Z):
    rng = np.random.default_rng(4)
    settings = {"n_warmup": 100, "n_draws": 100}
    if n_classes == 0:
        model = sampled(HorseshoeRegressor(**settings), scale * Z, Z[:, 0] + rng.normal(size=40))
        assert np.isfinite(model.predict(scale * Z, return_std=True)[1]).all()
    else:
        model = sampled(HorseshoeClassifier(**settings), scale * Z, rng.permutation(40) % n_classes)
        assert np.isfinite(model.predict_proba(scale * Z)).all()


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_single_feature(n_classes, Z):
    target = Z[:, 0] + Z[:, 1]
    if n_classes:
        target = np.digitize(target, np.quantile(target, np.arange(1, n_classes) / n_classes))
    kind = HorseshoeClassifier if n_classes else HorseshoeRegressor
    model = sampled(kind(), Z[:, :1], target)
    assert model.diagnostics_.converged
    slope = model.coef_.ravel()
    assert slope[-1] - (slope[0] if n_classes == 3 else 0) > 0.3


@pytest.mark.slow
def test_fifteen_classes():
    rng = np.random.default_rng(5)
    y = np.arange(60) % 15
    model = sampled(HorseshoeClassifier(), rng.normal(size=(60, 3)), y)
    assert model.diagnostics_.converged
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 3))), 1 / 15, atol=0.03)


@BOTH
def test_two_samples_are_enough(kind):
    model = sampled(kind(), [[1.0, 0.3], [-1.0, 0.2]], [0, 1])
    assert model.posterior_.coef.shape[2] == 2


def test_a_class_with_a_single_sample(Z):
    model = sampled(HorseshoeClassifier(), Z, np.r_[2, np.arange(39) % 2])
    assert model.diagnostics_.converged
    assert model.predict_proba(Z)[1:, 2].mean() < 0.2


@pytest.mark.slow
@BOTH
def test_interrupt_stops_a_long_fit(kind):
    """Ctrl-C, half a second into a fit that would take minutes, takes effect within a second."""
    program = textwrap.dedent(f"""
        import os, signal, threading, time
        import numpy as np
        from ispca import {kind.__name__} as Model
        rng = np.random.default_rng(0)
        Z = rng.normal(size=(300, 40)); y = (Z[:, 0] > 0) * 1
        Model(n_draws=10, n_warmup=10, n_chains=1).fit(Z, y)  # everything is loaded
        pressed = []

        def press():
            pressed.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(0.5, press).start()
        try:
            Model(n_warmup=100_000, n_draws=1000, n_jobs=2).fit(Z, y)
        except KeyboardInterrupt:
            print(time.perf_counter() - pressed[0])
    """)
    command = [sys.executable, "-W", "ignore", "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < 1
