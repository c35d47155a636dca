"""Fits of methods to the training samples of splits, and their predictions: in parallel and resumable."""
