"""Raw counts and intensities: warn about them, and compare samples on the log scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from ..readers.transforms import recognize_scale
from .findings import Finding

# Values are raw if none is negative and the 99th percentile exceeds the median of the positive ones this often.
LONG_TAIL = 20.0
# Values by which the scale is judged.
VALUES = 100_000
WHY = "The few largest values dominate components of raw values."
REMEDY = {
    "counts": "Take logarithms first: of counts per million, because the library sizes differ.",
    "intensities": "Take logarithms first.",
}


def find_raw_scale(X: Any) -> list[Finding]:
    """Return a finding if the features are raw counts or raw intensities."""
    scale = recognize_scale(X)
    return [Finding("scale", f"{scale.sentence} {WHY} {REMEDY[scale.kind]}")] if scale.sentence else []


def log_if_raw(X: Floats) -> Floats:
    """Return the logarithm of one plus X if X contains raw counts or intensities, and X itself otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.data_checks.raw_scale import log_if_raw
    >>> logs = np.random.default_rng(0).normal(8, 2, size=(50, 100))
    >>> log_if_raw(logs) is logs, float(log_if_raw(np.exp(logs)).max()) < 20
    (True, True)
    """
    values = X.ravel()[:: max(1, X.size // VALUES)]
    positive = values[values > 0]
    if X.min(initial=0.0) < 0 or not len(positive):
        return X
    raw = np.quantile(values, 0.99) > LONG_TAIL * np.median(positive)
    return np.asarray(np.log1p(X)) if raw else X
