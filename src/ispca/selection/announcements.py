"""What a selection says on a terminal while it runs: the estimated time, and the path before its validation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import joblib

from .._progress import clock, shown
from .._terminal import tell
from ..validation.runner import in_a_fit
from .plan import Data
from .validated_path import Searcher

# Number of features in the short search.
TRIED = 2


def _talks() -> bool:
    """Return whether to say anything: on terminals, but not inside a fit of a comparison."""
    return shown() and not in_a_fit.get()


def announce_path(message: str, features: Sequence[str]) -> None:
    """Show a path that is not validated: its message, and the features of its largest submodel."""
    if _talks():
        tell(message)
        order = ", ".join(features)
        tell(f"Features in order of entry, not validated: {order}" if order else "No feature was chosen.")


def announce_time(
    searcher: Searcher, fitted: Any, data: Data, seconds_reference: float | None, n_folds: int, n_jobs: int | None
) -> None:
    """Say how long search and validation will take, from the time of the reference and of a short search."""
    if _talks():
        tell(estimated_time(searcher, fitted, data, seconds_reference, n_folds, n_jobs))


def estimated_time(
    searcher: Searcher, fitted: Any, data: Data, seconds_reference: float | None, n_folds: int, n_jobs: int | None
) -> str:
    """Return a sentence; ``seconds_reference`` is None if the time to fit the reference is unknown."""
    settings, start = searcher.settings, time.perf_counter()
    short = min(TRIED, settings.max_features)
    shorter = settings._replace(max_features=short, always=settings.always[:short])
    replace(searcher, settings=shorter).search(fitted, data.samples, data.target)
    search = (time.perf_counter() - start) * settings.max_features / short
    text = f"Estimated time: {clock(search)} for the search"
    if n_folds and seconds_reference is None:
        return f"{text}; after it the reference is refitted in {n_folds} folds."
    if n_folds and seconds_reference is not None:
        rounds = -(-n_folds // joblib.effective_n_jobs(n_jobs))
        # Evaluating the submodels takes about as long as the search.
        text += f", {clock(rounds * (2 * search + seconds_reference))} for the validation in {n_folds} folds"
    return f"{text}."
