"""Report section on the convergence of the chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count
from ..models.diagnostics import LARGEST_R_HAT, SMALLEST_ESS
from .features import HOW_TO_MODEL
from .formatting import clean, number, section, table
from .input_checks import Inputs

TITLE = "Convergence"


def convergence_section(inputs: Inputs) -> dict[str, Any]:
    """Return the convergence diagnostics and, if they fail, what to do."""
    if inputs.model is None:
        return section(
            TITLE, ["The reduction is not followed by a model, so nothing was sampled. " + HOW_TO_MODEL]
        )
    if not inputs.has_posterior:
        return section(
            TITLE, [f"{type(inputs.model).__name__} has no posterior, so there are no chains to check."]
        )
    found = inputs.model.diagnostics_
    verdict = "The chains have converged" if found.converged else "The chains have not converged"
    text = [
        f"The posterior was sampled with {count(int(inputs.model.n_chains), 'chain')}, {found.n_draws:,} "
        "posterior draws in total. The draws can be trusted if all chains converged to the same distribution.",
        f"{verdict}. The largest R-hat is {found.r_hat.max():.3f}. R-hat compares the variance between chains "
        "with that within them; it is 1 for identical distributions, and values up to "
        f"{LARGEST_R_HAT} are acceptable.",
        "Successive draws are correlated. The effective sample size is the number of independent draws that carry "
        f"the same information: at least {found.bulk_ess.min():,.0f} for means and {found.tail_ess.min():,.0f} "
        f"for the limits of intervals. {SMALLEST_ESS} or more is sufficient.",
        _divergent(int(found.n_divergent)),
    ]
    if not found.converged:
        text.append(
            f"{inputs.context.sampling_hint}, or use fewer components. Until the chains converge, treat "
            "probabilities and intervals as approximate."
        )
    return section(TITLE, text, converged=bool(found.converged), tables=[_table(found)])


def _divergent(n: int) -> str:
    if n == 0:
        return "There were no divergent transitions."
    return (
        f"There {'was' if n == 1 else 'were'} {count(n, 'divergent transition')}, where the sampler's steps were "
        "too large. A few per thousand draws are harmless."
    )


def _table(found: Any) -> dict[str, Any]:
    rows: list[list[Any]] = []
    for name in dict.fromkeys(found.quantities):
        here = np.array([quantity == name for quantity in found.quantities])
        sizes = [round(float(size[here].min())) for size in (found.bulk_ess, found.tail_ess)]
        rows.append([clean(name), int(here.sum()), number(found.r_hat[here].max()), *sizes])
    columns = [("Quantity", "text"), ("Number", "number"), ("Largest R-hat", "number")]
    columns += [("Smallest bulk ESS", "number"), ("Smallest tail ESS", "number")]
    caption = "Largest R-hat and smallest effective sample size (ESS) of each quantity"
    return table("convergence", caption, columns, rows)
