"""Decimal commas and thousands separators: one convention per file, and what is said of it."""

import numpy as np
import pytest

from ispca.readers import TableError, read_table
from ispca.readers.numbers_and_dates import read_number

# Values of 1,000 and more, of 1 and more, and below 1.
VALUES = np.array([[1234.5, 12.25, 0.5], [2345.0, 1.234, 0.75], [987.5, 3.5, 0.125], [12345.75, 7.0, 0.25]] * 3)
STATE = ["ill", "well"] * 6


def european(value, separator="."):
    whole, _, rest = f"{value:,.10f}".rstrip("0").partition(".")
    return whole.replace(",", separator) + (f",{rest}" if rest else "")


def lines(number, delimiter, values=VALUES):
    quote = '"{}"' if delimiter == "," else "{}"
    rows = [["id", "g1", "g2", "g3", "state"]]
    rows += [[f"s{i}.1", *map(number, row), STATE[i]] for i, row in enumerate(values)]
    return "".join(delimiter.join(quote.format(item) for item in row) + "\n" for row in rows)


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, name="data.csv", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return read_table(path, **{"target": "state"} | options)

    return write_and_read


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("separator", [".", " ", "\u00a0", "'", ""])
def test_european_numbers_are_read_whatever_the_delimiter(read, delimiter, separator):
    table = read(lines(lambda value: european(value, separator), delimiter))
    np.testing.assert_array_equal(table.X, VALUES)
    assert table.features.tolist() == ["g1", "g2", "g3"]
    assert table.read_as.decimal_comma
    assert "Commas were read as decimal marks." in table.notes


def test_a_title_above_decimal_commas(read):
    text = "Table S1\n\n" + lines(lambda value: european(value).replace(",", ",0"), ";")
    assert read(text).X[0].tolist() == [1234.05, 12.025, 0.05]


@pytest.mark.parametrize("separator", [",", " ", "'"])
def test_thousands_of_decimal_points(read, separator):
    table = read(lines(lambda value: f"{value:,}".replace(",", separator), ";"))
    np.testing.assert_array_equal(table.X, VALUES)
    assert not table.read_as.decimal_comma


@pytest.mark.parametrize("transpose", [False, True])
def test_what_other_cells_show_decides_about_a_point(read, transpose):
    rows = [["id", "g1", "g2", "state"]] + [[f"s{i}", "1.234", f"0,{i}5", STATE[i]] for i in range(12)]
    rows = list(zip(*rows, strict=True)) if transpose else rows
    table = read("".join(";".join(row) + "\n" for row in rows), transpose=transpose)
    assert table.X[0].tolist() == [1234, 0.05]
    assert any(note.startswith("12 cells with thousands separators (1.234)") for note in table.notes)


def test_evidence_may_come_late(read):
    rows = [f"s{i};1.234;5;{STATE[i % 2]}" for i in range(100)]
    rows[90] = "s90;1.234,5;5;ill"
    table = read("id;g1;g2;state\n" + "\n".join(rows))
    assert table.X[0, 0] == 1234
    assert table.X[90, 0] == 1234.5


@pytest.mark.parametrize("empty", [False, True])
def test_a_column_with_another_mark_is_read_by_its_own(read, empty):
    rows = [f"{i},5;{i}.25;1.234;{i},7;{STATE[i % 2]}" for i in range(30)]
    rows[3:3] = [";;;;"] * empty
    rows[25] = "1.234;1.234;1.234;1;ill"
    table = read("g1;g2;g3;g4;state\n" + "\n".join(rows))
    # The last column shows nothing itself, and most cells of the file have commas.
    assert table.X[25 - empty].tolist() == [1234, 1.234, 1234, 1]
    assert table.X[:3, :2].tolist() == [[0.5, 0.25], [1.5, 1.25], [2.5, 2.25]]


def test_nothing_but_unclear_cells_is_said_with_an_example(read):
    text = "id;g1;g2;state\n" + "".join(f"s{i};1.23{i % 10};{i};{STATE[i]}\n" for i in range(12))
    table = read(text)
    said = "Nothing in data.csv tells whether cells such as '1.230' (g1) contain a decimal mark or a thousands"
    assert [
        note
        for note in table.notes
        if said in note and note.endswith("read as 1.23. If that is wrong, remove the thousands separators.")
    ]
    # The convention of the training data decides, and is mentioned.
    table = read(text, decimal_comma=True)
    assert table.X[0, 0] == 1230
    assert any("read as 1230 as in the training data." in note for note in table.notes)
    assert read(text.replace("1.230", "0.230"), decimal_comma=True).X[1, 0] == 1.231
    assert not any("Nothing in" in note for note in read(text.replace("1.230", "0.230")).notes)


def test_thousandths_that_are_not_exact_prove_nothing(read):
    values = [1001 + 37 * i for i in range(400)]
    assert any(value / 1000 * 1000 != value for value in values)
    rows = "".join(
        f"s{i};{value // 1000}.{value % 1000:03d};{i};{STATE[i % 2]}\n" for i, value in enumerate(values)
    )
    text = f"id;g1;g2;state\n{rows}"
    assert any("Nothing in data.csv tells" in note for note in read(text).notes)
    # Where commas separate cells, points are decimal marks.
    assert not any("Nothing in data.csv tells" in note for note in read(text.replace(";", ",")).notes)


def test_target_covariates_and_sheet_follow_the_file(read, tmp_path):
    sheet = tmp_path / "sheet.csv"
    text = "".join(f"s{i};1.234,{i};1.{i}00;{european(30.5 + i)}\n" for i in range(10))
    sheet.write_text(f"sample;dose;count;age\n{text}")
    matrix = "id,g1,g2\n" + "".join(f"s{i},{i}.5,{i * i}\n" for i in range(10))
    table = read(matrix, samples=sheet, target="dose")
    assert table.target.tolist() == [1234 + i / 10 for i in range(10)]
    assert table.X[1, 0] == 1.5
    assert table.sheet["age"].tolist() == [f"{30.5 + i:g}" for i in range(10)]
    assert read(matrix, samples=sheet, target="count", kind="regression").target.tolist()[1] == 1100
    table = read(lines(european, ";"), target="g1", drop=("state",))
    assert table.target.tolist() == VALUES[:, 0].tolist()


def test_a_target_with_limits_follows_the_file(read):
    """Three decimals alone could be thousands; the rest of the file, or a limit, shows that they are not."""
    for text, below in ((lines(european, ";"), "<1,5"), (lines(european, ";"), "unk"), (lines(str, ";"), "<1,5")):
        rows = [line.rpartition(";")[0] for line in text.splitlines()]
        values = [f"{i},{400 + i}" for i in range(2, 14)]
        values[3] = below
        table = read(
            "\n".join(";".join(pair) for pair in zip(rows, ["dose", *values], strict=True)), target="dose"
        )
        expected = [round(i + (400 + i) / 1000, 3) for i in range(2, 14)]
        expected[3:4] = [1.5] if below == "<1,5" else []
        assert table.target.tolist() == expected
        assert any("<1.5) replaced by the limit" in note for note in table.notes) == (below == "<1,5")


def test_the_minus_sign_of_typesetters(read):
    values = [f"{(-1) ** i * (i + 1)},5".replace("-", "\u2212") for i in range(12)]
    rows = [f"s{i};{value};1;{value};{STATE[i]}" for i, value in enumerate(values)]
    table = read("id;g1;g2;dose;state\n" + "\n".join(rows), target="dose", drop=("state",))
    assert table.X[:3, 0].tolist() == [1.5, -2.5, 3.5]
    assert table.target.tolist() == table.X[:, 0].tolist()


def test_text_cells_of_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows = [["id", "g1", "g2", "state"]] + [[f"s{i}", f"1.234,{i}", 1.234 + i, STATE[i]] for i in range(10)]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "data.xlsx")
    table = read_table(tmp_path / "data.xlsx", target="state")
    assert table.X[:, 0].tolist() == [1234 + i / 10 for i in range(10)]
    # A number that Excel stores is never a guess.
    assert table.X[:, 1].tolist() == pytest.approx([1.234 + i for i in range(10)])


def test_many_columns_that_look_numeric_are_never_left_out_in_silence(read):
    names = [f"g{j}" for j in range(40)]
    rows = [[str(i + j) for j in range(40)] for i in range(10)]
    for j in (3, 5):
        rows[7][j] = "n.q."

    def text():
        return (
            ";".join([*names, "state"])
            + "\n"
            + "\n".join(";".join([*row, STATE[i]]) for i, row in enumerate(rows))
        )

    assert set(read(text()).left_out) == {"g3", "g5"}
    with pytest.raises(
        TableError, match=r"no numeric columns left \(1 column with text, such as 'n\.q\.' in 'g3'\)"
    ):
        read(text(), features=("g3",))
    rows[7][8] = "n.q."
    with pytest.raises(
        TableError, match=r"3 of 40 columns .*look numeric contain text, such as 'n\.q\.' in 'g3'\."
    ):
        read(text())
    assert read(text(), drop=("g3", "g5", "g8")).X.shape == (10, 37)
    assert read(text(), supervised=False, target=None, known=("g1",)).X.shape[0] == 10


@pytest.mark.parametrize(
    ("item", "value", "mark"),
    [
        ("1.234,5", 1234.5, ","),
        ("1.234.567", 1234567, ","),
        ("1,234,567", 1234567, "."),
        ("1 234,567", 1234.567, ","),
        ("-0,5", -0.5, ","),
        (",5", 0.5, ","),
        ("1,5e-3", 0.0015, ","),
        ("\u22120.5", -0.5, "."),
        ("1'234", 1234, ""),
        ("1.5", 1.5, "."),
        ("12", 12, ""),
    ],
)
def test_numbers_that_prove_their_decimal_mark(item, value, mark):
    found = read_number(item)
    assert (found.value, found.mark, found.ambiguous) == (value, mark, "")


@pytest.mark.parametrize(
    "item", ["1.23.4", "01.02.2024", "1,2,3", "1.234.56", "1,234,5", "1 23", "0.123,4", "1..5", "a"]
)
def test_what_is_no_number(item):
    assert read_number(item) is None
