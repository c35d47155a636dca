"""Ways in which data come: packed, in one workbook, below titles, swapped, with dates for genes, or not at all."""

import bz2
import gc
import gzip
import lzma
import sys
import warnings
import zipfile

import numpy as np
import pytest

from ispca.readers import TableError, read_table

TEXT = "id,g1,g2,state\n" + "".join(f"s{i},{i},{i * i % 7},{'ill' if i % 2 else 'well'}\n" for i in range(8))
SHEET = [["sample", "age", "state"]] + [[f"s{i}", 40 + i, "ill" if i % 2 else "well"] for i in range(8)]
MATRIX = [["gene", *(f"s{i}" for i in range(8))]] + [
    [f"g{j}", *(i + j * 0.5 for i in range(8))] for j in range(30)
]


def zipped(path, *names):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, TEXT)
    return path


def workbook(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("packed", ["gz", "bz2", "xz", "zip"])
def test_packed_text(tmp_path, packed, monkeypatch):
    unclosed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unclosed.append)
    path = tmp_path / f"data.csv.{packed}"
    if packed == "zip":
        path = zipped(tmp_path / "data.zip", "data.csv", "__MACOSX/data.csv", "a/.DS_Store")
    else:
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[packed]
        # Two streams, one after the other.
        path.write_bytes(pack(TEXT[:50].encode()) + pack(TEXT[50:].encode()))
    with warnings.catch_warnings():
        # A file that stays open is a warning, or an error on Windows.
        warnings.simplefilter("error")
        table = read_table(path, target="state")
        gc.collect()
    assert not unclosed
    assert table.X[:, 0].tolist() == list(range(8))
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    with pytest.raises(TableError, match=r"truncated or damaged|not a ZIP"):
        read_table(path, target="state")


@pytest.mark.slow
@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_packed_bombs_are_refused(tmp_path, pack):
    path = tmp_path / f"data.csv.{'bz2' if pack is bz2.compress else 'xz'}"
    path.write_bytes(pack(TEXT.encode() + b"s,1,2,ill\n" * 500_000))
    with pytest.raises(TableError, match=r"would take .* of memory; the limit"):
        read_table(path, target="state", max_bytes=10**6)


def test_an_archive_of_several_files_is_refused(tmp_path):
    with pytest.raises(TableError, match=r"must contain one file, contains 2 \(a.csv, b.csv\)"):
        read_table(zipped(tmp_path / "data.zip", "a.csv", "b.csv"), target="state")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("data.rds", "an R file.*write.csv"),
        ("data.RData", "an R file"),
        ("data.mat", "a MATLAB file"),
        ("-", "standard input"),
        ("https://example.org/data.csv", "https://example.org/data.csv is an address.*Download the file"),
        (".", "folder.*Pass one of its files: data.csv, two.zip"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(TEXT)
    zipped(tmp_path / "two.zip", "a.csv", "b.csv")
    if name.startswith("data"):
        (tmp_path / name).write_bytes(b"anything")
    with pytest.raises(TableError, match=said):
        read_table(name, target="state")


@pytest.mark.parametrize("kind", ["csv", "padded", "xlsx"])
def test_titles_above_the_header_are_skipped(tmp_path, kind):
    rows = [
        ["Table S1. Measurements, 2024"],
        [],
        ["Units: mg/L"],
        *(line.split(",") for line in TEXT.splitlines()),
    ]
    if kind == "xlsx":
        path = workbook(tmp_path / "data.xlsx", data=rows)
    else:
        path, quoted = tmp_path / "data.csv", [f'"{item}"' if "," in item else item for item in rows[0]]
        width = 4 if kind == "padded" else 1
        lines = [",".join([*row, *[""] * (width - len(row))]) for row in [quoted, *rows[1:]]]
        path.write_text("\n".join(lines))
    table = read_table(path, target="state")
    assert table.features.tolist() == ["g1", "g2"]
    assert len(table.ids) == 8
    assert any("above the header skipped, such as 'Table S1. Measurements, 2024'." in note for note in table.notes)


@pytest.mark.parametrize("title", [[], [["Table S1"]]])
def test_an_empty_column_at_the_left_of_a_sheet(tmp_path, title):
    rows = [["", *line.split(",")] for line in TEXT.splitlines()]
    table = read_table(workbook(tmp_path / "data.xlsx", data=[*title, *rows]), target="state")
    assert table.ids.tolist() == [f"s{i}" for i in range(8)]
    both = workbook(tmp_path / "both.xlsx", matrix=[*title, *(["", *row] for row in MATRIX)], samples=SHEET)
    assert read_table(both, target="state").X.shape == (8, 30)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("order", [("matrix", "samples"), ("samples", "matrix")])
def test_matrix_and_sheet_in_one_workbook(tmp_path, given, order):
    rows = {"matrix": MATRIX, "samples": SHEET}
    path = workbook(tmp_path / "book.xlsx", **{name: rows[name] for name in order})
    table = read_table(path, target="state", samples=path if given else None)
    assert table.X.shape == (8, 30)
    assert table.ids.tolist() == [f"s{i}" for i in range(8)]
    assert (
        "book.xlsx: sheet 'matrix' was read as the data, and sheet 'samples' as the sample sheet." in table.notes
    )
    np.testing.assert_array_equal(table.target, ["well", "ill"] * 4)


@pytest.mark.parametrize("in_rows", [False, True])
def test_swapped_files_are_called_so(tmp_path, in_rows):
    matrix = list(zip(*MATRIX, strict=True)) if in_rows else MATRIX
    for name, rows in (("matrix.csv", matrix), ("sheet.csv", SHEET)):
        (tmp_path / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    with pytest.raises(
        TableError, match=r"two files seem to be swapped: matrix.csv contains the data, sheet.csv the"
    ):
        read_table(tmp_path / "sheet.csv", samples=tmp_path / "matrix.csv", target="state")
    assert read_table(tmp_path / "matrix.csv", samples=tmp_path / "sheet.csv", target="state").X.shape == (8, 30)


def test_genes_that_excel_turned_into_dates_are_flagged(tmp_path):
    names = ["g1", "1-Mar", "Sep-02", "2001-12-01 00:00:00", "02. M\u00e4r", "May-x", "3-fold"]
    path = tmp_path / "data.csv"
    rows = [",".join([*(str(i * j % 5) for j in range(7)), "ab"[i % 2]]) for i in range(6)]
    path.write_text(",".join([*names, "state"]) + "\n" + "\n".join(rows))
    said = "4 feature names look like a gene that Excel turned into a date: 1-Mar (MARCHF1), Sep-02 (SEPTIN2), "
    assert any(
        note.startswith(f"{said}2001-12-01 00:00:00 (DELEC1), 02. M\u00e4r (MARCHF2).")
        for note in read_table(path, target="state").notes
    )


def test_a_file_without_a_header_loses_no_sample(tmp_path):
    rows = [f"s{i},{2.5 + 1.3 * (-1) ** i},{i + 0.25},{7.75 - i},{'ill' if i % 2 else 'well'}" for i in range(8)]
    (tmp_path / "data.csv").write_text("\n".join(rows))
    with pytest.raises(TableError, match=r"seems to have no header. Add a first row with the names"):
        read_table(tmp_path / "data.csv", target="well")
    # Wavelengths are ordered, codes of genes are integers, and a name that is a value alone proves nothing.
    for header in ("id,1.5,2.5,3.5,well", "id,7157,1956,4609,well", "id,a,b,c,well"):
        (tmp_path / "data.csv").write_text("\n".join([header, *rows]))
        assert read_table(tmp_path / "data.csv", target="well").X.shape == (8, 3)
