"""Named columns as one table."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_table(columns: dict[str, Any]) -> np.recarray:
    """Return a record array with one record per row, which ``pandas.DataFrame`` accepts."""
    arrays = [np.asarray(values) for values in columns.values()]
    dtype = [(name, values.dtype) for name, values in zip(columns, arrays, strict=True)]
    table: np.recarray = np.rec.fromarrays(arrays, dtype=np.dtype(dtype))
    return table
