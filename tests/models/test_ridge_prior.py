"""The ridge prior in the engine: density, posteriors against numerical integration, states and bad arguments."""

import numpy as np
import pytest
from scipy.special import log_expit

from engine_problems import complex_step, draws, log1pexp, log_likelihood, outputs, problem
from ispca.foundation.extras import load_engine

engine = load_engine()
MODELS = [("logistic", 2), ("softmax", 2), ("softmax", 5), ("gaussian", 0)]
CONSTANTS = {"tau0": 0.2, "intercept_scale": 4.0, "sigma_scale": 1.5}


def reference(model, classes, X, y, q):
    """Log density written down from the formulas; complex q allowed."""
    k, h = X.shape[1], outputs(model, classes)
    b0, z, t = q[:h], q[h : h + h * k], q[h + h * k]
    log_sigma = q[-1] if model == "gaussian" else 0.0
    beta = z * CONSTANTS["tau0"] * np.exp(t + log_sigma)
    prior = -(b0**2).sum() / (2 * CONSTANTS["intercept_scale"] ** 2) - (z**2).sum() / 2 + t - log1pexp(2 * t)
    if model == "gaussian":
        prior += log_sigma - 2 * np.log(1 + np.exp(2 * log_sigma) / (3 * CONSTANTS["sigma_scale"] ** 2))
    return prior + log_likelihood(model, y, b0 + X @ beta.reshape(h, k).T, [log_sigma])


@pytest.mark.parametrize(("model", "classes"), MODELS)
@pytest.mark.parametrize("k", [1, 7, 40])
@pytest.mark.parametrize("spread", [0.3, 2.0])
def test_density_and_gradient_match_the_formulas(model, classes, k, spread):
    X, y = problem(model, classes, k=k)
    h = outputs(model, classes)
    zero = np.zeros(h + h * k + 1 + (model == "gaussian"))

    def density(q, kernel=""):
        return engine.log_density(model, X, y, q, n_classes=classes, prior="ridge", kernel=kernel, **CONSTANTS)

    offset = density(zero)[0] - reference(model, classes, X, y, zero)
    rng = np.random.default_rng(1)
    for kernel in engine.simd_available():
        q = spread * rng.normal(size=zero.size)
        value, gradient = density(q, kernel)
        assert value - offset == pytest.approx(reference(model, classes, X, y, q), rel=1e-11, abs=1e-9)
        slopes = complex_step(lambda p: reference(model, classes, X, y, p), q)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-9 * np.abs(slopes).max())
        for i, unit in enumerate(np.eye(q.size)):
            difference = density(q + 1e-6 * unit)[0] - density(q - 1e-6 * unit)[0]
            assert gradient[i] == pytest.approx(difference / 2e-6, rel=1e-4, abs=1e-4)


def half_cauchy(t):
    """Density of log(tau / tau0)."""
    return 1 / np.cosh(t)


def close(found, expected, spread):
    """Compare posterior means; with 8,000 draws, their Monte Carlo error is about 0.02 standard deviations."""
    np.testing.assert_allclose(found, expected, atol=0.1 * np.max(spread), rtol=0)


LONG = {"prior": "ridge", "n_warmup": 1000, "n_draws": 2000, "target_accept": 0.95}


@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
@pytest.mark.parametrize(("n", "k"), [(12, 3), (8, 12)])
def test_gaussian_posterior_equals_integration_over_both_scales(n, k, sampler):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, k)) * np.geomspace(3, 0.3, k)
    y = 0.5 * X[:, 0] + rng.normal(size=n)
    tau0, intercept_scale = 0.4, 2.0
    log_sigma, t = np.meshgrid(np.linspace(-4, 3, 57), np.linspace(-9, 7, 97), indexing="ij")
    tau2, sigma2 = np.exp(2 * (np.log(tau0) + log_sigma + t)), np.exp(2 * log_sigma)
    covariance = intercept_scale**2 + tau2[..., None, None] * (X @ X.T) + sigma2[..., None, None] * np.eye(n)
    solution = np.linalg.solve(covariance, np.broadcast_to(y[:, None], (*t.shape, n, 1)))[..., 0]
    log_weight = -0.5 * np.linalg.slogdet(covariance)[1] - 0.5 * solution @ y
    weight, means = half_cauchy(t) * np.exp(log_weight - log_weight.max()), tau2[..., None] * (solution @ X)
    weight /= weight.sum()
    result = draws("gaussian", 0, X, y, tau0=tau0, intercept_scale=intercept_scale, sampler=sampler, **LONG)
    found = result["coef"][:, :, 0]
    close(found.mean(axis=(0, 1)), (weight[..., None] * means).sum(axis=(0, 1)), found.std(axis=(0, 1)))
    log_tau = np.log(tau0) + log_sigma + t
    for name, values in (("sigma", np.exp(log_sigma)), ("log_tau", log_tau)):
        close(result[name].mean(), (weight * values).sum(), result[name].std())
        close(
            result[name].std(),
            np.sqrt((weight * (values - (weight * values).sum()) ** 2).sum()),
            result[name].std(),
        )


@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
def test_logistic_posterior_equals_integration_over_all_parameters(sampler):
    rng = np.random.default_rng(4)
    n, tau0, intercept_scale = 14, 0.7, 1.5
    X = rng.normal(size=(n, 2)) * [2.0, 0.5]
    y = (X[:, 0] + 2 * rng.logistic(size=n) > 0).astype(float)
    axis_b, axis_z, axis_t = np.linspace(-6, 6, 31), np.linspace(-5, 5, 27), np.linspace(-9, 6, 61)
    b, z1, z2 = np.meshgrid(axis_b, axis_z, axis_z, indexing="ij")
    density = -(z1**2 + z2**2) / 2 - b**2 / (2 * intercept_scale**2)
    total, sums = 0.0, np.zeros(4)
    for t in axis_t:
        tau = tau0 * np.exp(t)
        log_weight = density.copy()
        for row, sign in zip(X, 2 * y - 1, strict=True):
            log_weight += log_expit(sign * (b + tau * (row[0] * z1 + row[1] * z2)))
        weight = half_cauchy(t) * np.exp(log_weight)
        total += weight.sum()
        sums += [(weight * value).sum() for value in (b, tau * z1, tau * z2, np.log(tau))]
    result = draws("logistic", 2, X, y, tau0=tau0, intercept_scale=intercept_scale, sampler=sampler, **LONG)
    found = [result["intercept"][:, :, 0], *np.moveaxis(result["coef"][:, :, 0], 2, 0), result["log_tau"]]
    for values, expected in zip(found, sums / total, strict=True):
        close(values.mean(), expected, values.std())


@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
@pytest.mark.parametrize(("model", "classes"), MODELS)
def test_threads_and_pauses_do_not_change_draws(model, classes, sampler):
    X, y = problem(model, classes)
    settings = {"prior": "ridge", "sampler": sampler}
    whole = draws(model, classes, X, y, n_draws=60, **settings)
    first = draws(model, classes, X, y, n_draws=20, n_threads=4, **settings)
    second = draws(model, classes, X, y, n_draws=40, state=first["state"], **settings)
    assert "log_lambda" not in whole
    assert "log_c2" not in whole
    for key in whole.keys() - {"state", "step_size"}:
        np.testing.assert_array_equal(np.concatenate([first[key], second[key]], axis=1), whole[key], err_msg=key)
    assert second["state"] == whole["state"]


def test_a_state_knows_its_prior():
    # Both positions have 11 numbers.
    X, y = problem("logistic", 2, k=9)
    state = draws("logistic", 2, X[:, :4], y)["state"]
    with pytest.raises(ValueError, match="state comes from another"):
        draws("logistic", 2, X, y, prior="ridge", state=state)


@pytest.mark.grid(5)
@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("model", ["logistic", "softmax", "gaussian"])
def test_separated_data_give_finite_draws(model, scale, sampler):
    y = np.repeat([0.0, 1.0], 10)
    X = scale * np.c_[4 * y - 2, np.random.default_rng(7).normal(size=(20, 30)), np.ones(20)]
    result = draws(model, 2, X, y, prior="ridge", sampler=sampler, tau0=1 / scale, n_chains=2, n_draws=50)
    assert all(np.isfinite(value).all() for key, value in result.items() if key != "state")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prior": "lasso"}, "choose horseshoe or ridge"),
        ({"prior": "ridge", "tau0": -1.0}, "tau0"),
    ],
)
def test_bad_arguments_give_clear_errors(changes, message):
    with pytest.raises(ValueError, match=message):
        draws("logistic", 2, *problem("logistic", 2), **changes)
