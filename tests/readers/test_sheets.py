"""Reading a matrix together with a sample sheet: orientation, matching, and what is said about the rest."""

import numpy as np
import pytest

from ispca.readers import TableError, read_table
from ispca.readers.table import SampleColumns

IDS = ["S1", "S2", "S3", "S4", "S5", "S6"]
SHEET = "sample,tissue,age,batch\n" + "".join(
    f"S{i},{'tumor' if i % 2 else 'normal'},{40 + i},b{i % 3}\n" for i in (6, 5, 4, 3, 2, 1)
)
X = np.arange(18.0).reshape(6, 3) ** 1.5
TISSUE = ["tumor", "normal"] * 3


def in_rows(ids=IDS, first="id"):
    return f"{first},g1,g2,g3\n" + "".join(
        f"{name},{','.join(map(repr, row))}\n" for name, row in zip(ids, X.tolist(), strict=True)
    )


def in_columns(ids=IDS, first="probe", symbols=None):
    extra, texts = ("", ["", "", ""]) if symbols is None else (",Gene Symbol", [f",{name}" for name in symbols])
    lines = [f"{first}{extra},{','.join(ids)}"]
    lines += [f"g{j + 1}{texts[j]},{','.join(map(repr, X[:, j].tolist()))}" for j in range(3)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def read(tmp_path):
    def write_and_read(matrix, sheet=SHEET, name="matrix.csv", **options):
        (tmp_path / name).write_text(matrix, encoding="utf-8")
        (tmp_path / "sheet.csv").write_text(sheet, encoding="utf-8")
        return read_table(tmp_path / name, samples=tmp_path / "sheet.csv", **{"target": "tissue"} | options)

    return write_and_read


@pytest.mark.parametrize("matrix", [in_rows(), in_columns(), in_rows(first=""), in_columns(first="")])
def test_either_orientation_gives_the_same_table(read, matrix):
    table = read(matrix)
    np.testing.assert_array_equal(table.X, X)
    assert table.features.tolist() == ["g1", "g2", "g3"]
    assert table.ids.tolist() == IDS
    assert table.target.tolist() == TISSUE
    assert table.target_name == "tissue"
    assert "6 samples of matrix.csv matched with column 'sample' of sheet.csv." in table.notes
    assert {name: values.tolist() for name, values in table.sheet.items()} == {
        "age": ["41", "42", "43", "44", "45", "46"],
        "batch": ["b1", "b2", "b0", "b1", "b2", "b0"],
    }


def test_formats_of_both_files(tmp_path):
    openpyxl, polars = pytest.importorskip("openpyxl"), pytest.importorskip("polars")
    book = openpyxl.Workbook()
    for line in SHEET.splitlines():
        book.active.append(line.split(","))
    book.save(tmp_path / "sheet.xlsx")
    frame = {"probe": ["g1", "g2", "g3"], **dict(zip(IDS, X, strict=True))}
    polars.DataFrame(frame).write_parquet(tmp_path / "matrix.parquet")
    np.savez(tmp_path / "matrix.npz", X=X, ids=np.array(IDS), feature_names=np.array(["g1", "g2", "g3"]))
    polars.DataFrame({"id": IDS, "tissue": TISSUE}).write_parquet(tmp_path / "sheet.parquet")
    for matrix in ("matrix.parquet", "matrix.npz"):
        for sheet in ("sheet.xlsx", "sheet.parquet"):
            table = read_table(tmp_path / matrix, samples=tmp_path / sheet, target="tissue")
            np.testing.assert_array_equal(table.X, X)
            assert table.target.tolist() == TISSUE


@pytest.mark.parametrize("write", [in_rows, in_columns])
def test_what_does_not_match_is_counted_and_listed(read, write):
    table = read(write(["S1", "S2", "S3", "other", "S5", "S6"]), SHEET + "S9,tumor,50,b1\n,tumor,50,b1\n")
    assert table.ids.tolist() == ["S1", "S2", "S3", "S5", "S6"]
    np.testing.assert_array_equal(table.X, X[[0, 1, 2, 4, 5]])
    assert table.target.tolist() == ["tumor", "normal", "tumor", "tumor", "normal"]
    assert "1 sample of matrix.csv not in sheet.csv, left out: other." in table.notes
    assert "3 rows of sheet.csv without a sample in matrix.csv: S4, S9, row 8." in table.notes


def test_too_few_matches_show_both_names(read):
    with pytest.raises(
        TableError,
        match=r"None of the names in matrix.csv \(rows a0, .*; columns g1, .*any column of sheet.csv \(S",
    ):
        read(in_rows([f"a{i}" for i in range(6)]))
    with pytest.raises(TableError, match=r"2 of the names .* are in column 'sample' of sheet.csv \(S6, S5"):
        read(in_rows(["S1", "S2", "x", "y", "z", "w"]))


def test_the_column_of_names(read):
    sheet = SHEET.replace("\nS", "\nX").replace("b0", "S1")
    renamed = "\n".join(
        f"{line},{'patient' if i == 0 else f'S{7 - i}'}" for i, line in enumerate(sheet.splitlines())
    )
    assert read(in_rows(), renamed).target.tolist() == TISSUE
    with pytest.raises(TableError, match=r"None of the names .* column 'sample'"):
        read(in_rows(), renamed, on="sample")
    with pytest.raises(TableError, match=r"sheet.csv has no column 'sampel' \(on\). Did you mean sample"):
        read(in_rows(), on="sampel")
    # The matrix may have the column, too, wherever it is.
    moved = "g1,sample\n" + "".join(f"{i},S{i}\n" for i in range(1, 7))
    assert read(moved, on="sample").ids.tolist() == IDS


def test_columns_come_from_the_sheet_or_from_the_matrix(read):
    columns = SampleColumns(covariates=("age", "g3"), groups="batch")
    table = read(in_columns(), columns=columns)
    assert table.features.tolist() == ["g1", "g2", "age", "g3"]
    assert table.X[:, 2].tolist() == [41, 42, 43, 44, 45, 46]
    assert table.groups.tolist() == ["b1", "b2", "b0", "b1", "b2", "b0"]
    assert read(in_rows(), target="g2").target.tolist() == X[:, 1].tolist()
    with pytest.raises(TableError, match=r"Neither sheet.csv nor matrix.csv has a column 'tisue' .* mean tissue"):
        read(in_rows(), target="tisue")


def test_a_target_in_both_files_is_no_feature(read):
    table = read(in_rows().replace("g2", "age"), target="age", kind="regression")
    assert table.features.tolist() == ["g1", "g3"]
    assert table.target.tolist() == [41, 42, 43, 44, 45, 46]
    assert table.left_out["age"] == "taken from sheet.csv"
    assert "Both files contain age; the values of sheet.csv are used." in table.notes


def test_two_rows_for_a_sample(read):
    with pytest.raises(TableError, match=r"more than one row in sheet.csv \(column 'sample'\): S1"):
        read(in_rows(), SHEET + "S1,tumor,1,b1\n")


def test_columns_of_text_annotate_features(read):
    table = read(in_columns(symbols=["TP53", "7", "X"]))
    np.testing.assert_array_equal(table.X, X)
    assert {name: values.tolist() for name, values in table.annotation.items()} == {
        "Gene Symbol": ["TP53", "7", "X"]
    }
    assert "Columns that describe the features, not samples: Gene Symbol." in table.notes


def test_sheets_that_are_no_tables(read, tmp_path):
    np.savez(tmp_path / "sheet.npz", X=X)
    (tmp_path / "matrix.csv").write_text(in_rows())
    with pytest.raises(TableError, match=r"sheet.npz is not a table of text"):
        read_table(tmp_path / "matrix.csv", samples=tmp_path / "sheet.npz", target="y")
    with pytest.raises(TableError, match="There is no file"):
        read_table(tmp_path / "matrix.csv", samples=tmp_path / "none.csv", target="y")
    with pytest.raises(TableError, match="Pass samples='FILE'"):
        read_table(tmp_path / "matrix.csv", on="sample", target="y")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("s{}", "in case or separators"),
        ("X{}", None),
        ("S{}.CEL.gz", "in a suffix"),
        ("S{}_S1{}_L001", "in a suffix"),
        ("GSE7_S{}", "in a prefix"),
        ("S{}_tumor", "in a suffix"),
        ("S{}.1", "in a suffix"),
        ("S{}_tumor{}.CEL.gz", "in a suffix"),
        ("/data/aligned/S{}.sorted.bam", "in a suffix"),
        ("S00{}", "in leading zeros"),
    ],
)
@pytest.mark.parametrize("side", [in_rows, in_columns])
def test_names_that_differ_slightly_match_if_that_is_clear(read, names, said, side):
    ids = [names.format(i, i) for i in range(1, 7)]
    if said is None:
        with pytest.raises(TableError, match="None of the names"):
            read(side(ids), SHEET)
        return
    table = read(side(ids), SHEET)
    assert table.target.tolist() == TISSUE
    assert table.ids.tolist() == ids
    np.testing.assert_array_equal(table.X, X)
    example = f"{ids[0]!r} is 'S1'"
    assert f"Sample names of the two files differ {said}, but match one to one: {example}." in table.notes


def test_some_names_may_differ_slightly_beside_equal_ones(read):
    table = read(
        in_rows(["S1", "S2", "S3", "S4", "s_5", "S-6"]), SHEET.replace("S6,", "s.6,").replace("S5,", "S_5,")
    )
    assert table.target.tolist() == TISSUE
    said = "Some sample names of the two files differ in case or separators, but match one to one: 's_5' is 'S_5'."
    assert said in table.notes
    # Either of two names could be the sample, and an ending may tell replicates from it.
    for ids in (["S1", "S2", "S3", "S4", "s-5", "s.5"], ["S1", "S2", "S3", "S4", "S7", "S5.1"]):
        assert read(in_rows(ids), SHEET).ids.tolist() == ["S1", "S2", "S3", "S4"]


def test_names_of_r_match_and_ambiguous_ones_do_not(read):
    sheet = SHEET.replace("\nS", "\n")
    assert read(in_columns([f"X{i}" for i in range(1, 7)]), sheet).target.tolist() == TISSUE
    # Two names of the matrix would be one sample.
    ids = ["s.1", "S-1", "s2", "s3", "s4", "s5"]
    with pytest.raises(TableError, match=r"The closest names are 'S5' and 's5'"):
        read(in_rows(ids), SHEET.replace("S1,", "s_1,"))


@pytest.mark.parametrize("separator", ["", "-"])
def test_leading_zeros_of_some_names(read, separator):
    """Excel makes 9 of 09 and leaves 10 as it is."""
    ids = [f"{separator}{i:02d}" for i in range(9, 15)]
    sheet = SHEET
    for i, name in enumerate(ids, 1):
        sheet = sheet.replace(f"\nS{i},", f"\n{name.replace('-', '.').replace('0', '', int(name[-2:]) < 10)},")
    table = read(in_rows(ids), sheet)
    assert table.target.tolist() == TISSUE
    assert any("differ in leading zeros, but match one to one" in note for note in table.notes)


def test_numbers_at_the_end_of_genes_are_no_samples(read):
    # Excel has removed the zeros of the sheet; the genes g1 and g2 are not the samples 1 and 2.
    for ids, matched in (([f"{i:03d}" for i in range(1, 7)], True), ([f"a{i}b" for i in range(1, 7)], False)):
        matrix = (
            "id,"
            + ",".join(f"g{j}" for j in (1, 2))
            + "\n"
            + "".join(f"{name},1,{i}\n" for i, name in enumerate(ids))
        )
        if matched:
            assert read(matrix, SHEET.replace("\nS", "\n")).ids.tolist() == ids
        else:
            with pytest.raises(TableError, match="None of the names"):
                read(matrix, SHEET.replace("\nS", "\n"))


def test_two_lanes_of_a_sample_are_not_guessed(read):
    ids = [f"S{i}_L00{lane}" for i in range(1, 7) for lane in (1, 2)]
    matrix = "id,g1,g2\n" + "".join(f"{name},1,{i}\n" for i, name in enumerate(ids))
    with pytest.raises(TableError, match=r"None of the names .*The closest names are 'S\d' and 'S\d_L00"):
        read(matrix, SHEET)


def test_a_target_without_names_is_matched_by_order(tmp_path):
    (tmp_path / "X.csv").write_text("g1,g2\n" + "".join(f"{i},{i * i}\n" for i in range(6)))
    (tmp_path / "y.csv").write_text("state\n" + "\n".join(TISSUE) + "\n")
    table = read_table(tmp_path / "X.csv", samples=tmp_path / "y.csv", target="state")
    assert table.target.tolist() == TISSUE
    assert "X.csv has no sample names: its rows are those of y.csv, in order." in table.notes
    (tmp_path / "y.csv").write_text("state\n" + "\n".join(TISSUE[:5]) + "\n")
    with pytest.raises(
        TableError,
        match=r"its 6 samples must be the rows of y.csv in the same order, .* has 5. One .* may lack a header",
    ):
        read_table(tmp_path / "X.csv", samples=tmp_path / "y.csv", target="state")
