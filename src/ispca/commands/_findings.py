"""Checks of the data of a command, before its work: warnings to print and to show in the report."""

from __future__ import annotations

from ..data_checks import Finding, check_data
from ..data_checks.file_order import sorted_by_class
from ..data_checks.findings import as_classes
from ..readers import Table
from ._console import Console
from ._feature_labels import labelled_names

# Most such files are merely sorted, so this is not a warning.
ORDER = "The samples are sorted by class. Within the classes, the data show no trend along the file."


def check_table(table: Table, console: Console, n_folds: int | None = None) -> list[Finding]:
    """Print what the checks find in a table, and return it."""
    findings = check_data(
        table.X[:, : table.n_features],
        table.target,
        str(table.kind),
        features=labelled_names(table),
        ids=table.ids.tolist(),
        sheet=table.sheet,
        groups=table.groups,
        n_folds=n_folds or None,
    )
    console.notes(f"warning: {finding.sentence}" for finding in findings)
    classes = as_classes(table.target, str(table.kind))
    if classes is not None and sorted_by_class(classes) and "file_order" not in {kind for kind, *_ in findings}:
        console.note(ORDER)
    return findings
