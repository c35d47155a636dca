"""Classes that coincide with the order of the samples."""

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


SORTED = (
    "The samples are sorted by class. If they were also processed in this order, class and processing cannot be "
    "separated, and differences between classes may be batch effects. {drift}Check when each sample was processed."
)
NO_DRIFT = "The data show no trend within the classes, which does not rule this out. "
DRIFTS = (
    "The samples are sorted by class, and within the classes the data drift along the file (p = {p_value:.1g}). "
    "So the position in the file matters, and differences between classes may be batch effects. Check when each "
    "sample was processed, and report results with this caveat if classes were processed one after the other."
)


def find_file_order(products: Floats | None, classes: Indices | None) -> list[Finding]:
    """Return a finding if samples are sorted by class; without inner products, a drift is not looked for."""
    if classes is None or not sorted_by_class(classes):
        return []
    if products is None:
        return [Finding("file_order", SORTED.format(drift=""))]
    p_value = drift_p_value(products, classes)
    if p_value is None:
        return [Finding("file_order", SORTED.format(drift=NO_DRIFT))]
    return [Finding("file_order", DRIFTS.format(p_value=p_value))]


def drift_p_value(products: Floats, classes: Indices) -> float | None:
    """Return the p-value of a drift along the file within the classes, None if there is none."""
    # The leading components within the classes, because differences between these are no drift.
    scores = leading_scores(_within(_within(products, classes).T, classes))
    position = _within(np.arange(len(classes), dtype=np.float64)[:, None], classes)[:, 0]
    lengths = np.linalg.norm(scores, axis=0) * np.linalg.norm(position)
    correlations = np.divide(position @ scores, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    freedom = len(classes) - len(np.unique(classes)) - 2
    z = float(np.arctanh(np.minimum(np.abs(correlations), 1 - 1e-12)).max(initial=0.0)) * np.sqrt(max(freedom, 0))
    return None if z < DRIFT else float(max(len(correlations) * erfc(z / np.sqrt(2)), 1e-12))


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
