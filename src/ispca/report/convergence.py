"""Whether the posterior can be trusted, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.diagnostics import LARGEST_R_HAT, SMALLEST_ESS
from ..tables.records import count
from .features import HOW_TO_MODEL
from .parts import Parts
from .text import clean, number, section, table

TITLE = "Has the posterior converged?"


def convergence_section(parts: Parts) -> dict[str, Any]:
    """Return the verdict on the chains, the numbers behind it, and what to do."""
    if parts.model is None:
        return section(TITLE, ["There is no model after the reduction, so nothing was sampled: " + HOW_TO_MODEL])
    if not parts.has_posterior:
        return section(TITLE, [f"{type(parts.model).__name__} has no posterior, so there are no chains to check."])
    found = parts.model.diagnostics_
    chains = int(parts.model.n_chains)
    r_hat, bulk, tail = float(found.r_hat.max()), float(found.bulk_ess.min()), float(found.tail_ess.min())
    text = [
        "The model is fitted by drawing many plausible sets of coefficients. "
        f"{count(chains, 'chain')} did so independently of each other, {found.n_draws:,} draws in all. "
        "If the chains tell the same story, the draws can be trusted.",
        _agree(found.converged, r_hat),
        "The draws of a chain resemble each other, so they are worth fewer independent ones: at least "
        f"{bulk:,.0f} for means and {tail:,.0f} for the ends of intervals. {SMALLEST_ESS} or more is enough.",
        _divergent(int(found.n_divergent)),
    ]
    if not found.converged:
        text.append(
            "What to do: sample longer (--draws of “ispca fit”, or n_draws and n_warmup of the model), and ask "
            "for fewer components. Until then, take probabilities and intervals as rough."
        )
    return section(TITLE, text, converged=bool(found.converged), tables=[_table(found)])


def _agree(converged: bool, r_hat: float) -> str:
    told = "The chains agree" if converged else "The chains have NOT converged"
    return (
        f"{told}. The largest R-hat is {r_hat:.3f}: it compares the spread between the chains with that within "
        f"them; 1 means that they cannot be told apart, and up to {LARGEST_R_HAT} is fine."
    )


def _divergent(n: int) -> str:
    if n == 0:
        return "No draw was divergent: the sampler had no difficulty with any region."
    were = "was" if n == 1 else "were"
    told = f"{count(n, 'draw')} {were} divergent: the sampler's steps were too large there."
    return f"{told} A few in a thousand do no harm."


def _table(found: Any) -> dict[str, Any]:
    rows: list[list[Any]] = []
    for name in dict.fromkeys(found.quantities):
        here = np.array([quantity == name for quantity in found.quantities])
        sizes = [round(float(size[here].min())) for size in (found.bulk_ess, found.tail_ess)]
        rows.append([clean(name), int(here.sum()), number(found.r_hat[here].max()), *sizes])
    columns = [("Quantity", "text"), ("How many", "number"), ("Largest R-hat", "number")]
    columns += [("Independent draws, means", "number"), ("Independent draws, interval ends", "number")]
    caption = "The worst of each kind of quantity"
    return table("convergence", caption, columns, rows)
