"""Words in a target that mean a missing value, and class names that are probably spelled in several ways."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from .._messages import count, listing
from .cells import MISSING, number
from .messy_cells import Tally, almost_number
from .target import numbers_of

# Words for a missing target, in lower case, besides those that always mean a missing value. "ND" is not one of
# them, because it often is a class (non-diabetic).
UNKNOWN = frozenset(
    (
        *("unknown", "unk", "n.a.", "n.a", "not available", "not applicable", "not determined", "undetermined"),
        *("not reported", "not known", "<na>"),
    )
)
_SEPARATORS = re.compile(r"(?<=[^\W_])[\s_-]+(?=[^\W_])")


def tidy_target(values: Any, name: str) -> tuple[Any, list[str]]:
    """Return a target without words for missing values and without messy numbers, and notes that count them."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        return values, []
    texts = [str(item) for item in values]
    words = Counter(text.strip() for text in texts if text.strip().lower() in MISSING | UNKNOWN)
    del words[""]
    notes = []
    if words:
        found = listing(f"{word!r} ({often})" for word, often in words.most_common())
        if_class = "Rename it if it is a class." if len(words) == 1 else "Rename those that are classes."
        notes = [f"In {name!r}, {count(words.total(), 'value')} read as missing: {found}. {if_class}"]
        texts = ["" if text.strip() in words else text for text in texts]
    if numbers_of(texts) is None:
        texts, more = _plain_numbers(texts, name)
        notes += more
    return (texts, notes) if notes else (values, [])


def _plain_numbers(texts: list[str], name: str) -> tuple[list[str], list[str]]:
    """Replace the messy numbers of a quantity, by the same rule as in a feature; leave other targets alone."""
    tally, plain, n_numbers = Tally(), [], 0
    for text in texts:
        value = number(text)
        if value is None:
            found = almost_number(text)
            if found is None:
                return texts, []
            tally.add(0, found.kind, text)
            value = found.value
        n_numbers += not math.isnan(value)
        plain.append("" if math.isnan(value) else repr(value))
    if tally.too_messy(0, n_numbers) is not None:
        return texts, []
    return plain, tally.note(lambda _: f"the target {name!r}")


def similar_classes(values: Any, labels: np.ndarray, name: str) -> list[str]:
    """Return notes about classes that differ only in case, spaces, hyphens or underscores.

    ``values`` are the labels as written in the file, and ``labels`` those without the spaces around them. Other
    spellings are never merged.
    """
    notes = []
    written = set(map(str, values))
    padded = sorted(text for text in written if text != text.strip() and text.strip() in written)
    if padded:
        notes.append(f"In {name!r}, spaces around a label are ignored: {listing(map(repr, padded))}.")
    spellings = defaultdict(list)
    for label, often in Counter(labels.tolist()).items():
        spellings[_SEPARATORS.sub(" ", label.casefold())].append((label, often))
    for same in spellings.values():
        if len(same) > 1:
            which = listing(f"{label!r} ({often})" for label, often in sorted(same))
            notes.append(
                f"In {name!r}, these are probably one class, but are treated as {len(same)}: {which}. "
                "If they are one class, give them the same spelling in the file."
            )
    return notes
