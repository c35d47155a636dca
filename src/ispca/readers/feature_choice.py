"""Choose features by name or by shell pattern, such as g* or clin_*."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Sequence

from .._messages import count, suggestion
from .records import Raw, TableError


def choose_features(
    raw: Raw, features: Sequence[str], drop: Sequence[str], others: Collection[str], where: str
) -> None:
    """Keep the features that match ``features`` (by default all) and none of ``drop``.

    ``others`` are columns with another role: they may match a pattern, but are never left out.
    """
    if not features and not drop:
        return
    known = [*raw.features, *raw.left_out, *others]
    dropped = _matching(drop, known, "drop", where)
    chosen = _matching(features, known, "features", where) if features else set(known)
    kept = [j for j, name in enumerate(raw.features) if name in chosen and name not in dropped]
    if features:
        raw.notes.append(f"{count(len(kept), 'feature')} of {len(raw.features):,} chosen by name.")
    for name in [*raw.features, *raw.left_out]:
        if name in dropped:
            raw.left_out[name] = "requested"
            raw.sheet.pop(name, None)
        elif name not in chosen:
            raw.left_out[name] = "not chosen"
    keep_features(raw, kept)


def keep_features(raw: Raw, kept: Sequence[int]) -> None:
    """Keep some features, with what describes them."""
    if len(kept) < len(raw.features):
        raw.X, raw.features = raw.X[:, kept], [raw.features[j] for j in kept]
        raw.annotation = {name: [texts[j] for j in kept] for name, texts in raw.annotation.items()}


def _matching(patterns: Sequence[str], names: Sequence[str], role: str, where: str) -> set[str]:
    """Return the names that match any of the patterns, each of which must match some; a name matches itself."""
    known, found = set(names), set()
    for pattern in patterns:
        if pattern in known:
            found.add(pattern)
            continue
        matches = set(filter(re.compile(fnmatch.translate(pattern)).match, known))
        found |= matches
        if not matches:
            similar = suggestion(pattern.strip("*?"), names)
            if set(pattern) & set("*?["):
                raise TableError(f"No column of {where} matches {pattern!r} ({role}). {similar}")
            raise TableError(f"{where} has no column {pattern!r} ({role}). {similar}")
    return found
