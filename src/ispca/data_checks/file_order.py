"""Classes that coincide with the order of the samples, along which the data drift."""

from __future__ import annotations

import numpy as np
from scipy.special import erfc

from .._array_types import Floats, Indices
from .findings import Finding
from .similarity import leading_scores

FEWEST, FEWEST_OF_CLASS = 20, 4
# One sample out of order per this number of samples is tolerated.
PER_EXCEPTION = 25
# A drift within classes, in standard errors of the correlation with the position.
DRIFT = 4.0


def find_file_order(products: Floats, classes: Indices | None) -> list[Finding]:
    """Return a finding if samples are sorted by class and the data drift with the position within classes.

    Many files are sorted by class, which does no harm by itself. A drift shows that the position in the file
    matters, and then it cannot be separated from the class.
    """
    if classes is None or not sorted_by_class(classes):
        return []
    # The leading components within the classes, because differences between these are no drift.
    scores = leading_scores(_within(_within(products, classes).T, classes))
    position = _within(np.arange(len(classes), dtype=np.float64)[:, None], classes)[:, 0]
    lengths = np.linalg.norm(scores, axis=0) * np.linalg.norm(position)
    correlations = np.divide(position @ scores, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    freedom = len(classes) - len(np.unique(classes)) - 2
    z = float(np.arctanh(np.minimum(np.abs(correlations), 1 - 1e-12)).max(initial=0.0)) * np.sqrt(max(freedom, 0))
    if z < DRIFT:
        return []
    p_value = max(len(correlations) * erfc(z / np.sqrt(2)), 1e-12)
    sentence = (
        "The samples are sorted by class, and within the classes the data drift along the file "
        f"(p = {p_value:.1g}). If the file follows the order of processing, differences between classes may be "
        "batch effects: check when each sample was processed."
    )
    return [Finding("file_order", sentence)]


def sorted_by_class(classes: Indices) -> bool:
    """Return whether the samples are sorted by class, nearly without exception; rare classes do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.data_checks.file_order import sorted_by_class
    >>> sorted_by_class(np.repeat([0, 1], 15)), sorted_by_class(np.tile([0, 1], 15))
    (True, False)
    """
    classes = classes[np.bincount(classes)[classes] >= FEWEST_OF_CLASS]
    n_classes = len(np.unique(classes))
    n_runs = 1 + int(np.count_nonzero(classes[1:] != classes[:-1]))
    return len(classes) >= FEWEST and n_classes > 1 and n_runs <= n_classes + len(classes) // PER_EXCEPTION


def _within(values: Floats, classes: Indices) -> Floats:
    """Return deviations from the means of the classes."""
    indicators = np.eye(classes.max() + 1)[classes]
    means = (indicators.T @ values) / np.maximum(indicators.sum(axis=0), 1)[:, None]
    return np.asarray(values - means[classes])
