"""Render a summary as Markdown: all text and the first rows of each table; untrusted text is escaped."""

from __future__ import annotations

import re
from typing import Any

from .contents import SECTIONS

# Limits on the rows of a table and the tables of a section.
MOST_ROWS, MOST_TABLES = 20, 5
# Lists of a section and what precedes them.
LISTS = {"leading": "Leading features", "caveats": "Caveats"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")


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
    blocks = [f"## {escape(section['title'])}", *map(escape, section["text"])]
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
