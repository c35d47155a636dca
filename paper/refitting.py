"""Check every posterior of a comparison on what it predicts, and refit those that fail with more draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from ispca.fitting.fit_and_predict import has_converged
from ispca.foundation.arrays import Mask
from ispca.targets.samples import Prediction
from ispca.validation import Comparison, compare

from .context import Context


def attempts(draws: int) -> list[dict[str, Any]]:
    """Return how a failed posterior is refitted, and how if that fails too.

    First with many more draws in smaller steps, then with twice the draws by NUTS, which moves all coefficients
    jointly: the blocked sampler can stay long in modes that its chains do not share.
    """
    longer = {"n_warmup": 2 * draws, "n_draws": 4 * draws, "target_accept": 0.99}
    return [longer, {"sampler": "nuts", "n_warmup": draws, "n_draws": 2 * draws, "target_accept": 0.95}]


@dataclass(frozen=True)
class Refits:
    """Which posteriors failed.

    Attributes
    ----------
    before, after : ndarray of bool of shape (n_splits, n_methods)
        In the first place, and when those had been refitted.
    """

    before: Mask
    after: Mask


def better(new: Prediction, old: Prediction) -> bool:
    """Return whether a refit is to take the place of a posterior that failed: it passes, or has more to tell."""
    if new.posterior is None or old.posterior is None:
        return True
    # A chain that stands still has no effective sample size: anything is better.
    ess = [np.nan_to_num(check["bulk_ess"], nan=0.0) for check in (new.posterior, old.posterior)]
    return has_converged(new) or bool(ess[0] > ess[1])


def failing(comparison: Comparison) -> Mask:
    """Return, by split and method, which posteriors have not converged."""
    return np.array(
        [[item is not None and not has_converged(item) for item in row] for row in comparison.predictions]
    )


def refit(
    comparison: Comparison, methods: dict[str, Any], X: Any, y: Any, context: Context, directory: Path
) -> tuple[Comparison, Refits]:
    """Refit what failed, and put the new predictions in place of the old where they are better.

    Parameters
    ----------
    comparison : Comparison
        The first result.
    methods : dict of str to estimator
        What was compared.
    X, y : array-like
        The data.
    context : Context
        Settings of the run.
    directory : Path
        Where finished fits are kept.

    Returns
    -------
    comparison : Comparison
        With the refits in place.
    refits : Refits
        What failed before and after.
    """
    refitted = comparison
    for changes in attempts(context.draws):
        refitted = _attempt(refitted, methods, changes, X, y, context, directory)
    return refitted, Refits(failing(comparison), failing(refitted))


def _attempt(
    comparison: Comparison,
    methods: dict[str, Any],
    changes: dict[str, Any],
    X: Any,
    y: Any,
    context: Context,
    directory: Path,
) -> Comparison:
    """Refit what fails with changed settings of the model."""
    failed = failing(comparison)
    predictions = [list(row) for row in comparison.predictions]
    scores = {metric: values.copy() for metric, values in comparison.scores.items()}
    for column, method in enumerate(comparison.methods):
        numbers = np.flatnonzero(failed[:, column])
        if not len(numbers):
            continue
        changed = clone(methods[method]).set_params(**{f"model__{name}": value for name, value in changes.items()})
        pairs = [(comparison.splits[number].train, comparison.splits[number].test) for number in numbers]
        again = compare({method: changed}, X, y, cv=pairs, resume=directory, n_jobs=context.n_jobs)
        for place, number in enumerate(numbers):
            new, old = again.predictions[place][0], predictions[number][column]
            if new is None or old is None or not better(new, old):
                continue
            predictions[number][column] = new
            for metric, values in scores.items():
                values[number, column] = again.scores[metric][place, 0]
    return replace(comparison, predictions=predictions, scores=scores)


def posterior_rows(name: str, comparison: Comparison, refits: Refits) -> list[dict[str, Any]]:
    """Return one row per method with a posterior: how many failed, before and after, and the worst values."""
    rows = []
    for column, method in enumerate(comparison.methods):
        fits = [row[column] for row in comparison.predictions if row[column] is not None]
        checks = [fit.posterior for fit in fits if fit is not None and fit.posterior is not None]
        if not checks:
            continue
        before, after = int(refits.before[:, column].sum()), int(refits.after[:, column].sum())
        rows.append(
            {
                "set": name,
                "method": method,
                "posteriors": len(checks),
                "failed_before": before,
                "share_before": before / len(checks),
                "failed_after": after,
                "share_after": after / len(checks),
                "largest_r_hat_after": max(check["r_hat"] for check in checks),
                "smallest_bulk_ess_after": min(check["bulk_ess"] for check in checks),
                "divergent_after": int(sum(check["n_divergent"] for check in checks)),
            }
        )
    return rows
