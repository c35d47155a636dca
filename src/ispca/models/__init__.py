"""Regression and classification under the regularised horseshoe prior."""
