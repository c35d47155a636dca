"""Write a report to a file: HTML, Markdown or JSON, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .._atomic import whole_file
from .html import to_html
from .markdown import to_markdown
from .summary import summarize

SUFFIXES = {"html": ".html", "markdown": ".md", "json": ".json"}
_BY_SUFFIX = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".json": "json"}


def to_json(summary: dict[str, Any]) -> str:
    r"""Return a summary as JSON.

    Parameters
    ----------
    summary : dict
        What `ispca.report.summarize` returned.

    Returns
    -------
    text : str
        Compact JSON that ends in a newline.

    Examples
    --------
    >>> from ispca.report import to_json
    >>> to_json({"format": 1})
    '{"format":1}\n'
    """
    return json.dumps(summary, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


FORMATS = {"html": to_html, "markdown": to_markdown, "json": to_json}


def write_report(
    fitted: Any,
    X: Any = None,
    y: Any = None,
    path: Any = "report.html",
    *,
    format: str | None = None,
    cv: Any = 5,
    **options: Any,
) -> Path:
    """Write what a fit has found as one file that needs nothing else: no network, no Python.

    Parameters
    ----------
    fitted : Pipeline, ISPCA, SPCA or Comparison
        A fitted pipeline with a reduction and a linear model after it, a fitted reduction, or what
        `ispca.validation.compare` returned.
    X, y : array-like
        The data of the fit; not needed for a comparison.
    path : path, default="report.html"
        The file. One that is there is replaced, but only when the new one is complete.
    format : {"html", "markdown", "json"}, optional
        By default what the ending of the path says: .html, .md or .json.
    cv : int, splitter, iterable of pairs or None, default=5
        How to split for the cross-validation of a pipeline, as in `ispca.validation.compare`: it is refitted in
        every split together with the lasso and the base rate. None leaves it out, and the report says so.
    **options
        ``comparison``, ``feature_names``, ``sample_names``, ``target_name``, ``context``, ``n_jobs`` and
        ``random_state`` as in `ispca.report.summarize`.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.report import write_report
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(ispca, data.data, data.target, pathlib.Path(folder, "report.html")).name
    'report.html'
    """
    path = Path(path)
    format = _checked_format(path, format)
    text = FORMATS[format](summarize(fitted, X, y, cv=cv, **options))
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def _checked_format(path: Path, format: str | None) -> str:
    """Return the format, and make sure that the path can be written before any work is done."""
    if format is None:
        format = _BY_SUFFIX.get(path.suffix.lower())
        if format is None:
            raise ValueError(
                f"{path.name} does not say what to write: end it in .html, .md or .json, or pass format."
            )
    if format not in FORMATS:
        raise ValueError(f"format={format!r} is not known: choose from {', '.join(map(repr, FORMATS))}.")
    if path.is_dir():
        raise ValueError(f"{path} is a directory: name a file in it.")
    if not path.parent.is_dir():
        raise ValueError(f"There is no directory {path.parent} to write {path.name} into: make it first.")
    return format
