"""Results that fits to the same data share, such as designs and permutations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Value = TypeVar("Value")


class Reuse:
    """Results of earlier fits, which later fits to the same data take over.

    Each result belongs to the object it was made from, which is compared by identity: a copy is other data.
    """

    def __init__(self) -> None:
        self._results: dict[Hashable, tuple[Any, Any]] = {}

    def get(self, source: Any, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return ``make()``, or what it returned before for the same source and key."""
        found = self._results.get(key)
        if found is None or found[0] is not source:
            # Keeping the source is what makes the comparison safe.
            found = self._results[key] = (source, make())
        value: Value = found[1]
        return value


# The data to which several fits are made, and what these fits share.
_shared: ContextVar[tuple[Any, Reuse] | None] = ContextVar("shared", default=None)


@contextmanager
def share_results(X: Any) -> Iterator[None]:
    """Let fits to this very object share their results inside the block; no fit depends on it."""
    token = _shared.set((X, Reuse()))
    try:
        yield
    finally:
        _shared.reset(token)


def find_reuse(X: Any) -> Reuse | None:
    """Return what fits to this object share; None outside of `share_results` and for other data."""
    found = _shared.get()
    return found[1] if found is not None and found[0] is X else None


def find_or_make(reuse: Reuse | None, source: Any, key: Hashable, make: Callable[[], Value]) -> Value:
    """Return ``make()``, or what ``reuse`` has of it."""
    return make() if reuse is None else reuse.get(source, key, make)
