"""Several samples of one patient, animal or other source, found by sample names and by columns."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..foundation.messages import Text, count, listing
from ..readers.numbers_and_dates import as_days
from .confounding import looks_like_batch
from .findings import Finding

# Words for the source of a sample: those that other words may begin with, and short ones.
LONG_SOURCES, SHORT_SOURCES = "patient|subject|donor|individual|participant|family", "pair|mouse|animal|litter"
# Columns that name the source of a sample, with nothing but a word for a name after it: not "patient_age".
SOURCE = re.compile(
    rf"(?:^|[^a-z])(?P<word>{LONG_SOURCES}|{SHORT_SOURCES}|volunteer|person|mice|twin|proband|biopsy|explant"
    r"|case id)s?"
    r"(?:[^a-z]*(?:id|ids|identifier|no|nr|num|number|code|name|key|barcode))?[^a-z]*$"
)
# Columns that number the replicates of one source, but do not name it. REP15 is a gene.
REPLICATE = re.compile(r"(?:^|[^a-z])(?:(?:bio|tech)?[^a-z]?(?:rep|replicate)|aliquot)s?[^a-z\d]*$")
# Endings that say which of several samples of one source it is.
ENDING = re.compile(
    r"[\s_.-]+(?:before|after|pre|post|baseline|follow.?up|(?:un)?treated|tumou?r|normal|primary|metastasis|left|right"
    r"|lesional|nonlesional|(?:tech|bio)?[\s_.-]?(?:rep|replicate|repeat|dup|aliquot|visit|biopsy|day|week|month"
    r"|time|timepoint|lane)[\s_.-]?\d*)$"
)
# A short number, letter or time point after a name that contains a number itself, which identifies the source.
SHORT_ENDING = re.compile(
    r"(.*[a-z\d])[\s_.-]+(?:\d{1,2}[a-z]?|[a-z]|[tvdwlr]\d{1,3})|(.*\d)[tn]|(.*(?:[a-z].*|\d\d)\d)[abc]"
)
# Wells of a plate have several letters before their number.
WELL = re.compile(r"[\s_.-]([a-z])\d{1,3}$")
# Barcodes of TCGA start with project, site and patient.
BARCODE = re.compile(r"^(tcga-\w\w-\w{4})(?:-.*)?$")
# Stems of conditions and arrays rather than of sources: time points, and the number of a chip.
NO_SOURCE = re.compile(r"(?:^|[\s_.-])(?:(?:d|day|t|w|wk|week)\d+|\d+(?:h|hr|hrs|d|min|wk|nm|um|mg))$|^\d{8,}$")
# More different endings than this number the samples of a class or a site.
MOST_ENDINGS = 6
FEWEST_SOURCES = 3
# Values without a digit that have more samples on average are categories, such as species.
SAMPLES_PER_WORD = 10
# Sources whose samples are listed.
SHOWN = 3

START = "Each may be one patient, animal or other source."
WHY = (
    "Samples of one {source} resemble each other. Without groups, a model is fitted to some of them and predicts "
    "the others, so its results are too good for new {plural}."
)


def find_repeated_samples(
    ids: Sequence[str] | None, columns: Mapping[str, Any], classes: Any = None, groups: Any = None
) -> list[Finding]:
    """Return a finding if several samples seem to have one source, unless groups keep them together.

    ``columns`` describe the samples, and ``classes`` are the codes of their classes, if there are any.
    """
    if groups is not None:
        return []
    n_classes = 0 if classes is None else int(classes.max()) + 1
    for name, column in columns.items():
        values = np.array([str(value).strip() for value in column])
        word = source_word(name)
        if word and _are_sources(values, n_classes):
            number = len(np.unique(values))
            means = f"Column {name!r} has {number:,} values in {count(len(values), 'sample')}."
            advice = _advice(word, number, len(values), name)
            return [Finding("repeats", Text(f"{means} {advice}"), _find_repeated(values))]
    sources = None if ids is None else name_sources([str(name) for name in ids], n_classes)
    if sources is not None:
        return [_of_names(ids or (), sources)]
    for name, column in columns.items():
        values = np.array([str(value).strip() for value in column])
        number = len(np.unique(values))
        if numbers_replicates(name) and 1 < number <= MOST_ENDINGS:
            means = f"Column {name!r} numbers replicates ({listing(np.unique(values))})."
            return [Finding("repeats", Text(f"{means} {_advice('source', None, len(values), None)}"))]
    return []


def source_word(name: str) -> str | None:
    """Return what a column names the source of samples, None if it does not seem to.

    >>> [source_word(name) for name in ("PatientID", "donor", "mouse_no", "patient_age", "donors' sex")]
    ['patient', 'donor', 'mouse', None, None]
    """
    found = SOURCE.search(_words(name))
    return None if found is None else found["word"].removesuffix(" id")


def numbers_replicates(name: str) -> bool:
    """Return whether a column seems to number the replicates of one source."""
    return REPLICATE.search(_words(name)) is not None


def name_sources(names: Sequence[str], n_classes: int = 0) -> list[str] | None:
    """Return the source of each sample as its name tells it, None if the names do not repeat a source.

    >>> name_sources(["P1_pre", "P1_post", "P2_pre", "P2_post", "P3_pre", "P3_post"])
    ['p1', 'p1', 'p2', 'p2', 'p3', 'p3']
    >>> name_sources(["ALL_1", "ALL_2", "ALL_3", "AML_1", "AML_2", "AML_3"])
    """
    lower = [name.strip().lower() for name in names]
    if as_days(np.array(lower)) is not None:
        return None
    barcodes = [BARCODE.match(name) for name in lower]
    if all(barcodes):
        return _if_repeated([match[1] for match in barcodes if match], 0)
    if len(set(lower)) < len(lower):
        return lower
    found = _if_repeated([ENDING.sub("", name) for name in lower], n_classes)
    return found or _if_repeated(_without_short_endings(lower), n_classes)


def _without_short_endings(names: list[str]) -> list[str]:
    """Return names without a short number or letter at their end, where these count samples of one source."""
    stems, endings = [], defaultdict(set)
    for name in names:
        match = SHORT_ENDING.fullmatch(name)
        stem = name if match is None else match[match.lastindex or 0]
        source = any(map(str.isdigit, stem)) and not NO_SOURCE.search(stem) and not looks_like_batch(stem)
        stems.append(stem if source else name)
        endings[stems[-1]].add(name.removeprefix(stems[-1]))
    several = set().union(*(found for found in endings.values() if len(found) > 1))
    wells = {match[1] for name in names if (match := WELL.search(name))}
    return stems if len(several) <= MOST_ENDINGS and len(wells) < 2 else names


def _if_repeated(sources: list[str], n_classes: int) -> list[str] | None:
    """Return the sources if some repeat; as few as there are classes are the names of these."""
    often = Counter(sources)
    repeated = sum(number > 1 for number in often.values())
    return sources if repeated and len(often) >= max(FEWEST_SOURCES, n_classes + 1) else None


def _are_sources(values: np.ndarray, n_classes: int) -> bool:
    """Return whether the values of a column name sources, of which some have several samples."""
    present = values[values != ""]
    distinct = np.unique(present)
    if not max(FEWEST_SOURCES, n_classes + 1) <= len(distinct) < len(present):
        return False
    identities = sum(any(map(str.isdigit, value)) for value in distinct.tolist())
    return 2 * identities >= len(distinct) or len(present) <= SAMPLES_PER_WORD * len(distinct)


def _of_names(ids: Sequence[str], sources: list[str]) -> Finding:
    rows = _find_repeated(np.array(sources))
    members = defaultdict(list)
    for row in rows:
        members[sources[row]].append(str(ids[row]))
    equal = any(len(set(names)) < len(names) for names in members.values())
    how = "appear more than once" if equal else "differ only in their ending"
    parts = [
        f"{names[0]} ({len(names)} times)" if len(set(names)) == 1 else listing(names)
        for names in members.values()
    ]
    shown = "; ".join(parts[:SHOWN]) + (f"; and {len(parts) - SHOWN:,} more" if len(parts) > SHOWN else "")
    advice = _advice("source", len(set(sources)), len(sources), None)
    return Finding(
        "repeats",
        Text(f"The names of {len(rows):,} of {count(len(ids), 'sample')} {how}: {shown}. {START} {advice}"),
        rows,
    )


def _advice(word: str, number: int | None, n_samples: int, column: str | None) -> str:
    plural = {"mouse": "mice", "mice": "mice", "family": "families", "biopsy": "biopsies", "person": "people"}.get(
        word, f"{word}s"
    )
    source = "mouse" if word == "mice" else word
    together = f"hold out all samples of one {source} together"
    if number is not None:
        together += f", and to count {number:,} {plural} instead of {count(n_samples, 'sample')}"
    why = WHY.format(source=source, plural=plural)
    if column is not None:
        return f"{why} Pass column {column!r} as ⟦groups⟧ to {together}."
    return (
        f"{why} If so, add a column that names the {source} of each sample and pass it as ⟦groups⟧, to {together}."
    )


def _find_repeated(values: np.ndarray) -> tuple[int, ...]:
    """Return the places of values that occur more than once."""
    _, codes, often = np.unique(values, return_inverse=True, return_counts=True)
    return tuple(np.flatnonzero((often[codes.ravel()] > 1) & (values != "")).tolist())


def _words(name: Any) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name)).lower().replace("_", " ")
