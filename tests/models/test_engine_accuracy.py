"""The engine's two samplers against each other and against quadrature."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from engine_problems import draws, problem, standard_error, z_scores
from ispca.foundation.extras import load_engine

engine = load_engine()


@pytest.mark.slow
@pytest.mark.parametrize(("model", "classes"), [("logistic", 2), ("softmax", 3), ("gaussian", 0)])
def test_samplers_agree(model, classes):
    X, y = problem(model, classes, n=150, k=4, seed=8)
    if model != "gaussian":
        y = np.where(X[:, 0] + np.random.default_rng(9).logistic(size=150) > 0.5, y, 0)
    results = [
        draws(model, classes, X, y, sampler=s, n_draws=4000, n_warmup=600, tau0=0.3) for s in ("nuts", "blocked")
    ]
    for result in results:
        if classes > 2:  # the common shift of the classes is not identified
            result["coef"] = result["coef"] - result["coef"].mean(2, keepdims=True)
    names = ("coef", "log_tau", "log_c2", "log_lambda", *(["sigma"] if model == "gaussian" else []))
    scores = z_scores(results, names)
    assert np.sqrt((scores**2).mean()) < 1.4
    assert np.abs(scores).max() < 5


def orthogonal_posterior(b, n, rss, tau0, slab, df):
    """Moments of beta_j in the Gaussian model with X^T X = n I, by quadrature.

    Given sigma, tau and c the coefficients are independent and each marginal likelihood is an integral
    over its local scale: b_j | s ~ N(0, sigma^2/n + s^2), with s the prior sd of beta_j.
    """
    nodes, weights = np.polynomial.legendre.leggauss(80)
    angle = np.pi / 4 * (nodes + 1)
    eta_local, w_local = np.log(np.tan(angle)), weights / weights.sum()  # half-Cauchy(1): lambda = tan(angle)
    t_grid = np.log(np.tan(np.pi / 4 * (np.polynomial.legendre.leggauss(60)[0] + 1)))
    t_weight = np.polynomial.legendre.leggauss(60)[1]
    u = (np.arange(40) + 0.5) / 40
    c2_grid = stats.invgamma.ppf(u, df / 2, scale=df * slab**2 / 2)
    centre = 0.5 * np.log(rss / n)
    s_grid = np.linspace(centre - 1.2, centre + 1.6, 60)
    log_sigma, t, c2 = np.meshgrid(s_grid, t_grid, c2_grid, indexing="ij")
    log_weight = np.log(np.broadcast_to(t_weight[None, :, None], t.shape)).copy()
    tau = tau0 * np.exp(log_sigma + t)
    v = np.exp(2 * log_sigma) / n
    # the data enter through the mean residual (intercept, nearly flat prior), rss and b
    log_weight += -(n - 1 - len(b)) * log_sigma - rss / (2 * np.exp(2 * log_sigma))
    product = tau[..., None] ** 2 * np.exp(2 * eta_local)
    s2 = c2[..., None] * product / (c2[..., None] + product)
    total = v[..., None] + s2
    first, second = [], []
    for value in b:
        like = w_local * np.exp(-0.5 * value**2 / total) / np.sqrt(total)
        evidence = like.sum(-1)
        shrink = s2 / total
        first.append((like * shrink * value).sum(-1) / evidence)
        second.append((like * (v[..., None] * shrink + (shrink * value) ** 2)).sum(-1) / evidence)
        log_weight += np.log(evidence)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = np.array([(weight * m).sum() for m in first])
    sd = np.sqrt(np.array([(weight * m).sum() for m in second]) - mean**2)
    return mean, sd, (weight * np.exp(log_sigma)).sum()


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
def test_gaussian_orthogonal_design_matches_quadrature(sampler):
    n, k, tau0 = 60, 5, 0.1
    rng = np.random.default_rng(10)
    Q = np.linalg.qr(np.c_[np.ones(n), rng.normal(size=(n, k))])[0][:, 1:]
    X = Q * np.sqrt(n)
    y = X @ np.array([1.0, 0.25, 0.0, 0.0, -0.1]) + 0.7 * rng.normal(size=n)
    y -= y.mean()
    b = X.T @ y / n
    rss = (y**2).sum() - n * (b**2).sum()
    mean, sd, sigma = orthogonal_posterior(b, n, rss, tau0, 5.0, 4.0)
    result = engine.sample(
        "gaussian", X, y, tau0=tau0, intercept_scale=1e4, n_warmup=500, n_draws=5000, seed=11, sampler=sampler
    )
    coef = result["coef"][:, :, 0]
    for j in range(k):
        assert abs(coef[..., j].mean() - mean[j]) < 4 * standard_error(coef[..., j]) + 1e-4
        squared = (coef[..., j] - mean[j]) ** 2
        assert abs(squared.mean() - sd[j] ** 2) < 4 * standard_error(squared) + 2e-3 * sd[j] ** 2
    assert abs(result["sigma"].mean() - sigma) < 4 * standard_error(result["sigma"]) + 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
def test_logistic_matches_quadrature_for_one_feature(sampler):
    X = np.array([[1.0], [2.0], [-1.0], [0.5], [-0.3], [-2.0]])
    y = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    result = engine.sample("logistic", X, y, tau0=1.0, n_warmup=500, n_draws=10000, seed=12, sampler=sampler)
    # prior of beta: mixture over tau, lambda (half-Cauchy quantiles) and c2; then a grid of beta and b0
    beta, b0 = np.linspace(-15, 25, 801), np.linspace(-12, 12, 121)
    u = (np.arange(60) + 0.5) / 60
    scale = np.tan(np.pi / 2 * u)
    c2 = stats.invgamma.ppf(u, 2, scale=50)
    product = (scale[:, None] * scale) ** 2
    s2 = (c2[:, None, None] * product / (c2[:, None, None] + product)).ravel()
    prior = np.array([np.mean(np.exp(-0.5 * v**2 / s2) / np.sqrt(s2)) for v in beta])
    f = b0[:, None, None] + beta[None, :, None] * X[:, 0]
    like = np.exp(-special.log1p(np.exp(-(2 * y - 1) * f)).sum(-1) - b0[:, None] ** 2 / 200) * prior
    # the prior has a pole at 0 that a grid cannot see; compare above a cut instead
    tail = beta > 0.5
    weight = integrate.trapezoid(like, b0, axis=0)[tail]
    drawn = result["coef"][..., 0, 0]
    above = drawn > 0.5
    expected = (weight * beta[tail]).sum() / weight.sum()
    values = np.where(above, drawn, 0.0)
    ratio = values.mean() / above.mean()
    assert ratio == pytest.approx(expected, abs=4 * standard_error(values) / above.mean() + 0.03)
