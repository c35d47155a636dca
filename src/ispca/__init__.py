"""Iterative supervised principal components."""
