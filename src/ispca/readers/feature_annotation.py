"""Add columns that describe the features, such as gene symbols, from a further file."""

from __future__ import annotations

from collections import Counter

from .._messages import count, listing
from .records import Raw, TableError, unknown_column
from .sample_sheet import SheetIds


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


def check_label(raw: Raw, label: str | None, where: str) -> None:
    """Refuse a label that is not a column of the annotation."""
    if label is None or label in raw.annotation:
        return
    if not raw.annotation:
        raise TableError(
            f"{where} has no columns that describe features, so {label!r} cannot label them.",
            "Pass annotation='FILE'.",
        )
    raise unknown_column(label, list(raw.annotation), "label", "The annotation")
