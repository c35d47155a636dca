"""Columns that describe the samples: survival times, covariates, groups, weights and offsets."""

import h5py
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from ispca.readers import TableError, read_table
from ispca.readers.table import SampleColumns

HEADER = "patient,g1,g2,months,died,age,sex,batch,weight,log_exposure,events,grade"
ROWS = [
    "a,1,5,3.5,1,61.5,f,1,1,0.1,0,G1",
    "a,2,4,4.5,0,50.5,m,1,2,0.2,3,G2",
    "b,3,3,5.5,1,47.5,f,2,1,0.3,1,G3",
    "b,4,2,6.5,0,58.5,m,2,0,0.4,2,G2",
    "c,5,1,7.5,1,66.5,f,2,1,0.5,9,G1",
]
SURVIVAL = SampleColumns(time="months", event="died")


def write(tmp_path, rows=ROWS, header=HEADER, name="data.csv"):
    path = tmp_path / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def read(tmp_path, rows=ROWS, header=HEADER, target=None, **options):
    columns = {name: options.pop(name) for name in SampleColumns.__dataclass_fields__ if name in options}
    return read_table(write(tmp_path, rows, header), target=target, columns=SampleColumns(**columns), **options)


def replaced(place, value, row=1):
    cells = ROWS[row].split(",")
    cells[HEADER.split(",").index(place)] = value
    return [*ROWS[:row], ",".join(cells), *ROWS[row + 1 :]]


def test_survival_times(tmp_path):
    table = read(tmp_path, time="months", event="died")
    assert table.kind == "survival"
    assert table.target["event"].tolist() == [True, False, True, False, True]
    assert table.target["time"].tolist() == [3.5, 4.5, 5.5, 6.5, 7.5]
    assert table.target_name == "months"
    assert "months" not in table.features
    assert "died" not in table.features
    expected = "'months' and 'died' are treated as survival times: 3 events, 2 samples censored."
    assert expected in table.notes


def test_events_in_words_and_samples_without_a_time(tmp_path):
    rows = replaced("died", "FALSE")
    rows = [*rows[:2], rows[2].replace("5.5,1,", "NA,1,"), *rows[3:]]
    table = read(tmp_path, rows, time="months", event="died")
    assert table.target["event"].tolist() == [True, False, False, True]
    assert "1 sample without a value of 'months' left out." in table.notes


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("months", "soon", r"Column 'months' \(time\) contains text \(soon\)"),
        ("months", "-1", r"Column 'months' \(time\) contains -1\. Correct it: times are not negative"),
        (
            "died",
            "2",
            r"Which values of column 'died' mean an event is unknown: it contains '0', '1', '2'\. Pass event_v",
        ),
    ],
)
def test_bad_survival_times(tmp_path, place, value, message):
    with pytest.raises(TableError, match=message):
        read(tmp_path, replaced(place, value), time="months", event="died")


def test_no_event(tmp_path):
    rows = [row.replace(".5,1,", ".5,0,") for row in ROWS]
    with pytest.raises(TableError, match=r"contains no observed event"):
        read(tmp_path, rows, time="months", event="died")


def test_covariates_are_the_last_columns(tmp_path):
    names = ("sex", "age")
    options = {"target": "events", "kind": "regression", "covariates": names, "groups": "patient"}
    table = read(tmp_path, drop=("grade",), weights="weight", offset="log_exposure", **options)
    assert table.features.tolist() == ["g1", "g2", "months", "died", "batch", "sex=m", "age"]
    assert table.covariates == {"sex": ["f", "m"], "age": None}
    assert table.n_features == 5
    np.testing.assert_array_equal(table.X[:, 5:], [[0, 61.5], [1, 50.5], [0, 47.5], [1, 58.5], [0, 66.5]])
    parts = table.covariate_columns()
    np.testing.assert_array_equal(parts["sex"], table.X[:, [5]])
    np.testing.assert_array_equal(parts["age"], table.X[:, [6]])
    assert table.groups.tolist() == ["a", "a", "b", "b", "c"]
    assert table.weights.tolist() == [1, 2, 1, 0, 1]
    assert table.offset.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert (
        "Covariate 'sex' contains text and is treated as categories f, m; the first is the reference."
        in table.notes
    )
    assert "Covariate 'age' is treated as a quantity." in table.notes


def test_integer_codes_are_categories_if_they_have_samples(tmp_path):
    assert read(tmp_path, target="grade", covariates=("batch",)).covariates == {"batch": None}
    table = read(tmp_path, ROWS * 3, target="grade", covariates=("batch",))
    assert table.covariates == {"batch": ["1", "2"]}
    assert any("has 2 distinct integer values and is treated as categories 1, 2" in note for note in table.notes)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (ROWS, {"covariates": ("ages",)}, r"no column 'ages' \(covariates\)\. Did you mean age"),
        (ROWS, {"weights": "w"}, r"no column 'w' \(weights\)"),
        (ROWS, {"covariates": ("grade",)}, r"Column 'grade' is given as target and as covariates"),
        (ROWS, {"covariates": ("age", "age")}, r"Column 'age' is given twice as a covariate"),
        (replaced("weight", "-1"), {"weights": "weight"}, r"contains the negative weight -1"),
        (replaced("weight", "many"), {"weights": "weight"}, r"\(weights\) contains text, such as 'many'"),
        (replaced("weight", ""), {"weights": "weight"}, r"\(weights\) contains 1 missing value"),
        (replaced("log_exposure", "1200"), {"offset": "log_exposure"}, r"natural logarithm of the exposure"),
        (replaced("patient", ""), {"groups": "patient"}, r"\(groups\) contains 1 missing value"),
        ([row.replace(",m,", ",f,") for row in ROWS], {"covariates": ("sex",)}, r"'sex' has only one value"),
    ],
)
def test_bad_columns(tmp_path, rows, options, message):
    with pytest.raises(TableError, match=message):
        read(tmp_path, rows, target="grade", **options)


def test_missing_covariates_follow_the_treatment_of_missing_values(tmp_path):
    rows = [*replaced("sex", "NA"), *ROWS]
    options = {"target": "grade", "covariates": ("sex",)}
    with pytest.raises(TableError, match=r"1 missing or infinite value in 1 column: sex=m \(1\)"):
        read(tmp_path, rows, **options)
    with pytest.raises(TableError, match=r"Covariates contain missing values: sex=m\. Pass missing='mean'"):
        read(tmp_path, rows, missing="columns", **options)
    assert len(read(tmp_path, rows, missing="rows", **options).X) == 9
    assert read(tmp_path, rows, missing="mean", **options).X[1, -1] == pytest.approx(3 / 9)


def test_categories_of_a_model(tmp_path):
    known = ("g1", "sex=m", "sex=x")
    options = {"supervised": False, "known": known, "covariates": ("sex",)}
    table = read(tmp_path, categories={"sex": ["f", "m", "x"]}, **options)
    assert table.features.tolist()[-2:] == ["sex=m", "sex=x"]
    with pytest.raises(TableError, match=r"'sex' contains 'm', but the model knows only 'f', 'x'"):
        read(tmp_path, categories={"sex": ["f", "x"]}, **options)
    with pytest.raises(TableError, match=r"'sex' is a quantity in the model, but contains 'f'"):
        read(tmp_path, categories={"sex": None}, **options)


def test_counts_and_ordered_classes(tmp_path):
    table = read(tmp_path, target="events", kind="count")
    assert (table.kind, table.target.tolist()) == ("count", [0, 3, 1, 2, 9])
    table = read(tmp_path, target="grade", kind="ordinal")
    # A single sample has grade 3.
    assert (table.kind, table.target.tolist()) == ("ordinal", [1, 2, 2, 1])
    assert any("ordered classes in the order of their numbers (G1 as 1)" in note for note in table.notes)
    with pytest.raises(TableError, match=r"contains text \(G1, G2, G3\), so it is not a count"):
        read(tmp_path, target="grade", kind="count")
    with pytest.raises(TableError, match=r"contains 61\.5, but counts are integers of 0 or more"):
        read(tmp_path, target="age", kind="count")
    with pytest.raises(TableError, match=r"The order of the classes in 'sex' is unknown: f, m"):
        read(tmp_path, target="sex", kind="ordinal")


def test_the_same_columns_in_other_formats(tmp_path):
    asked = SampleColumns(time="months", event="died", covariates=("sex",), groups="patient")
    expected = read_table(write(tmp_path), columns=asked, drop=("grade",))

    def same(table):
        values = table.X.toarray() if sp.issparse(table.X) else table.X
        np.testing.assert_array_equal(values[:, -1], expected.X[:, -1])
        np.testing.assert_array_equal(table.target, expected.target)
        assert table.groups.tolist() == expected.groups.tolist()

    cells = [line.split(",") for line in [HEADER, *ROWS]]
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join(",".join(row) for row in [["name", *"vwxyz"], *zip(*cells, strict=True)]))
    same(read_table(turned, columns=asked, transpose=True))
    frame = pl.read_csv(write(tmp_path)).with_columns(pl.col("died") == 1)
    frame.write_parquet(tmp_path / "data.parquet")
    same(read_table(tmp_path / "data.parquet", columns=asked))
    arrays = {name: frame[name].to_numpy() for name in ("months", "died")}
    texts = {name: frame[name].to_numpy().astype(str) for name in ("sex", "patient")}
    np.savez(tmp_path / "data.npz", X=expected.X[:, :2], **arrays, **texts)
    same(read_table(tmp_path / "data.npz", columns=asked))
    with pytest.raises(TableError, match=r"no column 'month' \(time\)"):
        read_table(tmp_path / "data.npz", columns=SampleColumns(time="month", event="died"))
    same(read_table(_h5ad(tmp_path, expected, arrays | texts), columns=asked))


def _h5ad(tmp_path, table, columns):
    path = tmp_path / "data.h5ad"
    with h5py.File(path, "w") as file:
        csr = sp.csr_array(table.X[:, :2])
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": csr.shape})
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(csr, name)
        for name, labels in (("obs", list("vwxyz")), ("var", ["g1", "g2"])):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group["_index"] = labels
        for name, values in columns.items():
            file["obs"][name] = values.tolist()
    return path


DATED = [f"{row},2024-0{1 + i}-15" for i, row in enumerate(ROWS)]


def test_a_date_per_sample_is_a_covariate_in_days(tmp_path):
    table = read(tmp_path, DATED, HEADER + ",taken", time="months", event="died", covariates=("taken",))
    assert table.covariates == {"taken": None}
    assert np.diff(table.X[:, -1]).tolist() == [31, 29, 31, 30]
    assert "Covariate 'taken' contains dates and is treated as a quantity, in days." in table.notes
    new = read(
        tmp_path,
        DATED[3:],
        HEADER + ",taken",
        supervised=False,
        known=("g1", "taken"),
        categories={"taken": None},
        covariates=("taken",),
    )
    assert new.X[:, -1].tolist() == table.X[3:, -1].tolist()


def test_dates_with_an_unclear_order_of_day_and_month_are_not_guessed(tmp_path):
    rows = [f"{row},0{1 + i}/02/2024" for i, row in enumerate(ROWS)]
    with pytest.raises(TableError, match="write dates as YYYY-MM-DD"):
        read(tmp_path, rows, HEADER + ",taken", time="months", event="died", covariates=("taken",))


@pytest.mark.parametrize("kind", [None, "regression", "count"])
@pytest.mark.parametrize(("odd", "shown"), [("~3", r"\(~3\)"), ("1 g/L,1 mg/L", r"\(1 g/L, 1 mg/L, <2\)")])
def test_advice_on_text_among_numbers_ends_in_no_circle(tmp_path, kind, odd, shown):
    """To leave out the kind, or to choose classes, does not help: there are as many labels as samples."""
    values = [*odd.split(","), "<2", *map(str, range(3, 20))]
    rows = [f"{i * 3 % 7},{value}" for i, value in enumerate(values)]
    with pytest.raises(TableError, match=rf"contains .*text {shown}.* Correct these cells, or leave them empty"):
        read_table(write(tmp_path, rows, "g,state"), target="state", kind=kind)
    rows = [row if row.partition(",")[2] not in odd.split(",") else f"{row[0]}," for row in rows]
    table = read_table(write(tmp_path, rows, "g,state"), target="state", kind=kind)
    assert table.target.tolist() == [2, *range(3, 20)]


def test_dates_are_no_quantity(tmp_path):
    rows = [f"{i},2024-01-{10 + i}" for i in range(1, 10)]
    with pytest.raises(TableError, match=r"not a quantity. Choose a column of numbers."):
        read_table(write(tmp_path, rows, "g,state"), target="state", kind="regression")


def test_a_quantity_is_advised_for_numbers_only(tmp_path):
    for value, advised in (("x{}", False), ("0.5{}", True)):
        rows = [f"{i},{value.format(i)}" for i in range(1, 10)]
        with pytest.raises(TableError, match="9 distinct labels in 9 samples") as caught:
            read_table(write(tmp_path, rows, "g,state"), target="state", kind="classification")
        assert ("kind='regression'" in str(caught.value)) == advised
