"""The compiled engine: densities, gradients, reproducibility, hard data and bad arguments."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from engine_problems import complex_step, draws, log_density, outputs, problem, size_of
from ispca.foundation.extras import load_engine

engine = load_engine()
SIZES = [("logistic", 2), ("softmax", 2), ("softmax", 5), ("softmax", 15), ("gaussian", 0)]


def density(model, X, y, q, **kwargs):
    return engine.log_density(model, X, y, q, **{"tau0": 0.05, **kwargs})


@pytest.mark.parametrize(("model", "classes"), SIZES)
@pytest.mark.parametrize("k", [1, 7])
@pytest.mark.parametrize("spread", [0.3, 2.0])
def test_density_and_gradient_match_the_formulas(model, classes, k, spread):
    X, y = problem(model, classes, k=k)
    constants = {"tau0": 0.2, "slab_df": 3.0, "slab_scale": 2.0, "intercept_scale": 4.0, "sigma_scale": 1.5}

    def exact(q):
        return log_density(model, classes, X, y, q, **constants)

    rng = np.random.default_rng(1)
    zero = np.zeros(size_of(model, classes, k))
    offset = density(model, X, y, zero, n_classes=classes, **constants)[0] - exact(zero)
    for _ in range(5):
        q = spread * rng.normal(size=zero.size)
        value, gradient = density(model, X, y, q, n_classes=classes, **constants)
        assert value - offset == pytest.approx(exact(q), rel=1e-11, abs=1e-9)
        slopes = complex_step(exact, q)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-9 * np.abs(slopes).max())


@pytest.mark.parametrize(("model", "classes"), SIZES)
def test_gradient_matches_finite_differences(model, classes):
    X, y = problem(model, classes, k=4)
    q = np.random.default_rng(2).normal(size=size_of(model, classes, 4))
    gradient = density(model, X, y, q, n_classes=classes)[1]
    for i, unit in enumerate(np.eye(q.size)):
        ahead, behind = (density(model, X, y, q + s * 1e-6 * unit, n_classes=classes)[0] for s in (1, -1))
        assert gradient[i] == pytest.approx((ahead - behind) / 2e-6, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(("model", "classes"), SIZES[:-1])
@pytest.mark.parametrize("separable", [True, False])
def test_predictors_of_a_thousand(model, classes, separable):
    n, k, h = 40, 3, outputs(model, classes)
    X, y = problem(model, classes, n=n, k=k)
    X[:, 0] = np.where(y > 0, 1.0, -1.0) if separable else np.tile([1.0, -1.0], n // 2)
    q = np.zeros(size_of(model, classes, k))
    q[h : h + h * k : k] = 1000.0 * np.linspace(1, -1, h) if h > 1 else 1000.0
    q[h + 2 * h * k] = 15.0  # tau so large that only the slab limits the coefficients
    q[-1] = -3.2  # slab about 1
    value, gradient = density(model, X, y, q, n_classes=classes)
    zero = np.zeros_like(q)
    offset = density(model, X, y, zero, n_classes=classes)[0] - log_density(model, classes, X, y, zero)
    assert value - offset == pytest.approx(log_density(model, classes, X, y, q), rel=1e-11)
    slopes = complex_step(lambda p: log_density(model, classes, X, y, p), q)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-9 * np.abs(slopes).max())


@pytest.mark.parametrize(("model", "classes"), SIZES)
def test_wild_parameters_never_crash(model, classes):
    X, y = problem(model, classes)
    rng = np.random.default_rng(3)
    size = size_of(model, classes, X.shape[1])
    for scale in (50.0, 200.0, 1e4, 1e300):
        value, gradient = density(model, X, y, scale * rng.normal(size=size), n_classes=classes)
        assert gradient.shape == (size,)
        if scale == 50:
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()
    density(model, X, y, np.full(size, np.nan), n_classes=classes)


@pytest.mark.parametrize(("model", "classes"), SIZES)
@pytest.mark.parametrize("n", [5, 64, 1100])
def test_kernels_agree(model, classes, n):
    X, y = problem(model, max(classes, 2) if model != "gaussian" else 0, n=n)
    q = np.random.default_rng(4).normal(size=size_of(model, classes, X.shape[1]))
    value, gradient = density(model, X, y, q, n_classes=classes, kernel="baseline")
    for name in engine.simd_available():
        for precision, tolerance in (("double", 1e-12), ("single", 3e-6)):
            other, slopes = density(model, X, y, q, n_classes=classes, kernel=name, precision=precision)
            assert other == pytest.approx(value, rel=tolerance)
            np.testing.assert_allclose(slopes, gradient, rtol=tolerance, atol=tolerance * np.abs(gradient).max())


def test_kernels_can_be_forced_from_outside():
    for name in engine.simd_available():
        code = "import ispca._engine as e; print(e.simd())"
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "ISPCA_SIMD": name},
            capture_output=True,
            text=True,
        )
        assert run.stdout.strip() == name
    with pytest.raises(ValueError, match="not available"):
        density("logistic", *problem("logistic", 2), np.zeros(17), kernel="abacus")


def assert_same(first, second):
    assert first.keys() == second.keys()
    for key in first:
        np.testing.assert_array_equal(first[key], second[key], err_msg=key)


COMBINATIONS = [
    (m, h, s) for m, h in (("logistic", 2), ("softmax", 3), ("gaussian", 0)) for s in ("nuts", "blocked")
]


@pytest.mark.parametrize(("model", "classes", "sampler"), COMBINATIONS)
def test_threads_do_not_change_draws(model, classes, sampler):
    X, y = problem(model, classes)
    one = draws(model, classes, X, y, sampler=sampler, n_threads=1)
    assert_same(one, draws(model, classes, X, y, sampler=sampler, n_threads=4))
    other = draws(model, classes, X, y, sampler=sampler, seed=6)
    assert not np.array_equal(one["coef"], other["coef"])
    assert len({chain.tobytes() for chain in one["coef"]}) == 4


@pytest.mark.parametrize(("model", "classes", "sampler"), COMBINATIONS)
def test_continuing_equals_one_go(model, classes, sampler):
    X, y = problem(model, classes)
    whole = draws(model, classes, X, y, sampler=sampler, n_draws=120)
    first = draws(model, classes, X, y, sampler=sampler, n_draws=50)
    second = draws(model, classes, X, y, sampler=sampler, n_draws=70, state=first["state"])
    for key in whole.keys() - {"state", "step_size"}:
        np.testing.assert_array_equal(np.concatenate([first[key], second[key]], axis=1), whole[key], err_msg=key)
    assert second["state"] == whole["state"]


@pytest.mark.parametrize(("model", "classes", "sampler"), COMBINATIONS)
def test_shapes_and_finite_values(model, classes, sampler):
    X, y = problem(model, classes)
    h, k = outputs(model, classes), X.shape[1]
    result = draws(model, classes, X, y, sampler=sampler, n_chains=3, n_draws=7)
    for key in ("coef", "log_lambda"):
        assert result[key].shape == (3, 7, h, k)
    assert result["intercept"].shape == (3, 7, h)
    for key in ("log_tau", "log_c2", "accept", "divergent", "treedepth", "n_leapfrog"):
        assert result[key].shape == (3, 7)
    assert result["divergent"].dtype == bool
    assert result["step_size"].shape == (3,)
    assert ("sigma" in result) == (model == "gaussian")
    assert all(np.isfinite(value).all() for key, value in result.items() if key != "state")


def hard_cases():
    rng = np.random.default_rng(7)
    n = 20
    y = np.repeat([0.0, 1.0], n // 2)
    noise = rng.normal(size=(n, 3))
    yield "separated", np.c_[y * 4 - 2, noise], y
    yield "constant column", np.c_[np.ones(n), noise], y
    yield "duplicated rows", np.repeat(noise[:4], 5, axis=0), y
    yield "one class", noise, np.zeros(n)
    yield "more features than samples", rng.normal(size=(n, 40)), y
    yield "huge units", 1e6 * np.c_[y * 4 - 2, noise], y
    yield "tiny units", 1e-6 * np.c_[y * 4 - 2, noise], y
    yield "all zero", np.zeros((n, 2)), y
    yield "two samples", np.array([[1.0], [-1.0]]), np.array([0.0, 1.0])


@pytest.mark.grid(5)
@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
@pytest.mark.parametrize("model", ["logistic", "softmax", "gaussian"])
@pytest.mark.parametrize(("X", "y"), [pytest.param(X, y, id=name) for name, X, y in hard_cases()])
def test_hard_data_give_finite_draws(model, sampler, X, y):
    start = time.perf_counter()
    result = draws(model, 2, X, y, sampler=sampler, n_chains=2, n_warmup=150, n_draws=50)
    assert all(np.isfinite(value).all() for key, value in result.items() if key != "state")
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.zeros(5)}, "number of samples"),
        ({"X": np.full((23, 7), np.nan)}, "not finite"),
        ({"y": np.full(23, 3.0)}, "class numbers"),
        ({"y": np.full(23, np.nan)}, "not finite"),
        ({"X": np.zeros((1, 7)), "y": np.zeros(1)}, "two samples"),
        ({"X": np.zeros((23, 0))}, "one feature"),
        ({"tau0": 0.0}, "tau0"),
        ({"n_classes": 3}, "two classes"),
        ({"sampler": "gibbs"}, "unknown"),
        ({"n_chains": 0}, "n_chains"),
        ({"target_accept": 1.0}, "target_accept"),
        ({"state": b"x"}, "state"),
    ],
)
def test_bad_arguments_give_clear_errors(changes, message):
    X, y = problem("logistic", 2)
    arguments = {"X": X, "y": y, "n_classes": 2, "tau0": 0.1, **changes}
    with pytest.raises(ValueError, match=message):
        engine.sample("logistic", arguments.pop("X"), arguments.pop("y"), **arguments)


def test_a_state_fits_its_own_problem_only():
    X, y = problem("logistic", 2)
    state = draws("logistic", 2, X, y)["state"]
    for wrong in ({"X": X[:, :3]}, {"sampler": "blocked"}):
        with pytest.raises(ValueError, match="state"):
            draws("logistic", 2, wrong.pop("X", X), y, state=state, **wrong)
    with pytest.raises(ValueError, match="state"):
        draws("logistic", 2, X, y, state=state[:-8])


def test_interrupt_stops_sampling():
    code = (
        "import numpy as np, ispca._engine as e, signal, threading, os\n"
        "X = np.random.default_rng(0).normal(size=(500, 50)); y = (X[:, 0] > 0).astype(float)\n"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try: e.sample('logistic', X, y, tau0=0.01, n_draws=50000)\n"
        "except KeyboardInterrupt: print('stopped')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert run.stdout.strip() == "stopped"
