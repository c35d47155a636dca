"""Posterior draws as a table: mean, credible interval and convergence of each parameter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .._array_types import Floats
from .._messages import count
from .._result_table import MOST_ROWS, ResultTable, as_table, html_table
from ..families import FAMILIES
from .diagnostics import r_hat_and_bulk_ess, tail_ess

if TYPE_CHECKING:
    from .posterior import Posterior

SCALES = ("tau", "slab", "sigma", "dispersion")


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
    draws = {name: getattr(posterior, name) for name in ("thresholds", *SCALES)}
    if posterior.thresholds is None and FAMILIES[posterior.family].intercept:
        draws = {"intercept": intercept} | draws
    return {name: values for name, values in draws.items() if values is not None} | {"coef": coef}


def _parameters(fields: dict[str, Floats]) -> Iterator[tuple[str, Floats]]:
    """Yield the name of each parameter, such as ``coef[3]``, and its draws of shape (chain, draw)."""
    for name, values in fields.items():
        for place in np.ndindex(values.shape[2:]):
            label = f"[{', '.join(map(str, place))}]" if place else ""
            yield name + label, values[:, :, *place]
