"""Whether the posterior can be trusted, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.diagnostics import LARGEST_R_HAT, SMALLEST_ESS
from ..tables.records import count
from .features import HOW_TO_MODEL
from .parts import Parts
from .text import clean, number, section, table

WORST = 10
TITLE = "Has the posterior converged?"


def convergence_section(parts: Parts) -> dict[str, Any]:
    """Return the verdict on the chains, the numbers behind it, and what to do."""
    if parts.model is None:
        return section(TITLE, ["There is no model after the reduction, so nothing was sampled: " + HOW_TO_MODEL])
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
    return (
        f"{count(n, 'draw')} divergent: there the sampler's steps were too large. A few in a thousand do no harm."
    )


def _table(found: Any) -> dict[str, Any]:
    order = np.argsort(-found.r_hat, kind="stable")[:WORST]
    rows: list[list[Any]] = [
        [clean(found.quantities[i]), number(found.r_hat[i])]
        + [round(float(sizes[i])) for sizes in (found.bulk_ess, found.tail_ess)]
        for i in order
    ]
    columns = [("Quantity", "text"), ("R-hat", "number")]
    columns += [("Worth independent draws (means)", "number"), ("(ends of intervals)", "number")]
    caption = f"The {len(rows)} quantities with the largest R-hat, of {len(found.r_hat):,}"
    return table("convergence", caption, columns, rows)
