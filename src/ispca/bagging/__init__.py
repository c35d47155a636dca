"""Posteriors averaged over bootstrap samples, whose intervals include the uncertainty of the components."""

from .bagged_posterior import BaggedPosterior

__all__ = ["BaggedPosterior"]
