"""Weights, offsets and unpenalized columns in the engine: what they do to densities and draws."""

import numpy as np
import pytest

from engine_problems import complex_step, draws, log_density, problem, size_of, z_scores
from ispca.foundation.extras import load_engine

engine = load_engine()
MODELS = [("logistic", 2), ("softmax", 3), ("gaussian", 0), ("poisson", 0)]
OFFSETS = [model for model in MODELS if model[0] != "softmax"]


def arguments(model, n, k, seed=3):
    """Return uneven weights, an offset where the model takes one, and two unpenalized columns."""
    rng = np.random.default_rng(seed)
    unpenalized = np.zeros(k)
    unpenalized[[0, k - 2]] = 0.7, 3.0
    # Weights above 1 on average would let more columns than samples fit y exactly, like duplicated rows.
    options = {"weights": rng.uniform(0.2, 1.6, n), "unpenalized": unpenalized}
    return options if model == "softmax" else options | {"offset": rng.normal(size=n)}


@pytest.mark.parametrize(("model", "classes"), MODELS)
@pytest.mark.parametrize(("n", "k"), [(23, 4), (5, 7), (1100, 3)])
def test_density_and_gradient_match_the_formulas(model, classes, n, k):
    X, y = problem(model, classes, n=n, k=k)
    options = {"tau0": 0.05, **arguments(model, n, k)}
    q = np.random.default_rng(1).normal(size=size_of(model, classes, k, fixed=2))
    zero = np.zeros_like(q)

    def exact(q):
        return log_density(model, classes, X, y, q, **options)

    base = engine.log_density(model, X, y, zero, n_classes=classes, **options)[0] - exact(zero)
    slopes = complex_step(exact, q)
    for kernel in engine.simd_available():
        for precision, tolerance in (("double", 1e-10), ("single", 3e-6)):
            engine_options = {"n_classes": classes, "kernel": kernel, "precision": precision, **options}
            value, gradient = engine.log_density(model, X, y, q, **engine_options)
            assert value - base == pytest.approx(exact(q), rel=tolerance)
            np.testing.assert_allclose(gradient, slopes, rtol=tolerance, atol=tolerance * np.abs(slopes).max())


@pytest.mark.parametrize(("model", "classes"), MODELS)
@pytest.mark.parametrize(("n", "k"), [(23, 4), (5, 7)])
def test_a_weight_is_a_number_of_copies_and_zero_leaves_out(model, classes, n, k):
    X, y = problem(model, classes, n=n, k=k)
    weights = np.arange(n) % 3 + 1.0
    copies = np.repeat(np.arange(n), weights.astype(int))
    rng = np.random.default_rng(2)
    zero, q = np.zeros(size_of(model, classes, k)), rng.normal(size=size_of(model, classes, k))
    options = {"n_classes": classes, "tau0": 0.2}
    if model != "softmax":
        options["offset"] = rng.normal(size=n)
    repeated = options | ({"offset": options["offset"][copies]} if "offset" in options else {})
    value, gradient = engine.log_density(model, X, y, q, weights=weights, **options)
    other, slopes = engine.log_density(model, X[copies], y[copies], q, **repeated)
    assert value == pytest.approx(other, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-10)

    # Rows of weight 0, whatever they hold, leave the same numbers behind.
    odd = np.r_[X, X[:2] + 9], np.r_[y, y[:2]], np.r_[np.ones(n), 0, 0]
    more = options | ({"offset": np.r_[options["offset"], 5, 5]} if "offset" in options else {})
    for point in (zero, q):
        plain = engine.log_density(model, X, y, point, **options)
        for data, w, o in ((odd[:2], odd[2], more), ((X, y), np.ones(n), options)):
            same = engine.log_density(model, *data, point, weights=w, **o)
            assert same[0] == plain[0]
            np.testing.assert_array_equal(same[1], plain[1])


@pytest.mark.parametrize(("model", "classes"), OFFSETS)
def test_an_offset_acts_like_a_known_part_of_the_predictor(model, classes):
    X, y = problem(model, classes, k=3)
    q = np.random.default_rng(4).normal(size=size_of(model, classes, 3))
    shifted = q.copy()
    shifted[0] += 0.8  # the intercept
    value = engine.log_density(model, X, y, q, n_classes=classes, tau0=0.1, offset=np.full(len(y), 0.8))[0]
    other = engine.log_density(model, X, y, shifted, n_classes=classes, tau0=0.1)[0]
    assert value == pytest.approx(other + (shifted[0] ** 2 - q[0] ** 2) / 200, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "classes", "n", "k"), [(*model, 150, 4) for model in MODELS] + [("gaussian", 0, 12, 15)]
)
def test_samplers_agree(model, classes, n, k):
    X, y = problem(model, classes, n=n, k=k, seed=8)
    settings = {"n_draws": 4000, "n_warmup": 600, "tau0": 0.3, "slab_scale": 1.0, "sigma_scale": 1.0}
    settings |= arguments(model, n, k)
    results = [draws(model, classes, X, y, sampler=s, **settings) for s in ("nuts", "blocked")]
    for result in results:
        assert not result["log_lambda"][..., [0, k - 2]].any()
        assert (result["log_lambda"][..., [1, k - 1]].std(axis=(0, 1)) > 0.1).all()
        if classes > 2:  # the common shift of the classes is not identified
            result["coef"] = result["coef"] - result["coef"].mean(2, keepdims=True)
    scores = z_scores(results, ("coef", "log_tau", "log_c2", *(["sigma"] if model == "gaussian" else [])))
    assert np.sqrt((scores**2).mean()) < 1.4
    assert np.abs(scores).max() < 5


@pytest.mark.grid(3)
@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
@pytest.mark.parametrize("prior", ["horseshoe", "ridge"])
def test_unpenalized_gaussian_coefficients_match_least_squares(sampler, prior):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2))
    y = X @ [4.0, -3.0] + 1 + rng.normal(size=200)
    wide = {"unpenalized": np.full(2, 1e3), "intercept_scale": 1e3, "prior": prior, "sampler": sampler}
    result = draws("gaussian", 0, X, y, n_draws=2000, tau0=1e-3, **wide)
    design = np.c_[np.ones(200), X]
    expected, rss = np.linalg.lstsq(design, y, rcond=None)[:2]
    deviation = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rss / 197)
    drawn = np.concatenate([result["intercept"], result["coef"][:, :, 0]], axis=2)
    np.testing.assert_allclose(drawn.mean((0, 1)), expected, atol=5e-3)
    np.testing.assert_allclose(drawn.std((0, 1)), deviation, rtol=0.1)


@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
def test_continuing_equals_one_go(sampler):
    X, y = problem("logistic", 2)
    options = {"sampler": sampler, **arguments("logistic", 23, 7)}
    whole = draws("logistic", 2, X, y, n_draws=60, **options)
    first = draws("logistic", 2, X, y, n_draws=20, **options)
    second = draws("logistic", 2, X, y, n_draws=40, state=first["state"], **options)
    np.testing.assert_array_equal(np.concatenate([first["coef"], second["coef"]], axis=1), whole["coef"])
    assert second["state"] == whole["state"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": np.ones(3)}, "one number per sample"),
        ({"weights": np.full(23, -1.0)}, "weights must be 0 or"),
        ({"weights": np.full(23, np.nan)}, "weights must be 0 or"),
        ({"weights": np.zeros(23)}, "all weights are 0"),
        ({"weights": np.eye(23)[0]}, "two samples"),
        ({"offset": np.ones(3)}, "one number per sample"),
        ({"offset": np.full(23, np.inf)}, "offset"),
        ({"unpenalized": np.ones(3)}, "one number per column"),
        ({"unpenalized": np.full(7, -1.0)}, "unpenalized"),
        ({"unpenalized": np.full(7, np.nan)}, "unpenalized"),
    ],
)
def test_bad_arguments_give_clear_errors(changes, message):
    X, y = problem("logistic", 2)
    with pytest.raises(ValueError, match=message):
        engine.sample("logistic", X, y, tau0=0.1, **changes)


def test_the_softmax_model_refuses_an_offset():
    X, y = problem("softmax", 3)
    with pytest.raises(ValueError, match="takes no offset"):
        draws("softmax", 3, X, y, offset=np.ones(len(y)))
