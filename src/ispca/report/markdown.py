"""A summary as Markdown: all the words and the first rows of each table, with everything untrusted escaped."""

from __future__ import annotations

import re
from typing import Any

from .summary import SECTIONS

# Rows of a table, and tables of a section, that are worth reading in a text.
MOST_ROWS, MOST_TABLES = 20, 5
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")


def to_markdown(summary: dict[str, Any]) -> str:
    """Return a summary as Markdown.

    Parameters
    ----------
    summary : dict
        What `ispca.report.summarize` returned.

    Returns
    -------
    text : str
        The same sections as the page has; the picture is left to the page.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.report import summarize, to_markdown
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> print(to_markdown(summarize(ispca, data.data, data.target)).splitlines()[0])
    # Components of target
    """
    blocks = [f"# {escape(summary['title'])}"]
    for key in SECTIONS:
        if key in summary and key != "picture":
            blocks += _section(summary[key])
    return "\n\n".join(blocks) + "\n"


def escape(text: Any) -> str:
    """Return text that Markdown shows as it is, HTML included."""
    plain = _SPECIAL.sub(r"\\\1", str(text))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _section(section: dict[str, Any]) -> list[str]:
    blocks = [f"## {escape(section['title'])}", *map(escape, section["text"])]
    if section.get("facts"):
        blocks.append("\n".join(f"- {escape(label)}: {escape(value)}" for label, value in section["facts"]))
    tables = section.get("tables", [])
    for table in tables[:MOST_TABLES]:
        blocks += [f"**{escape(table['caption'])}**", _table(table)]
    if len(tables) > MOST_TABLES:
        blocks.append(escape(f"{len(tables) - MOST_TABLES} more tables are in the page and in the JSON."))
    blocks += [escape(line) for line in section.get("words", [])]
    if section.get("references"):
        blocks.append("\n".join(f"- {escape(line)}" for line in section["references"]))
        blocks.append(f"<{section['address']}>")
    for item in section.get("code", []):
        blocks += [f"{escape(item['label'])}:", _code(item["code"])]
    return blocks


def _code(code: str) -> str:
    """Return a block of code, fenced by more backticks than it has in a row."""
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
    return "\n".join(lines) + (f"\n\n{more:,} more rows are in the page and in the JSON." if more > 0 else "")
