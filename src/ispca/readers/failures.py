"""Failures to read a file, in whatever library, as one kind of error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .files import data_suffix
from .records import TableError


@contextmanager
def as_table_error(path: Path) -> Iterator[None]:
    """Turn every failure to read a file into a TableError.

    Each library fails in its own way on a damaged file. A missing package and an interrupt are not about the file
    and pass through.
    """
    try:
        yield
    except (TableError, ImportError):
        raise
    except MemoryError:
        raise TableError(f"There is not enough memory to read {path.name}.") from None
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.") from None
    except PermissionError:
        raise TableError(f"{path} cannot be read: permission denied.") from None
    except BaseException as error:
        # A panic of polars is not an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        what = ": ".join(filter(None, [type(error).__name__, str(error)[:200]]))
        raise TableError(
            f"Could not read {path.name} as {data_suffix(path)[1:] or '10x'} ({what}). "
            "If its extension is correct, the file is damaged: download or save it again."
        ) from error
