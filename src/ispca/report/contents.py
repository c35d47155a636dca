"""Compute the contents of a report as a plain dictionary with one entry per section."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..foundation.messages import count
from .calibration_and_risk_groups import calibration_section, risk_groups_section
from .coefficients_and_convergence import coefficients_section, convergence_section, features_section
from .components import components_section, score_plot_section
from .covariates import covariates_section
from .formatting import clean
from .leading_features import leading_features_section
from .overview import data_section, overview_section, question_section
from .panel import panel_section
from .prediction import prediction_section
from .report_inputs import Context, Inputs, check_inputs
from .reproducibility import methods_section, reproducibility_section
from .sample_predictions import external_test_section, held_out_section


def _always(inputs: Inputs) -> bool:
    return True


def _has_fit(inputs: Inputs) -> bool:
    return inputs.reduction is not None


def _has_held_out(inputs: Inputs) -> bool:
    return inputs.comparison is not None and inputs.y is not None


def _has_risks(inputs: Inputs) -> bool:
    return inputs.target.timed and inputs.y is not None and inputs.model is not None


# Sections in the order of the report: to which inputs they apply, and their contents, None if there is too little.
SECTIONS: dict[str, tuple[Callable[[Inputs], bool], Callable[[Inputs], dict[str, Any] | None]]] = {
    "overview": (_always, overview_section),
    "panel": (lambda inputs: inputs.panel is not None, panel_section),
    "score_plot": (_has_fit, score_plot_section),
    # If the panel was validated, its section has the metrics.
    "prediction": (lambda inputs: inputs.comparison is not None or not inputs.panel_validated, prediction_section),
    "held_out": (_has_held_out, held_out_section),
    "external_test": (lambda inputs: bool(inputs.context.test), external_test_section),
    "risk_groups": (_has_risks, risk_groups_section),
    "calibration": (_has_held_out, calibration_section),
    "leading_features": (_has_fit, leading_features_section),
    # The answers end here, and the details begin.
    "question": (_always, question_section),
    "data": (_always, data_section),
    "components": (_has_fit, components_section),
    "features": (_has_fit, features_section),
    "covariates": (lambda inputs: bool(inputs.adjusted.any()), covariates_section),
    "coefficients": (_has_fit, coefficients_section),
    "convergence": (_has_fit, convergence_section),
    "methods": (_has_fit, methods_section),
    "reproducibility": (_always, reproducibility_section),
}
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
    sections = {key: contents(inputs) for key, (applies, contents) in SECTIONS.items() if applies(inputs)}
    found = {key: content for key, content in sections.items() if content is not None}
    return {"format": FORMAT, "title": _title(inputs), **found}


def _title(inputs: Inputs) -> str:
    target = clean(inputs.context.target_name, 80)
    if inputs.reduction is None:
        return f"Comparison of methods: {target}"
    size = f"{count(inputs.n_features, 'feature')} in {count(len(inputs.samples), 'sample')}"
    if inputs.y is None:
        return f"Components of {size}"
    what = f"survival ({target})" if inputs.target.timed else target
    return f"Components related to {what}: {size}" if inputs.model is None else f"Predicting {what} from {size}"
