"""What ``ispca fit`` does differently with data that stay in their file, and with a reduction on a GPU."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..containers.array_api import on_host
from ..readers import Table
from . import UsageError
from ._stack import left_out_of_stack

DEVICES = ("cpu", "cuda")
# Memory for blocks unless --memory is given, and the least that they need: those of the reductions.
BLOCK_MEMORY, LEAST_MEMORY = 2**28, 2**20


def block_memory(args: argparse.Namespace) -> float:
    """Return the memory for blocks, in bytes."""
    return float(BLOCK_MEMORY if args.memory is None else max(args.memory, LEAST_MEMORY))


def check_device(device: str) -> None:
    """Refuse a device that cannot be used, before any work."""
    if device != "cpu":
        usable_library(device)


def check_large(table: Table, args: argparse.Namespace) -> list[str]:
    """Refuse a device for data that it cannot use; return notes on the device in use, and on what is left out."""
    if args.device != "cpu" and not isinstance(table.X, np.ndarray):
        reason = "are read in blocks" if table.in_blocks else "are sparse"
        raise UsageError(f"--device {args.device} needs a dense matrix in memory, but the data {reason}.")
    if args.device != "cpu":
        return [_device_note(args)]
    if not table.in_blocks:
        return []
    left_out = ["the checks of the data"]
    left_out += ["the lasso in the cross-validation"] if args.cv else []
    left_out += ["the search for training samples in the test file"] if args.test else []
    lost = left_out_of_stack(table, args)
    left_out += [f"{' and '.join(lost)} in the stack"] if lost else []
    last = ", and " if lost else " and "
    which = left_out[0] if len(left_out) == 1 else f"{', '.join(left_out[:-1])}{last}{left_out[-1]}"
    return [f"Left out, because this needs all data in memory: {which}."]


def with_blocks(pipeline: Any, table: Table, args: argparse.Namespace) -> Any:
    """Let a reduction read data in blocks, and fill missing values, as the reader does for data in memory."""
    if table.in_blocks and isinstance(pipeline, Pipeline):
        missing = "mean" if args.missing == "mean" else "error"
        pipeline[0].set_params(memory_budget=block_memory(args), missing=missing)
    return pipeline


def on_device(X: Any, device: str) -> Any:
    """Return X on a device, as an array of the first library that can use it."""
    return X if device == "cpu" else usable_library(device)[1](X)


def _device_note(args: argparse.Namespace) -> str:
    where = f"{args.device} with {LIBRARY_NAMES[usable_library(args.device)[0]]}"
    fits = "in the fit and in the cross-validation" if args.cv else "in the fit"
    stack = " The stack uses the CPU." if args.stack else ""
    return f"Finding components on {where}, {fits}.{stack}"


def usable_library(device: str) -> tuple[str, Callable[[Any], Any]]:
    """Return a library and its function that moves an array to a device, or refuse a device that none can use."""
    for name, (usable, move) in LIBRARIES.items():
        if find_spec(name) is not None:
            module = importlib.import_module(name)
            if usable(module):
                return name, partial(move, module)
    known = [name for name in LIBRARIES if find_spec(name) is not None]
    reason = f"{' and '.join(known)} found no GPU" if known else "CuPy, PyTorch and JAX are not installed"
    raise UsageError(f"--device {device} needs a GPU and CuPy, PyTorch or JAX, but {reason}. Leave it out.")


def bring_back(reduction: Any) -> None:
    """Move what a fit on another device has stored into the memory of the computer."""
    for name, value in vars(reduction).items():
        setattr(reduction, name, on_host(value))


def _cupy_usable(cupy: Any) -> bool:
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # without a driver, each version fails in its own way
        return False


def _jax_usable(jax: Any) -> bool:
    return bool(jax.default_backend() == "gpu")


def _to_jax(jax: Any, X: Any) -> Any:
    with jax.enable_x64(True):
        return jax.numpy.asarray(X)


LIBRARY_NAMES = {"cupy": "CuPy", "torch": "PyTorch", "jax": "JAX"}
LIBRARIES: dict[str, Any] = {
    "cupy": (_cupy_usable, lambda cupy, X: cupy.asarray(X)),
    "torch": (lambda torch: torch.cuda.is_available(), lambda torch, X: torch.from_numpy(X).to("cuda")),
    "jax": (_jax_usable, _to_jax),
}
