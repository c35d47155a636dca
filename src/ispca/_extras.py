"""Optional packages: imported when they are needed, and named when they are missing."""

from __future__ import annotations

import importlib
from typing import Any


def load_extra(purpose: str, module: str) -> Any:
    """Import a module of an optional package, or raise an ImportError that says how to install the package."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(missing_package(purpose, module.partition(".")[0])) from None


def missing_package(purpose: str, package: str) -> str:
    """Return a sentence that names the missing package and the command that installs it.

    Examples
    --------
    >>> missing_package("Reading x.h5ad", "h5py")
    'Reading x.h5ad requires h5py, which is not installed. Install it with: pip install h5py'
    """
    return f"{purpose} requires {package}, which is not installed. Install it with: pip install {package}"
