"""Formulas as MathML, which browsers draw by themselves: no script, no font, nothing fetched.

The conversion is that of docutils. A formula it does not understand is a warning, and so an error of ``make
docs``.
"""

import html

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def convert(text, as_block, node):
    """Return the MathML of a formula; its text where that fails."""
    try:
        return latex2mathml.tex2mathml(text, as_block=as_block)
    except MathError as error:
        logger.warning("no MathML for %r: %s", text, error, location=node)
        return f"<code>{html.escape(text)}</code>"


def visit_math(translator, node):
    """Write an inline formula."""
    translator.body.append(convert(node.astext(), False, node))
    raise nodes.SkipNode


def visit_math_block(translator, node):
    """Write a formula on a line of its own."""
    text = node.astext().strip()
    if r"\\" in text and r"\begin{" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    translator.body.append(translator.starttag(node, "div", CLASS="math-block"))
    translator.body.append(convert(text, True, node))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer; ``html_math_renderer = "mathml"`` uses it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
