"""Validation of whole procedures: comparison, stacking, stability."""

from .comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
