"""The names of the files that the commands write, known before anything large is imported."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ..foundation.messages import ModelFileError

MODEL, SCORES, LOADINGS, COEFFICIENTS = "model.ispca", "scores.csv", "loadings.csv", "coefficients.csv"
HELD_OUT_FILE, STACK = "held_out.csv", "stack.ispca"
REPORTS = {"html": "report.html", "markdown": "report.md", "json": "report.json"}
# All files that an analysis, a comparison and a selection may write, and that may be overwritten.
FILES = (MODEL, SCORES, LOADINGS, COEFFICIENTS, HELD_OUT_FILE, STACK, *REPORTS.values())
COMPARISON, COMPARISON_PLOT = "comparison.csv", "comparison.png"
COMPARISON_FILES = (COMPARISON, HELD_OUT_FILE, COMPARISON_PLOT)
PANEL, PANEL_PATH, PANEL_MODEL = "panel.csv", "path.csv", "panel.ispca"
PANEL_FILES = (PANEL, PANEL_PATH, PANEL_MODEL, REPORTS["html"])
# Model files are archives.
START = b"PK\3\4"


def model_file(path: Path) -> Path:
    """Return the model file in a folder of results, or the path itself; refuse what is clearly something else."""
    if path.is_dir():
        if not (path / MODEL).is_file():
            raise ModelFileError(f"The folder {path} contains no {MODEL}.", "Pass a folder written by ispca fit.")
        return path / MODEL
    with suppress(OSError), path.open("rb") as file:
        if file.read(len(START)) != START:
            raise ModelFileError(f"Could not load {path}: it is not a model of ispca.")
    return path
