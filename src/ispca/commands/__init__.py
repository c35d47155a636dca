"""The commands of ``ispca``: ``arguments`` has what they can be told, ``running`` starts the large ones."""

import gc
from importlib import import_module
from types import ModuleType

from ..foundation.terminal import interrupt_afterwards


def command_module(name: str) -> ModuleType:
    """Return the module of a command."""
    with interrupt_afterwards():
        module = import_module(f".{name}", __name__)
    # What is imported stays, so the garbage collector need not visit it.
    gc.freeze()
    return module
