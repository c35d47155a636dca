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

from ispca._engine_loader import load_engine
from ispca.models.diagnostics import bulk_ess

CLASSES = {"logistic": 2, "softmax": 3, "gaussian": 0, "poisson": 0, "cox": 0}
PRIORS = ("horseshoe", "ridge")
# Models with two samplers, and with NUTS alone.
BOTH = ("logistic", "softmax", "gaussian")
COMBINATIONS = [(model, sampler) for model in BOTH for sampler in ("nuts", "blocked")]
NUTS_ONLY = ("poisson", "cox")
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
    noise = {"sigma": sigma} if model == "gaussian" else {}
    if prior["prior"] == "ridge":
        intercept, coef = rng.normal(0, prior["intercept_scale"], shape[0]), tau * rng.normal(size=shape)
        return {"intercept": intercept, "coef": coef, "log_tau": np.log(tau)} | noise
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
    return truth | noise


def simulate(model, index, wide=False, prior="horseshoe"):
    """Simulate data set number ``index``: 15 to 30 samples of 2 to 4 features, intercepts small and large.

    ``wide`` asks for 4 to 8 samples of 9 to 12 features, for which the Gaussian model has its own algebra.
    """
    rng = np.random.default_rng([20180409, index])
    n, K = int(rng.integers(15, 31)), int(rng.integers(2, 5))
    if wide:
        n, K = int(rng.integers(4, 9)), int(rng.integers(9, 13))
    deviation = 1.0 if model in ("gaussian", *NUTS_ONLY) else 2.0
    constants = {
        "prior": prior,
        # The rules of the estimators, with p0 = 1 and features of unit variance.
        "tau0": deviation / np.sqrt(K) if prior == "ridge" else deviation / (K - 1) / np.sqrt(n),
        "slab_df": 4.0,
        # Counts grow exponentially with the coefficients, and beyond 1e15 the engine takes none.
        "slab_scale": 0.5 if model in NUTS_ONLY else 5.0,
        # 10 is the default, but leaves most data sets with a single class.
        "intercept_scale": (10.0, 1.5)[index % 2] if model not in NUTS_ONLY else 1.0,
        "sigma_scale": 1.0 if model == "gaussian" else 0.0,
    }
    truth = draw_prior(rng, model, K, constants)
    if model == "cox":
        truth["intercept"] *= 0
    X = rng.normal(size=(n, K)).astype(np.float32).astype(float)
    eta = truth["intercept"] + X @ truth["coef"].T
    if model == "gaussian":
        y = rng.normal(eta[:, 0], truth["sigma"])
    elif model == "cox":
        y = censored_times(rng, rng.exponential(np.exp(-eta[:, 0])))
    elif model == "poisson":
        y = rng.poisson(np.exp(eta[:, 0])).astype(float)
    elif model == "logistic":
        y = (np.log(rng.uniform(size=n)) < log_expit(eta[:, 0])).astype(float)
    else:
        y = np.argmax(eta + rng.gumbel(size=eta.shape), axis=1).astype(float)
    return Simulated(model, X, y, constants, truth)


def censored_times(rng, times):
    """Return times that are observed up to a random number of events; the rest is censored, with negative times.

    The partial likelihood is then the probability of the order in which the samples have their events, so that it
    gives an exact posterior (Kalbfleisch and Prentice, 1973).
    """
    end = np.sort(times)[rng.integers(len(times) // 2, len(times))]
    return np.where(times <= end, times, -end)


def partial_log_likelihood(y, eta):
    """Return the log partial likelihood of times without ties, for predictors with any leading axes."""
    order = np.lexsort((y > 0, -np.abs(y)))  # by decreasing time; of equal times, events come last
    sums = np.logaddexp.accumulate(eta[..., order], axis=-1)
    return ((eta[..., order] - sums) * (y[order] > 0)).sum(-1)


def quantities(data, draws):
    """Return what is ranked, by name, for draws with any leading axes."""
    coef, intercept = np.asarray(draws["coef"]), np.asarray(draws["intercept"])
    found = {} if data.model == "cox" else {"intercept": intercept[..., 0]}
    found |= {"coefficient 1": coef[..., 0, 0], "coefficient 2": coef[..., 0, 1]}
    local = data.prior["prior"] == "horseshoe"
    if local:
        found["log lambda"] = draws["log_lambda"][..., 0, 0]
    found["log tau"] = draws["log_tau"]
    if local:
        found["log c2"] = draws["log_c2"]
    if data.model == "softmax":
        found["contrast"] = coef[..., 0, 0] - coef[..., 1, 0]
    if data.model == "gaussian":
        found["log sigma"] = np.log(draws["sigma"])
    found["log likelihood"] = log_likelihood(data, intercept, coef, draws.get("sigma"))
    return found


def log_likelihood(data, intercept, coef, sigma):
    eta = intercept[..., None, :] + np.einsum("ik,...hk->...ih", data.X, coef)
    if data.model == "gaussian":
        return stats.norm.logpdf(data.y, eta[..., 0], np.asarray(sigma)[..., None]).sum(-1)
    if data.model == "cox":
        return partial_log_likelihood(data.y, eta[..., 0])
    if data.model == "poisson":
        return stats.poisson.logpmf(data.y, np.exp(eta[..., 0])).sum(-1)
    if data.model == "logistic":
        return log_expit((2 * data.y - 1) * eta[..., 0]).sum(-1)
    return (eta[..., np.arange(len(data.y)), data.y.astype(int)] - logsumexp(eta, axis=-1)).sum(-1)


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
