"""Series matrix files of GEO, and comment lines in other text files."""

import gzip

import numpy as np
import pytest

from ispca.cli import main
from ispca.readers import TableError, read_table

IDS = [f"GSM{i}" for i in range(1, 9)]
TISSUES = ["lung", "liver"] * 4
LINES = [
    '!Series_title\t"A ""title"" with\tquotes"',
    "",
    "\t".join(["!Sample_title", *(f'"{tissue} of {name}"' for tissue, name in zip(TISSUES, IDS, strict=True))]),
    "\t".join(["!Sample_geo_accession", *(f'"{name}"' for name in reversed(IDS))]),
    "\t".join(["!Sample_status", *['"Public on Jan 01 2020"'] * 8]),
    "\t".join(["!Sample_characteristics_ch1", *(f'"tissue: {tissue}"' for tissue in reversed(TISSUES))]),
    "\t".join(["!Sample_characteristics_ch1", *(f'"age: {i}"' if i % 3 else '"sex: f"' for i in range(8))]),
    "\t".join(["!Sample_characteristics_ch1", *(f'"sex: {"fm"[i % 2]}"' if i % 3 else '""' for i in range(8))]),
    "\t".join(["!Sample_data_processing", *['"one"'] * 8]),
    "\t".join(["!Sample_data_processing", *['"two"'] * 8]),
    "!series_matrix_table_begin",
    "\t".join(['"ID_REF"', *(f'"{name}"' for name in IDS)]),
    *("\t".join([f'"{j}_at"', *(str(i * j + (i % 2) * 5) for i in range(8))]) for j in range(1, 6)),
    "!series_matrix_table_end",
]


def write(path, lines=LINES):
    content = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["GSE1_series_matrix.txt", "GSE1_series_matrix.txt.gz"])
def test_sample_lines_become_the_sample_sheet(tmp_path, name):
    table = read_table(write(tmp_path / name), target="tissue")
    assert table.features.tolist() == [f"{j}_at" for j in range(1, 6)]
    assert table.ids.tolist() == IDS
    # The sheet lists the samples in reverse.
    assert table.target.tolist() == TISSUES
    np.testing.assert_array_equal(table.X[:, 1], [2 * i + (i % 2) * 5 for i in range(8)])
    assert list(table.sheet) == ["sex", "age", "title", "geo_accession"]
    assert any("is a series matrix of GEO; 5 columns describe its samples" in note for note in table.notes)


def test_characteristics_are_found_by_their_keys(tmp_path):
    path = write(tmp_path / "matrix.txt")
    sex = read_table(path, target="sex").target
    assert sex.tolist() == ["m", "f", "m", "f", "f", "f", "m", "f"]
    assert read_table(path, target="tissue", id="title").ids[0] == "liver of GSM8"


def test_a_series_matrix_without_values_is_a_sample_sheet(tmp_path):
    series = write(tmp_path / "series_matrix.txt", [*LINES[:11], LINES[-1]])
    counts = ["gene," + ",".join(IDS), *(f"g{j}," + ",".join(str(i + j) for i in range(8)) for j in range(6))]
    (tmp_path / "counts.csv").write_text("\n".join(counts))
    table = read_table(tmp_path / "counts.csv", samples=series, target="tissue")
    assert table.target.tolist() == TISSUES
    assert table.features.tolist() == [f"g{j}" for j in range(6)]


def test_an_unknown_target_lists_the_columns_that_vary(tmp_path):
    path = write(tmp_path / "matrix.txt")
    expected = (
        r"no column 'state' \(target\)\. Its samples are described by: tissue \(2 values\), sex \(2 values\), "
        r"age \(6 values\), title \(8 values\), geo_accession \(8 values\)\."
    )
    with pytest.raises(TableError, match=expected):
        read_table(path, target="state")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[:-1], "is truncated: the end of its table is missing"),
        (lambda lines: [*lines[:11], lines[-1]], "contains no values, as is usual for sequencing"),
        (lambda lines: lines[:11], "contains no values"),
        (lambda lines: [*lines[:5], lines[5] + "\tmore", *lines[6:]], "has 9 values for 8 samples"),
        (lambda lines: [*lines[:3], *lines[4:]], "does not describe sample 'GSM1'"),
        (lambda lines: [*lines[:13], "x\t1", *lines[13:]], "has 2 fields instead of 9"),
    ],
)
def test_damaged_series_are_refused(tmp_path, change, reason):
    with pytest.raises(TableError, match=reason):
        read_table(write(tmp_path / "matrix.txt", change(LINES)), target="tissue")


def test_a_series_matrix_can_be_fitted(tmp_path, capsys):
    path = write(tmp_path / "GSE1_series_matrix.txt.gz")
    options = [
        "--target",
        "tissue",
        "--bags=0",
        "--draws",
        "20",
        "--cv",
        "0",
        "--format",
        "json",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["fit", str(path), *options]) == 0
    assert "8 samples, 5 features, target 'tissue': classes liver (4), lung (4)" in capsys.readouterr().out


TABLE = "id,g1,g2,state\na,1,2.5,ill\nb,3,5,well\nc,2,4,ill\nd,0,-1,well\n"
COMMENTED = {
    "before": "# made by a machine\n# on a, b, c\n\n" + TABLE,
    "many before": "! note\n" * 50 + TABLE,
    "between": TABLE.replace("\nb,", "\n# a batch, another\nb,"),
    "after": TABLE + "# end\n!end, of, it\n",
    "commented header": "# made by a machine\n#" + TABLE,
}


@pytest.mark.parametrize("variant", COMMENTED)
def test_comment_lines_are_skipped(tmp_path, variant):
    path = tmp_path / "data.csv"
    path.write_text(COMMENTED[variant])
    table = read_table(path, target="state")
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, 5], [2, 4], [0, -1]])
    assert table.features.tolist() == ["g1", "g2"]
    assert table.ids.tolist() == list("abcd")
    assert any("comment line" in note for note in table.notes)


def test_lines_that_only_look_like_comments_are_rows(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("#" + TABLE.replace("\nb,", "\n#b,"))
    table = read_table(path, target="state")
    assert table.ids.tolist() == ["a", "#b", "c", "d"]
    assert not any("comment" in note for note in table.notes)


def test_the_line_of_an_error_counts_comments(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("# one\n\n" + TABLE.replace("c,2,4,ill", "c,2"))
    with pytest.raises(TableError, match=r"Line 6 of data.csv has 2 fields instead of 4"):
        read_table(path, target="state")
