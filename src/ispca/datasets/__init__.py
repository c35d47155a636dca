"""Data sets to try the methods on."""

from .simulated import make_expression

__all__ = ["make_expression"]
