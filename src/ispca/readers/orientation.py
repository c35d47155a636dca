"""Assemble rows of fields into a table whose samples are in rows or in columns."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..foundation.messages import listing, shorten
from .messy_cells import almost_number, features_in_words, has_units, in_plain_notation, is_unit
from .numbers_and_dates import USUAL_MISSING, convention_of, number, plain_numbers
from .row_blocks import Collector, MixedMarks, Places
from .table import Interpretation, Raw, Request, TableError, unique_names
from .text_rows import SNIFFED_LINES, Block, Layout, Row, parse, pieces

# Characters parsed at a time.
BLOCK_CHARACTERS = 2**23
# A first column with one of these names contains sample names, even if they are numbers.
ID_NAMES = {"", "id", "ids", "sample", "sample_id", "sampleid", "sample id", "patient", "patient_id", "subject"}
ID_NAMES |= {"subject_id", "index", "unnamed: 0", "rowname", "rownames", "row.names", "__index_level_0__"}
# Columns of text that are kept because they describe the samples, such as a batch or a date.
DESCRIBING_COLUMNS = 50


def assemble(
    header: Sequence[str], sample: Iterable[Sequence[str]], rows: Iterable[Row], request: Request, layout: Layout
) -> Raw:
    """Parse rows into a table, a block at a time; a column with text in the first rows (``sample``) is text."""
    sample, rows = list(sample), iter(rows)
    units: Sequence[str] = ()
    if not request.samples_in_columns(header) and has_units(sample, layout.marks.comma):
        units = sample.pop(0)
        next(rows)
    text, lost = _text_columns(sample, layout)
    kind = SamplesInColumns if request.samples_in_columns(header) else SamplesInRows
    collector = TextColumns(header, request, layout) if request.as_text else kind(header, text, request, layout)
    collector.lost |= lost
    n_rows = 0
    for part in pieces(rows, BLOCK_CHARACTERS):
        n_rows += len(part)
        request.limit.check_table(n_rows, layout.width)
        collector.add(parse(part, collector.layout))
    raw = collector.finish()
    raw.read_as = raw.read_as._replace(decimal_comma=collector.comma)
    raw.notes[:0] = collector.notes_on_marks(sample, raw)
    if units:
        found = listing(dict.fromkeys(unit.strip() for unit in units if is_unit(unit.strip())))
        raw.notes.insert(0, f"The row below the header was read as units: {found}.")
    return raw


def read_marks(read: Callable[[bool], Raw]) -> Raw:
    """Read a file by its convention for decimal marks; if they prove to be mixed, again with ``mixed``."""
    try:
        return read(False)
    except MixedMarks:
        return read(True)


def _text_columns(sample: Sequence[Sequence[str]], layout: Layout) -> tuple[set[int], dict[int, str]]:
    """Return the columns that contain text in the first rows, and a text from each that mostly has numbers."""
    comma = layout.marks.comma
    text: dict[int, str] = {}
    n_text: Counter[int] = Counter()
    missing = frozenset(USUAL_MISSING)
    for fields in sample:
        items = {j: item for j, item in enumerate(fields[: layout.width]) if item not in missing}
        # Field by field only where not all other fields are numbers, because that is slow.
        if plain_numbers([item for j, item in items.items() if j not in text]) is not None:
            items = {j: items[j] for j in text if j in items}
        for j, item in items.items():
            plain = item.replace(",", ".") if comma else item
            if number(plain) is None and (j in text or almost_number(item, comma) is None):
                text.setdefault(j, item.strip())
                n_text[j] += 1
    present = Counter(j for fields in sample for j, item in enumerate(fields) if j in text and item not in missing)
    return set(text), {j: item for j, item in text.items() if 2 * n_text[j] < present[j]}


def from_fields(rows: Sequence[Sequence[str]], request: Request, where: str) -> Raw:
    """Assemble rows that are already split into fields, the header first; short rows lack their last values."""
    width = max(map(len, rows))

    def pad(row: Sequence[str]) -> list[str]:
        return [*row, *[""] * (width - len(row))]

    header, sample = pad(rows[0]), rows[1 : SNIFFED_LINES + 1]
    marks = convention_of(sample, request.decimal_comma, lone_comma=False)

    def read(mixed: bool) -> Raw:
        following = ((i, "", pad(row)) for i, row in enumerate(rows[1:], 2))
        layout = Layout(width, where, marks=marks._replace(mixed=marks.mixed or mixed))
        return assemble(header, sample, following, request, layout)

    return read_marks(read)


class SamplesInRows(Collector):
    """One row per sample, one field per feature."""

    def __init__(self, header: Sequence[str], text: set[int], request: Request, layout: Layout) -> None:
        super().__init__(header, request, layout)
        places = Places(header, layout.where)
        self._target = None if request.target is None else places.of(request.target, "target")
        self._id = self._guess_id(0 in text) if request.id is None else places.of(request.id, "id")
        self._extra = {name: places.of(name, role) for role, name in request.columns.roles_in(header)}
        # One column may be several of these.
        asked = (self._id, self._target, *self._extra.values())
        self._asked = list(dict.fromkeys(j for j in asked if j is not None))
        other = sorted(text - set(self._asked))
        self._left_out = dict.fromkeys(other, "text")
        self._describing = other[:DESCRIBING_COLUMNS]
        self._kept: list[list[str]] = []
        self._set_texts()

    def _guess_id(self, first_is_text: bool) -> int | None:
        name, sheet_ids = self._header[0], self._request.sheet_ids
        if sheet_ids is not None and sheet_ids.on in self._header:
            return self._header.index(sheet_ids.on)
        if self._target == 0 or name in (self._request.known or ()) or name in self._request.drop:
            return None
        if name in self._request.columns.names - {self._request.columns.groups}:
            return None
        return 0 if first_is_text or name.lower() in ID_NAMES else None

    def _set_texts(self) -> None:
        # Columns whose text is kept come first.
        texts = dict.fromkeys([*self._asked, *self._describing, *self._left_out])
        self.layout = replace(self.layout, texts=tuple(texts))

    def add(self, block: Block) -> None:
        """Add a block; a column with text is left out from here on."""
        for i, (positions, fields) in block.odd.items():
            for j in positions:
                if j not in self._left_out and not self._repair(block, i, j, j):
                    self._left_out[j] = f"text such as {shorten(fields[j])!r}"
                    self.lost[j] = fields[j].strip()
        empty = self._empty_rows(block)
        n_kept = len(self._asked) + len(self._describing)
        kept = [row[:n_kept] for row, gone in zip(block.texts, empty, strict=True) if not gone]
        self._check_texts(item for row in kept for item in row)
        self._kept += kept
        if empty.any():
            self._without_rows(empty)
        self._blocks.append((self.layout.numbers, block.numbers[~empty] if empty.any() else block.numbers))
        self._set_texts()

    def _without_rows(self, empty: np.ndarray) -> None:
        """Correct the places of unclear cells of the last block, from which rows are removed."""
        before = np.cumsum(empty)
        for column, cells in self._unclear.items():
            self._unclear[column] = [
                (k, i - int(before[i]) if k == len(self._blocks) else i, place, item)
                for k, i, place, item in cells
            ]

    def _empty_rows(self, block: Block) -> np.ndarray:
        """Return which rows contain nothing; they are left out."""
        empty: np.ndarray = np.isnan(block.numbers).all(axis=1)
        return empty & np.array([not any(map(str.strip, row)) for row in block.texts], dtype=bool)

    def _values(self) -> np.ndarray:
        """Return the numeric columns, without those that are too messy to be numbers."""
        positions, values = self.layout.numbers, self._join()
        known = self._request.known or ()
        for j in self._tally.first:
            if j not in self._left_out and self._names[j] not in known:
                reason = self._tally.too_messy(j, values[:, bisect_left(positions, j)])
                if reason is not None:
                    self._left_out[j] = reason
                    self.lost[j] = self._tally.first[j]
        self._set_texts()
        if len(self.layout.numbers) < len(positions):
            values = values[:, np.searchsorted(positions, self.layout.numbers)]
        return values

    def finish(self) -> Raw:
        """Assemble the blocks."""
        if not self._kept:
            raise TableError(f"{self.layout.where} has a header but no rows of data.")
        values = self._values()
        left_out = {self._names[j]: why for j, why in self._left_out.items()}
        raw = Raw(values, [self._names[j] for j in self.layout.numbers], left_out=left_out)
        raw.lost = {self._names[j]: item for j, item in self.lost.items() if j in self._left_out}
        raw.repaired = frozenset(self._names[j] for j in self._tally.first)
        place = {j: k for k, j in enumerate(self.layout.numbers)}
        raw.notes += self._tally.note(features_in_words(self._names), set(self._left_out))
        raw.notes += self._tally.outside(self._names, lambda j: values[:, place[j]] if j in place else None)
        kept = [*self._asked, *self._describing]
        columns = dict(zip(kept, map(list, zip(*self._kept, strict=True)), strict=False))
        columns = {
            j: texts if j == self._id else in_plain_notation(texts, self.comma) for j, texts in columns.items()
        }
        if self._target is not None:
            raw.target, raw.target_name = columns[self._target], self._names[self._target]
        raw.columns = {name: columns[j] for name, j in self._extra.items()}
        raw.sheet = {self._names[j]: columns[j] for j in self._describing}
        if self._id is not None:
            ids, name = columns[self._id], self._names[self._id]
            guessed = self._request.id is None and self._header[self._id] != ""
            if guessed and name.lower() not in ID_NAMES and len(set(ids)) < len(ids):
                # A first column of text with repeated values and any other name does not name the samples.
                if name not in raw.columns:
                    raw.left_out[name] = "text"
                    raw.sheet[name] = ids
                return raw
            raw.ids = ids
            raw.read_as = Interpretation(ids_from=self._header[self._id] or None)
            if guessed:
                raw.notes.append(f"Sample names come from the first column, {name!r}.")
        return raw


class SamplesInColumns(Collector):
    """One row per feature, its name first, and one field per sample. The target is a row, too."""

    def __init__(self, header: Sequence[str], text: set[int], request: Request, layout: Layout) -> None:
        super().__init__(header, request, layout)
        self.layout = replace(layout, texts=(0,))
        self._features: list[str] = []
        self._odd: dict[int, str] = {}
        self._cells: dict[int, str] = {}
        self._rows: dict[int, Sequence[str]] = {}
        self._wanted = {request.target, request.id} | request.columns.names
        self._samples = None if request.sheet_ids is None else request.sheet_ids.among(header)
        # The text of columns that describe the features.
        self._annotation: dict[int, list[str]] = {}

    def add(self, block: Block) -> None:
        """Add a block; columns of text describe the features."""
        start = len(self._features)
        for k, j in enumerate(self._annotation, 1):
            self._keep_text(j, [row[k].strip() for row in block.texts])
        describing = self._describing(block)
        self._blocks.append((self.layout.numbers, block.numbers))
        self._features += [row[0].strip() or f"row {start + i + 1}" for i, row in enumerate(block.texts)]
        for i, (positions, fields) in block.odd.items():
            if self._features[start + i] in self._wanted:
                self._rows[start + i] = fields
            for j in positions:
                if j not in describing and not self._repair(block, i, j, start + i):
                    self._odd[start + i] = f"text such as {shorten(fields[j])!r}"
                    self._cells[start + i] = fields[j].strip()
                    break
        for j in describing:
            self._keep_text(j, self._as_text(j, start, block))
        self.layout = replace(self.layout, texts=(0, *self._annotation))

    def _describing(self, block: Block) -> list[int]:
        """Return the columns that describe the features: mostly text, or any text where the samples are known."""
        comma = self.layout.marks.comma
        often = Counter(
            j
            for positions, fields in block.odd.values()
            for j in positions
            if almost_number(fields[j], comma) is None
        )
        if self._samples is not None:
            return sorted(j for j in often if self._header[j] not in self._samples)
        n_rows = len(block.texts)
        return sorted(j for j, times in often.items() if n_rows > 2 and times > n_rows / 2)

    def _as_text(self, j: int, start: int, last: Block) -> list[str]:
        """Return a column that was read as numbers up to and including the last block."""
        texts: list[str] = []
        for of_block, numbers in self._blocks:
            texts += map(_number_text, numbers[:, np.searchsorted(of_block, j)])
        for i, (_, fields) in last.odd.items():
            texts[start + i] = fields[j].strip()
        return texts

    def _keep_text(self, j: int, texts: list[str]) -> None:
        self._check_texts(texts)
        self._annotation.setdefault(j, []).extend(texts)

    def finish(self) -> Raw:
        """Assemble and transpose the blocks."""
        request, samples = self._request, self.layout.numbers
        if not self._features or not samples:
            raise TableError(
                f"{self.layout.where} contains no data. With features in rows, it needs one row per feature."
            )
        values = self._join()
        places = Places(self._features, self.layout.where, "row")
        target = None if request.target is None else places.of(request.target, "target")
        named = None if request.id is None else places.of(request.id, "id")
        extra = {name: places.of(name, role) for role, name in request.columns.roles_in(self._features)}
        asked = {target, named, *extra.values()}
        left_out = {i: why for i, why in self._odd.items() if i not in asked}
        for i in sorted(self._tally.first.keys() - left_out.keys() - asked):
            reason = self._tally.too_messy(i, values[i])
            if reason is not None and self._features[i] not in (request.known or ()):
                left_out[i], self._cells[i] = reason, self._tally.first[i]
        present = {i: int(np.count_nonzero(~np.isnan(values[i]))) for i in left_out}
        kept = [i for i in range(len(values)) if i not in left_out and i not in asked]
        raw = Raw(
            values.T if len(kept) == len(values) else values[kept].T,
            [self._features[i] for i in kept],
            [self._names[j] for j in samples],
            left_out={self._features[i]: why for i, why in left_out.items()},
            lost={self._features[i]: self._cells[i] for i in left_out if 2 * present[i] > len(samples)},
            repaired=frozenset(self._features[i] for i in self._tally.first),
            notes=[
                *self._tally.note(features_in_words(self._features), set(left_out) | asked),
                *self._tally.outside(self._features, lambda i: None if i in left_out or i in asked else values[i]),
            ],
            read_as=Interpretation(features_in_rows=True, ids_from=request.id),
        )
        if self._annotation:
            names, _ = unique_names([self._names[j] for j in self._annotation])
            columns = zip(names, self._annotation.values(), strict=True)
            raw.annotation = {name: [texts[i] for i in kept] for name, texts in columns}
            raw.notes.append(f"Columns that describe the features, not samples: {listing(names)}.")
        if named is not None:
            raw.ids = self._strings(named, values, samples)
        if target is not None:
            raw.target, raw.target_name = self._strings(target, values, samples), request.target
        raw.columns = {name: self._strings(i, values, samples) for name, i in extra.items()}
        return raw

    def _strings(self, i: int, values: np.ndarray, samples: list[int]) -> list[str]:
        if i in self._rows:
            return in_plain_notation([self._rows[i][j] for j in samples], self.comma)
        return list(map(_number_text, values[i]))


def _number_text(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.17g}"


class TextColumns(Collector):
    """All columns as text, whatever they contain."""

    def __init__(self, header: Sequence[str], request: Request, layout: Layout) -> None:
        super().__init__(header, request, layout)
        self.layout = replace(layout, texts=tuple(range(layout.width)))
        self._rows: list[list[str]] = []

    def add(self, block: Block) -> None:
        """Add a block, without empty rows."""
        rows = [[item.strip() for item in row] for row in block.texts]
        self._check_texts(item for row in rows for item in row)
        self._rows += filter(any, rows)

    def finish(self) -> Raw:
        """Return a table without numbers; its columns are those of ``Raw.sheet``."""
        if not self._rows:
            raise TableError(f"{self.layout.where} has a header but no rows of data.")
        names, _ = unique_names(self._names)
        columns = map(list, zip(*self._rows, strict=True))
        return Raw(np.empty((len(self._rows), 0)), [], sheet=dict(zip(names, columns, strict=True)))
