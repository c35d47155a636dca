"""Draws from the posterior of a Bayesian model, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from .._array_types import Floats, Mask
from ..families import FAMILIES, Family

# Linear predictors are computed in blocks of about this many numbers.
BLOCK_NUMBERS = 2**21


@dataclass(frozen=True)
class Posterior:
    """Posterior draws, chain and draw first.

    Attributes
    ----------
    family : {"gaussian", "binomial", "multinomial"}
        Distribution of the target. Only multinomial draws have a class axis.
    intercept : ndarray of shape (chain, draw) or (chain, draw, class)
        Intercepts.
    coef : ndarray of shape (chain, draw, feature) or (chain, draw, class, feature)
        Coefficients.
    tau : ndarray of shape (chain, draw)
        Global scale.
    slab : ndarray of shape (chain, draw) or None
        Scale c of the slab, only under the horseshoe prior.
    local_scale : ndarray, shaped like coef, or None
        The lambda of each coefficient, only under the horseshoe prior.
    sigma : ndarray of shape (chain, draw) or None
        Noise standard deviation of a Gaussian model.
    divergent : ndarray of shape (chain, draw)
        Whether the transition to the draw diverged.
    """

    family: str
    intercept: Floats
    coef: Floats
    tau: Floats
    slab: Floats | None
    local_scale: Floats | None
    divergent: Mask
    sigma: Floats | None = None

    @classmethod
    def from_engine(cls, result: dict[str, Any], family: Family) -> Posterior:
        """Name and shape what the engine returns; a single output has no class axis."""

        def shaped(draws: Floats) -> Floats:
            return draws if family.per_class else draws[:, :, 0]

        return cls(
            family=family.name,
            intercept=shaped(result["intercept"]),
            coef=shaped(result["coef"]),
            tau=np.exp(result["log_tau"]),
            slab=np.exp(0.5 * result["log_c2"]) if "log_c2" in result else None,
            local_scale=np.exp(shaped(result["log_lambda"])) if "log_lambda" in result else None,
            divergent=result["divergent"],
            sigma=result.get("sigma"),
        )

    def extended(self, other: Posterior) -> Posterior:
        """Append later draws of the same chains."""
        joined: dict[str, Any] = {
            field.name: np.concatenate([getattr(self, field.name), getattr(other, field.name)], axis=1)
            for field in fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        return replace(self, **joined)

    def rescaled(self, center: float, spread: float) -> Posterior:
        """Return the posterior of a Gaussian model for ``center + spread * y`` in place of y."""
        assert self.sigma is not None
        return replace(
            self,
            intercept=center + spread * self.intercept,
            coef=spread * self.coef,
            tau=spread * self.tau,
            slab=None if self.slab is None else spread * self.slab,
            sigma=spread * self.sigma,
        )

    def contrasts(self) -> tuple[Floats, Floats]:
        """Return coefficients and intercepts; if there is one for each class, relative to the average class.

        A shift common to all classes changes no prediction and mixes slowly.
        """
        if not FAMILIES[self.family].per_class:
            return self.coef, self.intercept
        coef, intercept = self.coef, self.intercept
        return coef - coef.mean(axis=2, keepdims=True), intercept - intercept.mean(axis=2, keepdims=True)

    @property
    def n_draws(self) -> int:
        """Draws in all chains."""
        return int(self.tau.size)

    def flat(self, name: str) -> Floats:
        """Return the draws of one field, one chain after the other."""
        draws = getattr(self, name)
        return draws.reshape(self.n_draws, *draws.shape[2:])

    def linear_predictor(self, Z: Floats) -> Floats:
        """Return the linear predictor, shape (n, draw) or (n, draw, class)."""
        product = np.tensordot(Z, self.flat("coef"), axes=(1, -1))
        product += self.flat("intercept")
        return product

    def blocks(self, Z: Floats) -> Iterator[slice]:
        """Split the samples so that their linear predictors fit into memory."""
        numbers = self.flat("intercept").size
        rows = max(1, BLOCK_NUMBERS // numbers)
        return (slice(start, start + rows) for start in range(0, len(Z), rows))


def log_likelihood(posterior: Posterior, Z: Floats, y: Any) -> Floats:
    """Return log p(y_i | draw), shape (n, draw); y holds class numbers, or values for a Gaussian model."""
    eta = posterior.linear_predictor(Z)
    sigma = None if posterior.sigma is None else posterior.flat("sigma")
    return FAMILIES[posterior.family].log_likelihood(eta, y, sigma)


def log_predictive_density(posterior: Posterior, Z: Floats, y: Any) -> Floats:
    """Return the log of the predictive density of each sample, averaged over the draws."""
    parts = [
        logsumexp(log_likelihood(posterior, Z[part], y[part]), axis=1) - np.log(posterior.n_draws)
        for part in posterior.blocks(Z)
    ]
    return np.concatenate(parts)
