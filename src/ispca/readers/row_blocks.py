"""Collect blocks of rows: what tables with samples in rows, in columns and of text have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from ..foundation.messages import shorten
from .file_access import CELL, TEXT
from .messy_cells import Tally, almost_number
from .table import Raw, Request, TableError, unknown_column
from .text_rows import Block, Layout

# Memory of the place of an unclear cell.
UNCLEAR = 150


class MixedMarks(Exception):
    """Some cells prove a decimal comma and others a decimal point."""


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
                f"{self._where} has {len(found)} {self._what}s named {name!r} (⟦{role}=⟧). Rename all but one."
            )
        return found[0]


class Collector(ABC):
    """Collects blocks of rows; ``layout`` says how to parse the next one."""

    def __init__(self, header: Sequence[str], request: Request, layout: Layout) -> None:
        self._header, self._request, self.layout = header, request, layout
        self._names = [name or f"column {j + 1}" for j, name in enumerate(header)]
        self._blocks: list[tuple[list[int], np.ndarray]] = []
        self._tally, self._text_bytes = Tally(), 0
        # A cell of each column that looks numeric but contains text.
        self.lost: dict[int, str] = {}
        # If decimal marks are mixed: how often each column proves one, and the places of cells like 1.234.
        self._proven: Counter[tuple[int, str]] = Counter()
        self._unclear: dict[int, list[tuple[int, int, int, str]]] = defaultdict(list)
        self._n_unclear = 0

    @abstractmethod
    def add(self, block: Block) -> None:
        """Add a block."""

    @abstractmethod
    def finish(self) -> Raw:
        """Assemble the blocks."""

    def _check_texts(self, items: Iterable[str]) -> None:
        """Count text that is kept, and refuse too much of it."""
        self._text_bytes += sum(len(item) + TEXT + CELL for item in items)
        self._request.limit.check(self._text_bytes, "The text")

    def _repair(self, block: Block, i: int, j: int, column: int) -> bool:
        """Replace a field that is almost a number, and count it for a column; return whether it was one."""
        item, marks = block.odd[i][1][j], self.layout.marks
        found = almost_number(item, marks.comma)
        if found is None:
            return False
        place = bisect_left(self.layout.numbers, j)
        block.numbers[i, place] = found.value
        if marks.mixed:
            self._proven[column, found.mark] += 1
            if found.ambiguous:
                self._n_unclear += 1
                self._request.limit.check(self._n_unclear * UNCLEAR, "The cells")
                self._unclear[column].append((len(self._blocks), i, place, item))
                return True
        elif found.mark and (found.mark == ",") != marks.comma:
            raise MixedMarks
        self._tally.add(column, found, item)
        return True

    @property
    def comma(self) -> bool:
        """Whether commas are the decimal marks of the file: of most of its cells, if they are mixed."""
        totals = Counter({",": 0, ".": 0})
        for (_, mark), often in self._proven.items():
            totals[mark] += often
        return totals[","] > totals["."] if totals[","] or totals["."] else self.layout.marks.comma

    def _settle(self) -> None:
        """Read cells like 1.234 of mixed files as other cells of their column, or else of the file, suggest."""
        of_file = self.comma
        for column, cells in self._unclear.items():
            commas, points = self._proven[column, ","], self._proven[column, "."]
            comma = commas > points if commas or points else of_file
            for k, i, place, item in cells:
                found = almost_number(item, comma)
                if found is not None:
                    self._blocks[k][1][i, place] = found.value
                    self._tally.add(column, found, item)

    def notes_on_marks(self, sample: Sequence[Sequence[str]], raw: Raw) -> list[str]:
        """Say which decimal mark was assumed, and if nothing proves it."""
        marks = self.layout.marks
        if marks.unclear is not None and not marks.mixed and not _proves_point(raw.X):
            i, j = marks.unclear
            name = sample[i][0] if raw.read_as.features_in_rows else self._names[j]
            item = sample[i][j].strip()
            if self.layout.delimiter == "," and "." in item and not marks.comma:
                # Programs that write thousands with points separate cells by semicolons.
                return []
            found = almost_number(item, marks.comma)
            value = f"{found.value:g}" if found else "text"
            like = " as in the training data" if self._request.decimal_comma is not None else ""
            return [
                f"Nothing in {self.layout.where} tells whether cells such as {item!r} ({shorten(name)}) contain "
                f"a decimal mark or a thousands separator; this one was read as {value}{like}. "
                "If that is wrong, remove the thousands separators."
            ]
        return ["Commas were read as decimal marks."] if self.comma and not marks.mixed else []

    def _join(self) -> np.ndarray:
        """Return the columns that are numbers in all blocks, which are released."""
        self._settle()
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


def _proves_point(X: np.ndarray) -> bool:
    """Return whether numbers, read with decimal points, were not written with thousands separators.

    Only integers and numbers between 1 and 1,000 with up to three decimals can be.
    """
    size = np.abs(X[np.isfinite(X)])
    fractions = size[size != np.round(size)]
    thousandths = 1000 * fractions
    # 1.001 times 1,000 is not exactly 1,001.
    longer = np.abs(thousandths - np.round(thousandths)) > 1e-6
    return bool(np.any((fractions < 1) | (fractions > 1000) | longer))
