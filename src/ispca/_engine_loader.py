"""Load the compiled engine, only when a model is fitted."""

from __future__ import annotations

import importlib
from types import ModuleType


def load_engine() -> ModuleType:
    """Return the extension module ``ispca._engine``.

    The module offers ``sample``, ``log_density``, ``lasso_path``, ``simd`` and ``simd_available``. The rest of
    the package does not need it, so it is imported here and nowhere else.

    Raises
    ------
    ImportError
        If this installation has no compiled engine.

    Examples
    --------
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
