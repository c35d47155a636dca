"""Write a report to an HTML, Markdown or JSON file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .._atomic import whole_file
from .contents import summarize
from .html import load_templates, to_html
from .markdown import to_markdown

SUFFIXES = {"html": ".html", "markdown": ".md", "json": ".json"}
_BY_SUFFIX = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".json": "json"}


def to_json(summary: dict[str, Any]) -> str:
    r"""Return a summary as JSON.

    Parameters
    ----------
    summary : dict
        Result of `ispca.report.summarize`.

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
    **options: Any,
) -> Path:
    """Write a report of a fit or a comparison to one self-contained file.

    Parameters
    ----------
    fitted : Pipeline, ISPCA, SPCA or Comparison
        A fitted pipeline of a reduction and a linear model, a fitted reduction, or the result of
        `ispca.validation.compare`.
    X, y : array-like
        The data of the fit; not needed for a comparison.
    path : path, default="report.html"
        Output file. An existing file is replaced only when the new one is complete.
    format : {"html", "markdown", "json"}, optional
        Inferred from the extension of the path by default: .html, .md or .json. HTML needs Jinja2, the extra
        ``ispca[report]``.
    **options
        ``validation``, ``panel``, ``feature_names``, ``sample_names``, ``target_name`` and ``context``, as in
        `ispca.report.summarize`.

    Returns
    -------
    path : Path
        The output file.

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
    text = FORMATS[format](summarize(fitted, X, y, **options))
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def _checked_format(path: Path, format: str | None) -> str:
    """Return the format after checking that it can be rendered and that the path can be written."""
    if format is None:
        format = _BY_SUFFIX.get(path.suffix.lower())
        if format is None:
            raise ValueError(
                f"Could not infer the format from {path.name!r}: use .html, .md or .json, or pass format."
            )
    if format not in FORMATS:
        raise ValueError(f"Unknown format={format!r}: choose from {', '.join(map(repr, FORMATS))}.")
    if format == "html":
        load_templates()
    if path.is_dir():
        raise ValueError(f"{path} is a directory: pass the path of a file.")
    if not path.parent.is_dir():
        raise ValueError(f"The directory {path.parent} does not exist: create it first.")
    return format
