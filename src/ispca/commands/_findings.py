"""Checks of the data of a command, before its work: warnings to print and to show in the report."""

from __future__ import annotations

from ..data_checks import Finding, check_data
from ..readers import Table
from ..readers.transforms import recognize_scale
from ._console import Console
from ._feature_labels import labelled_names

# What raw scales are usually transformed to.
TRANSFORMS = {
    "counts": "Pass --transform cpm-log, or log1p to keep the library sizes, or none to fit them as they are.",
    "intensities": "Pass --transform log2, or none to fit them as they are.",
}


def check_table(
    table: Table, console: Console, n_folds: int | None = None, transform: str | None = None
) -> list[Finding]:
    """Print what the checks find in a table, and return it; a transformation that was chosen is not questioned."""
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
    findings = [_with_option(finding, table) for finding in findings if finding.kind != "scale" or not transform]
    console.notes(f"warning: {finding.sentence}" for finding in findings)
    return findings


def _with_option(finding: Finding, table: Table) -> Finding:
    """Add the options that transform raw values."""
    if finding.kind != "scale":
        return finding
    kind = recognize_scale(table.X[:, : table.n_features]).kind
    return finding._replace(sentence=f"{finding.sentence} {TRANSFORMS[kind]}")
