"""Render the templates of the pages; what comes from users is escaped."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

ENVIRONMENT = Environment(
    loader=PackageLoader("ispca.app", "templates"), autoescape=True, undefined=StrictUndefined
)


def render(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(ENVIRONMENT.get_template(template).render(**values), status)
