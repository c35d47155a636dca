"""Choose features by name or by shell pattern, such as g* or clin_*."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Collection, Sequence

import numpy as np

from .._messages import COMPARED, count, listing, suggestion
from ..containers import ColumnSource
from ..containers.combined import ChosenColumns
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
    dropped = _matching(drop, known, "drop", where, raw.notes)
    chosen = _matching(features, known, "features", where, raw.notes) if features else set(known)
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
        in_file = isinstance(raw.X, ColumnSource)
        raw.X = ChosenColumns(raw.X, np.array(kept, np.intp)) if in_file else raw.X[:, kept]
        raw.features = [raw.features[j] for j in kept]
        raw.annotation = {name: [texts[j] for j in kept] for name, texts in raw.annotation.items()}


def _matching(patterns: Sequence[str], names: Sequence[str], role: str, where: str, notes: list[str]) -> set[str]:
    """Return the names that match any of the patterns, each of which must match some; a name matches itself.

    A note counts the names that a pattern matches.
    """
    known, found = set(names), set()
    for pattern in patterns:
        if pattern in known:
            found.add(pattern)
            continue
        if not set(pattern) & set("*?["):
            raise TableError(f"{where} has no column {pattern!r} ({role}). {suggestion(pattern, names)}")
        matches = [*dict.fromkeys(filter(re.compile(fnmatch.translate(pattern)).match, names))]
        found.update(matches)
        if not matches:
            raise TableError(f"No column of {where} matches {pattern!r} ({role}). {_near_matches(pattern, names)}")
        notes.append(f"{pattern!r} ({role}) matches {count(len(matches), 'column')}: {listing(matches)}.")
    return found


def _near_matches(pattern: str, names: Sequence[str]) -> str:
    """Return a sentence that lists names which nearly match: in another case, or with a similar beginning or end.

    >>> _near_matches("CLIN_*", ["clin_age", "clin_sex", "g1"])
    'Did you mean clin_age, clin_sex?'
    >>> _near_matches("klin_*", ["g1", "clin_body_mass_index"])
    'Did you mean clin_body_mass_index?'
    """
    in_any_case = re.compile(fnmatch.translate(pattern), re.IGNORECASE)
    near = list(filter(in_any_case.match, names))
    text = pattern.strip("*?").lower()
    if not near and text:
        start = not pattern.startswith(("*", "?"))
        parts = [(name[: len(text)] if start else name[-len(text) :]).lower() for name in names[:COMPARED]]
        similar = set(difflib.get_close_matches(text, set(parts), n=3, cutoff=0.6))
        near = [name for name, part in zip(names, parts, strict=False) if part in similar]
    return f"Did you mean {listing(near)}?" if near else suggestion(text, names)
