"""Real data sets by name, and simulated data."""

from .loading import load
from .registry import Dataset, DatasetError, list_datasets
from .simulated import make_counts, make_expression, make_survival, make_text, make_toy

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
