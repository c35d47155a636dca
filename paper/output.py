"""Write figures, tables and settings of a run: whole files or none."""

from __future__ import annotations

import io
import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ispca.foundation.atomic import whole_file
from ispca.foundation.result_tables import write_table
from ispca.plots.canvas import load_pyplot

from .context import Context
from .verdicts import Verdict

DIGITS = 5
DOTS_PER_INCH = 150
PACKAGES = ("ispca", "numpy", "scipy", "scikit-learn", "joblib", "matplotlib")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it appears under its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], escape: bool = True) -> None:
    """Write a table: columns in order of first appearance, numbers to five digits after the point.

    Parameters
    ----------
    path : Path
        The file.
    rows : sequence of mappings
        Column names and values; what a row does not have stays empty, and so does NaN.
    escape : bool, default=True
        Whether text that begins like a formula is escaped; not for our own sentences.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    write_table(text, columns, ([_cell(row.get(name)) for name in columns] for row in rows), escape)
    write_bytes(path, text.getvalue().encode(errors="replace"))


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        # Trailing zeros say nothing, and these files are kept in the repository.
        # Adding 0 turns a rounded -0 into 0.
        return "" if np.isnan(value) else f"{round(float(value), DIGITS) + 0.0:.{DIGITS}f}".rstrip("0").rstrip(".")
    return value


def write_figure(figure: Any, stem: Path) -> None:
    """Write a figure as PNG and SVG and close it; the same drawing gives the same files."""
    pyplot = load_pyplot()
    with pyplot.rc_context({"svg.hashsalt": "ispca", "svg.fonttype": "none"}):
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            content = io.BytesIO()
            figure.savefig(content, format=ending, dpi=DOTS_PER_INCH, metadata=metadata)
            write_bytes(stem.with_suffix(f".{ending}"), content.getvalue())
    pyplot.close(figure)


def write_verdicts(context: Context, name: str, verdicts: Sequence[Verdict], seconds: float) -> None:
    """Write the verdicts of a figure or table, and beside them when, with what and how they were made."""
    rows = [{"claim": v.claim, "verdict": v.status, "detail": v.detail, "rule": v.rule} for v in verdicts]
    write_csv(context.out / f"{name}-verdicts.csv", rows, escape=False)
    content = {"name": name, **settings(context), "seconds": round(seconds, 1)}
    write_bytes(context.out / f"{name}-settings.json", (json.dumps(content, indent=2) + "\n").encode())


def settings(context: Context) -> dict[str, Any]:
    """Return date, settings, versions and machine of a run."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "splits": context.splits,
        "chains": 4,
        "warmup": context.draws,
        "draws": context.draws,
        "sets": list(context.sets.run),
        "not_present": list(context.sets.absent),
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
