"""Data files of every usual kind, read into one record."""

from .reading import read_table
from .records import Table, TableError

__all__ = ["Table", "TableError", "read_table"]
