"""The ``ispca`` command, also as ``python -m ispca``: Ctrl-C ends it in one line while it is still imported."""

import sys
from importlib import import_module

from .foundation.terminal import leave_at_once, set_handler


def main() -> int:
    """Import and run the command line, and return the exit code."""
    set_handler(leave_at_once)
    code: int = import_module(".cli", __package__).main()
    return code


if __name__ == "__main__":
    sys.exit(main())
