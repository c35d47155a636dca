"""Data sets to try the methods on: real ones by name, and simulated ones."""

from .loading import load
from .records import Dataset, DatasetError
from .registry import list_datasets
from .simulated import make_expression, make_text, make_toy

__all__ = ["Dataset", "DatasetError", "list_datasets", "load", "make_expression", "make_text", "make_toy"]
