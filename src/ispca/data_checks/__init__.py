"""Check data for what misleads an analysis: leaks, odd features, outliers, duplicates, batches, small classes."""

from .checking import check_data, warn
from .findings import KINDS, Finding

__all__ = ["KINDS", "Finding", "check_data", "warn"]
