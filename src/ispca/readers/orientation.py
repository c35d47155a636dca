"""Assemble blocks into a table whose samples are in rows or in columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from .._messages import count, listing, shortened
from ..reduction.records import Floats
from .blocks import Block
from .records import Raw, Request, TableError, unique_names, unknown_column

# A first column with one of these names contains sample names, even if they are numbers.
ID_NAMES = {"", "id", "ids", "sample", "sample_id", "sampleid", "sample id", "patient", "patient_id", "subject"}
ID_NAMES |= {"subject_id", "index", "unnamed: 0", "rowname", "rownames", "row.names", "__index_level_0__"}


class Collector(Protocol):
    """Collects blocks and assembles a table; ``texts`` contains the positions that are not numbers."""

    @property
    def texts(self) -> tuple[int, ...]:
        """Positions of the fields that are not numbers."""

    def add(self, block: Block) -> None:
        """Add a block."""

    def finish(self) -> Raw:
        """Return the table."""


class Places:
    """The positions of all names."""

    def __init__(self, names: Sequence[str], where: str, what: str = "column") -> None:
        self._names, self._where, self._what = names, where, what
        self._found: dict[str, list[int]] = defaultdict(list)
        for j, name in enumerate(names):
            self._found[name].append(j)

    def of(self, name: str, role: str) -> int:
        """Return the position of a name, or raise if it is absent or appears more than once."""
        found = self._found.get(name, [])
        if not found:
            raise unknown_column(name, [other for other in self._names if other], role, self._where, self._what)
        if len(found) > 1:
            raise TableError(
                f"{self._where} has {len(found)} {self._what}s named {name!r} ({role}). Rename all but one."
            )
        return found[0]


class SamplesInRows:
    """One record per sample, one field per feature."""

    def __init__(self, header: Sequence[str], text: set[int], request: Request, where: str) -> None:
        self._names = [name or f"column {j + 1}" for j, name in enumerate(header)]
        self._unnamed = {j for j, name in enumerate(header) if not name}
        self._request, self._where = request, where
        places = Places(header, where)
        self._target = None if request.target is None else places.of(request.target, "target")
        self._id = self._find_id(header, text, places)
        self._left_out = {places.of(name, "drop"): "requested" for name in request.drop}
        self._asked = [j for j in (self._id, self._target) if j is not None]
        self._left_out |= {j: "text" for j in text - set(self._asked) - set(self._left_out)}
        self._kept: list[list[str]] = []
        self._blocks: list[tuple[list[int], Floats]] = []

    def _find_id(self, header: Sequence[str], text: set[int], places: Places) -> int | None:
        request = self._request
        if request.id is not None:
            return places.of(request.id, "id")
        name = header[0]
        known = request.known is not None and name in request.known
        if self._target == 0 or known or name in request.drop:
            return None
        return 0 if 0 in text or name.lower() in ID_NAMES else None

    @property
    def texts(self) -> tuple[int, ...]:
        """Positions that are not numbers, the sample names and the target first."""
        return (*self._asked, *(j for j in self._left_out if j not in self._asked))

    def add(self, block: Block) -> None:
        """Add a block; a column with anything but numbers is left out from here on."""
        texts = set(self.texts)
        positions = [j for j in range(len(self._names)) if j not in texts]
        empty = np.isnan(block.numbers).all(axis=1)
        empty &= np.array([not any(map(str.strip, row)) for row in block.texts], dtype=bool)
        self._kept += [row[: len(self._asked)] for row, gone in zip(block.texts, empty, strict=True) if not gone]
        self._blocks.append((positions, block.numbers[~empty] if empty.any() else block.numbers))
        for i, odd in block.odd.items():
            for j in odd:
                if j not in self._left_out:
                    self._left_out[j] = f"text such as {shortened(block.fields[i][j])!r}"

    def finish(self) -> Raw:
        """Assemble the blocks."""
        if not self._kept:
            raise TableError(f"{self._where} has a header but no rows of data.")
        gone = set(self._left_out) | set(self._asked)
        positions = [j for j in range(len(self._names)) if j not in gone]
        X = np.empty((len(self._kept), len(positions)))
        start = 0
        for of_block, numbers in self._blocks:
            place = {j: k for k, j in enumerate(of_block)}
            same = len(of_block) == len(positions)
            part = numbers if same else numbers[:, [place[j] for j in positions]]
            X[start : start + len(numbers)] = part
            start += len(numbers)
        self._blocks.clear()
        names, repeated = unique_names([self._names[j] for j in positions])
        raw = Raw(X, names, left_out={self._names[j]: why for j, why in self._left_out.items()})
        raw.notes += repeated_note(repeated)
        self._texts(raw)
        return raw

    def _texts(self, raw: Raw) -> None:
        columns = dict(zip(self._asked, map(list, zip(*self._kept, strict=True)), strict=False))
        if self._target is not None:
            raw.target, raw.target_name = columns[self._target], self._names[self._target]
        if self._id is None:
            return
        ids = columns[self._id]
        guessed = self._request.id is None and self._id not in self._unnamed
        if guessed and len(set(ids)) < len(ids):
            # A first column of text with repeated values does not name the samples.
            raw.left_out[self._names[self._id]] = "text"
            return
        raw.ids = ids
        if guessed:
            raw.notes.append(f"Sample names come from the first column, {self._names[self._id]!r}.")


class SamplesInColumns:
    """One record per feature, its name first, and one field per sample. The target is a record, too."""

    def __init__(self, header: Sequence[str], text: set[int], request: Request, where: str) -> None:
        self._header, self._request, self._where = list(header), request, where
        self._notes: list[str] = []
        self.texts: tuple[int, ...] = (0,)
        self._names: list[str] = []
        self._blocks: list[tuple[list[int], Floats]] = []
        self._odd: dict[int, str] = {}
        self._records: dict[int, Sequence[str]] = {}

    def add(self, block: Block) -> None:
        """Add a block; a column that is mostly text describes the features and is left out."""
        columns = Counter(j for odd in block.odd.values() for j in odd)
        describing = {j for j, often in columns.items() if len(block.texts) > 2 and often > len(block.texts) / 2}
        texts = set(self.texts)
        self._blocks.append(([j for j in range(len(self._header)) if j not in texts], block.numbers))
        start = len(self._names)
        self._names += [row[0].strip() or f"row {start + i + 1}" for i, row in enumerate(block.texts)]
        asked = (self._request.target, self._request.id)
        for i, odd in block.odd.items():
            value = next((block.fields[i][j] for j in odd if j not in describing), None)
            if value is not None:
                self._odd[start + i] = shortened(value)
                if self._names[start + i] in asked:
                    self._records[start + i] = block.fields[i]
        if describing:
            self.texts = (*self.texts, *sorted(describing))
            names = listing(self._header[j] for j in sorted(describing))
            self._notes.append(f"Columns of text that describe the rows left out: {names}.")

    def finish(self) -> Raw:
        """Assemble and transpose the blocks."""
        texts = set(self.texts)
        samples = [j for j in range(len(self._header)) if j not in texts]
        if not self._names or not samples:
            raise TableError(
                f"{self._where} contains no data. With features in rows, it needs one row per feature."
            )
        rows = []
        for of_block, numbers in self._blocks:
            place = {j: k for k, j in enumerate(of_block)}
            same = len(of_block) == len(samples)
            rows.append(numbers if same else numbers[:, [place[j] for j in samples]])
        self._blocks.clear()
        values = np.concatenate(rows)
        rows.clear()
        request, where = self._request, self._where
        places = Places(self._names, where, "row")
        target = None if request.target is None else places.of(request.target, "target")
        named = None if request.id is None else places.of(request.id, "id")
        left_out = {places.of(name, "drop"): "requested" for name in request.drop}
        left_out |= {i: f"text such as {value!r}" for i, value in self._odd.items() if i not in (target, named)}
        kept = [i for i in range(len(self._names)) if i not in left_out and i not in (target, named)]
        names, repeated = unique_names([self._names[i] for i in kept])
        X = values.T if len(kept) == len(values) else values[kept].T
        ids = [self._header[j] or f"column {j + 1}" for j in samples]
        raw = Raw(X, names, ids, left_out={self._names[i]: why for i, why in left_out.items()})
        if named is not None:
            raw.ids = self._strings(named, values, samples)
        if target is not None:
            raw.target, raw.target_name = self._strings(target, values, samples), request.target
        raw.notes = [*self._notes, *repeated_note(repeated)]
        return raw

    def _strings(self, i: int, values: Floats, samples: list[int]) -> list[str]:
        if i in self._records:
            return [self._records[i][j] for j in samples]
        return ["" if np.isnan(value) else f"{value:.17g}" for value in values[i]]


def repeated_note(repeated: list[str]) -> list[str]:
    """Return a note about names that appear more than once."""
    if not repeated:
        return []
    names = f"{count(len(repeated), 'name')} {'appears' if len(repeated) == 1 else 'appear'} more than once"
    return [f"{names}: {listing(repeated)}. Repetitions were renamed by appending .1, .2 and so on."]
