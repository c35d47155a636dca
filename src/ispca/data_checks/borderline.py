"""Borderline tests, and how the result of the tests agrees with that on held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._messages import borderline_text
from .findings import Finding


def find_borderline(steps: Sequence[Any], alpha: float | None) -> list[Finding]:
    """Return a finding for each test of a reduction that slightly different data might decide otherwise."""
    return [
        Finding("borderline", borderline_text(number, step.p_value_interval, alpha, step.limit_reached))
        for number, step in enumerate(steps, start=1)
        if alpha is not None and step.borderline
    ]


def reconciliation(n_supervised: int, better_than_baseline: bool) -> str | None:
    """Say why a model can predict although no feature passed the test, or why not although some did.

    Examples
    --------
    >>> from ispca.data_checks.borderline import reconciliation
    >>> reconciliation(2, True) is None
    True
    """
    if n_supervised == 0 and better_than_baseline:
        return (
            "Yet the model predicts held-out samples better than the baseline: many weakly associated features, "
            "combined in the unsupervised components, carry the signal."
        )
    if n_supervised > 0 and not better_than_baseline:
        return (
            "Yet the model does not predict held-out samples better than the baseline: the association that the "
            "test found is too weak, or the samples are too few, for useful predictions."
        )
    return None
