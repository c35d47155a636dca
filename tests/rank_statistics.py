"""Simulation-based calibration: the rank of what the prior drew among the draws of the posterior.

Draw parameters from the prior, data from the parameters, and the posterior from the data: if the sampler
is exact, the rank of each drawn parameter among the (independent) posterior draws is uniform (Talts,
Betancourt, Simpson, Vehtari and Gelman, 2018). Used by tests/models/test_calibration.py (short) and
benchmarks/calibration.py (long).
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import log_expit, logsumexp

from ispca.foundation.extras import load_engine
from ispca.models.diagnostics import bulk_ess
from log_densities import LOG_DENSITIES

CLASSES = {
    "logistic": 2,
    "softmax": 3,
    "gaussian": 0,
    "poisson": 0,
    "cox": 0,
    "ordinal": 4,
    "negative_binomial": 0,
}
NUTS_ONLY = ("cox", "ordinal", "negative_binomial")
COUNTS = ("poisson", "negative_binomial")
WITHOUT_INTERCEPT = ("cox", "ordinal")
# The parameters of a model besides intercepts and coefficients.
EXTRA = {"gaussian": "sigma", "ordinal": "thresholds", "negative_binomial": "dispersion"}
PRIORS = ("horseshoe", "ridge")
COMBINATIONS = [
    (model, sampler) for model in CLASSES for sampler in (("nuts",) if model in NUTS_ONLY else ("nuts", "blocked"))
]
# Standard deviation of an observation in units of the linear predictor; 2 elsewhere.
DEVIATIONS = {"gaussian": 1.0, "poisson": 1.0, "negative_binomial": 1.0}
# Constants of the prior that are not the defaults: they keep counts small and all ordered classes frequent.
SMALL_COUNTS = {"slab_scale": 0.5, "intercept_scale": 1.0}
CONSTANTS = {"poisson": SMALL_COUNTS, "negative_binomial": SMALL_COUNTS, "ordinal": {"intercept_scale": 2.0}}
N_CHAINS = 3
# With 99 draws there are 100 ranks, which fill 20 bins (or 10) evenly.
N_KEPT = 99


@dataclass(frozen=True)
class Simulated:
    """Data from one draw of the prior."""

    model: str
    X: np.ndarray
    y: np.ndarray
    prior: dict
    truth: dict


def draw_prior(rng, model, K, prior):
    """Draw all parameters; shapes are those of the engine's draws, without chain and draw."""
    shape = (max(CLASSES[model], 1) if model == "softmax" else 1, K)
    df, slab = prior["slab_df"], prior["slab_scale"]
    # Half-Student-t with 3 degrees of freedom; the other models have no noise.
    sigma = abs(stats.t.rvs(3, scale=prior["sigma_scale"], random_state=rng)) if model == "gaussian" else 1.0
    tau = prior["tau0"] * sigma * abs(rng.standard_cauchy())
    extra = {"sigma": sigma} if model == "gaussian" else {}
    if model == "ordinal":
        extra["thresholds"] = np.sort(rng.normal(0, prior["intercept_scale"], CLASSES[model] - 1))
    if model == "negative_binomial":
        extra["dispersion"] = np.exp(rng.normal(0, 2))
    if prior["prior"] == "ridge":
        intercept, coef = rng.normal(0, prior["intercept_scale"], shape[0]), tau * rng.normal(size=shape)
        return {"intercept": intercept, "coef": coef, "log_tau": np.log(tau)} | extra
    local = np.abs(rng.standard_cauchy(shape))
    c2 = stats.invgamma.rvs(df / 2, scale=df * slab**2 / 2, random_state=rng)
    scale = np.sqrt(c2 * (tau * local) ** 2 / (c2 + (tau * local) ** 2))
    truth = {
        "intercept": rng.normal(0, prior["intercept_scale"], shape[0]),
        "coef": scale * rng.normal(size=shape),
        "log_lambda": np.log(local),
        "log_tau": np.log(tau),
        "log_c2": np.log(c2),
    }
    return truth | extra


def simulate(model, index, wide=False, prior="horseshoe"):
    """Simulate data set number ``index``: 15 to 30 samples of 2 to 4 features, intercepts small and large.

    ``wide`` asks for 4 to 8 samples of 9 to 12 features, for which the Gaussian model has its own algebra.
    """
    rng = np.random.default_rng([20180409, index])
    n, K = int(rng.integers(15, 31)), int(rng.integers(2, 5))
    if wide:
        n, K = int(rng.integers(4, 9)), int(rng.integers(9, 13))
    deviation = DEVIATIONS.get(model, 2.0)
    constants = {
        "prior": prior,
        # The rules of the estimators, with p0 = 1 and features of unit variance.
        "tau0": deviation / np.sqrt(K) if prior == "ridge" else deviation / (K - 1) / np.sqrt(n),
        "slab_df": 4.0,
        "slab_scale": 5.0,
        # 10 is the default, but leaves most data sets with a single class.
        "intercept_scale": (10.0, 1.5)[index % 2],
        "sigma_scale": 1.0 if model == "gaussian" else 0.0,
    } | CONSTANTS.get(model, {})
    while True:
        truth = draw_prior(rng, model, K, constants)
        X = rng.normal(size=(n, K)).astype(np.float32).astype(float)
        y = simulate_response(rng, model, truth["intercept"] + X @ truth["coef"].T, truth)
        if is_usable(model, y):
            return Simulated(model, X, y, constants, truth)


def is_usable(model, y):
    """Return whether the engine can sample the data; a condition on y alone leaves the ranks uniform.

    Ordered classes need a sample each, and large counts would need the engine's double precision.
    """
    return len(np.unique(y)) == CLASSES[model] if model == "ordinal" else model not in COUNTS or y.max() <= 10_000


def simulate_response(rng, model, eta, truth):
    """Draw y given the linear predictors, in the form that the engine takes."""
    if model == "gaussian":
        return rng.normal(eta[:, 0], truth["sigma"])
    if model == "logistic":
        return (np.log(rng.uniform(size=len(eta))) < log_expit(eta[:, 0])).astype(float)
    if model in COUNTS:
        mean = np.exp(eta[:, 0])
        if model == "negative_binomial":
            mean *= rng.gamma(truth["dispersion"], 1 / truth["dispersion"], size=len(eta))
        # Larger means overflow; such data are not used.
        return rng.poisson(np.minimum(mean, 1e9)).astype(float)
    if model == "cox":
        return simulate_order(rng, eta[:, 0])
    if model == "ordinal":
        latent = eta[:, 0] - truth["intercept"] + rng.logistic(size=len(eta))
        return np.searchsorted(truth["thresholds"], latent).astype(float)
    return np.argmax(eta + rng.gumbel(size=eta.shape), axis=1).astype(float)


def simulate_order(rng, eta):
    """Draw signed times of events (positive) and of censoring (negative) whose likelihood is Cox's partial one.

    After each event, a random sample is censored with probability 0.3, whatever its hazard. There are no ties, for
    which Efron's likelihood is an approximation.
    """
    order = list(np.argsort(-eta - rng.gumbel(size=len(eta))))
    y, time = np.empty(len(eta)), 0
    while order:
        time += 1
        y[order.pop(0)] = time
        if order and rng.uniform() < 0.3:
            y[order.pop(rng.integers(len(order)))] = -time - 0.5
    return y


def quantities(data, draws):
    """Return what is ranked, by name, for draws with any leading axes."""
    coef = np.asarray(draws["coef"])
    found = {} if data.model in WITHOUT_INTERCEPT else {"intercept": np.asarray(draws["intercept"])[..., 0]}
    found |= {"coefficient 1": coef[..., 0, 0], "coefficient 2": coef[..., 0, 1]}
    local = data.prior["prior"] == "horseshoe"
    if local:
        found["log lambda"] = draws["log_lambda"][..., 0, 0]
    found["log tau"] = draws["log_tau"]
    if local:
        found["log c2"] = draws["log_c2"]
    if data.model == "softmax":
        found["contrast"] = coef[..., 0, 0] - coef[..., 1, 0]
    if data.model == "ordinal":
        found |= {f"threshold {k + 1}": draws["thresholds"][..., k] for k in range(CLASSES["ordinal"] - 1)}
    elif data.model in EXTRA:
        found[f"log {EXTRA[data.model]}"] = np.log(draws[EXTRA[data.model]])
    found["log likelihood"] = log_likelihood(data, coef, draws)
    return found


def log_likelihood(data, coef, draws):
    """Return the log likelihood of all samples, for each draw."""
    eta = np.einsum("ik,...hk->...ih", data.X, coef)
    if data.model not in WITHOUT_INTERCEPT:
        eta += np.asarray(draws["intercept"])[..., None, :]
    extra = np.asarray(draws[EXTRA[data.model]]) if data.model in EXTRA else None
    if data.model == "gaussian":
        return stats.norm.logpdf(data.y, eta[..., 0], extra[..., None]).sum(-1)
    if data.model == "logistic":
        return log_expit((2 * data.y - 1) * eta[..., 0]).sum(-1)
    if data.model == "softmax":
        return (eta[..., np.arange(len(data.y)), data.y.astype(int)] - logsumexp(eta, axis=-1)).sum(-1)
    return LOG_DENSITIES[data.model](eta[..., 0], data.y, extra).sum(axis=-1)


def rank_one(data, sampler, seed, *, n_warmup, thin, target_accept=0.9, **wrong):
    """Sample the posterior of one data set; return ranks, bulk ESS of all draws, and the divergent share.

    ``wrong`` replaces constants of the prior: what a test must notice.
    """
    result = load_engine().sample(
        data.model,
        data.X,
        data.y,
        n_classes=CLASSES[data.model],
        sampler=sampler,
        n_chains=N_CHAINS,
        n_warmup=n_warmup,
        n_draws=thin * N_KEPT // N_CHAINS,
        target_accept=target_accept,
        seed=seed,
        **(data.prior | wrong),
    )
    drawn, truth = quantities(data, result), quantities(data, data.truth)
    rng = np.random.default_rng(seed)
    ranks = {name: rank(truth[name], drawn[name][:, thin - 1 :: thin], rng) for name in truth}
    ess = bulk_ess(np.stack(list(drawn.values()), axis=-1))
    return ranks, dict(zip(drawn, ess, strict=True)), result["divergent"].mean()


def rank(value, draws, rng):
    """Return how many draws lie below the value; ties are broken at random."""
    return int((draws < value).sum() + rng.integers(0, (draws == value).sum() + 1))


def uniformity(ranks, n_bins):
    """Return the histogram of the ranks and the chi-square p-value of uniformity."""
    counts = np.bincount(np.asarray(ranks) * n_bins // (N_KEPT + 1), minlength=n_bins)
    return counts, stats.chisquare(counts).pvalue
