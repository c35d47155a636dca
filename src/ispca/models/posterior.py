"""Draws from the posterior of a Bayesian model, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..families import FAMILIES, Family
from ..families.piecewise_hazard import PiecewiseHazard
from ..foundation.arrays import Floats, Mask
from ..foundation.messages import count
from ..foundation.result_tables import MOST_ROWS, ResultTable, as_table, html_table
from .diagnostics import r_hat_and_bulk_ess, tail_ess

# Linear predictors are computed in blocks of about this many numbers.
BLOCK_NUMBERS = 2**21


@dataclass(frozen=True)
class Posterior:
    """Posterior draws, chain and draw first.

    Draws of a sampled posterior have all fields of their family and prior. Those of a projected one, which belong
    to a submodel, have no prior scales and form one chain.

    Attributes
    ----------
    family : {"gaussian", "binomial", "multinomial", "poisson", "negative-binomial", "cox", "ordinal"}
        Distribution of the target. Only multinomial draws have a class axis.
    intercept : ndarray of shape (chain, draw) or (chain, draw, class)
        Intercepts; zero for survival times and ordered classes.
    coef : ndarray of shape (chain, draw, feature) or (chain, draw, class, feature)
        Coefficients.
    tau : ndarray of shape (chain, draw) or None
        Global scale, only of sampled draws.
    slab : ndarray of shape (chain, draw) or None
        Scale c of the slab, only under the horseshoe prior.
    local_scale : ndarray, shaped like coef, or None
        The lambda of each coefficient, only under the horseshoe prior; 1 for unpenalized features.
    sigma : ndarray of shape (chain, draw) or None
        Noise standard deviation of a Gaussian model.
    dispersion : ndarray of shape (chain, draw) or None
        The phi of a negative-binomial model: the variance of a count of mean mu is ``mu + mu^2 / phi``.
    thresholds : ndarray of shape (chain, draw, class - 1) or None
        Thresholds between ordered classes.
    hazard : PiecewiseHazard or None
        Baseline hazard of survival times, with one row per draw, one chain after the other.
    divergent : ndarray of shape (chain, draw) or None
        Whether the transition to the draw diverged, only of sampled draws.
    """

    family: str
    intercept: Floats
    coef: Floats
    tau: Floats | None = None
    slab: Floats | None = None
    local_scale: Floats | None = None
    divergent: Mask | None = None
    sigma: Floats | None = None
    dispersion: Floats | None = None
    thresholds: Floats | None = None
    hazard: PiecewiseHazard | None = None

    @classmethod
    def from_engine(cls, result: dict[str, Any], family: Family) -> Posterior:
        """Name and shape what the engine returns; a single output has no class axis."""

        def shape(draws: Floats) -> Floats:
            return draws if family.per_class else draws[:, :, 0]

        return cls(
            family=family.name,
            intercept=shape(result["intercept"]),
            coef=shape(result["coef"]),
            tau=np.exp(result["log_tau"]),
            slab=np.exp(0.5 * result["log_c2"]) if "log_c2" in result else None,
            local_scale=np.exp(shape(result["log_lambda"])) if "log_lambda" in result else None,
            divergent=result["divergent"],
            **({family.extra: result[family.extra]} if family.extra in result else {}),
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
        assert self.tau is not None
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

        A shift common to all classes changes no prediction and mixes slowly. The intercept of ordered classes is
        that of the log odds of exceeding the lowest class.
        """
        if self.thresholds is not None:
            return self.coef, -self.thresholds[:, :, 0]
        if not FAMILIES[self.family].per_class:
            return self.coef, self.intercept
        coef, intercept = self.coef, self.intercept
        return coef - coef.mean(axis=2, keepdims=True), intercept - intercept.mean(axis=2, keepdims=True)

    @property
    def n_draws(self) -> int:
        """Draws in all chains."""
        n_chains, n_draws = self.intercept.shape[:2]
        return n_chains * n_draws

    def summary(self) -> ResultTable:
        """Return the mean, credible interval and convergence of each parameter.

        Returns
        -------
        table : recarray
            One row per parameter: ``parameter``, ``mean``, ``sd``, ``q5`` and ``q95`` (90% credible interval), and
            for sampled draws ``r_hat``, ``bulk_ess`` and ``tail_ess``. Coefficients come last, numbered from 0
            like the columns of X; with more than two classes the class comes first, and intercepts and
            coefficients are differences from the average class. Local scales are left out.
        """
        return posterior_table(self)

    def _repr_html_(self) -> str:
        return posterior_html(self)

    def flat(self, name: str) -> Floats:
        """Return the draws of one field, one chain after the other."""
        draws = getattr(self, name)
        return draws.reshape(self.n_draws, *draws.shape[2:])

    def extra(self) -> Any:
        """Return the draws that the likelihood needs beside the linear predictor, None if there are none."""
        name = FAMILIES[self.family].extra
        return self.flat(name) if isinstance(getattr(self, name, None), np.ndarray) else getattr(self, name, None)

    def linear_predictor(self, Z: Floats, offset: Floats | None = None) -> Floats:
        """Return the linear predictor, shape (n, draw) or (n, draw, class)."""
        product = np.tensordot(Z, self.flat("coef"), axes=(1, -1))
        product += self.flat("intercept")
        if offset is not None:
            product += offset[:, None]
        return product

    def blocks(self, Z: Floats) -> Iterator[slice]:
        """Split the samples so that their linear predictors fit into memory."""
        numbers = self.flat("intercept").size
        rows = max(1, BLOCK_NUMBERS // numbers)
        return (slice(start, start + rows) for start in range(0, len(Z), rows))


def part_of(offset: Floats | None, part: slice) -> Floats | None:
    """Return the offsets of some of the samples."""
    return None if offset is None else offset[part]


def log_likelihood(posterior: Posterior, Z: Floats, y: Any, offset: Floats | None = None) -> Floats:
    """Return log p(y_i | draw), shape (n, draw); y as the family of the posterior needs it."""
    eta = posterior.linear_predictor(Z, offset)
    return FAMILIES[posterior.family].log_likelihood(eta, y, posterior.extra())


def log_predictive_density(posterior: Posterior, Z: Floats, y: Any, offset: Floats | None = None) -> Floats:
    """Return the log of the predictive density of each sample, averaged over the draws."""
    parts = [
        logsumexp(log_likelihood(posterior, Z[part], y[part], part_of(offset, part)), axis=1)
        - np.log(posterior.n_draws)
        for part in posterior.blocks(Z)
    ]
    return np.concatenate(parts)


def posterior_table(posterior: Posterior, most: int | None = None) -> ResultTable:
    """Return one row per parameter, or for the first ones; local scales are left out."""
    draws = dict(islice(_parameters(_fields(posterior)), most))
    values = np.stack(list(draws.values()), axis=2)
    low, high = np.quantile(values, [0.05, 0.95], axis=(0, 1))
    columns: dict[str, Any] = {
        "parameter": np.array(list(draws)),
        "mean": values.mean(axis=(0, 1)),
        "sd": values.std(axis=(0, 1)),
        "q5": low,
        "q95": high,
    }
    # Projected draws are not a Markov chain, so they have no convergence to assess.
    if posterior.divergent is not None:
        columns["r_hat"], columns["bulk_ess"] = r_hat_and_bulk_ess(values)
        columns["tail_ess"] = tail_ess(values)
    return as_table(columns)


def posterior_html(posterior: Posterior) -> str:
    """Return the first parameters as HTML, under a heading that says what was sampled."""
    table = posterior_table(posterior, MOST_ROWS)
    shown = {"parameter": table["parameter"], "mean": table["mean"]}
    shown["90% interval"] = np.array([f"{row.q5:.3g} to {row.q95:.3g}" for row in table])
    if posterior.divergent is not None:
        shown["R-hat"] = np.array([f"{value:.3f}" for value in table["r_hat"]])
        shown["bulk ESS"], shown["tail ESS"] = (table[name].astype(int) for name in ("bulk_ess", "tail_ess"))
    n_left = sum(1 for _ in _parameters(_fields(posterior))) - len(table)
    remarks = [f"{count(n_left, 'more parameter')}; summary() has all of them."] if n_left else []
    if FAMILIES[posterior.family].per_class:
        remarks.append("Intercepts and coefficients are differences from the average class.")
    return html_table(shown, caption=_heading(posterior), remarks=remarks)


def _heading(posterior: Posterior) -> str:
    n_chains, n_draws = posterior.intercept.shape[:2]
    what = f"Posterior of a {posterior.family} model"
    if posterior.divergent is None:
        return f"{what}: {count(n_draws, 'projected draw')}"
    divergent = count(int(posterior.divergent.sum()), "divergent transition")
    return f"{what}: {count(n_chains, 'chain')} of {count(n_draws, 'draw')}, {divergent}"


def _fields(posterior: Posterior) -> dict[str, Floats]:
    """Return the draws by field, chain and draw first; the coefficients come last because there may be many."""
    coef, intercept = posterior.contrasts()
    family = FAMILIES[posterior.family]
    draws = {"intercept": intercept} if family.intercept else {}
    names = ["tau", "slab", *([family.extra] if family.monitored else [])]
    # Like intercepts, thresholds come before the scales.
    names.sort(key=lambda name: np.ndim(getattr(posterior, name)) < 3)
    draws |= {name: getattr(posterior, name) for name in names}
    return {name: values for name, values in draws.items() if values is not None} | {"coef": coef}


def _parameters(fields: dict[str, Floats]) -> Iterator[tuple[str, Floats]]:
    """Yield the name of each parameter, such as ``coef[3]``, and its draws of shape (chain, draw)."""
    for name, values in fields.items():
        for place in np.ndindex(values.shape[2:]):
            label = f"[{', '.join(map(str, place))}]" if place else ""
            yield name + label, values[:, :, *place]
