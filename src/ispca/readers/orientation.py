"""Assemble rows of fields into a table whose samples are in rows or in columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from .._messages import listing, shortened
from .blocks import Block, Layout, parse
from .cells import number
from .dialect import SNIFFED_LINES
from .records import Raw, Request, TableError, unknown_column
from .rows import Row, pieces

# Characters parsed at a time.
BLOCK_CHARACTERS = 2**23
# A first column with one of these names contains sample names, even if they are numbers.
ID_NAMES = {"", "id", "ids", "sample", "sample_id", "sampleid", "sample id", "patient", "patient_id", "subject"}
ID_NAMES |= {"subject_id", "index", "unnamed: 0", "rowname", "rownames", "row.names", "__index_level_0__"}


def assemble(
    header: Sequence[str], sample: Iterable[Sequence[str]], rows: Iterable[Row], request: Request, layout: Layout
) -> Raw:
    """Parse rows into a table, a block at a time; a column with text in the first rows (``sample``) is text."""
    text = {
        j
        for fields in sample
        for j, item in enumerate(fields[: layout.width])
        if number(item.replace(",", ".") if layout.decimal_comma else item) is None
    }
    kind: type[SamplesInRows | SamplesInColumns] = SamplesInColumns if request.transpose else SamplesInRows
    collector = kind(header, text, request, layout)
    n_rows = 0
    for part in pieces(rows, BLOCK_CHARACTERS):
        n_rows += len(part)
        request.limit.check_table(n_rows, layout.width)
        collector.add(parse(part, collector.layout))
    return collector.finish()


def from_fields(rows: Sequence[Sequence[str]], request: Request, where: str) -> Raw:
    """Assemble rows that are already split into fields, the header first; short rows lack their last values."""
    width = max(map(len, rows))

    def padded(row: Sequence[str]) -> list[str]:
        return [*row, *[""] * (width - len(row))]

    following = ((i, "", padded(row)) for i, row in enumerate(rows[1:], 2))
    return assemble(padded(rows[0]), rows[1 : SNIFFED_LINES + 1], following, request, Layout(width, where))


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


class Collector:
    """Collects blocks of rows; ``layout`` says how to parse the next one."""

    def __init__(self, header: Sequence[str], request: Request, layout: Layout) -> None:
        self._header, self._request, self.layout = header, request, layout
        self._names = [name or f"column {j + 1}" for j, name in enumerate(header)]
        self._blocks: list[tuple[list[int], np.ndarray]] = []

    def _joined(self) -> np.ndarray:
        """Return the columns that are numbers in all blocks, which are released."""
        positions = self.layout.numbers
        values = np.empty((sum(len(numbers) for _, numbers in self._blocks), len(positions)))
        start = 0
        for of_block, numbers in self._blocks:
            same = len(of_block) == len(positions)
            part = numbers if same else numbers[:, np.searchsorted(of_block, positions)]
            values[start : start + len(part)] = part
            start += len(part)
        self._blocks.clear()
        return values


class SamplesInRows(Collector):
    """One row per sample, one field per feature."""

    def __init__(self, header: Sequence[str], text: set[int], request: Request, layout: Layout) -> None:
        super().__init__(header, request, layout)
        places = Places(header, layout.where)
        self._target = None if request.target is None else places.of(request.target, "target")
        self._id = places.of(request.id, "id") if request.id is not None else self._guess_id(0 in text)
        self._extra = {name: places.of(name, role) for role, name in request.columns.roles_in(header)}
        # One column may be several of these.
        asked = (self._id, self._target, *self._extra.values())
        self._asked = list(dict.fromkeys(j for j in asked if j is not None))
        self._left_out = {places.of(name, "drop"): "requested" for name in request.drop}
        self._left_out |= {j: "text" for j in text - set(self._asked) - set(self._left_out)}
        self._kept: list[list[str]] = []
        self._set_texts()

    def _guess_id(self, first_is_text: bool) -> int | None:
        name = self._header[0]
        if self._target == 0 or name in (self._request.known or ()) or name in self._request.drop:
            return None
        if name in self._request.columns.names - {self._request.columns.groups}:
            return None
        return 0 if first_is_text or name.lower() in ID_NAMES else None

    def _set_texts(self) -> None:
        # The sample names and the target come first.
        self.layout = replace(self.layout, texts=tuple(dict.fromkeys([*self._asked, *self._left_out])))

    def add(self, block: Block) -> None:
        """Add a block; a column with anything but numbers is left out from here on."""
        empty = np.isnan(block.numbers).all(axis=1)
        empty &= np.array([not any(map(str.strip, row)) for row in block.texts], dtype=bool)
        self._kept += [row[: len(self._asked)] for row, gone in zip(block.texts, empty, strict=True) if not gone]
        self._blocks.append((self.layout.numbers, block.numbers[~empty] if empty.any() else block.numbers))
        for positions, fields in block.odd.values():
            for j in positions:
                if j not in self._left_out:
                    self._left_out[j] = f"text such as {shortened(fields[j])!r}"
        self._set_texts()

    def finish(self) -> Raw:
        """Assemble the blocks."""
        if not self._kept:
            raise TableError(f"{self.layout.where} has a header but no rows of data.")
        left_out = {self._names[j]: why for j, why in self._left_out.items()}
        raw = Raw(self._joined(), [self._names[j] for j in self.layout.numbers], left_out=left_out)
        columns = dict(zip(self._asked, map(list, zip(*self._kept, strict=True)), strict=False))
        if self._target is not None:
            raw.target, raw.target_name = columns[self._target], self._names[self._target]
        raw.columns = {name: columns[j] for name, j in self._extra.items()}
        if self._id is not None:
            ids, name = columns[self._id], self._names[self._id]
            guessed = self._request.id is None and self._header[self._id] != ""
            if guessed and len(set(ids)) < len(ids):
                # A first column of text with repeated values does not name the samples.
                if name not in raw.columns:
                    raw.left_out[name] = "text"
                return raw
            raw.ids = ids
            if guessed:
                raw.notes.append(f"Sample names come from the first column, {name!r}.")
        return raw


class SamplesInColumns(Collector):
    """One row per feature, its name first, and one field per sample. The target is a row, too."""

    def __init__(self, header: Sequence[str], text: set[int], request: Request, layout: Layout) -> None:
        super().__init__(header, request, layout)
        self.layout = replace(layout, texts=(0,))
        self._notes: list[str] = []
        self._features: list[str] = []
        self._odd: dict[int, str] = {}
        self._rows: dict[int, Sequence[str]] = {}
        self._wanted = {request.target, request.id} | request.columns.names

    def add(self, block: Block) -> None:
        """Add a block; a column that is mostly text describes the features and is left out."""
        often = Counter(j for positions, _ in block.odd.values() for j in positions)
        n_rows, start = len(block.texts), len(self._features)
        describing = {j for j, times in often.items() if n_rows > 2 and times > n_rows / 2}
        self._blocks.append((self.layout.numbers, block.numbers))
        self._features += [row[0].strip() or f"row {start + i + 1}" for i, row in enumerate(block.texts)]
        for i, (positions, fields) in block.odd.items():
            value = next((fields[j] for j in positions if j not in describing), None)
            if value is not None:
                self._odd[start + i] = f"text such as {shortened(value)!r}"
                if self._features[start + i] in self._wanted:
                    self._rows[start + i] = fields
        if describing:
            self.layout = replace(self.layout, texts=(*self.layout.texts, *sorted(describing)))
            names = listing(self._header[j] for j in sorted(describing))
            self._notes.append(f"Columns of text that describe the rows left out: {names}.")

    def finish(self) -> Raw:
        """Assemble and transpose the blocks."""
        request, samples = self._request, self.layout.numbers
        if not self._features or not samples:
            raise TableError(
                f"{self.layout.where} contains no data. With features in rows, it needs one row per feature."
            )
        values = self._joined()
        places = Places(self._features, self.layout.where, "row")
        target = None if request.target is None else places.of(request.target, "target")
        named = None if request.id is None else places.of(request.id, "id")
        extra = {name: places.of(name, role) for role, name in request.columns.roles_in(self._features)}
        asked = {target, named, *extra.values()}
        left_out = {places.of(name, "drop"): "requested" for name in request.drop}
        left_out |= {i: why for i, why in self._odd.items() if i not in asked}
        kept = [i for i in range(len(values)) if i not in left_out and i not in asked]
        raw = Raw(
            values.T if len(kept) == len(values) else values[kept].T,
            [self._features[i] for i in kept],
            [self._names[j] for j in samples],
            left_out={self._features[i]: why for i, why in left_out.items()},
            notes=self._notes,
        )
        if named is not None:
            raw.ids = self._strings(named, values, samples)
        if target is not None:
            raw.target, raw.target_name = self._strings(target, values, samples), request.target
        raw.columns = {name: self._strings(i, values, samples) for name, i in extra.items()}
        return raw

    def _strings(self, i: int, values: np.ndarray, samples: list[int]) -> list[str]:
        if i in self._rows:
            return [self._rows[i][j] for j in samples]
        return ["" if np.isnan(value) else f"{value:.17g}" for value in values[i]]
