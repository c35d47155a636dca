"""Parts that are imported when they are needed, and named if missing: optional packages and the engine."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


def load_extra(purpose: str, module: str) -> Any:
    """Import a module of an optional package, or raise an ImportError that says how to install the package."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(missing_package(purpose, module.partition(".")[0])) from None


def missing_package(purpose: str, package: str) -> str:
    """Return a sentence that names the missing package and the command that installs it.

    >>> missing_package("Reading x.h5ad", "h5py")
    'Reading x.h5ad requires h5py, which is not installed. Install it with: pip install h5py'
    """
    return f"{purpose} requires {package}, which is not installed. Install it with: pip install {package}"


def load_engine() -> ModuleType:
    """Return the extension module ``ispca._engine``.

    The module offers ``sample``, ``log_density``, ``lasso_path``, ``simd`` and ``simd_available``. The rest of
    the package does not need it, so it is imported here and nowhere else.

    >>> load_engine().simd() in load_engine().simd_available()
    True
    """
    try:
        return importlib.import_module("ispca._engine")
    except ImportError as error:
        raise ImportError(
            "The horseshoe models and the lasso need the compiled engine ispca._engine, which this installation "
            "lacks: install a C++17 compiler (Debian, Ubuntu: apt install build-essential) and run "
            "'pip install .' in the source folder of ispca again."
        ) from error
