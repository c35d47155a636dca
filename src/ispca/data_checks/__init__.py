"""Check data for what misleads: leaks, odd features, outliers, copies, repeats, batches, small classes."""

from .checking import check_data, warn
from .findings import KINDS, Finding

__all__ = ["KINDS", "Finding", "check_data", "warn"]
