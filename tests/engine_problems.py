"""Small problems for the engine, its draws, and densities written down from the formulas."""

import numpy as np
from scipy.special import loggamma

from ispca.foundation.extras import load_engine

engine = load_engine()


def problem(model, classes, n=23, k=7, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, k)) + 0.3
    if model == "gaussian":
        return X, rng.normal(size=n) + X[:, 0]
    if model in ("poisson", "negative_binomial"):
        return X, rng.poisson(np.exp(0.5 * X[:, 0] / scale)).astype(float)
    if model == "cox":  # times of events, minus times of censoring, many of them tied
        time = np.ceil(rng.exponential(4 * np.exp(-0.5 * X[:, 0] / scale)))
        return X, np.where(np.r_[True, rng.uniform(size=n - 1) < 0.6], time, -time)
    return X, rng.permutation(np.arange(n) % classes).astype(float)


def draws(model, classes, X, y, **kwargs):
    settings = {"n_classes": classes, "tau0": 0.1, "n_warmup": 200, "n_draws": 100, "seed": 5, **kwargs}
    return engine.sample(model, X, y, **settings)


def intercepts(model, classes):
    return 0 if model in ("cox", "ordinal") else outputs(model, classes)


def outputs(model, classes):
    return classes if model == "softmax" else 1


def extras(model, classes):
    """Return how many parameters the family has besides intercepts and coefficients."""
    return {"gaussian": 1, "ordinal": classes - 1, "negative_binomial": 1}.get(model, 0)


def size_of(model, classes, k, fixed=0):
    """Return the number of parameters with k columns, of which some are fixed (unpenalized)."""
    h = outputs(model, classes)
    return intercepts(model, classes) + 2 * h * k - h * fixed + 2 + extras(model, classes)


def log1pexp(x):
    positive = x.real > 0
    return np.where(positive, x, 0) + np.log(1 + np.exp(np.where(positive, -x, x)))


def thresholds_of(extra):
    return np.cumsum(np.concatenate([extra[:1], np.exp(extra[1:])]))


def extra_prior(model, extra, intercept_scale, sigma_scale):
    """Return the log prior density of the extra parameters."""
    if model == "gaussian" and sigma_scale:
        return extra[0] - 2 * np.log(1 + np.exp(2 * extra[0]) / (3 * sigma_scale**2))
    if model == "ordinal":  # normal thresholds, and the Jacobian of their gaps
        return -(thresholds_of(extra) ** 2).sum() / (2 * intercept_scale**2) + extra[1:].sum()
    if model == "negative_binomial":
        return -((extra[0] / 2) ** 2) / 2
    return 0.0


def partial_likelihood(y, f, weights):
    """Return Cox's log partial likelihood: Efron's ties, a weight standing for so many copies of a sample."""
    w, time, event, value = np.broadcast_to(weights, y.shape), np.abs(y), y > 0, 0.0
    for t in np.unique(time[event]):
        at_risk, tied = time >= t, event & (time == t)
        top = f.real[at_risk].max()
        R, D = ((w[rows] * np.exp(f[rows] - top)).sum() for rows in (at_risk, tied))
        m = w[tied].sum()
        if m == np.floor(m):
            logs = sum(np.log(R - part * D / m) for part in range(int(m)))
        else:
            logs = m * np.log(D / m) + loggamma(m * R / D + 1) - loggamma(m * R / D - m + 1)
        value += (w[tied] * (f[tied] - top)).sum() - logs
    return value


def log_likelihood(model, y, f, extra, weights=1.0):
    """Return the log likelihood of predictors f (samples x outputs) without tricks; they may be complex."""
    if model == "cox":
        return partial_likelihood(y, f[:, 0], weights)
    if model == "gaussian":
        log_sigma = extra[0]
        terms = -log_sigma - (y - f[:, 0]) ** 2 / (2 * np.exp(2 * log_sigma))
    elif model == "logistic":
        terms = -log1pexp(-(2 * y - 1) * f[:, 0])
    elif model == "ordinal":
        thresholds = np.concatenate([[-1e4], thresholds_of(extra), [1e4]])
        upper, lower = (thresholds[y.astype(int) + i] - f[:, 0] for i in (1, 0))
        terms = np.log(1 - np.exp(lower - upper)) - log1pexp(-upper) - log1pexp(lower)
    elif model == "negative_binomial":
        phi, mu = np.exp(extra[0]), np.exp(f[:, 0])
        terms = loggamma(y + phi) - loggamma(phi) + phi * np.log(phi) + y * f[:, 0] - (y + phi) * np.log(mu + phi)
    elif model == "poisson":
        terms = y * f[:, 0] - np.exp(f[:, 0])
    else:
        top = f.real.max(1, keepdims=True)
        terms = np.take_along_axis(f - top, y.astype(int)[:, None], 1)[:, 0] - np.log(np.exp(f - top).sum(1))
    return (weights * terms).sum()


def log_density(
    model,
    classes,
    X,
    y,
    q,
    *,
    tau0=0.05,
    slab_df=4.0,
    slab_scale=5.0,
    intercept_scale=10.0,
    sigma_scale=0.0,
    weights=1.0,
    offset=0.0,
    unpenalized=None,
):
    """Return the log density under the horseshoe prior, without tricks; q may be complex (complex-step slopes)."""
    k, h = X.shape[1], outputs(model, classes)
    scale = np.tile(np.zeros(k) if unpenalized is None else unpenalized, h)
    p, fixed = int((scale == 0).sum()), scale > 0
    sizes = np.cumsum([intercepts(model, classes), p, p, 1, 1, extras(model, classes)])
    b0, z, eta, t, g, extra, u = np.split(q, sizes)
    t, g = t[0], g[0]
    log_sigma = extra[0] if model == "gaussian" else 0.0
    tau2, c2, local = np.exp(2 * (np.log(tau0) + log_sigma + t)), slab_scale**2 * np.exp(g), np.exp(2 * eta)
    beta = np.zeros(h * k, dtype=q.dtype)
    beta[~fixed] = z * np.sqrt(c2 * tau2 * local / (c2 + tau2 * local))
    beta[fixed] = u * scale[fixed]
    f = (b0 if b0.size else 0) + np.reshape(offset, (-1, 1)) + X @ beta.reshape(h, k).T

    prior = -(b0**2).sum() / (2 * intercept_scale**2) - (z**2).sum() / 2 - (u**2).sum() / 2
    prior += (eta - log1pexp(2 * eta)).sum() + t - log1pexp(2 * t) - slab_df / 2 * (g + np.exp(-g))
    prior += extra_prior(model, extra, intercept_scale, sigma_scale)
    return prior + log_likelihood(model, y, f, extra, weights)


def complex_step(function, q):
    """Return the gradient of a function that accepts complex numbers."""
    step = 1e-30
    return np.array([function(q + 1j * step * unit).imag / step for unit in np.eye(len(q))])


def standard_error(x):
    """Monte Carlo standard error of the mean of (chain, draw) values, from batch means."""
    means = x.reshape(x.shape[0] * 20, -1).mean(1)
    return means.std(ddof=1) / np.sqrt(means.size)


def z_scores(results, keys):
    """Compare means and 5, 50 and 95% quantiles of the draws of two runs; return one z-score for each."""
    scores = []
    for key in keys:
        flat = [r[key].reshape(*r[key].shape[:2], -1) for r in results]
        for i in range(flat[0].shape[2]):
            a, b = flat[0][..., i], flat[1][..., i]
            pooled = np.concatenate([a, b]).ravel()
            tests = [lambda x: x] + [lambda x, c=c: x < c for c in np.quantile(pooled, [0.05, 0.5, 0.95])]
            for test in tests:
                u, v = test(a).astype(float), test(b).astype(float)
                scores.append((u.mean() - v.mean()) / np.hypot(standard_error(u), standard_error(v)))
    return np.array(scores)
