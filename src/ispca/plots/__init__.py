"""Plots of fitted models and results with matplotlib; each ``plot_*`` function draws a ``*_table``."""

from .canvas import Style, class_style
from .coefficients import coefficient_table, plot_coefficients
from .comparison import comparison_table, plot_comparison
from .components import component_table, plot_components
from .effects import effect_table, plot_effects
from .group_calibration import (
    count_calibration_table,
    plot_count_calibration,
    plot_survival_calibration,
    survival_calibration_table,
)
from .heatmap import heatmap_table, plot_heatmap
from .kaplan_meier import kaplan_meier_table, plot_kaplan_meier
from .loadings import loading_table, plot_loadings, plot_profile
from .panel import panel_table, plot_panel
from .probabilities import calibration_table, plot_calibration, plot_probabilities, probability_table
from .scatter import ellipse_table
from .scores import plot_pairs, plot_scores, score_table
from .stability import plot_stability
from .supervised_steps import permutation_table, plot_permutations, plot_threshold, threshold_table

__all__ = [
    "Style",
    "calibration_table",
    "class_style",
    "coefficient_table",
    "comparison_table",
    "component_table",
    "count_calibration_table",
    "effect_table",
    "ellipse_table",
    "heatmap_table",
    "kaplan_meier_table",
    "loading_table",
    "panel_table",
    "permutation_table",
    "plot_calibration",
    "plot_coefficients",
    "plot_comparison",
    "plot_components",
    "plot_count_calibration",
    "plot_effects",
    "plot_heatmap",
    "plot_kaplan_meier",
    "plot_loadings",
    "plot_pairs",
    "plot_panel",
    "plot_permutations",
    "plot_probabilities",
    "plot_profile",
    "plot_scores",
    "plot_stability",
    "plot_survival_calibration",
    "plot_threshold",
    "probability_table",
    "score_table",
    "survival_calibration_table",
    "threshold_table",
]
