"""A fit or a comparison as one plain dict of JSON types, section by section: all a report knows."""

from __future__ import annotations

from typing import Any

from .components import components_section, picture_section
from .convergence import convergence_section
from .data import asked_section, data_section
from .features import coefficients_section, features_section
from .parts import Context, Parts, sort_out
from .prediction import cross_validate, prediction_section
from .repeat import repeat_section
from .text import clean

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
    comparison: Any = None,
    cv: Any = None,
    feature_names: Any = None,
    sample_names: Any = None,
    target_name: str = "target",
    context: Context | None = None,
    n_jobs: int | None = -1,
    random_state: int = 0,
) -> dict[str, Any]:
    """Return everything a report tells, as a dict that JSON can hold.

    Parameters
    ----------
    fitted : Pipeline, ISPCA, SPCA or Comparison
        A fitted pipeline with a reduction and a linear model after it, a fitted reduction, or what
        `ispca.validation.compare` returned.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data of the fit. Not needed for a comparison.
    y : array-like of shape (n_samples,), optional
        The target of the fit.
    comparison : Comparison, optional
        What `ispca.validation.compare` returned for the pipeline and others.
    cv : int, splitter or iterable of pairs, optional
        Without a comparison, how to split for one against the lasso and the base rate, as in
        `ispca.validation.compare`; None measures nothing.
    feature_names, sample_names : array-like, optional
        Names; by default those of the fit and the index of a pandas frame, or numbers.
    target_name : str, default="target"
        What the target is called.
    context : Context, optional
        More about the data, as the command line knows it.
    n_jobs : int or None, default=-1
        Worker processes of the cross-validation.
    random_state : int, default=0
        Seed of its splits.

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
    parts = sort_out(fitted, X, y, comparison, feature_names, sample_names, context)
    found = parts.comparison
    if found is None and cv is not None:
        found = cross_validate(parts, cv, n_jobs, random_state)
    return {"format": FORMAT, "title": _title(parts), **_sections(parts, found, cv)}


def _title(parts: Parts) -> str:
    target = clean(parts.context.target_name, 80)
    if parts.reduction is None:
        return f"Comparison of methods: {target}"
    return f"Components of {target}" if parts.y is not None else "Components"


def _sections(parts: Parts, comparison: Any, cv: Any) -> dict[str, Any]:
    sections = {"asked": asked_section(parts), "data": data_section(parts)}
    if parts.reduction is not None:
        sections["components"] = components_section(parts)
        sections["picture"] = picture_section(parts)
        sections["features"] = features_section(parts)
    sections["prediction"] = prediction_section(parts, comparison)
    if parts.reduction is not None:
        sections["coefficients"] = coefficients_section(parts)
        sections["convergence"] = convergence_section(parts)
    sections["repeat"] = repeat_section(parts, cv)
    return sections
