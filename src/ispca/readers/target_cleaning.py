"""Clean a target: words for missing values, messy numbers, class names with several spellings, rare classes."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from ..foundation.messages import count, listing
from ..targets import guess_target
from .messy_cells import BELOW, TREATMENTS, Tally, almost_number
from .numbers_and_dates import MISSING, number
from .target_column import labels_of, numbers_of

# Words for a missing target, in lower case, besides those that always mean a missing value. "ND" is not one of
# them, because it often is a class (non-diabetic).
UNKNOWN = frozenset(
    (
        *("unknown", "unk", "n.a.", "n.a", "not available", "not applicable", "not determined", "undetermined"),
        *("not reported", "not known", "<na>"),
    )
)
MERGE = "⟦Pass merge=True⟧ to merge them into the most common one."
# A class with another spelling and this many times as many samples makes a class a likely typing error.
TIMES_AS_COMMON = 5
OF_TARGET = TREATMENTS | {BELOW: TREATMENTS[BELOW].replace("half the limit", "the limit")}
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
    numbers = numbers_of(texts)
    # Labels such as 6h and 24h stay as they are.
    if numbers is None or (guess_target(numbers)[0].numeric and any(number(text) is None for text in texts)):
        texts, more = _plain_numbers(texts, name)
        notes += more
    return (texts, notes) if notes else (values, [])


def _plain_numbers(texts: list[str], name: str) -> tuple[list[str], list[str]]:
    """Replace the messy numbers of a quantity, as in a feature but values below a limit by the limit itself.

    Half of a limit would be far from all other values on a logarithmic scale. Other targets are left alone.
    """
    tally, values = Tally(), []
    for text in texts:
        value = number(text)
        if value is None:
            found = almost_number(text, below=1.0)
            if found is None:
                return texts, []
            tally.add(0, found, text)
            value = found.value
        values.append(value)
    if tally.too_messy(0, np.array(values)) is not None:
        return texts, []
    plain = ["" if math.isnan(value) else repr(value) for value in values]
    notes = tally.note(lambda _: f"the target {name!r}", treatments=OF_TARGET)
    return plain, notes + tally.outside([name], lambda _: numbers_of(plain))


def similar_classes(values: Any, labels: np.ndarray, name: str) -> list[str]:
    """Return notes about classes that differ only in case, spaces, hyphens or underscores.

    ``values`` are the labels as written in the file, and ``labels`` those without the spaces around them. Other
    spellings are merged only on request.
    """
    notes = []
    written = set(map(str, values))
    padded = sorted(text for text in written if text != text.strip() and text.strip() in written)
    if padded:
        notes.append(f"In {name!r}, spaces around a label are ignored: {listing(map(repr, padded))}.")
    for same in spellings_of(labels):
        which = listing(f"{label!r} ({often})" for label, often in sorted(same.items()))
        notes.append(
            f"In {name!r}, these are probably one class, but are treated as {len(same)}: {which}. {MERGE}"
        )
    return notes


def spellings_of(labels: np.ndarray) -> list[dict[str, int]]:
    """Return how often each spelling occurs, for every class that is spelled in several ways."""
    spellings: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for label, often in Counter(labels.tolist()).items():
        spellings[_SEPARATORS.sub(" ", label.casefold())][label] = often
    return [same for same in spellings.values() if len(same) > 1]


def merge_spellings(values: Any, name: str) -> tuple[Any, list[str]]:
    """Return labels with the most common spelling of each class, and notes on what was merged."""
    labels = labels_of(values)
    common: dict[str, str] = {}
    notes = []
    for same in spellings_of(labels[labels != ""]):
        first = max(same, key=same.__getitem__)
        common |= dict.fromkeys(same, first)
        others = listing(f"{label!r} ({often})" for label, often in same.items() if label != first)
        notes.append(f"In {name!r}, other spellings were merged into class {first!r}: {others}.")
    return [common.get(label, label) for label in labels.tolist()] if notes else values, notes


def without_rare_classes(values: np.ndarray, rows: np.ndarray, name: str) -> tuple[np.ndarray, list[str]]:
    """Return the samples without those of classes that cannot be learned, and a note on them.

    These are classes with a single sample, and rare spellings of another class. Nothing is left out if fewer than
    two classes would remain.
    """
    texts = values.astype(str)
    often = Counter(texts[rows].tolist())
    reasons = {label: "a single sample" for label, number in often.items() if number == 1}
    likely: list[str] = []
    for same in spellings_of(texts[rows]) if values.dtype.kind == "U" else ():
        first = max(same, key=same.__getitem__)
        rare = [label for label, number in same.items() if TIMES_AS_COMMON * number <= same[first]]
        reasons |= {label: f"probably another spelling of {first!r}" for label in rare}
        likely += rare
    if not reasons or len(often) - len(reasons) < 2:
        return rows, []
    gone = rows & np.isin(texts, list(reasons))
    parts = listing(f"{label!r} ({often[label]}: {reason})" for label, reason in sorted(reasons.items()))
    samples = count(int(np.count_nonzero(gone)), "sample")
    note = f"In {name!r}, {samples} left out, of classes too rare to learn: {parts}."
    return rows & ~gone, [f"{note} {MERGE}" if likely else note]
