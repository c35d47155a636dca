"""Tables of results: record arrays that notebooks show as HTML and that turn into data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ._extras import load_extra
from ._messages import count

# What a notebook shows of a large table.
MOST_ROWS = 20
MOST_COLUMNS = 20
MISSING = "-"
# Notebooks differ in their defaults.
LEFT, RIGHT = "text-align: left", "text-align: right"


class ResultTable(np.recarray):
    """A record array with one record per row.

    Columns are ``table["name"]`` and rows ``table[0]``; masks, slices and sorting work as for any array. Notebooks
    show the first 20 rows.

    Examples
    --------
    >>> from ispca._result_table import as_table
    >>> table = as_table({"feature": ["TP53", "MYC"], "weight": [0.5, -0.2]})
    >>> table["feature"].tolist(), table[table["weight"] > 0].to_frame().shape
    (['TP53', 'MYC'], (1, 2))
    """

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        return load_extra("A data frame", "pandas").DataFrame(self)

    def _repr_html_(self) -> str:
        names = self.dtype.names
        # Views of single columns and other shapes are arrays, not tables.
        if names is None or self.ndim != 1:
            return f"<pre>{escape(repr(self))}</pre>"
        columns = {name: self[name][:MOST_ROWS] for name in names[:MOST_COLUMNS]}
        remarks = []
        if len(self) > MOST_ROWS or len(names) > MOST_COLUMNS:
            remarks = [f"{count(len(self), 'row')}, {count(len(names), 'column')}; to_frame() has all of them."]
        return html_table(columns, remarks=remarks)


def as_table(columns: Mapping[str, Any]) -> ResultTable:
    """Return a table with these columns."""
    arrays = [np.asarray(values) for values in columns.values()]
    dtype = [(name, values.dtype) for name, values in zip(columns, arrays, strict=True)]
    return np.rec.fromarrays(arrays, dtype=np.dtype(dtype)).view(ResultTable)


def html_table(columns: Mapping[str, Any], *, caption: str = "", remarks: Sequence[str] = ()) -> str:
    """Return columns of text or numbers as HTML, with remarks below; everything is escaped.

    Examples
    --------
    >>> from ispca._result_table import html_table
    >>> html_table({"n": [1200]}).partition("<tbody>")[2]
    '<tr><td style="text-align: right">1,200</td></tr></tbody></table>'
    """
    arrays = [np.asarray(values) for values in columns.values()]
    style = [f' style="{RIGHT if values.dtype.kind in "iuf" else LEFT}"' for values in arrays]
    heads = "".join(f"<th{s}>{escape(str(name))}</th>" for name, s in zip(columns, style, strict=True))
    rows = zip(*(map(_cell, a.tolist()) for a in arrays), strict=True)
    body = "".join(
        f"<tr>{''.join(f'<td{s}>{escape(cell)}</td>' for cell, s in zip(row, style, strict=True))}</tr>"
        for row in rows
    )
    top = f'<caption style="{LEFT}; white-space: nowrap">{escape(caption)}</caption>' if caption else ""
    below = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return f"<table>{top}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{below}"


def _cell(value: Any) -> str:
    if isinstance(value, float) and np.isfinite(value):
        return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"
    if isinstance(value, float):
        return MISSING if np.isnan(value) else str(value)
    return f"{value:,}" if type(value) is int else str(value)
