"""Compute the contents of a report as a plain dictionary with one entry per section."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._messages import count
from .class_predictions import held_out_section, misclassified
from .components import components_section, displayed_samples, score_plot_section
from .convergence import convergence_section
from .covariates import covariates_section
from .data_overview import data_section, n_features, question_section
from .external_test import external_test_section
from .features import coefficients_section, features_section
from .formatting import clean
from .input_checks import Context, Inputs, check_inputs
from .leading_features import leading_features_section
from .methods_text import methods_section
from .overview import overview_section
from .panel import panel_section
from .prediction import prediction_section
from .prediction_calibration import prediction_calibration
from .reproducibility import reproducibility_section
from .risk_groups import group_calibration, risk_groups_section


def calibration_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return the calibration of held-out predictions, or None if there are none."""
    in_groups = inputs.kind in ("survival", "count")
    return group_calibration(inputs) if in_groups else prediction_calibration(inputs)


# Sections in the order of the report. Those that do not apply to a fit return None.
SECTIONS: dict[str, Callable[[Inputs], dict[str, Any] | None]] = {
    "overview": overview_section,
    "score_plot": score_plot_section,
    "prediction": prediction_section,
    "held_out": held_out_section,
    "external_test": external_test_section,
    "risk_groups": risk_groups_section,
    "calibration": calibration_section,
    "leading_features": leading_features_section,
    "panel": panel_section,
    # The answers end here, and the details begin.
    "question": question_section,
    "data": data_section,
    "components": components_section,
    "features": features_section,
    "covariates": covariates_section,
    "coefficients": coefficients_section,
    "convergence": convergence_section,
    "methods": methods_section,
    "reproducibility": reproducibility_section,
}
# Sections of a comparison, which has no fit to describe.
WITHOUT_FIT = ("overview", "prediction", "held_out", "calibration", "panel", "question", "data", "reproducibility")
FORMAT = 1


def summarize(
    fitted: Any,
    X: Any = None,
    y: Any = None,
    *,
    validation: Any = None,
    panel: Any = None,
    feature_names: Any = None,
    sample_names: Any = None,
    target_name: str = "target",
    context: Context | None = None,
) -> dict[str, Any]:
    """Return the contents of a report as a dictionary of JSON types.

    Parameters
    ----------
    fitted : Pipeline, ISPCA, SPCA or Comparison
        A fitted pipeline of a reduction and a linear model, a fitted reduction, or the result of
        `ispca.validation.compare`.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data of the fit; not needed for a comparison.
    y : array-like of shape (n_samples,), or events and times, optional
        The target of the fit.
    validation : Comparison, optional
        Held-out performance of the pipeline, as returned by `ispca.validation.compare_with_baselines` or
        `ispca.validation.compare`. Without it, the report says that performance was not measured.
    panel : ProjectionSelector, optional
        A fitted `ispca.selection.ProjectionSelector` whose reference is the model; adds a section on the features
        that predict as well as all of them.
    feature_names, sample_names : array-like, optional
        Names of features and samples. The defaults are the names seen in ``fit``, the index of a pandas data
        frame, or numbers.
    target_name : str, default="target"
        Name of the target.
    context : Context, optional
        Further information about the data, as set by the command line.

    Returns
    -------
    summary : dict
        ``title``, ``format`` and the sections in order. Each section has ``title`` and ``text``, and most have
        ``tables``. Sections that do not apply are omitted. Names are cleaned and shortened, but
        not escaped.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.report import summarize
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> summary = summarize(ispca, data.data, data.target)
    >>> summary["components"]["text"][0]
    '1 supervised component was found. With 2 unsupervised components, the reduction has 3 components.'
    """
    context = context or Context(target_name=str(target_name))
    inputs = check_inputs(fitted, X, y, validation, panel, feature_names, sample_names, context)
    keys = WITHOUT_FIT if inputs.reduction is None else SECTIONS
    sections = {key: SECTIONS[key](inputs) for key in keys}
    found = {key: content for key, content in sections.items() if content is not None}
    if "score_plot" in found:
        wrong = set(misclassified(inputs).tolist())
        shown = displayed_samples(len(inputs.samples)).tolist()
        found["score_plot"]["misclassified"] = [place for place, sample in enumerate(shown) if sample in wrong]
    return {"format": FORMAT, "title": _title(inputs), **found}


def _title(inputs: Inputs) -> str:
    target = clean(inputs.context.target_name, 80)
    if inputs.reduction is None:
        return f"Comparison of methods: {target}"
    size = f"{count(n_features(inputs), 'feature')} in {count(len(inputs.samples), 'sample')}"
    if inputs.y is None:
        return f"Components of {size}"
    what = f"survival ({target})" if inputs.kind == "survival" else target
    return f"Components related to {what}: {size}" if inputs.model is None else f"Predicting {what} from {size}"
