"""Reading text tables: what users' files look like, and what is said where they cannot be used."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ispca.readers import TableError, read_table
from ispca.readers.numbers_and_dates import USUAL_MISSING

PLAIN = "sample,g1,g2,state\na,1,2.5,ill\nb,3,5,well\nc,2,4e0,ill\nd,0,-1,well\n"
X = np.array([[1, 2.5], [3, 5], [2, 4], [0, -1]])


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, name="data.csv", encoding="utf-8", **options):
        path = tmp_path / name
        content = text.encode(encoding)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return read_table(path, **{"target": "state"} | options)

    return write_and_read


def same(table):
    np.testing.assert_array_equal(table.X, X)
    assert table.features.tolist() == ["g1", "g2"]
    assert table.target.tolist() == ["ill", "well", "ill", "well"]
    assert table.ids.tolist() == list("abcd")
    assert table.kind == "classification"
    return table


VARIANTS = {
    "plain": (PLAIN, "data.csv", "utf-8"),
    "gzipped": (PLAIN, "data.csv.gz", "utf-8"),
    "tab": (PLAIN.replace(",", "\t"), "data.tsv", "utf-8"),
    "tab in txt": (PLAIN.replace(",", "\t"), "data.txt", "utf-8"),
    "spaces": (PLAIN.replace(",", " "), "data.txt", "utf-8"),
    "semicolon": (PLAIN.replace(",", ";"), "data.csv", "utf-8"),
    "decimal comma": (PLAIN.replace(",", ";").replace(".", ","), "data.csv", "utf-8"),
    "byte order mark": (PLAIN, "data.csv", "utf-8-sig"),
    "UTF-16": (PLAIN.replace(",", "\t"), "data.txt", "utf-16"),
    "Windows": (PLAIN.replace("\n", "\r\n"), "data.csv", "utf-8"),
    "old Mac": (PLAIN.replace("\n", "\r"), "data.csv", "utf-8"),
    "no last line end": (PLAIN.rstrip("\n"), "data.csv", "utf-8"),
    "empty lines": ("\n" + PLAIN.replace("\nc", "\n\nc") + "\n\n", "data.csv", "utf-8"),
    "empty rows": (PLAIN + ",,,\n", "data.csv", "utf-8"),
    "sep line": ("sep=;\n" + PLAIN.replace(",", ";"), "data.csv", "utf-8"),
    "R, quoted": (
        PLAIN.replace("sample", '""').replace("a,", '"a",').replace("ill", '"ill"'),
        "data.csv",
        "utf-8",
    ),
    "R, short header": (PLAIN.removeprefix("sample,"), "data.csv", "utf-8"),
    "R, write.table": (
        '"g1" "g2" "state"\n"a" 1 2.5 "ill"\n"b" 3 5 "well"\n"c" 2 4 "ill"\n"d" 0 -1 "well"\n',
        "data.txt",
        "utf-8",
    ),
    "capital extension": (PLAIN, "DATA.CSV", "utf-8"),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_table_in_many_guises(variant, read):
    text, name, encoding = VARIANTS[variant]
    same(read(text, name, encoding))


@pytest.mark.parametrize("variant", ["plain", "decimal comma", "tab"])
def test_transposed(variant, read):
    text, name, encoding = VARIANTS[variant]
    delimiter = {"plain": ",", "decimal comma": ";", "tab": "\t"}[variant]
    turned = zip(*(line.split(delimiter) for line in text.splitlines()), strict=True)
    text = "\n".join(delimiter.join(row) for row in turned)
    same(read(text, name, encoding, transpose=True))


@pytest.mark.parametrize("transpose", [False, True])
def test_one_column_may_name_the_samples_and_be_the_target(read, transpose):
    rows = [["note", "g1", "state"], ["p", "1", "x"], ["q", "2", "y"], ["r", "3", "x"], ["s", "4", "y"]]
    text = "\n".join(map(",".join, zip(*rows, strict=True) if transpose else rows))
    table = read(text, id="state", transpose=transpose)
    assert table.ids.tolist() == table.target.tolist() == ["x", "y", "x", "y"]
    assert table.features.tolist() == ["g1"]


def test_transposed_with_descriptions_other_text_and_a_numeric_target(read):
    text = "gene,about,a,b,c,d\nsex,-,m,f,m,f\ng1,first gene,1,3,2,0\nstate,,0,1,0,1\ng2,second gene,2.5,5,4,-1\n"
    text += "g3,third one,NA,NA,NA,NA\n"
    table = read(text, transpose=True)
    assert table.features.tolist() == ["g1", "g2"]
    np.testing.assert_array_equal(table.X, X)
    assert table.target.tolist() == ["0", "1", "0", "1"]
    assert any("about" in note for note in table.notes)
    assert any("sex" in note for note in table.notes)


def test_a_delimiter_inside_quotes_and_a_line_end_too(read):
    table = read(PLAIN.replace("ill", '"very, very\nill"').replace("sample", '"sample ""name"""'))
    assert table.target.tolist() == ["very, very\nill", "well", "very, very\nill", "well"]
    np.testing.assert_array_equal(table.X, X)


def test_text_columns_are_left_out_and_named(read):
    lines = PLAIN.splitlines()
    extra = ["sex,well,late", "m,10_1,1", "f,10_2,2", "m,10_3,<0.1", "f,10_4,3"]
    table = read("\n".join(f"{line},{more}" for line, more in zip(lines, extra, strict=True)))
    assert table.features.tolist() == ["g1", "g2"]
    assert set(table.left_out) == {"sex", "well", "late"}
    assert any("3 columns of text left out: sex, well, late" in note for note in table.notes)


def test_text_after_the_first_lines(read):
    rows = [f"s{i},{i},{i % 7},{'ill' if i % 3 else 'well'}" for i in range(60)]
    rows[50] = "s50,50,late,ill"
    table = read("\n".join(["sample,g1,g2,state", *rows]))
    assert table.features.tolist() == ["g1"]
    assert table.X[:, 0].tolist() == list(range(60))
    assert any("g2 ('late')" in note for note in table.notes)


def test_repeated_names_and_ids(read):
    table = read("sample,g,g,g.1,state\na,1,2,3,x\na,4,5,6,y\nb,7,8,9,x\nc,1,1,2,y\n", id="sample")
    assert table.features.tolist() == ["g", "g.2", "g.1"]
    assert any("name appears more than once: " in note for note in table.notes)
    assert any("sample names appear more than once: a." in note for note in table.notes)
    assert table.ids.tolist() == ["a", "a", "b", "c"]


def test_repeated_names_in_a_first_column_of_names(read):
    table = read(PLAIN.replace("b,3", "a,3"))
    assert table.ids.tolist() == ["a", "a", "c", "d"]
    assert table.left_out == {}
    assert any("sample names appear more than once: a." in note for note in table.notes)


def test_a_first_column_of_repeated_text_names_no_samples(read):
    table = read(PLAIN.replace("b,3", "a,3").replace("sample", "sex"))
    assert table.ids.tolist() == ["1", "2", "3", "4"]
    assert table.left_out == {"sex": "text"}
    assert table.sheet["sex"].tolist() == ["a", "a", "c", "d"]


def test_numbers_as_ids_do_not_become_a_feature(read):
    text = PLAIN.replace("sample", "ID")
    for number, letter in enumerate("abcd", start=100):
        text = text.replace(f"\n{letter},", f"\n{number},")
    table = read(text)
    assert table.features.tolist() == ["g1", "g2"]
    assert table.ids.tolist() == ["100", "101", "102", "103"]


def test_samples_without_a_label_are_left_out(read):
    table = read(PLAIN + "e,9,9,\nf,8,8,NA\n")
    same(table)
    assert any("2 samples without a value of 'state' left out" in note for note in table.notes)


@pytest.mark.parametrize(
    ("missing", "values", "features", "ids"),
    [
        ("mean", [[1, 2.5], [3, 3.75], [2, 3.75], [0, 5]], ["g1", "g2"], "abcd"),
        ("columns", [[1], [3], [2], [0]], ["g1"], "abcd"),
        ("rows", None, ["g1", "g2"], None),
    ],
)
def test_missing_values(read, missing, values, features, ids):
    text = "sample,g1,g2,g3,state\na,1,2.5,NA,x\nb,3,,,y\nc,2,n/a,#N/A,x\nd,0,5,?,y\n"
    if missing == "rows":
        text += "e,7,7,,x\nf,6,6,,y\n"
        table = read(text, missing=missing)
        assert table.ids.tolist() == ["a", "d", "e", "f"]
        assert table.X[:, 1].tolist() == [2.5, 5, 7, 6]
        return
    table = read(text, missing=missing)
    np.testing.assert_allclose(table.X, values)
    assert table.features.tolist() == features
    assert "".join(table.ids) == ids
    assert any("1 column without any value left out: g3" in note for note in table.notes)


def test_missing_values_are_refused_with_the_fix(read):
    with pytest.raises(TableError, match=r"infinite value in 1 column: g2 \(1\)\. Pass missing='mean'"):
        read(PLAIN.replace("2.5", ""))


KINDS = {
    "0,1,0,1": ("classification", ["0", "1", "0", "1"]),
    "1.0,2.0,1.0,2.0": ("classification", ["1", "2", "1", "2"]),
    "1.5,2.25,0.1,7": ("regression", [1.5, 2.25, 0.1, 7]),
    "True,False,True,False": ("classification", ["True", "False", "True", "False"]),
}


@pytest.mark.parametrize("values", KINDS)
def test_the_kind_of_target(read, values):
    rows = [f"{i},{v}" for i, v in enumerate(values.split(","))]
    table = read("\n".join(["g,state", *rows]))
    kind, target = KINDS[values]
    assert (table.kind, table.target.tolist()) == (kind, target)
    assert any(kind in note and "is treated as" in note for note in table.notes)


def test_many_whole_numbers_are_a_quantity_unless_told(read):
    text = "\n".join(["g,state", *(f"{i % 5},{i}" for i in range(12))])
    assert read(text).kind == "regression"
    few = "\n".join(["g,state", *(f"{i % 5},{i % 2}" for i in range(12))])
    table = read(few, kind="regression")
    assert table.target.dtype == np.float64


ERRORS = {
    "": "contains no data",
    "g1,g2,state\n": "contains no data",
    "g1\n1\n2\n": "only one column",
    PLAIN.replace("state", "State "): "no column 'state' (target). Did you mean State",
    PLAIN.replace("state", "g3"): "has no column 'state' (target). Choose from sample, g1, g2, g3",
    PLAIN.replace("g2", "state"): "2 columns named 'state'",
    PLAIN.replace("b,3,5,well", "b,3,5"): "Line 3 of data.csv has 3 fields instead of 4",
    PLAIN + "e,1,2,3,4,5\n": "Line 6 of data.csv has 6 fields instead of 4",
    PLAIN.replace("well", "ill"): "only one class (ill)",
    PLAIN.replace("ill", "").replace("well", "NA"): "no labels",
    "a,state\nx,ill\ny,well\nz,ill\nw,well\n": "If features are in rows, pass transpose=True.",
    "g,state\n1,a\n2,b\n3,c\n": "3 distinct labels in 3 samples",
    "\n".join(["g,state", *(f"{i},name{i}" for i in range(30))]): "30 distinct labels in 30 samples",
    "g,state\n1,a\n2,b\n3,a\n": "has 3 samples with a target. At least 4 are needed",
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_say_what_to_do(read, text):
    with pytest.raises(TableError) as error:
        read(text)
    assert ERRORS[text] in str(error.value)
    assert "\n" not in str(error.value)
    assert "--" not in str(error.value)


def test_other_errors(tmp_path, read):
    with pytest.raises(TableError, match="There is no file"):
        read_table(tmp_path / "none.csv", target="y")
    with pytest.raises(TableError, match="is a folder without"):
        read_table(tmp_path, target="y")
    with pytest.raises(TableError, match="extension"):
        read(PLAIN, "data.doc")
    with pytest.raises(TableError, match="old Excel"):
        read(PLAIN, "data.xls")
    with pytest.raises(TableError, match=r"not specified\. Pass target='COLUMN'"):
        read(PLAIN, target=None)
    with pytest.raises(TableError, match=r"contains text \(ill, well\).*Leave out kind='regression'"):
        read(PLAIN, kind="regression")
    with pytest.raises(TableError, match=r"no column 'g5' \(drop\). Choose from"):
        read(PLAIN, drop=("g5",))
    with pytest.raises(TableError, match=r"must be one of .*got 'guess'"):
        read(PLAIN, missing="guess")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(TableError, match="not a text file"):
        read_table(tmp_path / "binary.csv", target="y")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(PLAIN.encode() * 100)[:60])
    with pytest.raises(TableError, match="truncated or damaged"):
        read_table(tmp_path / "cut.csv.gz", target="state")
    (tmp_path / "not.csv.gz").write_text(PLAIN)
    with pytest.raises(TableError, match="first bytes do not match"):
        read_table(tmp_path / "not.csv.gz", target="state")


def test_dropped_columns(read):
    table = read(PLAIN, drop=("g1",))
    assert table.features.tolist() == ["g2"]


def test_western_european_text(read):
    table = read(PLAIN.replace("ill", "kränk"), encoding="cp1252")
    assert set(table.target) == {"kränk", "well"}
    assert any("not UTF-8" in note for note in table.notes)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)
VALUES = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=30)
@given(
    names=st.lists(NAMES.map(lambda name: f"n{name}"), min_size=1, max_size=5, unique=True),
    rows=st.lists(st.lists(VALUES, min_size=5, max_size=5), min_size=4, max_size=8),
    delimiter=st.sampled_from(",;\t"),
    transpose=st.booleans(),
)
def test_what_the_csv_module_writes_is_read_exactly(tmp_path_factory, names, rows, delimiter, transpose):
    values = np.array(rows)[:, : len(names)]
    labels = ["yes" if i % 2 else "no" for i in range(len(values))]
    table = [["", *names, "the target"]]
    table += [[f"s{i}", *map(repr, row), labels[i]] for i, row in enumerate(values.tolist())]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(zip(*table, strict=True) if transpose else table)
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    found = read_table(path, target="the target", transpose=transpose)
    np.testing.assert_array_equal(found.X, values)
    assert found.features.tolist() == names
    assert found.target.tolist() == labels
    assert found.ids.tolist() == [f"s{i}" for i in range(len(values))]


@pytest.mark.parametrize("text", USUAL_MISSING)
def test_missing_values_beside_each_other_are_read_at_once(tmp_path, monkeypatch, text):
    path = tmp_path / "data.csv"
    rows = [f"s{i},{text},{text},{text},{i}.5,{text},1,{text}\n" for i in range(4)]
    path.write_text("id,a,b,c,d,e,f,g\n" + "".join(rows) + "s4,1,2,3,4,5,6,7\n")
    monkeypatch.setattr("ispca.readers.text_rows._add_fields", None)
    table = read_table(path, supervised=False, missing="keep")
    assert np.isnan(table.X).sum(axis=0).tolist() == [4, 4, 4, 0, 4, 0, 4]
    assert table.missing == (20, 5, 4)
    np.testing.assert_array_equal(table.X[4], np.arange(1.0, 8.0))
