"""Select the few features of a table that predict as well as a fitted model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..fitted_parts import take_apart
from ..foundation.messages import SettingError, Text, count, replace_mentions, suggestion
from ..readers import Table
from ..reduction.threads import workers
from ..selection import ProjectionSelector
from .large_data import block_memory
from .settings import Settings
from .table_checks import check_splits, sample_options

OF_SELECTOR = {"max_features": "max_size", "n_draws": "draws"}


def select_on_table(
    model: Any,
    table: Table,
    settings: Settings,
    *,
    size: int | None = None,
    always: Sequence[int] = (),
    never: Sequence[int] = (),
    costs: np.ndarray | None = None,
    max_size: int = 20,
    folds: int = 10,
    draws: int = 400,
    resume: Any = None,
) -> ProjectionSelector:
    """Return the selector, fitted to a table; covariates are in every submodel and do not count."""
    covariates = np.arange(table.n_features, len(table.features))
    always = [*covariates, *always]
    if size is not None and size > table.n_features - len(never):
        most = count(table.n_features - len(never), "feature")
        raise SettingError(f"⟦size={size}⟧ is too large: there are {most} to choose from.")
    if folds:
        check_splits(table)
    if table.in_blocks:
        take_apart(model).reduction.set_params(memory_budget=block_memory(settings))
    selector = ProjectionSelector(
        model,
        prefit=True,
        kind=table.kind,
        max_features=max(max_size, size or 0, len(always) - len(covariates)) + len(covariates),
        always=always or None,
        never=list(never) or None,
        costs=costs,
        cv=folds or None,
        n_draws=draws,
        # Each process would read as much of a large file into memory as all may.
        n_jobs=1 if table.in_blocks else -1,
        resume=resume,
        random_state=settings.seed,
    )
    # A single process that reads blocks runs its fits on all threads.
    with workers() if table.in_blocks else nullcontext(), warnings.catch_warnings():
        # The names were already compared.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        selector.fit(table.X, table.target, **sample_options(table))
    # An analysis has other words for the parameters.
    selector.message_ = Text(replace_mentions(selector.message_, lambda found: f"⟦{OF_SELECTOR[found.name]}⟧"))
    return selector


def feature_places(names: Any, table: Table) -> list[int]:
    """Return the places of features, given by their names or places."""
    features = table.features[: table.n_features].tolist()
    for name in (names := [names] if isinstance(names, str) else list(names)):
        if isinstance(name, str) and name not in features:
            raise ValueError(f"There is no feature {name!r}. {suggestion(name, features)}")
    return [features.index(name) if isinstance(name, str) else int(name) for name in names]
