"""Run one script by itself: ``python -m ispca.paper.toy`` is ``ispca paper toy``."""

from __future__ import annotations

import sys


def main(name: str) -> None:
    """Run the command for this name with the arguments given, and leave with its exit code."""
    from ..cli import main as command

    sys.exit(command(["paper", name, *sys.argv[1:]]))
