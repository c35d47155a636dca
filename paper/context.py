"""What all scripts of a run share: settings, sets, output folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .data_sets import Selection

# As in the paper: 4 chains of so many warm-up and so many kept draws, and so many splits.
DRAWS = 1000
SPLITS = 50


@dataclass(frozen=True)
class Context:
    """Settings of a run.

    Attributes
    ----------
    out : Path
        Where figures, tables and finished fits go.
    sets : Selection
        Data sets to be run, and those that are not there.
    splits : int
        Random splits per set.
    draws : int
        Warm-up draws, and kept draws, of each of the four chains.
    n_jobs : int or None
        Worker processes.
    quiet : bool
        Whether to keep silent about progress.
    memory : dict
        What one script leaves for the next, so that nothing is computed twice.
    """

    out: Path
    sets: Selection
    splits: int = SPLITS
    draws: int = DRAWS
    n_jobs: int | None = -1
    quiet: bool = False
    memory: dict[str, Any] = field(default_factory=dict, repr=False)

    def say(self, text: str) -> None:
        """Tell of progress."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)
