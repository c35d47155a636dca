"""Whether the rows of a table are probably features, such as genes, instead of samples."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..readers import Table

# Identifiers of genes, transcripts, probes, variants and regions.
FEATURE = re.compile(
    r"ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|[NX][MRP]_\d+(\.\d+)?|\w+_at|ILMN_\d+|cg\d{8}|rs\d+|A_\d+_P\d+|"
    r"(hsa|mmu)-(mir|let)-[\w-]+|chr\w+[:_]\d+.*"
)
FEATURE_COLUMN = re.compile(
    r"id_ref|(gene|probe|probeset|feature|symbol|ensembl|transcript|protein|peptide|metabolite|snp|cpg|otu|taxon)s?"
    r"([ _.-]?(id|ids|name|symbol|set|set_id))?",
    re.IGNORECASE,
)
N_NAMES = 50
# More rows than this, and more of them per column, are unusual for samples.
MANY_ROWS, ROWS_PER_COLUMN = 500, 5


def features_seem_in_rows(table: Table, columns: list[dict[str, Any]]) -> bool:
    """Return whether the names of the rows are those of features, or there are many and nothing to predict."""
    if not isinstance(table.X, np.ndarray):
        return False
    named_by = [table.read_as.ids_from, *table.sheet]
    if any(name is not None and FEATURE_COLUMN.fullmatch(name) for name in named_by):
        return True
    names = [str(name) for name in table.ids[:N_NAMES]]
    if 2 * sum(FEATURE.fullmatch(name) is not None for name in names) > len(names):
        return True
    n_samples, n_features = table.X.shape
    many = n_samples > MANY_ROWS and n_samples > ROWS_PER_COLUMN * n_features
    return many and not any(column["score"] > 2 for column in columns)
