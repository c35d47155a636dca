"""Render a summary as one HTML file; untrusted text is escaped, and a policy forbids all requests."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import Any

from .forest_plot import forest
from .html_blocks import fact_list, profile_block, score_plot_block, table_block
from .summary import SECTIONS

SCRIPTS = ("tables.js", "axes.js", "score_plot.js", "loading_profile.js", "main.js")
# Characters that could end the script element or the line are written as JSON escapes.
_ENDINGS = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


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
    style, script = _page("style.css"), _script()
    present = [key for key in SECTIONS if key in summary]
    links = "".join(f'<li><a href="#{key}">{escape(summary[key]["title"])}</a></li>' for key in present)
    body = "\n".join(_section(key, summary[key]) for key in present)
    versions = ", ".join(
        f"{escape(name)} {escape(text)}" for name, text in summary["reproducibility"]["versions"].items()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{escape(summary["title"])}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<h1><bdi>{escape(summary["title"])}</bdi></h1>
<nav aria-label="Sections"><ol>{links}</ol></nav>
</header>
<main id="main" tabindex="-1">
{body}
</main>
<footer><p>Made with {versions}. This file is self-contained and needs no network connection.</p></footer>
<script type="application/json" id="report-data">{embed(_data(summary))}</script>
<script>{script}</script>
</body>
</html>
"""


def embed(data: Any) -> str:
    """Return JSON that is safe inside a script element, whatever text it contains."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ENDINGS)


def _page(name: str) -> str:
    text: str = (files(__package__) / "page" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _script() -> str:
    return '(() => {\n"use strict";\n' + "\n".join(map(_page, SCRIPTS)) + "})();\n"


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _data(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the data of the script: tables by key, scores and loadings."""
    tables = {
        table["key"]: {name: table[name] for name in ("caption", "columns", "rows")}
        for key in SECTIONS
        for table in summary.get(key, {}).get("tables", [])
    }
    drawn = ("samples", "components", "scores", "colors")
    score_plot = {name: summary["score_plot"][name] for name in drawn} if "score_plot" in summary else None
    features = summary.get("features", {})
    profiles = {name: features.get(name) for name in ("profiles", "per_point")}
    return {"tables": tables, "score_plot": score_plot, **profiles}


def _section(key: str, section: dict[str, Any]) -> str:
    parts = [f'<h2 id="{key}-title">{escape(section["title"])}</h2>', _status(section)]
    parts += [f"<p>{escape(line)}</p>" for line in section["text"]]
    if section.get("facts"):
        parts.append(fact_list(section["facts"]))
    if key == "score_plot":
        parts.append(score_plot_block(section))
    parts += [forest(panel) for panel in section.get("forests", [])]
    tables = section.get("tables", [])
    if key == "features" and tables:
        parts += [table_block(tables[0], [table["caption"] for table in tables]), profile_block()]
    else:
        parts += [_folded(table) for table in tables]
    if section.get("words"):
        words = "".join(f"<li>{escape(line)}</li>" for line in section["words"])
        parts.append(f"<details><summary>Definitions of the metrics</summary><ul>{words}</ul></details>")
    if key == "reproducibility":
        parts.append(_references(section))
    return (
        f'<section id="{key}" aria-labelledby="{key}-title">\n' + "\n".join(filter(None, parts)) + "\n</section>"
    )


def _folded(table: dict[str, Any]) -> str:
    """Return a table; one that repeats the plot above it is collapsed."""
    block = table_block(table)
    if table["key"] != "intervals":
        return block
    return f"<details><summary>All metrics with their intervals</summary>{block}</details>"


def _status(section: dict[str, Any]) -> str:
    """Return the convergence verdict as a label that does not depend on color alone."""
    if "converged" not in section:
        return ""
    kind, words = ("good", "Converged") if section["converged"] else ("bad", "Not converged")
    return f'<p class="verdict {kind}">{words}</p>'


def _references(section: dict[str, Any]) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in section["references"])
    address = escape(section["address"])
    parts = [f'<ul>{lines}</ul><p><a href="{address}" rel="noreferrer noopener">{address}</a></p>']
    for item in section["code"]:
        label = escape(item["label"])
        parts.append(f'<h3>{label}</h3><pre tabindex="0" role="region" aria-label="{label}"><code>')
        parts[-1] += f"{escape(item['code'])}</code></pre>"
    return "\n".join(parts)
