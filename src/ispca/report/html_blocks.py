"""HTML of tables, lists and plot frames, readable without the script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

# Rows of a table in the HTML itself; the script adds the others.
STATIC_ROWS = 15
DASH, MINUS = "\u2013", "\u2212"


def fact_list(facts: Sequence[Sequence[str]]) -> str:
    """Return labels and values as an HTML list."""
    items = "".join(
        f"<div><dt>{escape(label)}</dt><dd><bdi>{escape(value)}</bdi></dd></div>" for label, value in facts
    )
    return f"<dl>{items}</dl>"


def cell_text(cell: Any) -> str:
    """Return a cell as text, with a typographic minus sign and rounded numbers."""
    if cell is None:
        return DASH
    if isinstance(cell, float | int):
        return f"{cell:,}".replace("-", MINUS) if isinstance(cell, int) else f"{cell:.4g}".replace("-", MINUS)
    return str(cell)


def table_block(table: dict[str, Any], choices: Sequence[str] | None = None) -> str:
    """Return a table with its first rows; ``choices`` are the captions of a menu of tables."""
    caption = escape(table["caption"])
    heads = "".join(
        f'<th scope="col" class="{column["kind"]}">{escape(column["label"])}</th>' for column in table["columns"]
    )
    kinds = [column["kind"] for column in table["columns"]]
    rows = "".join(_row(row, kinds) for row in table["rows"][:STATIC_ROWS])
    more = len(table["rows"]) - STATIC_ROWS
    rest = f'<p class="more">{more:,} more rows.</p>' if more > 0 else ""
    group = ""
    if choices is not None:
        options = "".join(f'<option value="{i}">{escape(name)}</option>' for i, name in enumerate(choices, 1))
        group = f'<p class="chooser"><label>Component <select data-group="features">{options}</select></label></p>'
    save = " data-save" if table["key"].startswith(("features", "coefficients", "intervals")) else ""
    return (
        f'<div class="table" data-table="{escape(table["key"])}"{save}>{group}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
        f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{rest}</div>"
    )


def _row(row: Sequence[Any], kinds: Sequence[str]) -> str:
    cells = []
    for cell, kind in zip(row, kinds, strict=True):
        text = escape(cell_text(cell))
        cells.append(f'<td class="number">{text}</td>' if kind == "number" else f"<td><bdi>{text}</bdi></td>")
    return f"<tr>{''.join(cells)}</tr>"


def score_plot_block(section: dict[str, Any]) -> str:
    """Return the menus and the frame of the score plot, which the script draws."""
    names = section["components"]
    across = _options(names, 0)
    up = _options([*names, "Sample order"], 1)
    colors = _options([choice["label"] for choice in section["colors"]] + ["None"], 0)
    return f"""<div id="scatter" hidden>
<div class="tools">
<label>Horizontal <select id="across">{across}</select></label>
<label>Vertical <select id="up">{up}</select></label>
<label>Color <select id="color">{colors}</select></label>
</div>
<div class="plot" id="plot" tabindex="0" role="application" aria-roledescription="scatter plot"
 aria-describedby="keys" aria-label="{len(section["samples"])} samples on two components"></div>
<div class="legend" id="legend"></div>
<p class="hint" id="keys">Hover over a sample, touch it, or use the arrow keys to see its name.</p>
<p class="told" id="told" role="status"></p>
<details><summary>Show the samples as a table</summary><div id="samples"></div></details>
</div>
<noscript><p>The score plot requires JavaScript; everything else in this file works without it.</p></noscript>"""


def _options(labels: Sequence[str], chosen: int) -> str:
    return "".join(
        f'<option value="{i}"{" selected" if i == min(chosen, len(labels) - 1) else ""}>{escape(label)}</option>'
        for i, label in enumerate(labels)
    )


def profile_block() -> str:
    """Return the frame of the loading profile."""
    inside = '<div id="profile-plot"></div><figcaption id="profile-text"></figcaption>'
    return f'<figure id="profile" hidden>{inside}</figure>'
