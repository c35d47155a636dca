"""Readers of data files (CSV, Excel, Parquet, AnnData, .npz, svmlight) that return one kind of table."""

from .reading import read_table
from .table import Table, TableError

__all__ = ["Table", "TableError", "read_table"]
