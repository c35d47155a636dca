"""Choosing and annotating features, Excel sheets and the positive class."""

import numpy as np
import pytest

from ispca.readers import TableError, read_table

TEXT = "id,g1,g2,clin_age,clin_note,state\n" + "".join(
    f"s{i},{i},{i * i},{30 + i},n{i},{'ill' if i % 2 else 'well'}\n" for i in range(6)
)
GENES = "chip,symbol,place\nx,MYC,8\ng2,TP53,17\ng2,other,1\n"


@pytest.fixture
def read(tmp_path):
    (tmp_path / "genes.csv").write_text(GENES)

    def write_and_read(text=TEXT, **options):
        (tmp_path / "data.csv").write_text(text)
        if "annotation" in options:
            options["annotation"] = tmp_path / options["annotation"]
        return read_table(tmp_path / "data.csv", **{"target": "state"} | options)

    return write_and_read


def test_patterns_choose_features(read):
    assert read().features.tolist() == ["g1", "g2", "clin_age"]
    chosen = read(features=("g*",))
    assert chosen.features.tolist() == ["g1", "g2"]
    assert chosen.X.tolist() == [[i, i * i] for i in range(6)]
    assert "2 features of 3 chosen by name." in chosen.notes
    assert chosen.left_out["clin_age"] == "not chosen"
    dropped = read(drop=("clin_*",))
    assert dropped.features.tolist() == ["g1", "g2"]
    assert dropped.left_out == {"clin_age": "requested", "clin_note": "requested"}
    assert not any("text left out" in note for note in dropped.notes)
    assert read(features=("g*", "clin_age"), drop=("g?",)).features.tolist() == ["clin_age"]


def test_a_pattern_never_takes_the_target(read):
    table = read(drop=("s*", "clin_*"))
    assert table.target.tolist() == ["well", "ill"] * 3
    assert table.ids[0] == "s0"


def test_a_name_with_wildcards_matches_itself(read):
    text = TEXT.replace("g1", "DRB1*15").replace("g2", "DRB1*1501")
    assert read(text, features=("DRB1*15",)).features.tolist() == ["DRB1*15"]


@pytest.mark.parametrize("role", ["features", "drop"])
def test_a_pattern_that_matches_nothing(read, role):
    with pytest.raises(
        TableError, match=rf"No column of data.csv matches 'klin_\*' \({role}\). Did you mean clin"
    ):
        read(**{role: ("klin_*",)})
    with pytest.raises(TableError, match=rf"data.csv has no column 'clin_aeg' \({role}\). Did you mean clin_age"):
        read(**{role: ("clin_aeg",)})


def test_near_matches_of_a_pattern(read):
    both = "clin_age, clin_note"
    for pattern, near in (("CLIN_*", both), ("*_aeg", "clin_age"), ("klin_*", both)):
        with pytest.raises(TableError) as error:
            read(drop=(pattern,))
        assert f"Did you mean {near}?" in str(error.value)
    assert "'clin_*' (drop) matches 2 columns: clin_age, clin_note." in read(drop=("clin_*",)).notes
    assert not any("matches" in note for note in read(drop=("clin_age",)).notes)


def test_patterns_for_matrices(tmp_path):
    names = np.array(["a1", "a2", "b1"])
    np.savez(tmp_path / "data.npz", X=np.arange(18.0).reshape(6, 3), y=np.arange(6) % 2, feature_names=names)
    assert read_table(tmp_path / "data.npz", features=("a*",)).features.tolist() == ["a1", "a2"]
    assert read_table(tmp_path / "data.npz", drop=("a*",)).X.tolist() == [[2 + 3 * i] for i in range(6)]


def test_annotation_is_matched_by_name(read):
    table = read(annotation="genes.csv", label="symbol")
    assert table.label == "symbol"
    assert {name: values.tolist() for name, values in table.annotation.items()} == {
        "symbol": ["", "TP53", ""],
        "place": ["", "17", ""],
    }
    assert "1 feature annotated by column 'chip' of genes.csv." in table.notes
    assert "2 features of data.csv not in genes.csv: g1, clin_age." in table.notes
    assert "1 row of genes.csv without a feature in data.csv." in table.notes
    assert any("several rows in genes.csv, of which the first is used: g2." in note for note in table.notes)


def test_annotation_follows_the_features_that_remain(read):
    text = TEXT.replace("s0,0,0,", "s0,,0,")
    table = read(text, annotation="genes.csv", missing="columns", drop=("clin_*",))
    assert table.features.tolist() == ["g2"]
    assert table.annotation["symbol"].tolist() == ["TP53"]


def test_annotation_that_does_not_fit(read, tmp_path):
    (tmp_path / "other.csv").write_text("chip,symbol\nx,MYC\ny,TP53\n")
    with pytest.raises(TableError, match=r"No feature of data.csv \(g1, .* in any column of other.csv \(x, y"):
        read(annotation="other.csv")
    with pytest.raises(TableError, match=r"no column 'symbl' \(label\). Did you mean symbol"):
        read(annotation="genes.csv", label="symbl")
    with pytest.raises(TableError, match="Pass annotation='FILE'"):
        read(label="symbol")


def test_the_positive_class(read):
    assert read().positive is None
    assert read(positive="ill").positive == "ill"
    with pytest.raises(TableError, match=r"no class 'il' \(positive\). Did you mean ill"):
        read(positive="il")
    with pytest.raises(TableError, match="has no classes"):
        read(target="clin_age", kind="regression", positive="ill")


def test_sheets_of_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["who", "when"])
    book.active.append(["me", "now"])
    for line in TEXT.splitlines():
        if "values" not in book.sheetnames:
            book.create_sheet("values")
        book["values"].append(line.split(","))
    book.save(tmp_path / "data.xlsx")
    table = read_table(tmp_path / "data.xlsx", target="state", sheet="values")
    assert table.features.tolist() == ["g1", "g2", "clin_age"]
    assert not any("sheets" in note for note in table.notes)
    with pytest.raises(TableError, match=r"no sheet 'value'. Its sheets are 'notes', 'values'"):
        read_table(tmp_path / "data.xlsx", target="state", sheet="value")
    (tmp_path / "data.csv").write_text(TEXT)
    with pytest.raises(TableError, match=r"data.csv is not an Excel file"):
        read_table(tmp_path / "data.csv", target="state", sheet="values")
    others = "Only the first of 2 sheets was read: 'notes'. The others are 'values'."
    with pytest.raises(TableError, match=rf"no column 'state' \(target\). .*{others}"):
        read_table(tmp_path / "data.xlsx", target="state")
    # Samples may be in a workbook although the data are not.
    joined = read_table(tmp_path / "data.csv", target="state", samples=tmp_path / "data.xlsx", sheet="values")
    assert joined.target.tolist() == ["well", "ill"] * 3
    with pytest.raises(TableError, match=r"data.xlsx has no sheet 'value'. Its sheets are"):
        read_table(tmp_path / "data.csv", target="state", samples=tmp_path / "data.xlsx", sheet="value")


def test_nothing_left_after_choosing_by_name(read):
    with pytest.raises(TableError, match=r"data.csv has no numeric columns left. Choose other features."):
        read(drop=("g?", "clin_*"))
