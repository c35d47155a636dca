"""Reports of a fit or a comparison: computed as a plain dictionary, rendered as HTML, Markdown or JSON."""

from .contents import summarize
from .report_file import to_html, to_json, to_markdown, write_report

__all__ = ["summarize", "to_html", "to_json", "to_markdown", "write_report"]
