"""Cells that are almost numbers, words for a missing target, and classes with several spellings."""

import math

import numpy as np
import pytest

from ispca.readers import TableError, read_table
from ispca.readers.messy_cells import almost_number
from ispca.readers.target_cleaning import similar_classes

ALMOST = {
    "<0.01": 0.005,
    " < 4 ": 2.0,
    "<=4": 2.0,
    "\u22644": 2.0,
    "<0": 0.0,
    ">1000": 1000.0,
    ">= 1,000": 1000.0,
    "ND": math.nan,
    "n.d.": math.nan,
    "Not detected": math.nan,
    "<LOD": math.nan,
    "1,234.5": 1234.5,
    "-1,234,567": -1234567.0,
    "<-1": None,
    "<inf": None,
    "<": None,
    "<<1": None,
    "<1_0": None,
    "1,23": 1.23,
    "0,123": 0.123,
    "1234,567": 1234.567,
    "5.9%": 5.9,
    "5.9 %": 5.9,
    "12 mg/L": 12.0,
    "1706 nm": 1706.0,
    "<5 ng/ml": 2.5,
    "12A": None,
    "3D": None,
    "12 tumors": None,
    "tumor": None,
    "<" + "1" * 60: None,
}


@pytest.mark.parametrize("item", ALMOST)
def test_what_is_almost_a_number(item):
    found = almost_number(item)
    assert (found is None) == (ALMOST[item] is None)
    if found is not None:
        np.testing.assert_equal(found.value, ALMOST[item])


def test_with_decimal_commas():
    assert almost_number("<0,5", comma=True).value == 0.25
    assert almost_number("1,234.5", comma=True).mark == "."
    assert almost_number("1,234 mg", comma=True).value == 1.234


# One row per sample; state is the last column.
ROWS = [["id", "g1", "g2", "g3", "g4", "state"]] + [
    [f"s{i}", str(i), str(10 - i), f"1,{i}00.5", str(i * i), "ill" if i % 2 else "well"] for i in range(10)
]
ROWS[2][1], ROWS[3][1] = "<0.5", "ND"
ROWS[4][2], ROWS[5][2], ROWS[6][2] = "nd", "ND", "<1"
ROWS[9][4] = "high"


def write(path, rows, delimiter=";"):
    path.write_text("".join(delimiter.join(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("transpose", [False, True])
def test_messy_cells_are_treated_and_counted(tmp_path, transpose):
    rows = list(zip(*ROWS, strict=True)) if transpose else ROWS
    path = write(tmp_path / "data.csv", rows)
    table = read_table(path, target="state", transpose=transpose, missing="mean")
    assert table.features.tolist() == ["g1", "g3"]
    assert table.X[1, 0] == 0.25
    assert table.X[2, 0] == np.mean([0, 0.25, *range(3, 10)])
    np.testing.assert_array_equal(table.X[:, 1], 1000.5 + 100 * np.arange(10))
    expected = (
        "1 cell below a limit (<0.5) replaced by half the limit; 1 cell with a word (ND) read as missing; "
        "10 cells with thousands separators (1,000.5) read without them, in 2 features: g1, g3."
    )
    assert expected in table.notes
    assert "Substitutes outside the range of the other values: g1 (0.25; others 0 to 9)." not in table.substitutes
    assert table.left_out["g2"] == "text such as 'nd' in 30% of its values"
    assert table.left_out.keys() == {"g2", "g4"}
    with pytest.raises(TableError, match=r"1 missing or infinite value in 1 column: g1"):
        read_table(path, target="state", transpose=transpose)


@pytest.mark.parametrize("transpose", [False, True])
def test_the_features_of_a_model_may_be_as_messy_as_they_like(tmp_path, transpose):
    rows = list(zip(*ROWS, strict=True)) if transpose else ROWS
    path = write(tmp_path / "data.csv", rows)
    table = read_table(path, supervised=False, transpose=transpose, known=("g1", "g2"))
    assert table.X[5, table.features.tolist().index("g2")] == 0.5


def test_thousands_beside_decimal_points_are_not_decimal_commas(tmp_path):
    rows = [["g1", "g2", "state"], ["1,234", "0.5", "a"], ["12", "1.5", "b"], ["3,000", "2", "a"], ["7", "1", "b"]]
    table = read_table(write(tmp_path / "data.tsv", rows, "\t"), target="state")
    assert table.X[:, 0].tolist() == [1234, 12, 3000, 7]
    rows[1][0] = "0,234"
    table = read_table(write(tmp_path / "data.tsv", rows, "\t"), target="state")
    assert table.X[:, 0].tolist() == [0.234, 12, 3, 7]


def read_target(tmp_path, values):
    rows = [["g1", "state"], *([str(i), value] for i, value in enumerate(values))]
    return read_table(write(tmp_path / "data.csv", rows), target="state")


def test_words_for_a_missing_target_are_counted(tmp_path):
    table = read_target(tmp_path, ["ill", "well"] * 3 + ["unknown", "Unknown", "n/a", "unknown", ""])
    assert table.target.tolist() == ["ill", "well"] * 3
    found = "'unknown' (2), 'Unknown' (1), 'n/a' (1)"
    assert f"In 'state', 4 values read as missing: {found}. Rename those that are classes." in table.notes
    assert "5 samples without a value of 'state' left out." in table.notes
    # ND is a class, such as non-diabetic.
    assert set(read_target(tmp_path, ["ND", "T2D"] * 3).target) == {"ND", "T2D"}
    assert not any("read as missing" in note for note in read_target(tmp_path, ["ill", "well", ""] * 3).notes)


def test_a_class_with_a_name_that_means_missing_is_explained(tmp_path):
    with pytest.raises(TableError, match=r"only one class \(drug\).*'none' \(3\)\. Rename it if it is a class"):
        read_target(tmp_path, ["drug", "none"] * 3)


def test_a_messy_quantity_is_a_quantity(tmp_path):
    values = [f"{i}.5" for i in range(20)]
    table = read_target(tmp_path, [*values, "<1", "ND", "unknown", "1,234.5"])
    assert table.kind == "regression"
    assert table.target.tolist() == [*map(float, values), 1.0, 1234.5]
    said = "1 cell below a limit (<1) replaced by the limit; "
    assert any(note.endswith("in the target 'state'.") and said in note for note in table.notes)
    assert not any("outside the range" in note for note in table.notes)
    assert set(read_target(tmp_path, ["<5", ">5"] * 3).target) == {"<5", ">5"}


def test_a_limit_outside_the_range_of_the_target_is_said(tmp_path):
    values = [f"{i}.5" for i in range(5, 25)]
    table = read_target(tmp_path, [*values, "<3.15", ">30"])
    assert table.target.tolist() == [*map(float, values), 3.15, 30]
    said = "Substitutes outside the range of the other values: state (3.15; others 5.5 to 24.5)."
    assert table.substitutes == [said]
    assert said not in table.notes


def test_percent_signs_and_units(tmp_path):
    units = ["", "%", "mg/L", "", ""]
    rows = [["id", "g1", "g2", "1706 nm", "state"], units] + [
        [f"s{i}", f"{i}.5%", f"{i} mg/L", str(i), "ill" if i % 2 else "well"] for i in range(8)
    ]
    table = read_table(write(tmp_path / "data.csv", rows), target="state")
    assert table.features.tolist() == ["g1", "g2", "1706 nm"]
    assert table.X[1].tolist() == [1.5, 1, 1]
    assert "The row below the header was read as units: %, mg/L." in table.notes
    expected = (
        "8 cells with a percent sign (0.5%) read without it; 8 cells with a unit (0 mg/L) read without it, in 2 "
        "features: g1, g2."
    )
    assert expected in table.notes
    # Different units are never mixed.
    rows[5][2] = "3 g/L"
    table = read_table(write(tmp_path / "data.csv", rows), target="state")
    assert table.left_out["g2"] == "text with several units, such as '0 mg/L' and '3 g/L'"
    # 3% beside 0.035 would be a hundred times too large; 0 is the same in both.
    rows[5][1:3] = ["0", "3 mg/L"]
    assert "g1" not in read_table(write(tmp_path / "data.csv", rows), target="state").left_out
    rows[5][1] = "0.035"
    table = read_table(write(tmp_path / "data.csv", rows), target="state")
    assert table.left_out["g1"] == "text with and without a percent sign, such as '0.5%'"
    with pytest.raises(TableError, match=r"contains numbers and text .* Correct these cells"):
        read_target(tmp_path, ["0.5", *(f"{i}.5%" for i in range(20))])
    # Percentages and units of a target and a sheet; labels with a unit remain labels.
    table = read_target(tmp_path, [f"{i}.5%" for i in range(20)])
    assert (table.kind, table.target[1]) == ("regression", 1.5)
    assert "20 cells with a percent sign (0.5%) read without it, in the target 'state'." in table.notes
    assert set(read_target(tmp_path, ["6h", "24h"] * 4).target) == {"6h", "24h"}


def test_similar_classes_are_reported_and_not_merged(tmp_path):
    table = read_target(tmp_path, ["Tumor", "tumor", "normal", "normal ", "tumor", "normal", "Tumor"])
    assert set(table.target) == {"Tumor", "tumor", "normal"}
    assert "In 'state', spaces around a label are ignored: 'normal '." in table.notes
    assert (
        "In 'state', these are probably one class, but are treated as 2: 'Tumor' (2), 'tumor' (2). "
        "Pass merge=True to merge them into the most common one."
    ) in table.notes


@pytest.mark.parametrize(
    ("classes", "similar"),
    [
        (["non-small cell", "Non small_cell"], True),
        (["HER2+", "HER2-"], False),
        (["1", "-1"], False),
        (["grade 1", "grade 2"], False),
    ],
)
def test_which_classes_are_similar(classes, similar):
    assert bool(similar_classes(classes, np.array(classes), "state")) == similar
