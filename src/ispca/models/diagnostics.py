"""Convergence of the chains: rank-normalized split R-hat, bulk and tail effective sample size.

Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16(2). All functions take
draws of shape (chain, draw, quantity).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft, special
from scipy.stats import rankdata

from ..foundation.arrays import Floats

LARGEST_R_HAT = 1.01
SMALLEST_ESS = 400
# A larger fraction of divergent transitions means that the step size was too large for the posterior.
LARGEST_DIVERGENT_FRACTION = 0.005


@dataclass(frozen=True)
class Diagnostics:
    """How reliable the draws are.

    Attributes
    ----------
    r_hat, bulk_ess, tail_ess : ndarray
        One value per quantity: coefficients (contrasts between classes), intercepts or thresholds, log tau, the
        noise or dispersion, and the log predictive density of the training data.
    quantities : tuple of str
        Their names.
    n_draws : int
        Draws in all chains.
    n_divergent : int
        Divergent transitions among them.
    sampler : str
        The sampler that drew them.
    target_accept : float
        Its target acceptance rate.
    """

    r_hat: Floats
    bulk_ess: Floats
    tail_ess: Floats
    quantities: tuple[str, ...]
    n_draws: int
    n_divergent: int
    sampler: str
    target_accept: float

    @property
    def converged(self) -> bool:
        """Whether R-hat, effective sample size and divergences are all within their limits."""
        few_divergent = self.n_divergent <= LARGEST_DIVERGENT_FRACTION * self.n_draws
        return bool(self.r_hat.max() <= LARGEST_R_HAT and self.bulk_ess.min() >= SMALLEST_ESS and few_divergent)

    @property
    def largest_r_hat(self) -> str:
        """The largest R-hat, with the digits that show on which side of the limit it lies."""
        value = float(self.r_hat.max())
        return f"{value:.{5 if abs(value - LARGEST_R_HAT) < 0.0005 else 3}f}"

    @property
    def summary(self) -> str:
        """The verdict in one sentence."""
        worst = self.quantities[int(np.argmax(self.r_hat))]
        verdict = "The chains have converged" if self.converged else "The chains have NOT converged"
        divergent = (
            "1 divergent transition" if self.n_divergent == 1 else f"{self.n_divergent} divergent transitions"
        )
        return (
            f"{verdict}: largest R-hat {self.largest_r_hat} ({worst}), smallest effective sample size "
            f"{self.bulk_ess.min():.0f} in the bulk and {self.tail_ess.min():.0f} in the tails of "
            f"{self.n_draws} draws, {divergent}."
        )

    def __str__(self) -> str:
        return self.summary


def split_chains(draws: Floats) -> Floats:
    """Cut every chain into halves; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def rank_normalize(draws: Floats) -> Floats:
    """Replace the draws of each quantity by the normal scores of their ranks over all chains."""
    n_chains, n_draws, n_quantities = draws.shape
    ranks = rankdata(draws.reshape(-1, n_quantities), axis=0).reshape(n_chains, n_draws, n_quantities)
    return special.ndtri((ranks - 0.375) / (n_chains * n_draws + 0.25))


def r_hat(draws: Floats) -> Floats:
    """Return the larger of the R-hats of location and of spread (folded draws)."""
    return r_hat_and_bulk_ess(draws)[0]


def r_hat_and_bulk_ess(draws: Floats) -> tuple[Floats, Floats]:
    """Return both, which use the same ranks."""
    halves = split_chains(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    ranks = rank_normalize(halves)
    return np.maximum(_plain_r_hat(ranks), _plain_r_hat(rank_normalize(folded))), _ess(ranks)


def _plain_r_hat(draws: Floats) -> Floats:
    n = draws.shape[1]
    between = n * draws.mean(axis=1).var(axis=0, ddof=1)
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    # A quantity that never moves has nothing to disagree about, unless every chain is stuck at its own value.
    ratio = np.divide(between, within, out=np.where(between > 0, np.inf, 1.0), where=within != 0)
    return np.sqrt((ratio + n - 1) / n)


def bulk_ess(draws: Floats) -> Floats:
    """Return the effective sample size for the center of the distribution."""
    return _ess(rank_normalize(split_chains(draws)))


def tail_ess(draws: Floats) -> Floats:
    """Return the smaller effective sample size of the 5% and 95% quantiles."""
    halves = split_chains(draws)
    low, high = np.quantile(draws, [0.05, 0.95], axis=(0, 1))
    return np.minimum(_ess((halves <= low).astype(float)), _ess((halves <= high).astype(float)))


def _ess(draws: Floats) -> Floats:
    """Return chains x draws over the integrated autocorrelation time (Geyer's monotone sequence)."""
    n_chains, n, _ = draws.shape
    covariance = autocovariance(draws).mean(axis=0)
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + (draws.mean(axis=1).var(axis=0, ddof=1) if n_chains > 1 else 0.0)
    still = np.ptp(draws, axis=(0, 1)) < np.finfo(np.float64).eps
    correlation = 1 - (within - covariance) / np.where(still, 1.0, total)
    correlation[0] = 1.0
    time = _autocorrelation_time(correlation)
    size = n_chains * n
    return np.where(still, size, size / np.maximum(time, 1 / np.log10(size)))


def _autocorrelation_time(correlation: Floats) -> Floats:
    """Sum the autocorrelations of each quantity up to where the sums of pairs turn negative."""
    n = len(correlation)
    n_pairs = max(1, (n - 3) // 2 + 1)
    pairs = correlation[: 2 * n_pairs].reshape(n_pairs, 2, -1).sum(axis=1)
    negative = pairs <= 0
    last = np.where(negative.any(axis=0), np.argmax(negative, axis=0), n_pairs - 1)
    monotone = np.minimum.accumulate(pairs, axis=0)
    counted = np.where(np.arange(n_pairs)[:, None] < last, monotone, 0.0).sum(axis=0)
    remainder = np.maximum(np.take_along_axis(correlation, 2 * last[None], axis=0)[0], 0.0)
    return -1 + 2 * counted + remainder


def autocovariance(draws: Floats) -> Floats:
    """Return the autocovariance of each chain and quantity at every lag."""
    n = draws.shape[1]
    size = fft.next_fast_len(2 * n, real=True)
    spectrum = fft.rfft(draws - draws.mean(axis=1, keepdims=True), size, axis=1)
    covariance: Floats = fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n] / n
    return covariance
