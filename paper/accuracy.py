"""Accuracy of all methods on all sets, held against what the paper says of the log predictive density."""

from __future__ import annotations

from . import mlpd
from .context import Context
from .verdicts import Verdict

METRIC = "accuracy"


def run(context: Context) -> list[Verdict]:
    """Take the same experiment as ``mlpd`` and write the figure and tables of the accuracy."""
    return mlpd.run(context, METRIC)
