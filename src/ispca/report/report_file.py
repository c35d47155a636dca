"""Render a report as HTML, Markdown or JSON, and write it to a file; untrusted text is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any

from ..foundation.atomic import whole_file
from ..foundation.extras import load_extra
from .charts import chart_layout, forest_layout
from .contents import SECTIONS, summarize
from .formatting import minus_signs

SCRIPTS = ("tables.js", "axes.js", "score_plot.js", "loading_profile.js", "figures.js", "main.js")
DASH = "\u2013"
# Limits on the rows of a table and the tables of a section.
MOST_ROWS, MOST_TABLES = 20, 5
# Lists of a section and what precedes them.
LISTS = {"leading": "Leading features", "caveats": "Caveats"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")
_BY_SUFFIX = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".json": "json"}


def to_html(summary: dict[str, Any]) -> str:
    """Return a summary as one self-contained HTML page.

    Parameters
    ----------
    summary : dict
        Result of `ispca.report.summarize`.

    Returns
    -------
    page : str
        HTML including style, script and data. It makes no requests, and its content security policy allows none.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.report import summarize, to_html
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> page = to_html(summarize(ispca, data.data, data.target, target_name="<script>"))
    >>> "&lt;script&gt;" in page
    True
    """
    script = '(() => {\n"use strict";\n' + "\n".join(_read("page", name) for name in SCRIPTS) + "})();\n"
    page: str = (
        load_templates()
        .get_template("page.html")
        .render(
            summary=summary,
            sections=[key for key in SECTIONS if key in summary],
            style=_read("page", "style.css"),
            script=script,
            next_figure=count(1).__next__,
        )
    )
    return page


@cache
def load_templates() -> Any:
    """Return the templates of the page, or raise an ImportError that says how to install Jinja2."""
    jinja2 = load_extra("Writing an HTML report", "jinja2")
    templates = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(lambda name: _read("templates", name)),
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(
        cell=_cell_text, digest=_digest, forest_layout=forest_layout, chart_layout=chart_layout
    )
    # The filter tojson escapes the characters that could end the script element.
    templates.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "allow_nan": False,
        "separators": (",", ":"),
    }
    return templates


def _read(folder: str, name: str) -> str:
    text: str = (files(__package__) / folder / name).read_text(encoding="utf-8")
    return text


def _cell_text(value: Any) -> str:
    """Return a cell as text, with a typographic minus sign and rounded numbers."""
    if value is None:
        return DASH
    if isinstance(value, float | int):
        return minus_signs(f"{value:{',' if isinstance(value, int) else '.4g'}}")
    return str(value)


def _digest(text: str) -> str:
    """Return the hash by which the content security policy allows a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def to_markdown(summary: dict[str, Any]) -> str:
    """Return a summary as Markdown.

    Parameters
    ----------
    summary : dict
        Result of `ispca.report.summarize`.

    Returns
    -------
    text : str
        The sections of the HTML page, without the score plot.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.report import summarize, to_markdown
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> print(to_markdown(summarize(ispca, data.data, data.target)).splitlines()[0])
    # Components related to target: 300 features in 60 samples
    """
    blocks = [f"# {escape(summary['title'])}"]
    for key in SECTIONS:
        if key in summary and key != "score_plot":
            blocks += _section(summary[key])
    return "\n\n".join(blocks) + "\n"


def escape(text: Any) -> str:
    """Return text that Markdown renders literally, including HTML."""
    plain = _SPECIAL.sub(r"\\\1", str(text))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _section(section: dict[str, Any]) -> list[str]:
    blocks = [f"## {escape(section['title'])}"]
    blocks += [f"**{escape(line)}**" for line in section.get("warnings", [])]
    blocks += map(escape, section["text"])
    blocks += [f"**{escape(line)}**" for line in section.get("verdict", [])]
    if section.get("facts"):
        blocks.append("\n".join(f"- {escape(label)}: {escape(value)}" for label, value in section["facts"]))
    for key, label in LISTS.items():
        if section.get(key):
            blocks += [f"{label}:", "\n".join(f"- {escape(line)}" for line in section[key])]
    tables = section.get("tables", [])
    for table in tables[:MOST_TABLES]:
        blocks += [f"**{escape(table['caption'])}**", _table(table)]
    if len(tables) > MOST_TABLES:
        blocks.append(escape(f"{len(tables) - MOST_TABLES} more tables are in the HTML and JSON reports."))
    blocks += [escape(section["paragraph"])] if "paragraph" in section else []
    blocks += [f"{escape(item['label'])}:\n\n{_code(item['text'])}" for item in section.get("lists", [])]
    blocks += [escape(line) for line in section.get("words", [])]
    if section.get("references"):
        blocks.append("\n".join(f"- {escape(line)}" for line in section["references"]))
        blocks.append(f"<{section['address']}>")
    for item in section.get("code", []):
        blocks += [f"{escape(item['label'])}:", _code(item["code"])]
    return blocks


def _code(code: str) -> str:
    """Return a code block with a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def _table(table: dict[str, Any]) -> str:
    columns = table["columns"]
    lines = [
        "| " + " | ".join(escape(column["label"]) for column in columns) + " |",
        "|" + "|".join("---:" if column["kind"] == "number" else "---" for column in columns) + "|",
    ]
    for row in table["rows"][:MOST_ROWS]:
        lines.append("| " + " | ".join("" if cell is None else escape(cell) for cell in row) + " |")
    more = len(table["rows"]) - MOST_ROWS
    return "\n".join(lines) + (f"\n\n{more:,} more rows are in the HTML and JSON reports." if more > 0 else "")


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
    format = _check_format(path, format)
    text = FORMATS[format](summarize(fitted, X, y, **options))
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def _check_format(path: Path, format: str | None) -> str:
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
