"""Measures of predictions of censored times: concordance index and Brier score, and the curves that they need."""

from ..families.survival_curves import censoring_curve, concordance_index, kaplan_meier, numbers_at_risk
from ..targets.concordance_and_brier_score import brier_score, integrated_brier_score

__all__ = [
    "brier_score",
    "censoring_curve",
    "concordance_index",
    "integrated_brier_score",
    "kaplan_meier",
    "numbers_at_risk",
]
