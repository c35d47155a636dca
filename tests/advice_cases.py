"""Lines whose advice is followed, for `commands/test_advice.py`."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import openpyxl

from user_files import Study, write

FIT = "ispca fit table.csv --target tissue"


class Case(NamedTuple):
    """A line, what it advises, the lines that follow the advice, what makes the files, and its exit code."""

    line: str
    advice: str
    follow: tuple[str, ...]
    prepare: Callable[[Study], object]
    code: int = 3


def columns(**added):
    """Write the table of the study with more columns; a function gives the values from the study."""

    def prepare(study):
        rows = study.rows()
        for name, values in added.items():
            cells = [name, *(values(study) if callable(values) else values)]
            rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
        write("table.csv", rows)

    return prepare


def cell(column, text, row=slice(1, 2)):
    """Write the table of the study with another text in some cells of a column."""

    def prepare(study):
        rows = study.rows()
        for cells in rows[row]:
            cells[rows[0].index(column)] = text
        write("table.csv", rows)

    return prepare


def rescale(change):
    """Write the table of the study with other values."""

    def prepare(study):
        study.X = change(study)
        study.write_table("table.csv")

    return prepare


def two_files(study):
    study.write_matrix("table.csv")
    study.write_sheet("sheet.csv")


def arrays(study):
    np.savez("table.npz", X=study.X, tissue=study.tissue)


def add_annotation(study):
    study.write_table("table.csv")
    write("genes.csv", [["gene", "symbol"], *((gene, gene.upper()) for gene in study.genes)])


def workbook(study):
    book = openpyxl.Workbook()
    book.active.title = "empty"
    data = book.create_sheet("data")
    for row in study.rows():
        data.append(row)
    book.save("book.xlsx")


def nameless(study):
    """Sheet and data of different lengths; the data have no column that is recognized as names."""
    study.write_sheet("sheet.csv", leave_out=study.ids[:2])
    rows = study.rows(target=False)
    write("table.csv", [[*row[1:], row[0] if i else "sample"] for i, row in enumerate(rows)])


def days(study):
    return np.where(study.tissue == "tumour", 15, 0) + np.arange(24)


def dates(study):
    return [str(np.datetime64("2024-01-01") + int(day)) for day in days(study)]


def mixed_batch(study):
    batch = np.where(study.tissue == "tumour", "B1", "B2")
    batch[np.flatnonzero(study.tissue == "tumour")[:2]] = "B2"
    return batch


TWO = "ispca fit table.csv --samples sheet.csv --target tissue"
PATIENTS = [f"P{i // 2}" for i in range(24)]
SURVIVAL = {"months": np.arange(1.0, 25.0), "died": np.arange(24) % 2}
CASES = {
    "no target": Case("ispca fit table.csv", "Pass --target COLUMN", (FIT,), columns()),
    "column of a sheet": Case(
        f"{TWO.replace(' --samples sheet.csv', '')} --on sample",
        "Pass --samples FILE",
        (f"{TWO} --on sample",),
        two_files,
    ),
    "transposed array": Case(
        "ispca fit table.npz --target tissue --transpose",
        "Leave out --transpose",
        ("ispca fit table.npz --target tissue",),
        arrays,
    ),
    "sheet of a text file": Case(f"{FIT} --sheet one", "Leave out --sheet NAME", (FIT,), columns()),
    "no array y": Case(
        "ispca fit table.npz", "pass --target NAME", ("ispca fit table.npz --target tissue",), arrays
    ),
    "missing value": Case(
        FIT,
        r"Pass --missing mean .* \(--missing columns\) or samples \(--missing rows\)",
        tuple(f"{FIT} --missing {how}" for how in ("mean", "columns", "rows")),
        cell("g3", ""),
    ),
    "text as quantity": Case(f"{FIT} --kind quantity", "Leave out --kind quantity", (FIT,), columns()),
    "text as count": Case(f"{FIT} --kind count", "Leave out --kind count", (FIT,), columns()),
    "numbers as classes": Case(
        "ispca fit table.csv --target age --kind class --drop tissue",
        "or pass --kind quantity for a quantity",
        ("ispca fit table.csv --target age --kind quantity --drop tissue",),
        columns(age=np.arange(24) + 0.5),
    ),
    "fractions as counts": Case(
        "ispca fit table.csv --target age --kind count --drop tissue",
        "Pass --kind quantity for other numbers",
        ("ispca fit table.csv --target age --kind quantity --drop tissue",),
        columns(age=np.arange(24) + 0.5),
    ),
    "too many grades": Case(
        "ispca fit table.csv --target age --kind ordinal --drop tissue",
        "Pass --kind quantity for a quantity",
        ("ispca fit table.csv --target age --kind quantity --drop tissue",),
        columns(age=np.arange(24)),
    ),
    "few integers": Case(
        "ispca fit table.csv --target stage --drop tissue",
        r"Pass --kind (quantity or ordinal or count|\.\.\.) if that is wrong",
        tuple(
            f"ispca fit table.csv --target stage --drop tissue --kind {kind}"
            for kind in ("quantity", "ordinal", "count")
        ),
        columns(stage=np.arange(24) % 3),
        code=0,
    ),
    "many integers": Case(
        "ispca fit table.csv --target visits --drop tissue",
        r"Pass --kind (class or count|\.\.\.) if that is wrong",
        tuple(f"ispca fit table.csv --target visits --drop tissue --kind {kind}" for kind in ("class", "count")),
        columns(visits=np.arange(24) % 12),
        code=0,
    ),
    "logarithm of negative values": Case(
        f"{FIT} --transform log2", "Leave out --transform log2", (FIT,), rescale(lambda study: study.X - 20)
    ),
    "one group": Case(
        f"{FIT} --groups site", "Leave out --groups", (FIT + " --drop site",), columns(site=["A"] * 24)
    ),
    "covariate with gaps": Case(
        f"{FIT} --covariates age --missing columns",
        "Pass --missing mean or --missing rows",
        tuple(f"{FIT} --covariates age --missing {how}" for how in ("mean", "rows")),
        columns(age=["", *range(40, 63)]),
    ),
    "label without annotation": Case(
        f"{FIT} --label symbol",
        "Pass --annotation FILE",
        (f"{FIT} --annotation genes.csv --label symbol",),
        add_annotation,
    ),
    "raw intensities": Case(
        FIT,
        "Pass --transform log2, or none",
        tuple(f"{FIT} --transform {how}" for how in ("log2", "none")),
        rescale(lambda study: 2.0 ** (1.5 * study.X)),
        0,
    ),
    "raw counts": Case(
        FIT,
        "Pass --transform cpm-log, or log1p to keep the library sizes, or none",
        tuple(f"{FIT} --transform {how}" for how in ("cpm-log", "log1p", "none")),
        rescale(lambda study: study.counts()),
        0,
    ),
    "mixed batch": Case(
        FIT, "Adjust for 'batch' as a covariate", (f"{FIT} --covariates batch",), columns(batch=mixed_batch), 0
    ),
    "date of each sample": Case(
        FIT, "Adjust for 'taken' as a covariate", (f"{FIT} --covariates taken",), columns(taken=dates), 0
    ),
    "time without event": Case(
        "ispca fit table.csv --time months",
        "--time needs --event",
        ("ispca fit table.csv --time months --event died --drop tissue",),
        columns(**SURVIVAL),
        2,
    ),
    "time and target": Case(
        f"{FIT} --time months --event died",
        "Leave out --target",
        ("ispca fit table.csv --time months --event died --drop tissue",),
        columns(**SURVIVAL),
        2,
    ),
    "time and kind": Case(
        "ispca fit table.csv --time months --event died --kind class",
        "Leave out --kind",
        ("ispca fit table.csv --time months --event died --drop tissue",),
        columns(**SURVIVAL),
        2,
    ),
    "offset": Case(
        "ispca fit table.csv --target visits --offset exposure --drop tissue",
        "Add --kind count",
        ("ispca fit table.csv --target visits --offset exposure --kind count --drop tissue",),
        columns(visits=np.arange(24) % 12, exposure=[0.5] * 24),
        2,
    ),
    "one fold": Case(
        f"{FIT} --cv 1", "Pass at least 2 folds, or 0", (f"{FIT} --cv 2", f"{FIT} --cv 0"), columns(), 2
    ),
    "existing results": Case(
        f"{FIT} --out .", "Choose another --out, new or empty", (f"{FIT} --out new",), columns(), 2
    ),
    "text in many columns": Case(
        f"{FIT}",
        "pass --drop NAME; if features are in rows, pass --transpose",
        (f"{FIT} --drop h0 h1 h2 h3 h4",),
        columns(**{f"h{j}": ["seven", *range(23)] for j in range(5)}),
    ),
    "excluded class of a quantity": Case(
        "ispca fit table.csv --time months --event died --exclude-class a --drop tissue",
        "Leave out --exclude-class",
        ("ispca fit table.csv --time months --event died --drop tissue",),
        columns(**SURVIVAL),
    ),
    "unknown events": Case(
        "ispca fit table.csv --time months --event state --drop tissue",
        "Pass --event-value VALUE to name the one that means an event",
        ("ispca fit table.csv --time months --event state --event-value red --drop tissue",),
        columns(months=np.arange(1.0, 25.0), state=["red", "green"] * 12),
    ),
    "no events": Case(
        "ispca fit table.csv --time months --event state --drop tissue",
        "Pass --event-value VALUE to name the value that means an event",
        ("ispca fit table.csv --time months --event state --event-value 0 --drop tissue",),
        columns(months=np.arange(1.0, 25.0), state=[0] * 24),
    ),
    "two spellings": Case(FIT, "Pass --merge", (f"{FIT} --merge",), cell("tissue", "Tumour", row=slice(1, 9)), 0),
    "raw values below 0": Case(
        FIT,
        "Pass --transform none to fit them as they are",
        (f"{FIT} --transform none",),
        rescale(lambda study: 2.0 ** (1.5 * study.X) - 100),
        0,
    ),
    "repeated patients": Case(
        FIT,
        "Pass column 'patient' as --groups",
        (f"{FIT} --groups patient",),
        columns(patient=[f"P{i // 2}" for i in range(24)]),
        0,
    ),
    "empty first sheet": Case(
        "ispca fit book.xlsx --target tissue",
        "Pass --sheet NAME to read another one",
        ("ispca fit book.xlsx --target tissue --sheet data",),
        workbook,
    ),
    "two orders": Case(TWO, "Pass --id COLUMN to name the samples", (f"{TWO} --id sample",), nameless),
    "method of the paper": Case(
        f"{FIT} --paper --method ISPCA-cross-fitted",
        "Leave out --paper",
        (f"{FIT} --method ISPCA-cross-fitted",),
        columns(),
        2,
    ),
    "kind of the paper": Case(
        "ispca fit table.csv --target visits --kind count --paper --drop tissue",
        "Leave out --paper",
        ("ispca fit table.csv --target visits --kind count --drop tissue",),
        columns(visits=np.arange(24) % 12),
        2,
    ),
    "no job": Case(
        "ispca compare table.csv --target tissue --jobs 0 --methods lasso --splits 2",
        "Pass the number of processes, or -1",
        tuple(f"ispca compare table.csv --target tissue --jobs {n} --methods lasso --splits 2" for n in (1, -1)),
        columns(),
        2,
    ),
}
# Advice about new samples, with the model of the study in "results".
OF_MODELS = {
    "existing file": Case(
        "ispca predict results table.csv --out p.csv",
        "overwrite it with --force",
        ("ispca predict results table.csv --out p.csv --force", "ispca predict results table.csv --out q.csv"),
        lambda study: (columns()(study), Path("p.csv").write_text("mine")),
        2,
    ),
    "missing value of a new sample": Case(
        "ispca predict results table.csv",
        "Pass --missing mean .*, or --missing rows",
        tuple(f"ispca predict results table.csv --missing {how}" for how in ("mean", "rows")),
        cell("g3", ""),
    ),
    "missing values of all new samples": Case(
        "ispca predict results table.csv --missing rows",
        "Pass --missing mean",
        ("ispca predict results table.csv --missing mean",),
        cell("g3", "", row=slice(1, None)),
    ),
    "forced and excluded": Case(
        "ispca select results table.csv --always g1 --never g1 --folds 0",
        "Leave out one of them",
        (
            "ispca select results table.csv --always g1 --folds 0",
            "ispca select results table.csv --never g1 --folds 0 --out n",
        ),
        columns(),
        2,
    ),
}
