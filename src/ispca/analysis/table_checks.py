"""Checks of a table before the work: what makes it unusable, what may mislead, and notes on its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data_checks import Finding, check_data
from ..data_checks.confounding import find_confounding
from ..data_checks.findings import as_classes, find_substitutes
from ..data_checks.repeated_samples import find_repeated_samples
from ..foundation.messages import Listener
from ..readers import Table, TableError
from ..readers.subsets_and_transforms import recognize_scale
from ..readers.target_column import may_be_classes, numbers_of
from ..targets import FEW_VALUES
from .feature_labels import labelled_names
from .settings import Settings

# What raw scales are usually transformed to.
SCALES = {
    "counts": "⟦Pass transform=cpm-log⟧, or log1p to keep the library sizes, or none to fit them as they are.",
    "intensities": "⟦Pass transform=log2⟧, or none to fit them as they are.",
}


def examine_columns(table: Table, settings: Settings, listener: Listener) -> tuple[Table, list[str]]:
    """Refuse data without variation; return them with more notes, and warnings about covariates."""
    if not table.in_blocks:
        _check_features_vary(table)
    notes = list(map(listener.words, table.notes))
    if settings.kind is None and settings.time is None:
        notes += map(listener.words, _kind_hint(table))
    if settings.offset is not None:
        name = f"{settings.offset!r} is the logarithm of the exposure"
        notes.append(f"{name}: it is added to the logarithm of the expected count.")
    confounding = check_covariates(table)
    table = replace(table, notes=[*notes, *confounding])
    listener.notes(table.notes)
    return table, confounding


def check_covariates(table: Table) -> list[str]:
    """Refuse covariates that determine the target of the samples that count; return warnings about others."""
    target = table.target_kind
    if not table.covariates or target.timed or table.target is None:
        return []
    counting = np.ones(len(table.target), dtype=bool) if table.weights is None else table.weights > 0
    columns = {name: part[counting] for name, part in table.covariate_columns().items()}
    sentence = find_confounding(columns, table.target[counting], target.unordered, "⟦covariates⟧")
    return [] if sentence is None else [sentence]


def _check_features_vary(table: Table) -> None:
    X = table.X[:, : table.n_features]
    # Sparse results are small: one row.
    low, high = (
        part if isinstance(part, np.ndarray) else part.toarray() for part in (X.min(axis=0), X.max(axis=0))
    )
    if np.array_equal(low, high):
        reason = "" if table.transform == "none" else f" after ⟦transform={table.transform}⟧"
        raise TableError(f"Every feature has the same value in all samples{reason}, so nothing can be learned.")


def _kind_hint(table: Table) -> list[str]:
    """Say how to override the detected kind of an integer target, which may be either."""
    numbers = numbers_of(table.target)
    if numbers is None or (numbers != np.round(numbers)).any():
        return []
    distinct = len(np.unique(numbers))
    if table.target_kind.has_classes:
        others = ["regression", "ordinal"] if distinct <= FEW_VALUES else ["regression"]
    else:
        others = ["classification"] if may_be_classes(distinct, len(numbers)) else []
    others += ["count"] if numbers.min() >= 0 else []
    return [f"⟦Pass kind={'|'.join(others)}⟧ if that is wrong."] if others else []


def check_splits(table: Table) -> None:
    """Raise an error if a class is too small to be in both the training and the test part of a split."""
    if table.target_kind.unordered:
        rarest, often = min(table.class_counts.items(), key=lambda item: item[1])
        if often == 1:
            problem = f"Class {rarest} has a single sample, which cannot be both fitted and held out."
            raise TableError(problem, "Remove the sample from the file, or merge its class with another one.")


def check_table(
    table: Table, listener: Listener, few: Sequence[Finding] = (), transform: str | None = None
) -> list[Finding]:
    """Tell what the checks find in a table, and return it; a transformation that was chosen is not questioned.

    ``few`` is what `limit_folds` has found. If X stays in its file, only what describes the samples is checked.
    """
    if table.in_blocks:
        classes = as_classes(table.target, str(table.kind))
        findings = find_repeated_samples(table.ids.tolist(), table.sheet, classes, table.groups)
    else:
        findings = check_in_memory(table, labelled_names(table))
        findings = [finding for finding in findings if finding.kind != "scale" or not transform]
    findings = [*few, *findings, *find_substitutes(table.substitutes)]
    findings = [_with_advice(finding, table, listener) for finding in findings]
    return tell(findings, listener)


def check_in_memory(table: Table, features: list[str], n_folds: int | None = None) -> list[Finding]:
    """Return what the checks of the data find in a table in memory, with these names of its features."""
    return check_data(
        table.X[:, : table.n_features],
        table.target,
        str(table.kind),
        features=features,
        ids=table.ids.tolist(),
        sheet=table.sheet,
        groups=table.groups,
        n_folds=n_folds or None,
    )


def tell(findings: list[Finding], listener: Listener) -> list[Finding]:
    """Tell a listener about findings, and return them."""
    for finding in findings:
        listener.warn(finding.sentence, finding.kind)
    return findings


def _with_advice(finding: Finding, table: Table, listener: Listener) -> Finding:
    """Name the settings that keep samples together or transform raw values."""
    if finding.kind != "scale":
        return finding._replace(sentence=listener.words(finding.sentence))
    scale = recognize_scale(table.X[:, : table.n_features])
    advice = "⟦Pass transform=none⟧ to fit them as they are." if scale.negative else SCALES[scale.kind]
    return finding._replace(sentence=f"{finding.sentence} {listener.words(advice)}")


def sample_options(table: Table) -> dict[str, Any]:
    """Return groups, weights and offset by the names of their parameters, if there are any."""
    given = {"groups": table.groups, "sample_weight": table.weights, "offset": table.offset}
    return {name: values for name, values in given.items() if values is not None}
