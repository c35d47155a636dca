"""Work that several estimators repeat on the same data, done once while a `sharing` block is open."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Value = TypeVar("Value")

# key -> (the objects the value was made from, the value); None while nothing is shared.
_memo: ContextVar[dict[Hashable, tuple[tuple[Any, ...], Any]] | None] = ContextVar("_memo", default=None)


@contextmanager
def sharing() -> Iterator[None]:
    """Remember what `shared` makes, until the block ends."""
    token = _memo.set({})
    try:
        yield
    finally:
        _memo.reset(token)


def shared(make: Callable[[], Value], objects: tuple[Any, ...], *key: Hashable) -> Value:
    """Return ``make()``, or what it returned before for the same objects (not copies of them) and key."""
    memo = _memo.get()
    if memo is None:
        return make()
    full_key = (tuple(id(item) for item in objects), *key)
    if full_key not in memo:
        # The objects are kept too: as long as they live, no other object can have their id.
        memo[full_key] = (objects, make())
    return memo[full_key][1]
