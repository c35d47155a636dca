"""A fit or a comparison as one plain dict of JSON types, section by section: all a report knows."""

from __future__ import annotations

from typing import Any

from .components import components_section, picture_section
from .convergence import convergence_section
from .data_overview import asked_section, data_section
from .features import coefficients_section, features_section
from .formatting import clean
from .input_checks import Context, Inputs, check_inputs
from .prediction import prediction_section
from .reproducibility import repeat_section

# In the order of the report.
SECTIONS = (
    *("asked", "data", "components", "picture", "features"),
    *("prediction", "coefficients", "convergence", "repeat"),
)
FORMAT = 1


def summarize(
    fitted: Any,
    X: Any = None,
    y: Any = None,
    *,
    validation: Any = None,
    feature_names: Any = None,
    sample_names: Any = None,
    target_name: str = "target",
    context: Context | None = None,
) -> dict[str, Any]:
    """Return everything a report tells, as a dict that JSON can hold.

    Parameters
    ----------
    fitted : Pipeline, ISPCA, SPCA or Comparison
        A fitted pipeline of a reduction and a horseshoe model, a fitted reduction, or what
        `ispca.validation.compare` returned.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data of the fit. Not needed for a comparison.
    y : array-like of shape (n_samples,), optional
        The target of the fit.
    validation : Comparison, optional
        Held-out performance of the pipeline, as returned by `ispca.validation.compare_with_baselines` or
        `ispca.validation.compare`. Without it, the report says that performance was not measured.
    feature_names, sample_names : array-like, optional
        Names; by default those of the fit and the index of a pandas frame, or numbers.
    target_name : str, default="target"
        What the target is called.
    context : Context, optional
        More about the data, as the command line knows it.

    Returns
    -------
    summary : dict
        ``title``, ``format`` and the sections in their order; each has ``title`` and ``text``, most ``tables``.
        Sections that do not apply to a comparison are not there. Names are cleaned and cut, but not escaped.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.report import summarize
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> summary = summarize(ispca, data.data, data.target)
    >>> summary["components"]["text"][0]
    'There is 1 supervised component, and 2 unsupervised ones fill up to 3.'
    """
    context = context or Context(target_name=str(target_name))
    inputs = check_inputs(fitted, X, y, validation, feature_names, sample_names, context)
    return {"format": FORMAT, "title": _title(inputs), **_sections(inputs)}


def _title(inputs: Inputs) -> str:
    target = clean(inputs.context.target_name, 80)
    if inputs.reduction is None:
        return f"Comparison of methods: {target}"
    return f"Components of {target}" if inputs.y is not None else "Components"


def _sections(inputs: Inputs) -> dict[str, Any]:
    sections = {"asked": asked_section(inputs), "data": data_section(inputs)}
    if inputs.reduction is not None:
        sections["components"] = components_section(inputs)
        sections["picture"] = picture_section(inputs)
        sections["features"] = features_section(inputs)
    sections["prediction"] = prediction_section(inputs)
    if inputs.reduction is not None:
        sections["coefficients"] = coefficients_section(inputs)
        sections["convergence"] = convergence_section(inputs)
    sections["repeat"] = repeat_section(inputs)
    return sections
