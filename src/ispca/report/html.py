"""Render a summary as one HTML file; templates escape untrusted text, and a policy forbids all requests."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any

from .._extras import load_extra
from .charts import chart_layout
from .contents import SECTIONS
from .forest_plot import forest_layout

SCRIPTS = ("tables.js", "axes.js", "score_plot.js", "loading_profile.js", "figures.js", "main.js")
DASH, MINUS = "\u2013", "\u2212"


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
        return f"{value:{',' if isinstance(value, int) else '.4g'}}".replace("-", MINUS)
    return str(value)


def _digest(text: str) -> str:
    """Return the hash by which the content security policy allows a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
