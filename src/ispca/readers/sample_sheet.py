"""Join a matrix with files that describe its samples (a sample sheet) or its features, matched by names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..foundation.messages import count, listing, shorten, suggestion
from .file_access import as_table_error, limit_for
from .file_formats import find_format, read_file
from .messy_cells import in_plain_notation
from .name_matching import nearest, one_to_one, with_near_names
from .table import Raw, Request, TableError, UnknownColumnError, unknown_column
from .target_column import numbers_of

# A match of fewer samples, or of a smaller fraction of the smaller file, is likely an accident.
FEWEST, SMALLEST_FRACTION = 4, 0.1
# A sample sheet with more columns may be the matrix.
FEWEST_SWAPPED = 20
SWAP = "Swap the two files."


class SheetIds:
    """The columns of a sheet that may name the samples (or features): all of them, or the one called ``on``.

    ``comma`` says that commas are the decimal marks of the sheet. If ``loose``, names that differ slightly match.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[str]],
        where: str,
        on: str | None = None,
        comma: bool = False,
        loose: bool = False,
    ) -> None:
        if on is not None and on not in columns:
            raise unknown_column(on, list(columns), "on", where)
        self.on, self.where, self.comma, self._loose = on, where, comma, loose
        self._columns = {name: columns[name] for name in (columns if on is None else [on])}
        self._sets = {name: set(values) - {""} for name, values in self._columns.items()}

    def contents(self) -> tuple[Any, ...]:
        """Return all that matching depends on."""
        columns = tuple((name, *values) for name, values in self._columns.items())
        return self.where, self.on, self.comma, self._loose, columns

    def best(self, names: Iterable[str]) -> str:
        """Return the column that contains most of the names; the first of equals."""
        wanted = set(names)
        return max(self._sets, key=lambda column: len(self._sets[column] & wanted))

    def among(self, names: Iterable[str]) -> set[str]:
        """Return the names that are in the best column."""
        return set(self.match(list(names))[1])

    def match(self, names: Sequence[str]) -> tuple[str, dict[str, int], str]:
        """Return the best column, the row of each name that is in it, and how the names differ if they do."""
        column = self.best(names)
        wanted = self._sets[column] & set(names)
        exact = {name: i for i, name in reversed(list(enumerate(self._columns[column]))) if name in wanted}
        if self._loose:
            loose = {column: one_to_one(names, texts) for column, texts in self._columns.items()}
            near = {column: found for column, found in loose.items() if found is not None}
            best = max(near, key=lambda column: len(near[column][0]), default=column)
            if best in near and len(near[best][0]) > len(exact):
                return best, *near[best]
        return column, exact, ""

    def loosely(self) -> SheetIds:
        """Return the same columns, in which names that differ slightly match."""
        return SheetIds(self._columns, self.where, self.on, self.comma, loose=True)

    def name_most_of(self, names: Sequence[str]) -> bool:
        """Return whether at least half of the names, or of the names in the sheet, agree."""
        found = len(self.among(names))
        return found > 1 and 2 * found >= min(len(names) - 1, self.n_rows)

    def names_in_order(self) -> list[str] | None:
        """Return the first column that has another name in each row, None if there is none."""
        unique = (name for name, found in self._sets.items() if len(found) == self.n_rows)
        column = next(unique, None)
        return None if column is None else list(self._columns[column])

    @property
    def n_rows(self) -> int:
        """The number of rows of the sheet."""
        return max(map(len, self._columns.values()))


def read_with_sheet(
    read: Callable[[Request], Raw], request: Request, sheet: dict[str, list[str]], ids: SheetIds
) -> Raw:
    """Read a matrix whose samples a sheet describes.

    Target, covariates and so on are taken from the sheet, or from the matrix if the sheet does not have them.
    """
    columns, target = request.columns, request.target
    in_sheet = {name for name in (target, *columns.names) if name in sheet}
    single: dict[str, Any] = {role: None for role, name in columns.roles() if name in sheet}
    single["covariates"] = tuple(name for name in columns.covariates if name not in sheet)
    asked = replace(
        request,
        target=None if target in sheet else target,
        columns=replace(columns, **single),
        sheet_ids=ids,
    )
    try:
        raw = _read_best_side(read, asked, ids)
        if raw.ids is not None and not _is_matched(raw.ids, sheet, ids):
            # Names that differ slightly count only if the same names match nowhere.
            loose = ids.loosely()
            other = _read_best_side(read, replace(asked, sheet_ids=loose), loose)
            if other.ids is not None and loose.match(other.ids)[2]:
                raw, ids = other, loose
    except UnknownColumnError as error:
        if error.setting == "id":
            raise
        problem = f"Neither {ids.where} nor {request.limit.file} has a column {error.name!r} (⟦{error.setting}=⟧)."
        problem = f"{problem} {suggestion(error.name, list(sheet))}"
        raise UnknownColumnError(problem, error.name) from None
    _join(raw, sheet, ids, request.limit.file)
    both = [name for name in raw.features if name in in_sheet]
    if both:
        raw.keep_features([j for j, name in enumerate(raw.features) if name not in in_sheet])
        raw.left_out |= dict.fromkeys(both, f"taken from {ids.where}")
        raw.notes.append(f"Both files contain {listing(both)}; the values of {ids.where} are used.")
    raw.columns |= {name: raw.sheet[name] for name in columns.names if name in raw.sheet}
    if target in sheet:
        raw.target, raw.target_name = raw.sheet[str(target)], target
    # What is to be predicted does not describe the samples.
    raw.sheet = {name: raw.sheet[name] for name in raw.sheet if name not in (target, columns.time, columns.event)}
    return raw


def _read_best_side(read: Callable[[Request], Raw], asked: Request, ids: SheetIds) -> Raw:
    """Read a matrix; if the header and the rows hardly match the sheet, try the columns, too."""
    raw = read(asked)
    n_matched = len(ids.among(raw.ids or ()))
    if n_matched >= FEWEST or asked.transpose:
        return raw
    with suppress(TableError):
        other = read(replace(asked, transpose=True))
        if len(ids.among(other.ids or ())) > n_matched:
            return other
    return raw


def _join(raw: Raw, sheet: dict[str, list[str]], ids: SheetIds, where: str) -> None:
    """Keep the samples that the sheet describes, add its columns to them, and note what does not match."""
    if raw.ids is None:
        _join_in_order(raw, sheet, ids, where)
        return
    column, place, differ = ids.match(raw.ids)
    rows = sheet[column]
    if not differ:
        _check_matched(raw, sheet, ids, where)
        repeated = [name for name, often in Counter(rows).items() if often > 1 and name in place]
        if repeated:
            raise TableError(
                f"Some samples have more than one row in {ids.where} (column {column!r}): {listing(repeated)}. "
                "Keep one row per sample."
            )
        place, differ = with_near_names(raw.ids, rows, place)
    kept = [i for i, name in enumerate(raw.ids) if name in place]
    used = set(place.values())
    raw.notes.append(f"{count(len(place), 'sample')} of {where} matched with column {column!r} of {ids.where}.")
    absent = [name for name in raw.ids if name not in place]
    if absent:
        gone = f"{count(len(absent), 'sample')} of {where} not in {ids.where}, left out"
        raw.notes.append(f"{gone}: {listing(absent)}.")
    unused = [name or f"row {i + 1}" for i, name in enumerate(rows) if i not in used]
    if unused:
        without = f"{count(len(unused), 'row')} of {ids.where} without a sample in {where}"
        raw.notes.append(f"{without}: {listing(unused)}.")
    if differ:
        others = [name for name in raw.ids if name in place and rows[place[name]] != name]
        some = "Sample names" if len(others) == len(kept) else "Some sample names"
        example = f"{shorten(others[0])!r} is {shorten(rows[place[others[0]]])!r}"
        raw.notes.append(f"{some} of the two files differ {differ}, but match one to one: {example}.")
    raw.keep_samples(kept)
    raw.read_as = raw.read_as._replace(matched_on=column)
    _add_columns(raw, sheet, ids, [place[name] for name in raw.ids], column)


def _join_in_order(raw: Raw, sheet: dict[str, list[str]], ids: SheetIds, where: str) -> None:
    """Add the columns of a sheet to samples without names, if there are equally many."""
    n = raw.X.shape[0]
    if n != ids.n_rows:
        raise TableError(
            f"{where} contains no sample names, so its {count(n, 'sample')} must be the rows of {ids.where} in "
            f"the same order, but that has {ids.n_rows:,}."
            + (" One of the files may lack a header." if abs(n - ids.n_rows) == 1 else ""),
            "⟦Pass id=COLUMN⟧ to name the samples.",
        )
    raw.notes.append(f"{where} has no sample names: its rows are those of {ids.where}, in order.")
    raw.ids = ids.names_in_order() if len(sheet) > 1 else None
    _add_columns(raw, sheet, ids, list(range(n)), None)


def _add_columns(
    raw: Raw, sheet: dict[str, list[str]], ids: SheetIds, places: Sequence[int], without: str | None
) -> None:
    numeric = {name: in_plain_notation(values, ids.comma) for name, values in sheet.items() if name != without}
    raw.sheet |= {name: [values[i] for i in places] for name, values in numeric.items()}


def _is_matched(names: Sequence[str], sheet: Mapping[str, Sequence[str]], ids: SheetIds) -> bool:
    """Return whether enough names are in the sheet for it not to be an accident."""
    rows = sheet[ids.best(names)]
    found = len(set(names) & set(rows))
    smaller = min(len(set(names)), len(set(rows)))
    return bool(found) and found >= min(FEWEST, smaller) and found >= SMALLEST_FRACTION * smaller


def _check_matched(raw: Raw, sheet: Mapping[str, Sequence[str]], ids: SheetIds, where: str) -> None:
    """Refuse a match that is likely an accident, and show what the names look like on both sides of the matrix."""
    names = raw.ids or []
    if _is_matched(names, sheet, ids):
        return
    sides = [names, raw.features] if not raw.read_as.features_in_rows else [raw.features, names]
    column = ids.best(names)
    rows = sheet[column]
    found = len(set(names) & set(rows))
    which = f"column {column!r} of {ids.where}" if found or ids.on else f"any column of {ids.where}"
    near = nearest(rows, names) or nearest(rows, raw.features)
    shown = [f"{side} {listing(some[:3])}, ..." for side, some in zip(("rows", "columns"), sides, strict=True)]
    raise TableError(
        f"{found or 'None'} of the names in {where} ({'; '.join(shown)}) {'is' if found == 1 else 'are'} in "
        f"{which} ({listing(rows[:3])}, ...). {near}",
        "Both files need the same sample names. If they have them, name their column in the sheet with "
        "⟦on=COLUMN⟧, and that in the matrix with ⟦id=COLUMN⟧.",
    )


def read_both(
    path: Path, samples: Path, request: Request, of_samples: str | None, on: str | None, max_bytes: int | None
) -> Raw:
    """Read a matrix with its sample sheet, and say so if the two are swapped."""
    texts = read_texts(samples, max_bytes, of_samples, request.decimal_comma)
    ids = SheetIds(texts.sheet, samples.name, on, texts.read_as.decimal_comma)
    swapped = f"The two files seem to be swapped: {samples.name} contains the data, {path.name} the sample sheet."
    try:
        raw = read_with_sheet(partial(read_file, path), request, texts.sheet, ids)
    except TableError:
        if path != samples and _is_matrix_of(samples, path):
            raise TableError(swapped, SWAP) from None
        raise
    n_features = len(raw.features)
    many = path != samples and len(texts.sheet) > max(2 * n_features, FEWEST_SWAPPED)
    if many and _is_matrix_of(samples, path, n_features):
        raise TableError(swapped, SWAP)
    raw.notes += [f"{samples.name}: {note}" for note in texts.notes]
    return raw


def _is_matrix_of(sheet: Path, matrix: Path, n_features: int = 0) -> bool:
    """Return whether a sample sheet is a matrix with more features, whose samples the other file describes."""
    with suppress(TableError, ImportError), as_table_error(sheet):
        texts = read_texts(matrix, None).sheet
        request = Request(limit_for(sheet))
        raw = read_with_sheet(partial(read_file, sheet), request, texts, SheetIds(texts, matrix.name))
        return len(raw.features) > max(n_features, len(raw.sheet))
    return False


def read_texts(
    path: Path, max_bytes: int | None, sheet: str | None = None, decimal_comma: bool | None = None
) -> Raw:
    """Read all columns of a table as text; ``sheet`` is that of a workbook."""
    if find_format(path).matrix:
        raise TableError(f"{path.name} is not a table of text. Use .csv, .tsv, .txt, .parquet or .xlsx.")
    with as_table_error(path):
        limit = limit_for(path, max_bytes)
        request = Request(limit, as_text=True, excel_sheet=sheet, decimal_comma=decimal_comma)
        return read_file(path, request)


def annotate(raw: Raw, columns: dict[str, list[str]], file: str, where: str) -> None:
    """Add the columns of a file to the features with the same names, and note what does not match."""
    column = SheetIds(columns, file).best(raw.features)
    rows = columns[column]
    place = {name: i for i, name in reversed(list(enumerate(rows))) if name}
    absent = [name for name in raw.features if name not in place]
    if len(absent) == len(raw.features):
        raise TableError(
            f"No feature of {where} ({listing(raw.features[:3])}, ...) is in any column of {file} "
            f"({listing(rows[:3])}, ...). One column must contain the names of the features."
        )
    n_known, matched = len(raw.features) - len(absent), set(raw.features)
    raw.notes.append(f"{count(n_known, 'feature')} annotated by column {column!r} of {file}.")
    if absent:
        raw.notes.append(f"{count(len(absent), 'feature')} of {where} not in {file}: {listing(absent)}.")
    unused = sum(name not in matched for name in rows)
    if unused:
        raw.notes.append(f"{count(unused, 'row')} of {file} without a feature in {where}.")
    repeated = [name for name, often in Counter(rows).items() if often > 1 and name in matched]
    if repeated:
        raw.notes.append(f"Features with several rows in {file}, of which the first is used: {listing(repeated)}.")
    places = [place.get(name) for name in raw.features]
    others = {name: values for name, values in columns.items() if name != column}
    raw.annotation |= {name: ["" if i is None else values[i] for i in places] for name, values in others.items()}


def choose_label(raw: Raw, label: str | None, where: str) -> str | None:
    """Return the column that labels the features: the given one, that of the format, or the only one of names."""
    if label in raw.annotation:
        return label
    if label is None:
        present = {name: [text for text in texts if text] for name, texts in raw.annotation.items()}
        # Names are not numbers, and most of them differ, unlike those of chromosomes.
        differ = {name: texts for name, texts in present.items() if len(set(texts)) > len(texts) / 2}
        names = [name for name, texts in differ.items() if numbers_of(texts) is None]
        if raw.label is not None or len(names) != 1:
            return raw.label
        raw.notes.append(f"Features are labeled by {names[0]!r}, the only column of names that describes them.")
        return names[0]
    if not raw.annotation:
        raise TableError(
            f"{where} has no columns that describe features, so {label!r} cannot label them.",
            "⟦Pass annotation=FILE⟧.",
        )
    raise unknown_column(label, list(raw.annotation), "label", "The annotation")
