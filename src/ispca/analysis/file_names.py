"""The names of the files that the commands write, known before anything large is imported."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ..foundation.messages import NO_COMBINED, PREDICTORS, ModelFileError, SettingError

COMBINED_FILE, MODEL = PREDICTORS["combined"], PREDICTORS["components"]
# The bagged posterior, from which intervals come.
BAGGED = "bagged.ispca"
SCORES, LOADINGS, COEFFICIENTS, HELD_OUT_FILE = "scores.csv", "loadings.csv", "coefficients.csv", "held_out.csv"
REPORTS = {"html": "report.html", "markdown": "report.md", "json": "report.json"}
# All files that an analysis, a comparison and a selection may write, and that may be overwritten.
FILES = (MODEL, SCORES, LOADINGS, COEFFICIENTS, HELD_OUT_FILE, COMBINED_FILE, BAGGED, *REPORTS.values())
COMPARISON, COMPARISON_PLOT = "comparison.csv", "comparison.png"
COMPARISON_FILES = (COMPARISON, HELD_OUT_FILE, COMPARISON_PLOT)
PANEL, PANEL_PATH, PANEL_MODEL = "panel.csv", "path.csv", "panel.ispca"
PANEL_FILES = (PANEL, PANEL_PATH, PANEL_MODEL, REPORTS["html"])
# Model files are archives.
START = b"PK\3\4"


def model_file(path: Path, predictor: str | None = None) -> Path:
    """Return the file of a predictor in a folder of results, by default the first there is; or the path itself.

    What is clearly something else is refused.
    """
    if path.is_dir():
        names = list(PREDICTORS.values()) if predictor is None else [PREDICTORS[predictor]]
        found = [path / name for name in names if (path / name).is_file()]
        if not found:
            if predictor == "combined" and (path / MODEL).is_file():
                raise SettingError(f"{path} contains no {names[-1]}. {NO_COMBINED}")
            raise ModelFileError(
                f"The folder {path} contains no {names[-1]}.", "Pass a folder written by ispca fit."
            )
        return found[0]
    if predictor is not None and path.name != PREDICTORS[predictor]:
        raise SettingError(f"⟦model={predictor}⟧ needs the folder of a fit, but {path} is none.")
    with suppress(OSError), path.open("rb") as file:
        if file.read(len(START)) != START:
            raise ModelFileError(f"Could not load {path}: it is not a model of ispca.")
    return path
