"""Samples left out by name and by class, spellings that are merged, and classes too rare to learn."""

import numpy as np
import pytest

from ispca.readers import TableError, read_table


@pytest.fixture
def read(tmp_path):
    """Read a table with these labels, of samples a, b, c, ..."""

    def read(labels, **options):
        lines = [f"{chr(97 + i)},{label},{i}.5,{i % 3}" for i, label in enumerate(labels)]
        path = tmp_path / "data.csv"
        path.write_text("\n".join(["sample,state,g1,g2", *lines]) + "\n")
        return read_table(path, target="state", **options)

    return read


@pytest.mark.parametrize(
    ("labels", "kept", "reason"),
    [
        (["x"] * 5 + ["y"] * 5 + ["z"], 10, "'z' (1: a single sample)"),
        (["DLBCL"] * 10 + ["FL"] * 5 + ["dlbcl"] * 2, 15, "'dlbcl' (2: probably another spelling of 'DLBCL')"),
        (["a b"] * 5 + ["A-B"] + ["c"] * 3, 8, "'A-B' (1: probably another spelling of 'a b')"),
        (["x"] * 5 + ["y"] * 2, 7, None),
        # As common as another spelling, and with a single class left.
        (["DLBCL"] * 4 + ["FL"] * 5 + ["dlbcl"] * 3, 12, None),
        (["x"] * 5 + ["y"], 6, None),
        (["x"] * 5 + ["X"], 6, None),
    ],
)
def test_classes_too_rare_to_learn_are_left_out(read, labels, kept, reason):
    table = read(labels)
    assert len(table.target) == len(table.ids) == table.X.shape[0] == kept
    notes = [note for note in table.notes if "too rare to learn" in note]
    assert len(notes) == (reason is not None)
    if reason:
        assert f" left out, of classes too rare to learn: {reason}." in notes[0]
        assert ("Pass merge=True" in notes[0]) == ("spelling" in reason)


def test_rare_grades_are_left_out_too(read):
    table = read(["1"] * 4 + ["2"] * 4 + ["3"], kind="ordinal")
    assert np.unique(table.target).tolist() == [1, 2]
    assert "'3' (1: a single sample)" in table.notes[-1]
    # Quantities have no classes.
    assert len(read([f"{i}.25" for i in range(9)], kind="regression").target) == 9


def test_spellings_become_the_most_common_one(read):
    table = read([*["DLBCL"] * 3, *["FL"] * 3, "dlbcl", "Dlbcl", "", "FL "], merge=True)
    assert table.target.tolist() == ["DLBCL"] * 3 + ["FL"] * 3 + ["DLBCL"] * 2 + ["FL"]
    assert "In 'state', other spellings were merged into class 'DLBCL': 'dlbcl' (1), 'Dlbcl' (1)." in table.notes
    assert not any("Pass merge" in note for note in table.notes)
    # Names that differ in more than their spelling.
    assert set(read(["HER2+", "HER2-"] * 3, merge=True).target) == {"HER2+", "HER2-"}


def test_samples_by_name_and_by_class(read):
    labels = ["x"] * 4 + ["y"] * 4 + ["9"] * 3
    table = read(labels, exclude_class=("9",), exclude_samples=("b", "[gh]"))
    assert table.ids.tolist() == ["a", "c", "d", "e", "f"]
    assert table.X[:, 0].tolist() == [0.5, 2.5, 3.5, 4.5, 5.5]
    assert "3 samples left out by name: b, g, h." in table.notes
    assert "3 samples left out of class '9'." in table.notes
    # What is left out does not make the target text.
    assert read(["1.5", "2.5", "3.5", "4.5", "bad"] * 3, exclude_class=("bad",)).kind == "regression"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exclude_samples": ("aa",)}, r"data.csv has no sample 'aa' \(exclude_samples\)"),
        ({"exclude_class": ("X",)}, r"has no class 'X' \(exclude_class\). Did you mean x\?"),
        ({"exclude_class": ("x",)}, r"only one class \(y\)"),
    ],
)
def test_what_does_not_exist_is_an_error(read, options, message):
    with pytest.raises(TableError, match=message):
        read(["x", "y"] * 4, **options)
