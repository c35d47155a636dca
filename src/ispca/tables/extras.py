"""Packages that only some files need."""

from __future__ import annotations

import importlib
from typing import Any


def load_extra(what: str, package: str, extra: str = "cli") -> Any:
    """Import a package, or raise the error that names it and the command that installs it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(
            f"{what} needs {package}, which is not installed: pip install 'ispca[{extra}]'"
        ) from None
