"""Plots of fitted models and results with matplotlib; each ``plot_*`` function draws a ``*_table``."""

from ..foundation.docstrings import share_docs
from .canvas import Style, class_style
from .coefficients import coefficient_table, effect_table, plot_coefficients, plot_effects
from .comparison_and_panel import comparison_table, panel_table, plot_comparison, plot_panel, plot_stability
from .components import component_table, loading_table, plot_components, plot_loadings, plot_profile
from .heatmap import heatmap_table, plot_heatmap
from .plot_arguments import DOCS
from .predicted_groups import (
    count_calibration_table,
    kaplan_meier_table,
    plot_count_calibration,
    plot_kaplan_meier,
    plot_survival_calibration,
    survival_calibration_table,
)
from .probabilities import calibration_table, plot_calibration, plot_probabilities, probability_table
from .score_points import ellipse_table
from .scores import plot_pairs, plot_scores, score_table
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

# Their docstrings name the texts of `DOCS` as ``$ax``.
for _name in __all__:
    share_docs(**DOCS)(globals()[_name])
