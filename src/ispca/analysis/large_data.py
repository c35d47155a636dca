"""What an analysis does differently with data that stay in their file, and with a reduction on a GPU."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..containers.array_api import on_host
from ..foundation.messages import SettingError
from ..readers import Table
from .settings import Settings

# Memory for blocks unless it is limited, and the least that they need: those of the reductions.
BLOCK_MEMORY, LEAST_MEMORY = 2**28, 2**20


def block_memory(settings: Settings) -> float:
    """Return the memory for blocks, in bytes."""
    return float(BLOCK_MEMORY if settings.memory is None else max(settings.memory, LEAST_MEMORY))


def check_device(settings: Settings) -> None:
    """Refuse a device that no library can use, before any work."""
    if settings.device != "cpu":
        usable_library(settings.device)


def check_large(table: Table, settings: Settings) -> list[str]:
    """Refuse a device for data that it cannot use; return notes on the device in use, and on what is left out."""
    device = settings.device
    if device != "cpu" and not isinstance(table.X, np.ndarray):
        reason = "are read in blocks" if table.in_blocks else "are sparse"
        raise SettingError(f"⟦device={device}⟧ needs a dense matrix in memory, but the data {reason}.")
    if device != "cpu":
        where = f"{device} with {LIBRARY_NAMES[usable_library(device)[0]]}"
        fits = "in the fit and in the cross-validation" if settings.cv else "in the fit"
        return [f"Finding components on {where}, {fits}."]
    if not table.in_blocks:
        return []
    left_out = ["the checks of the data"]
    left_out += ["kernels, the lasso and the combined prediction in the cross-validation"] if settings.cv else []
    left_out += ["the search for training samples in the test file"] if settings.test else []
    which = left_out[0] if len(left_out) == 1 else f"{', '.join(left_out[:-1])} and {left_out[-1]}"
    return [f"Left out, because this needs all data in memory: {which}."]


def with_blocks(pipeline: Any, table: Table, settings: Settings) -> Any:
    """Let a reduction read data in blocks, and fill missing values, as the reader does for data in memory."""
    from sklearn.pipeline import Pipeline

    if table.in_blocks and isinstance(pipeline, Pipeline):
        missing = "mean" if settings.missing == "mean" else "error"
        pipeline[0].set_params(memory_budget=block_memory(settings), missing=missing)
    return pipeline


def on_device(X: Any, device: str) -> Any:
    """Return X on a device, as an array of the first library that can use it."""
    return X if device == "cpu" else usable_library(device)[1](X)


def usable_library(device: str) -> tuple[str, Callable[[Any], Any]]:
    """Return a library and its function that moves an array to a device, or refuse a device that none can use."""
    for name, (usable, move) in LIBRARIES.items():
        if find_spec(name) is not None:
            module = importlib.import_module(name)
            if usable(module):
                return name, partial(move, module)
    known = [name for name in LIBRARIES if find_spec(name) is not None]
    reason = f"{' and '.join(known)} found no GPU" if known else "CuPy, PyTorch and JAX are not installed"
    raise SettingError(f"⟦device={device}⟧ needs a GPU and CuPy, PyTorch or JAX, but {reason}. Leave it out.")


def bring_back(reduction: Any) -> None:
    """Move what a fit on another device has stored into the memory of the computer."""
    for name, value in vars(reduction).items():
        setattr(reduction, name, on_host(value))


def _cupy_usable(cupy: Any) -> bool:
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # without a driver, each version fails in its own way
        return False


def _to_jax(jax: Any, X: Any) -> Any:
    with jax.enable_x64(True):
        return jax.numpy.asarray(X)


LIBRARY_NAMES = {"cupy": "CuPy", "torch": "PyTorch", "jax": "JAX"}
LIBRARIES: dict[str, Any] = {
    "cupy": (_cupy_usable, lambda cupy, X: cupy.asarray(X)),
    "torch": (lambda torch: torch.cuda.is_available(), lambda torch, X: torch.from_numpy(X).to("cuda")),
    "jax": (lambda jax: jax.default_backend() == "gpu", _to_jax),
}
