"""Real data sets by name, and simulated data."""

from .loading import load
from .records import Dataset, DatasetError
from .registry import list_datasets
from .simulated import make_expression, make_text, make_toy
from .simulated_outcomes import make_counts, make_survival

__all__ = [
    "Dataset",
    "DatasetError",
    "list_datasets",
    "load",
    "make_counts",
    "make_expression",
    "make_survival",
    "make_text",
    "make_toy",
]
