"""What is kept of files gives the same tables as reading them again, and is forgotten when a file changes."""

import gzip
import os
from dataclasses import fields
from itertools import product

import numpy as np
import openpyxl
import polars as pl
import pytest

from ispca.readers import TableError, orientation, read_table
from ispca.readers.kept_files import KeptFiles, keeping
from ispca.readers.table import SampleColumns

N = 24
rng = np.random.default_rng(0)


def columns():
    """Columns that are read in every possible way, and some features."""
    return {
        "id": [f"s{i}" for i in range(N)],
        "state": ["ill", "well"] * (N // 2),
        "sex": [i // 2 % 2 for i in range(N)],
        "grade": [f"0{i % 3 + 1}" for i in range(N)],
        "age": [f"{40 + 1.5 * i:g}" for i in range(N)],
        "dose": ["<5" if i == 3 else i + 7 for i in range(N)],
        "batch": ["NA" if i == 5 else i // 8 for i in range(N)],
        "days": [10 * i + 10 for i in range(N)],
        "reads": [100_000 * (i + 1) for i in range(N)],
        **{f"g{j}": [f"{value:.3f}" for value in rng.normal(size=N)] for j in range(6)},
    }


def lines(table, order=None):
    names = [*table] if order is None else order
    return [names, *zip(*(table[name] for name in names), strict=True)]


def text(rows, delimiter=","):
    return "\n".join(delimiter.join(map(str, row)) for row in rows) + "\n"


def write(folder, form):
    table = columns()
    rows = lines(table)
    path = folder / f"table.{'csv' if form in FORMS[:6] else form}"
    if form == "plain":
        path.write_text(text(lines(table, [name for name in table if name not in ("grade", "dose", "batch")])))
    elif form == "odd":
        path.write_text(text(rows))
    elif form == "target first":
        path.write_text(text(lines(table, ["state", *(name for name in table if name not in ("id", "state"))])))
    elif form == "in rows":
        path.write_text(text(zip(*rows, strict=True)))
    elif form == "comma":
        path.write_text(text(rows, ";").replace(".", ","))
    elif form == "two":
        path.write_text(text(lines(table, ["id", *(f"g{j}" for j in range(6))])))
        (folder / "sheet.csv").write_text(text([row[:9] for row in rows]))
    elif form == "csv.gz":
        path.write_bytes(gzip.compress(text(rows).encode()))
    elif form == "xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([float(cell) if str(cell).replace(".", "").isdigit() else cell for cell in row])
        book.save(path)
    else:
        pl.DataFrame(table, strict=False).with_columns(pl.col("sex") == 1).write_parquet(path)
    return path


FORMS = ("plain", "odd", "target first", "in rows", "comma", "two", "csv.gz", "xlsx", "parquet")
CHOICES = [
    {"target": target, "columns": SampleColumns(covariates=covariates), **more}
    for target, covariates, more in product(
        ("state", "sex", "grade", "age", "dose", "batch", "reads", "g2", "id", "no"),
        ((), ("age",), ("sex", "g1")),
        ({}, {"missing": "mean"}, {"drop": ("g3",), "transform": "binary", "missing": "rows"}),
    )
] + [{"columns": SampleColumns(time="days", event="sex", groups="state", weights="age")}, {"supervised": False}]


def found(path, given):
    beside = path.parent / "sheet.csv"
    try:
        table = read_table(
            path, samples=beside if beside.exists() else None, transpose="in rows" in path.parent.name, **given
        )
    except TableError as error:
        return type(error), str(error)
    return {field.name: getattr(table, field.name) for field in fields(table)}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_kept_gives_the_same_table(tmp_path, form):
    (folder := tmp_path / form).mkdir()
    path, kept = write(folder, form), KeptFiles()
    for given in CHOICES:
        with keeping(kept):
            again = found(path, given)
        np.testing.assert_equal(again, found(path, given))


def test_other_choices_do_not_read_the_file_again(tmp_path, monkeypatch):
    path, kept, often = write(tmp_path, "plain"), KeptFiles(), []
    parse = orientation.parse
    monkeypatch.setattr(orientation, "parse", lambda *given: often.append(1) or parse(*given))
    with keeping(kept):
        for given in CHOICES:
            if given.get("target") not in ("no", "id", "reads", "grade", "dose", "batch"):
                found(path, given)
        assert len(often) == 1


def test_a_file_that_is_replaced_is_forgotten(tmp_path):
    path, kept = write(tmp_path, "plain"), KeptFiles()
    with keeping(kept):
        assert read_table(path, target="state").X.shape[0] == N
        other = path.with_name("other.csv")
        other.write_text(path.read_text().replace("s0,", "t0,"))
        os.replace(other, path)
        assert read_table(path, target="state").ids[0] == "t0"
        assert len(kept._found) == 1
