"""Log likelihoods of counts, survival times and ordered classes, written from their formulas.

Linear predictors have the shape (..., samples), and further parameters, such as the dispersion, the same leading
axes. The results have the shape of the linear predictors.
"""

import numpy as np
from scipy.special import gammaln, log_expit


def poisson(eta, y, extra=None):
    """Return log probabilities of counts with mean ``exp(eta)``."""
    return y * eta - np.exp(eta) - gammaln(y + 1)


def negative_binomial(eta, y, dispersion):
    """Return log probabilities of counts with mean mu = ``exp(eta)`` and variance ``mu + mu^2 / dispersion``."""
    phi = np.asarray(dispersion)[..., None]
    total = np.logaddexp(eta, np.log(phi))  # log(mu + phi)
    normalizer = gammaln(y + phi) - gammaln(phi) - gammaln(y + 1)
    return normalizer + y * (eta - total) + phi * (np.log(phi) - total)


def ordinal(eta, y, thresholds):
    """Return log probabilities of the classes 0, 1, ..., with ``P(y <= k) = expit(thresholds[k] - eta)``."""
    infinite = np.full((*np.shape(thresholds)[:-1], 1), np.inf)
    ends = np.concatenate([-infinite, thresholds, infinite], axis=-1)
    codes = np.asarray(y, dtype=int)
    upper, lower = ends[..., codes + 1] - eta, ends[..., codes] - eta
    # F(u) - F(l) = F(u) F(-l) (1 - exp(l - u))
    return log_expit(upper) + log_expit(-lower) + np.log(-np.expm1(lower - upper))


def cox(eta, y, extra=None):
    """Return the terms of Efron's partial likelihood; y is the time of an event, or minus that of censoring."""
    time, event = np.abs(y), y > 0
    order = np.argsort(-time, kind="stable")
    # Logarithms of the sums over the samples that leave last, ..., all samples.
    at_risk = np.logaddexp.accumulate(eta[..., order], axis=-1)
    ends = np.searchsorted(-time[order], -time, side="right") - 1
    terms = np.zeros_like(eta)
    for when in np.unique(time[event]):
        tied = np.flatnonzero(event & (time == when))
        total, own = at_risk[..., ends[tied[0]]], np.logaddexp.reduce(eta[..., tied], axis=-1)
        for rank, sample in enumerate(tied):
            left = np.log1p(-rank / len(tied) * np.exp(own - total))
            terms[..., sample] = eta[..., sample] - total - left
    return terms


LOG_DENSITIES = {"poisson": poisson, "negative_binomial": negative_binomial, "ordinal": ordinal, "cox": cox}
