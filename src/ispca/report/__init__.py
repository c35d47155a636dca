"""Reports: one fit or comparison as a plain dict, and from it as a self-contained page, Markdown or JSON."""

from .html import to_html
from .markdown import to_markdown
from .summary import summarize
from .writing import to_json, write_report

__all__ = ["summarize", "to_html", "to_json", "to_markdown", "write_report"]
