"""Projection predictive selection: the smallest set of original features that predicts like a reference."""
