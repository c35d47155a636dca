"""Results that fits to the same data share, such as designs and permutations."""

from __future__ import annotations

from collections.abc import Callable, Hashable
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

    def __reduce__(self) -> tuple[type[Reuse], tuple[()]]:
        # Results stay in their process, and caches that hash the arguments of a fit must not depend on them.
        return Reuse, ()


def reused(reuse: Reuse | None, source: Any, key: Hashable, make: Callable[[], Value]) -> Value:
    """Return ``make()``, or what ``reuse`` has of it."""
    return make() if reuse is None else reuse.get(source, key, make)
