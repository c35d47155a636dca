"""Compare methods on held-out samples of a table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from ..foundation.messages import KIND_WORDS, Listener, SettingError, suggestion
from ..kernels.base import MOST_SAMPLES
from ..readers import Table
from ..readers.file_access import in_words, table_bytes
from ..reduction.threads import workers
from ..transformers.ispca_transformer import ISPCA
from ..transformers.spca_transformer import SPCA
from ..validation import Comparison, compare, paper_methods, recommended_methods, standard_methods
from ..validation.baseline_comparison import KERNELS
from .fitting import methods_for
from .large_data import with_blocks
from .settings import Settings
from .table_checks import sample_options

BASELINE = "base rate"


def all_methods(paper: bool) -> dict[str, Any]:
    """Return the methods for all kinds of targets, to check names before a large file is read."""
    every = [paper_methods()] if paper else [recommended_methods(kind=kind) for kind in KIND_WORDS]
    known = {name: method for methods in every for name, method in methods.items()}
    return known | standard_methods() | standard_methods(regression=True)


def compare_on_table(
    table: Table,
    settings: Settings,
    listener: Listener,
    names: Sequence[str] | None = None,
    n_splits: int = 50,
    n_jobs: int = -1,
    resume: Any = None,
) -> Comparison:
    """Compare the methods of these names, by default all that apply, in random splits."""
    known, target = methods_for(table, settings, None), table.target_kind
    if target.plain:
        known |= standard_methods(regression=target.numeric)
    if table.weights is not None:
        last = {name: method[-1] if isinstance(method, Pipeline) else method for name, method in known.items()}
        known = {name: known[name] for name, step in last.items() if has_fit_parameter(step, "sample_weight")}
    if names is None and KERNELS in known and table.X.shape[0] > MOST_SAMPLES:
        listener.note(f"Method left out, because it takes at most {MOST_SAMPLES:,} samples: {KERNELS}.")
        del known[KERNELS]
    methods = choose_methods(known, names)
    if table.in_blocks:
        methods = _methods_in_blocks(methods, table, settings, listener, names is not None, n_jobs)
        n_jobs = 1
    options: dict[str, Any] = {"cv": n_splits, "n_jobs": n_jobs, "resume": resume}
    options |= {"random_state": settings.seed, "kind": table.kind}
    if "lasso" not in methods and BASELINE in methods:
        options["baseline"] = BASELINE
    # A single process that reads blocks runs its fits on all threads.
    with workers() if table.in_blocks else nullcontext():
        return compare(methods, table.X, table.target, **options, **sample_options(table))


def choose_methods(methods: dict[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    """Return the requested methods; upper and lower case do not matter."""
    if names is None:
        return methods
    lower = {name.lower(): name for name in methods}
    for name in names:
        if name.lower() not in lower:
            raise SettingError(f"There is no method {name!r}. {suggestion(name, list(methods))}")
    return {lower[name.lower()]: methods[lower[name.lower()]] for name in names}


def _methods_in_blocks(
    methods: dict[str, Any], table: Table, settings: Settings, listener: Listener, named: bool, n_jobs: int
) -> dict[str, Any]:
    """Return the methods that can read data in blocks, and say which are left out; refuse others that were named.

    Settings are refused if they need other processes, each of which would use as much memory as all may.
    """
    size = in_words(table_bytes(*table.X.shape))
    others = [name for name, method in methods.items() if not (name == BASELINE or _reads_blocks(method))]
    needing = [f"⟦jobs={n_jobs}⟧"] if n_jobs > 1 else []
    if named and others:
        needing.append(f"⟦methods={' '.join(others)}⟧")
    if needing:
        advice = "Leave it out, or raise the limit with ⟦memory⟧."
        raise SettingError(f"{needing[0]} needs all data in memory, {size}.", advice)
    listener.note("Left out, because this needs all data in memory: the checks of the data.")
    if others:
        listener.note(f"Methods left out, because they need all data in memory ({size}): {', '.join(others)}.")
    return {
        name: with_blocks(method, table, settings) if _reads_blocks(method) else method
        for name, method in methods.items()
        if name not in others
    }


def _reads_blocks(method: Any) -> bool:
    """Return whether a method begins with a reduction, which can read data in blocks."""
    return isinstance(method, Pipeline) and isinstance(method[0], ISPCA | SPCA)
