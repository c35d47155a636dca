"""The summary that ``ispca select`` prints, as text and as values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._messages import count, listing
from ..readers import Table
from ..selection import ProjectionSelector
from ._console import finite
from ._feature_labels import separate_names, show_all, shown_names
from ._panel_files import written_files

# Columns of names of features.
NAMES = ("feature", "dropped", "stands_for")


def summary_values(
    selector: ProjectionSelector, size: int, features: np.recarray, table: Table, folder: Path, seconds: float
) -> dict[str, Any]:
    """Return the values of the summary."""
    shown = shown_names(table)
    return {
        "samples": table.X.shape[0],
        "features": table.n_features,
        "target": table.target_name,
        "kind": table.kind,
        "validated": bool(selector.validated_),
        "suggested_size": int(selector.n_features_),
        "size": size,
        "message": selector.message_,
        "reference_density": selector.reference_density_,
        "path": _rows(selector.path_, shown),
        "panel": _rows(features, shown),
        "files": [str(folder / name) for name in written_files(selector.reference_)],
        "seconds": round(seconds, 2),
    }


def _rows(table: np.recarray, shown: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows with the names of features as they are shown, under "labels"."""
    rows = [finite(dict(zip(table.dtype.names or (), row.tolist(), strict=True))) for row in table]
    for row in rows:
        row["labels"] = {name: _shown(row[name], shown) for name in NAMES if name in row}
    return rows


def _shown(names: Any, shown: Mapping[str, str]) -> Any:
    """Return one name, several separated by commas, or a list of them, as they are shown."""
    if isinstance(names, list):
        return show_all(names, shown)
    return ", ".join(show_all(separate_names(names, shown), shown))


def summary_text(values: dict[str, Any]) -> str:
    """Return the summary as a few lines."""
    samples, features = count(values["samples"], "sample"), count(values["features"], "feature")
    lines = [f"{samples}, {features}, target {values['target']!r}.", "", values["message"]]
    if values["size"] != values["suggested_size"]:
        lines.append(f"The panel has {count(values['size'], 'feature')}, as requested.")
    lines += ["", *_path_lines(values)]
    # Each class has a row for each feature; the group is the same.
    once = {row["feature"]: row for row in values["panel"] if row["order"]}
    if once:
        lines += ["", "Panel:"]
        lines += [_feature_text(row) for row in once.values()]
    return "\n".join([*lines, "", f"Written in {values['seconds']:.1f} s: {', '.join(values['files'])}"])


def _path_lines(values: dict[str, Any]) -> list[str]:
    """Return one line per size, with the chosen one marked."""
    path = values["path"]
    if values["validated"]:
        title = "held-out log density per sample: difference from the reference (standard error)"
        texts = [f"{row['difference']:+8.3f} ({row['difference_error']:.3f})" for row in path]
    else:
        title = "divergence from the reference, NOT validated"
        texts = [f"{row['divergence']:8.3f}" for row in path]
    lines = [f"Size, {title}, and feature added:"]
    for row, text in zip(path, texts, strict=True):
        mark = "*" if row["size"] == values["size"] else " "
        labels = row["labels"]
        dropped = f" (without {labels['dropped']})" if labels["dropped"] else ""
        lines.append(f"{mark} {row['size']:3d} {text}  {labels['feature']}{dropped}".rstrip())
    return lines


def _feature_text(row: dict[str, Any]) -> str:
    folds = "" if row["fraction"] is None else f", chosen in {row['fraction']:.0%} of the folds"
    labels = row["labels"]
    group = f"; stands for {listing(labels['stands_for'])}" if labels["stands_for"] else ""
    return f"  {row['order']}. {labels['feature']}{folds}{group}"
