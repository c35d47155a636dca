"""Real data sets by name, and simulated data."""

from .loading import load
from .records import Dataset, DatasetError
from .registry import list_datasets
from .simulated import make_expression, make_text, make_toy

__all__ = ["Dataset", "DatasetError", "list_datasets", "load", "make_expression", "make_text", "make_toy"]
