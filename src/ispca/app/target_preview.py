"""What is understood of the chosen target, and what the checks of the data say about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._confounding import confounding_warnings
from .._messages import KIND_WORDS
from ..data_checks import check_data
from ..readers import Table
from .labels import label
from .run_time import estimated_seconds

# Kinds of targets by the words of the page.
KINDS = {word: kind for kind, word in KIND_WORDS.items()}
# Checks of larger data take too long for a preview; the run makes them anyway.
MOST_CHECKED = 20_000_000
FOLDS = 5


def described_target(table: Table, found: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a preview that the chosen target changes."""
    target, kind = np.asarray(table.target), str(table.kind)
    described: dict[str, Any] = {"name": table.target_name, "kind": KIND_WORDS[kind], "classes": {}, "range": None}
    if kind in ("classification", "ordinal"):
        labels, counts = np.unique(target, return_counts=True)
        described["classes"] = {str(label): int(often) for label, often in zip(labels, counts, strict=True)}
    elif kind == "survival":
        described["events"] = int(target["event"].sum())
        described["range"] = [float(target["time"].min()), float(target["time"].max())]
    else:
        described["range"] = [float(target.min()), float(target.max())]
    described["missing"] = _n_without(table, found, given)
    return {
        "target": described,
        "samples": table.X.shape[0],
        "features": table.n_features,
        "notes": table.notes,
        "warnings": [*found["warnings"], *_confounded(table), *_findings(table, given)],
        "seconds": estimated_seconds(len(target), table.n_features, given, kind, len(described["classes"])),
    }


def _n_without(table: Table, found: dict[str, Any], given: Mapping[str, Any]) -> int:
    """Return the number of samples without a value of the target."""
    column = next((each for each in found["columns"] if each["name"] == table.target_name), None)
    if column is not None and given.get("missing") == "rows":
        return int(column["missing"])
    return int(found["samples"] - table.X.shape[0])


def _confounded(table: Table) -> list[dict[str, str]]:
    """Refuse covariates that determine the target, as the run does; return a warning if they nearly do."""
    if not table.covariates or table.kind == "survival" or table.in_blocks:
        return []
    columns, classes = table.covariate_columns(), table.kind == "classification"
    found = confounding_warnings(columns, table.target, classes, label("covariates"))
    return [{"kind": "confounding", "sentence": sentence} for sentence in found]


def _findings(table: Table, given: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what the checks of the data find, unless they would take too long."""
    if table.in_blocks or table.X.shape[0] * table.X.shape[1] > MOST_CHECKED:
        return []
    findings = check_data(
        table.X[:, : table.n_features],
        table.target,
        str(table.kind),
        features=table.features[: table.n_features].tolist(),
        ids=table.ids.tolist(),
        sheet=table.sheet,
        groups=table.groups,
        n_folds=given.get("cv", FOLDS) or None,
    )
    return [{"kind": finding.kind, "sentence": finding.sentence} for finding in findings]
