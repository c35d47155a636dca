"""Open an HDF5 file in a separate process first: some damaged files crash or hang the HDF5 library."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# Time limits in seconds: for opening the file, which takes milliseconds, and for the whole process.
OPENING_SECONDS, PROCESS_SECONDS = 3, 120
# Memory for opening the file. A damaged attribute may declare a text of 4 GB, which HDF5 allocates.
OPENING_BYTES = 300 * 10**6
ATTRIBUTES = ("shape", "encoding-type", "_index", "column-order")


def can_be_opened(path: Path) -> bool:
    """Return whether the HDF5 library can open everything that is going to be read."""
    if not sys.executable:
        return True
    command = [sys.executable, "-P", __file__, str(path)]
    quiet = subprocess.DEVNULL
    try:
        return subprocess.call(command, stdin=quiet, stdout=quiet, stderr=quiet, timeout=PROCESS_SECONDS) == 0
    except subprocess.TimeoutExpired:
        return False


def open_all(path: str) -> None:
    """Open everything that :mod:`ispca.readers.h5ad` may open; exceptions are left for it to raise.

    The process ends with an error if an attribute cannot be read, because trying it again could take much memory.
    """
    import h5py

    _limit_memory()
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(OPENING_SECONDS, exit=True, file=nowhere)
        with contextlib.suppress(Exception), h5py.File(path, "r") as file:
            for name in ("X", "obs", "var"):
                _open(file, name, 2)
        faulthandler.cancel_dump_traceback_later()


def _open(parent: Any, name: str, depth: int) -> None:
    with contextlib.suppress(Exception):
        item = parent[name]
        for key in ATTRIBUTES:
            try:
                if key in item.attrs:
                    item.attrs[key]
            except Exception:
                os._exit(1)
        if hasattr(item, "keys"):
            for key in item if depth else ():
                _open(item, key, depth - 1)
        else:
            _ = item.shape, item.dtype, item.chunks, item.is_virtual


def _limit_memory() -> None:
    """Bound the memory of this process, where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[5])
        resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + OPENING_BYTES,) * 2)


if __name__ == "__main__":
    open_all(sys.argv[1])
