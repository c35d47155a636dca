"""The engine's families of counts, survival times and ordered classes: densities, gradients and draws."""

import time

import numpy as np
import pytest
from scipy.optimize import minimize

from engine_problems import complex_step, draws, log_density, log_likelihood, problem, size_of, standard_error
from ispca.foundation.extras import load_engine

engine = load_engine()
FAMILIES = [("poisson", 0), ("cox", 0), ("ordinal", 2), ("ordinal", 4), ("negative_binomial", 0)]


def arguments(n, k, seed=3):
    """Return uneven weights, an offset and an unpenalized column."""
    rng = np.random.default_rng(seed)
    return {
        "weights": rng.uniform(0.2, 3, n),
        "offset": rng.normal(size=n),
        "unpenalized": np.r_[0.7, np.zeros(k - 1)],
    }


def assert_matches(model, classes, X, y, q, options, tolerances=(("double", 1e-9), ("single", 1e-5))):
    """Compare value (up to a constant) and gradient with the formulas, in both precisions and all kernels."""

    def exact(q):
        return log_density(model, classes, X, y, q, **options)

    zero = np.zeros_like(q)
    base = engine.log_density(model, X, y, zero, n_classes=classes, **options)[0] - exact(zero)
    slopes = complex_step(exact, q)
    for kernel in engine.simd_available():
        for precision, tolerance in tolerances:
            given = {"n_classes": classes, "kernel": kernel, "precision": precision, **options}
            value, gradient = engine.log_density(model, X, y, q, **given)
            assert value - base == pytest.approx(exact(q), rel=tolerance, abs=tolerance)
            np.testing.assert_allclose(gradient, slopes, rtol=tolerance, atol=tolerance * np.abs(slopes).max())


@pytest.mark.parametrize(("model", "classes"), FAMILIES)
@pytest.mark.parametrize(("n", "k"), [(2, 1), (23, 7), (16, 3), (1100, 2)])
@pytest.mark.parametrize("spread", [0.3, 1.5])
def test_density_and_gradient_match_the_formulas(model, classes, n, k, spread):
    X, y = problem(model, min(classes, n), n=n, k=k)
    rng = np.random.default_rng(1)
    constants = {"tau0": 0.2, "slab_df": 3.0, "slab_scale": 2.0, "intercept_scale": 4.0}
    for fixed, more in ((0, {}), (1, arguments(n, k))):
        q = spread * rng.normal(size=size_of(model, min(classes, n), k, fixed))
        assert_matches(model, min(classes, n), X, y, q, constants | more)


@pytest.mark.parametrize(("model", "classes"), FAMILIES)
def test_a_weight_is_a_number_of_copies_and_zero_leaves_out(model, classes):
    X, y = problem(model, classes)
    n = len(y)
    weights = np.arange(n) % 3 + 1.0
    copies = np.repeat(np.arange(n), weights.astype(int))
    rng = np.random.default_rng(2)
    q, offset = rng.normal(size=size_of(model, classes, X.shape[1])), rng.normal(size=n)
    options = {"n_classes": classes, "tau0": 0.2}
    value, gradient = engine.log_density(model, X, y, q, weights=weights, offset=offset, **options)
    other, slopes = engine.log_density(model, X[copies], y[copies], q, offset=offset[copies], **options)
    assert value == pytest.approx(other, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-10)

    plain = engine.log_density(model, X, y, q, **options)
    left_out = np.r_[np.ones(n), 0, 0]
    for data, w in (((np.r_[X, X[:2] + 9], np.r_[y, y[:2]]), left_out), ((X, y), np.ones(n))):
        same = engine.log_density(model, *data, q, weights=w, **options)
        assert same[0] == plain[0]
        np.testing.assert_array_equal(same[1], plain[1])


@pytest.mark.parametrize(("model", "classes"), FAMILIES)
def test_wild_parameters_never_crash(model, classes):
    X, y = problem(model, classes)
    rng = np.random.default_rng(3)
    size = size_of(model, classes, X.shape[1])
    for scale in (50.0, 200.0, 1e4, 1e300):
        for precision in ("single", "double"):
            q = scale * rng.normal(size=size)
            value, gradient = engine.log_density(model, X, y, q, n_classes=classes, tau0=0.05, precision=precision)
            if scale == 50:
                assert np.isfinite(value)
                assert np.isfinite(gradient).all()
    engine.log_density(model, X, y, np.full(size, np.nan), n_classes=classes, tau0=0.05)


@pytest.mark.parametrize(("model", "classes"), FAMILIES)
def test_threads_and_interruptions_do_not_change_draws(model, classes):
    X, y = problem(model, classes)
    options = {"n_warmup": 100, **arguments(*X.shape)}
    whole = draws(model, classes, X, y, n_draws=60, **options)
    threaded = draws(model, classes, X, y, n_draws=60, n_threads=4, **options)
    first = draws(model, classes, X, y, n_draws=20, **options)
    second = draws(model, classes, X, y, n_draws=40, state=first["state"], **options)
    for key in whole:
        np.testing.assert_array_equal(whole[key], threaded[key], err_msg=key)
    for key in whole.keys() - {"state", "step_size"}:
        np.testing.assert_array_equal(np.concatenate([first[key], second[key]], axis=1), whole[key], err_msg=key)
    assert all(np.isfinite(value).all() for key, value in whole.items() if key != "state")


def hard_cases(model, classes):
    X, y = problem(model, classes, n=20, k=3)
    first = np.abs(y) - np.abs(y).mean()
    yield "separated", np.c_[4 * first, X], y
    yield "constant column", np.c_[np.ones(20), X], y
    yield "more features than samples", np.random.default_rng(7).normal(size=(20, 40)), y
    yield "huge units", 1e6 * np.c_[first, X], y
    yield "tiny units", 1e-6 * np.c_[first, X], y
    yield "all zero", np.zeros((20, 2)), y
    yield "few samples", X[: max(classes, 2)], problem(model, classes, n=max(classes, 2))[1]


@pytest.mark.parametrize(("model", "classes"), FAMILIES)
def test_hard_data_give_finite_draws(model, classes):
    for name, X, y in hard_cases(model, classes):
        start = time.process_time()
        result = draws(model, classes, X, y, n_chains=2, n_warmup=150, n_draws=50)
        assert all(np.isfinite(value).all() for key, value in result.items() if key != "state"), name
        assert time.process_time() - start < 10, name


@pytest.mark.parametrize(("model", "classes"), FAMILIES)
def test_shapes(model, classes):
    X, y = problem(model, classes)
    result = draws(model, classes, X, y, n_chains=3, n_draws=7)
    for key in ("coef", "log_lambda"):
        assert result[key].shape == (3, 7, 1, X.shape[1])
    assert result["intercept"].shape == (3, 7, 1)
    assert "sigma" not in result
    if model == "ordinal":
        assert result["thresholds"].shape == (3, 7, classes - 1)
        assert (np.diff(result["thresholds"]) > 0).all()
    if model == "negative_binomial":
        assert result["dispersion"].shape == (3, 7)
    if model in ("cox", "ordinal"):
        assert not result["intercept"].any()


@pytest.mark.parametrize(
    ("model", "classes", "y", "message"),
    [
        ("poisson", 0, [0, 1, -2, 3], "counts"),
        ("poisson", 0, [0, 1, 2.5, 3], "counts"),
        ("poisson", 0, [0, 1, np.nan, 3], "not finite"),
        ("negative_binomial", 0, [0, 1, -2, 3], "counts"),
        ("cox", 0, [-1, -2, -4, -3], "at least one event"),
        ("cox", 0, [-1, np.inf, -4, 3], "not finite"),
        ("ordinal", 3, [0, 1, 2, 3], "class numbers"),
        ("ordinal", 4, [0, 1, 3, 3], "every class"),
        ("ordinal", 1, [0, 0, 0, 0], "two classes"),
    ],
)
def test_bad_targets_give_clear_errors(model, classes, y, message):
    with pytest.raises(ValueError, match=message):
        draws(model, classes, np.eye(4), np.array(y, dtype=float))


@pytest.mark.parametrize(("model", "classes"), [family for family in FAMILIES if family[0] != "poisson"])
def test_the_blocked_sampler_is_refused(model, classes):
    with pytest.raises(ValueError, match=f"{model} model has no blocked sampler"):
        draws(model, classes, *problem(model, classes), sampler="blocked")


def test_large_poisson_means_continue_linearly():
    X, y, q = np.eye(3)[:, :2], np.array([1.0, 2.0, 3.0]), np.zeros(7)
    values = []
    for intercept in (50.0, 60.0, 70.0):
        q[0] = intercept
        value, gradient = engine.log_density("poisson", X, y, q, tau0=0.1, intercept_scale=1e6)
        values.append(value)
        assert gradient[0] == pytest.approx(-3 * np.exp(50), rel=1e-9)
    assert values[2] - values[1] == pytest.approx(values[1] - values[0])


def cox_value(X, y, beta, **options):
    """Return the log partial likelihood, up to a constant, and its gradient with respect to the coefficients."""
    k = X.shape[1]
    q = np.r_[np.zeros(2), beta]  # all columns unpenalized with sd 1: only t, g and u are left
    value, gradient = engine.log_density("cox", X, y, q, tau0=1.0, unpenalized=np.ones(k), **options)
    return value + (np.square(beta).sum()) / 2, gradient[2:] + beta


def test_the_partial_likelihood_is_that_of_r():
    # coxph of R's survival 3.5, ties = "efron": log likelihoods at 0, at (0.7, -0.4) and at its maximum.
    time = np.array([5.0, 3, 3, 8, 1, 3, 5, 7, 2, 8, 8, 1])
    event = np.array([1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1])
    first = [0.5, -1.2, 0.3, 2.0, -0.7, 1.1, 0.0, -0.4, 0.9, -1.5, 0.6, 1.3]
    X, y = np.c_[first, [1.0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0]], np.where(event == 1, time, -time)
    zero = cox_value(X, y, np.zeros(2))[0]
    assert cox_value(X, y, np.array([0.7, -0.4]))[0] - zero == pytest.approx(
        -19.89279396550112 + 15.738719253612528, abs=1e-10
    )
    value, gradient = cox_value(X, y, np.array([-0.22443153985086728, -0.21926104285430803]))
    assert value - zero == pytest.approx(-15.176409372472325 + 15.738719253612528, abs=1e-10)
    np.testing.assert_allclose(gradient, 0, atol=1e-6)


@pytest.mark.parametrize("factor", [1000.0, 1e-9])
@pytest.mark.parametrize("descending", [True, False])
def test_cox_predictors_far_apart(factor, descending):
    X, y = problem("cox", 0, n=30, k=2)
    X[:, 0] = np.argsort(np.argsort(np.abs(y))) * (-1 if descending else 1)
    beta = np.array([factor, 0.5])
    value, gradient = cox_value(X, y, beta)
    zero = cox_value(X, y, np.zeros(2))[0] - log_likelihood("cox", y, np.zeros((30, 1)), [])

    def exact(b):
        return log_likelihood("cox", y, (X @ b)[:, None], [])

    assert value - zero == pytest.approx(exact(beta), rel=1e-11, abs=1e-11)
    slopes = complex_step(exact, beta)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-9 * np.abs(slopes).max())


@pytest.mark.parametrize("copies", [7, 40])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0])
def test_many_tied_copies_equal_a_weight(copies, spread):
    X, y = problem("cox", 0, n=15, k=2)
    beta = np.array([spread, -spread / 2])
    value, gradient = cox_value(X, y, beta, weights=np.full(15, float(copies)))
    other, slopes = cox_value(np.repeat(X, copies, axis=0), np.repeat(y, copies), beta)
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-9 * copies)


def test_events_and_censoring_at_time_zero():
    X, y = problem("cox", 0, n=15, k=2)
    shifted = np.copysign(np.abs(y) - np.abs(y).min(), y)  # 0 for the first events, -0 for samples censored then
    assert len(set(np.signbit(shifted[shifted == 0]))) == 2
    beta = np.array([0.8, -0.3])
    assert cox_value(X, shifted, beta)[0] == cox_value(X, y, beta)[0]


def test_cox_weights_act_continuously():
    X, y = problem("cox", 0, n=15, k=2)
    beta, weights = np.array([0.8, -0.3]), np.full(15, 2.0)
    exact = cox_value(X, y, beta, weights=weights)
    near = cox_value(X, y, beta, weights=weights * (1 + 1e-9))
    assert near[0] == pytest.approx(exact[0], rel=1e-7)
    np.testing.assert_allclose(near[1], exact[1], rtol=1e-6)


def test_two_ordered_classes_are_logistic():
    X, y = problem("ordinal", 2)
    k = X.shape[1]
    q = np.random.default_rng(5).normal(size=2 * k + 3)  # z, eta, t, g, threshold
    value, gradient = engine.log_density("ordinal", X, y, q, n_classes=2, tau0=0.3)
    other, slopes = engine.log_density("logistic", X, y, np.r_[-q[-1], q[:-1]], tau0=0.3)
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(gradient, np.r_[slopes[1:], -slopes[0]], rtol=1e-10, atol=1e-12)


def test_ordinal_predictors_of_a_thousand():
    X, y = problem("ordinal", 4, n=40, k=2)
    X[:, 0] = np.tile([1.0, -1.0], 20)
    q = np.zeros(size_of("ordinal", 4, 2, fixed=2))
    q[2:] = 0.3, -3.0, 2.0, 1000.0, 0.5
    options = {"tau0": 1.0, "unpenalized": np.ones(2)}
    assert_matches("ordinal", 4, X, y, q, options)


@pytest.mark.parametrize(("log_phi", "intercept"), [(-40.0, 3.0), (0.0, 600.0), (0.0, -600.0), (15.0, 2.0)])
def test_extreme_negative_binomial_parameters(log_phi, intercept):
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([3, 0, 50])
    q = np.array([intercept, 0.0, 0.0, log_phi, 0.1])

    def exact(q):
        x, phi = q[0] + q[4] * X[:, 0] - q[3], np.exp(q[3])
        above, below = (
            np.where(z.real > 0, z, 0) + np.log1p(np.exp(np.where(z.real > 0, -z, z))) for z in (x, -x)
        )
        gammas = sum(np.log(phi + j) for count in y for j in range(count))
        return gammas - (y * below + phi * above).sum() - q[0] ** 2 / 200 - q[3] ** 2 / 8 - q[4] ** 2 / 2

    def density(q):
        return engine.log_density("negative_binomial", X, y.astype(float), q, tau0=1.0, unpenalized=np.ones(1))

    value, gradient = density(q)
    assert value - density(np.zeros(5))[0] == pytest.approx(exact(q) - exact(np.zeros(5)), rel=1e-11)
    np.testing.assert_allclose(gradient[[0, 3, 4]], complex_step(exact, q)[[0, 3, 4]], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("model", ["poisson", "cox", "ordinal", "negative_binomial"])
def test_draws_match_quadrature(model):
    """With one unpenalized column, the posterior is a function of two or three numbers."""
    classes = 3 if model == "ordinal" else 0
    X, y = problem(model, classes, n=30, k=1, seed=4)
    rng = np.random.default_rng(6)
    options = {"unpenalized": np.ones(1), "intercept_scale": 2.0, "n_classes": classes, "tau0": 1.0}
    options |= {"weights": rng.uniform(0.5, 2, 30), "offset": 0.3 * rng.normal(size=30)}
    result = draws(model, classes, X, y, n_draws=4000, **options)
    first = 0 if model in ("cox", "ordinal") else 1  # the intercept, then t and g, which stay at 0
    free = [*range(first), *range(first + 2, size_of(model, classes, 1, fixed=1))]
    q = np.zeros(len(free) + 2)

    def density(point):
        q[free] = point
        return engine.log_density(model, X, y, q, **options)[0]

    best = minimize(lambda point: -density(point), np.zeros(len(free)), method="BFGS")
    spread = np.sqrt(np.diag(best.hess_inv)).clip(0.05, 2)
    axes = [center + np.linspace(-6, 6, 33) * width for center, width in zip(best.x, spread, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(free))
    log_weights = np.array([density(point) for point in grid])
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    names = [] if first == 0 else [result["intercept"][..., 0]]
    if model == "ordinal":
        names += [result["thresholds"][..., 0], np.log(np.diff(result["thresholds"])[..., 0])]
    if model == "negative_binomial":
        names += [np.log(result["dispersion"])]
    for values, drawn in zip(grid.T, [*names, result["coef"][..., 0, 0]], strict=True):
        mean = weights @ values
        deviation = np.sqrt(weights @ (values - mean) ** 2)
        assert drawn.mean() == pytest.approx(mean, abs=5 * standard_error(drawn) + 0.01 * deviation)
        assert drawn.std() == pytest.approx(deviation, rel=0.08)
