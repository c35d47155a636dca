"""What the page shows of a file, as biologists have them, before anything is chosen and after."""

import gzip
import json

import h5py
import numpy as np
import openpyxl
import polars as pl
import pytest

from ispca.app.preview import preview
from ispca.foundation.messages import InputError
from user_files import D, N, Study, write


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Study()


def shown(folder, matrix, sheet=None, annotation=None, **options):
    beside = [None if name is None else folder / name for name in (sheet, annotation)]
    found = preview(folder / matrix, beside[0], options, beside[1])
    json.dumps(found, allow_nan=False)
    return found


def names(found):
    return [column["name"] for column in found["columns"]]


def size(found):
    return found["samples"], found["features"]


def test_samples_in_rows(study, tmp_path):
    study.write_table("table.csv")
    found = shown(tmp_path, "table.csv")
    assert size(found) == (N, D)
    assert (found["id"], found["on"], found["target"], found["error"]) == ("id", None, None, None)
    assert (found["format"], found["orientation"]) == (
        "CSV, comma-separated",
        {"transpose": False, "certain": True},
    )
    best = found["columns"][0]
    assert (best["name"], best["kind"], best["suggested"]) == ("tissue", "class", "target")
    assert best["values"] == {"normal": 12, "tumour": 12}
    assert found["first_samples"] == ["s00", "s01", "s02", "s03", "s04"]
    assert (len(found["corner"]), len(found["corner"][0])) == (6, 8)
    # A candidate is not said to be left out.
    assert found["notes"] == ["Sample names come from the first column, 'id'."]


def test_a_target_is_described_and_checked(study, tmp_path):
    study.X[:, 7] = study.tissue == "tumour"
    rows = study.rows()
    rows[3][1] = ""
    write("table.csv", rows)
    found = shown(tmp_path, "table.csv", target="tissue")
    assert sum(found["target"]["classes"].values()) == N - 1
    assert (found["target"]["kind"], found["samples"]) == ("class", N - 1)
    assert "1 sample without a value of 'tissue' left out." in found["notes"]
    assert [warning["kind"] for warning in found["warnings"]] == ["leak"]


def test_a_substitute_outside_the_range_is_found(study, tmp_path):
    rows = study.rows()
    for row in rows[1:]:
        row[5] = 7 + float(row[5]) % 1
    rows[4][5] = "<0.5"
    write("table.csv", rows)
    found = shown(tmp_path, "table.csv", target="tissue")
    assert [warning["kind"] for warning in found["warnings"]] == ["substitutes"]


def test_a_small_class_is_found_before_the_run(study, tmp_path):
    rows = study.rows()
    rows[1][1] = rows[2][1] = "metastasis"
    write("table.csv", rows)
    found = shown(tmp_path, "table.csv", target="tissue")
    assert "small_class" in [warning["kind"] for warning in found["warnings"]]
    assert "small_class" not in [
        each["kind"] for each in shown(tmp_path, "table.csv", target="tissue", cv=0)["warnings"]
    ]


def test_covariates_that_determine_the_target_are_refused(study, tmp_path):
    rows = [[*row, f"kit {row[1]}"] for row in study.rows()]
    rows[0][-1] = "kit"
    write("table.csv", rows)
    error = shown(tmp_path, "table.csv", target="tissue", covariates=["kit"])["error"]
    assert "'kit' determines" in error["problem"]
    assert "from “Covariates”" in error["problem"]
    assert error["control"] == "covariates"


def test_features_in_rows_without_a_sheet_are_suspected_and_can_be_transposed(study, tmp_path):
    study.write_matrix("matrix.csv")
    found = shown(tmp_path, "matrix.csv")
    assert found["orientation"] == {"transpose": False, "certain": False}
    found = shown(tmp_path, "matrix.csv", transpose=True)
    assert size(found) == (N, D)
    assert found["orientation"] == {"transpose": True, "certain": True}


@pytest.mark.parametrize("name", ["ENSG0000014151{}", "10{}7_s_at", "cg0000002{}", "rs12345{}", "NM_00012{}.2"])
def test_names_of_features_are_recognized(tmp_path, name):
    write(tmp_path / "m.csv", [["", "a", "b"], *([name.format(i), i, i + 1.5] for i in range(9))])
    assert not shown(tmp_path, "m.csv")["orientation"]["certain"]


def test_a_target_in_a_row_among_features_leads_to_the_right_control(study, tmp_path):
    rows = list(map(list, zip(*study.rows(), strict=True)))
    write("matrix.csv", rows)
    with pytest.raises(InputError, match="check “Features are in rows”"):
        shown(tmp_path, "matrix.csv")
    found = shown(tmp_path, "matrix.csv", transpose=True, target="tissue")
    assert size(found) == (N, D)
    assert names(found)[0] == "tissue"


def test_a_sheet_says_where_the_samples_are(study, tmp_path):
    study.write_matrix("matrix.csv")
    study.write_sheet("sheet.csv")
    found = shown(tmp_path, "matrix.csv", "sheet.csv")
    assert size(found) == (N, D)
    assert (found["on"], found["orientation"]) == ("sample", {"transpose": True, "certain": True})
    assert names(found) == ["tissue", "age"]
    assert shown(tmp_path, "matrix.csv", "sheet.csv", target="tissue", transpose=True)["error"] is None


@pytest.mark.parametrize("in_rows", [False, True])
def test_swapped_files_are_recognized(study, tmp_path, in_rows):
    (study.write_matrix if in_rows else lambda name: study.write_table(name, target=False))("matrix.csv")
    study.write_sheet("sheet.csv")
    with pytest.raises(InputError, match=r"^The two files seem to be swapped: matrix.csv contains the data"):
        shown(tmp_path, "sheet.csv", "matrix.csv")


def test_files_that_do_not_match_name_the_controls(study, tmp_path):
    study.write_table("table.csv", target=False)
    write("sheet.csv", [["who", "state"], *([f"x{i}", "ab"[i % 2]] for i in range(9))])
    with pytest.raises(InputError, match=r"“Sample names in the sheet”.*“Sample names”") as caught:
        shown(tmp_path, "table.csv", "sheet.csv")
    assert "=" not in caught.value.advice


def test_an_annotation_offers_its_columns_as_labels(study, tmp_path):
    study.write_table("table.csv")
    features = study.rows()[0][2:]
    write("genes.csv", [["probe", "chromosome", "symbol"], *([name, "7", f"S{name}"] for name in features)])
    assert shown(tmp_path, "table.csv")["labels"] == []
    found = shown(tmp_path, "table.csv", annotation="genes.csv", target="tissue", label="symbol")
    assert (found["labels"], found["error"]) == (["symbol", "chromosome"], None)
    assert any("annotated by column 'probe' of genes.csv" in note for note in found["notes"])
    wrong = shown(tmp_path, "table.csv", annotation="genes.csv", target="tissue", label="sybmol")
    assert "'sybmol' (“Shown beside feature names”)" in wrong["error"]["problem"]


def test_an_annotation_of_other_features_leaves_the_rest_understood(study, tmp_path):
    study.write_table("table.csv")
    write("genes.csv", [["probe", "symbol"], ["elsewhere", "X"]])
    found = shown(tmp_path, "table.csv", annotation="genes.csv", target="tissue")
    assert "No feature of table.csv" in found["error"]["problem"]
    assert "“Table that describes the features”" in found["error"]["advice"]
    assert size(found) == (N, D)


def test_excel_sheets_are_listed_and_can_be_chosen(study, tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["nothing here", "yet"])
    for row in study.rows():
        (book["Data"] if "Data" in book.sheetnames else book.create_sheet("Data")).append(row)
    book.save(tmp_path / "book.xlsx")
    with pytest.raises(InputError, match="contains no data"):
        shown(tmp_path, "book.xlsx", sheet_name="Read me")
    found = shown(tmp_path, "book.xlsx", target="tissue")
    assert (size(found), found["sheet_name"], found["error"]) == ((N, D), "Data", None)
    assert "'Data' is read instead" in found["notes"][0]
    found = shown(tmp_path, "book.xlsx", sheet_name="Data", target="tissue")
    assert (size(found), found["sheets"], found["format"]) == ((N, D), ["Read me", "Data"], "Excel")


def test_parquet_and_gzipped_text(study, tmp_path):
    study.write_table("table.csv")
    pl.read_csv("table.csv").write_parquet("table.parquet")
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress((tmp_path / "table.csv").read_bytes()))
    for name, form in (("table.parquet", "Parquet"), ("table.csv.gz", "CSV, comma-separated, gzipped")):
        found = shown(tmp_path, name, target="tissue")
        assert (size(found), found["format"], names(found)[0]) == ((N, D), form, "tissue")


def test_decimal_commas(tmp_path):
    lines = ["id;a;b;state", *(f"s{i};{i},5;2,{i};{'xy'[i % 2]}" for i in range(8))]
    (tmp_path / "german.csv").write_text("\n".join(lines) + "\n")
    found = shown(tmp_path, "german.csv")
    assert found["format"] == "CSV, semicolon-separated, decimal commas"
    assert (found["corner"][1], "Commas were read as decimal marks." in found["notes"]) == (["1.5", "2.1"], True)


def test_obs_of_anndata_are_candidates(tmp_path):
    with h5py.File(tmp_path / "cells.h5ad", "w") as file:
        file["X"] = np.random.default_rng(0).normal(size=(12, 5))
        for name, length in {"obs": 12, "var": 5}.items():
            file.create_group(name).attrs["_index"] = "_index"
            file[name]["_index"] = [f"{name}{i}" for i in range(length)]
        file["obs/cell_type/codes"] = np.arange(12, dtype=np.int8) % 2
        file["obs/cell_type/categories"] = ["B", "T"]
        file["obs/depth"] = np.linspace(0, 1, 12)
    found = shown(tmp_path, "cells.h5ad", target="cell_type")
    assert (names(found)[0], found["format"], found["target"]["classes"]) == (
        "cell_type",
        "AnnData",
        {"B": 6, "T": 6},
    )
    assert "depth" in names(found)


def test_arrays_have_their_own_target(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 5))
    np.savez(tmp_path / "own.npz", X=X, y=np.arange(12) % 2, classes=["ill", "well"], day=np.arange(12))
    found = shown(tmp_path, "own.npz")
    assert (found["target"]["name"], found["target"]["classes"]) == ("y", {"ill": 6, "well": 6})
    assert {"y", "day"} <= set(names(found))
    np.savez(tmp_path / "surv.npz", X=X, time=np.arange(12) + 1.5, event=np.arange(12) % 2)
    found = shown(tmp_path, "surv.npz")
    assert found["target"] is None
    assert {column["suggested"] for column in found["columns"]} >= {"time", "event"}
    chosen = shown(tmp_path, "surv.npz", kind="survival", time="time", event="event")["target"]
    assert (chosen["kind"], chosen["events"], chosen["range"]) == ("survival", 6, [1.5, 12.5])
    (tmp_path / "own.svm").write_text("".join(f"{i % 2} 1:{i} 3:1\n" for i in range(8)))
    found = shown(tmp_path, "own.svm")
    assert (found["target"]["name"], found["format"], size(found)) == ("y", "svmlight", (8, 3))


def test_survival_is_not_chosen_until_both_columns_are(tmp_path):
    write(
        tmp_path / "t.csv",
        [["id", "months", "died", "g"], *([f"s{i}", i + 1.5, i % 2, i * i % 7] for i in range(9))],
    )
    for chosen in ({"kind": "survival"}, {"kind": "survival", "time": "months"}):
        found = shown(tmp_path, "t.csv", **chosen)
        assert (found["target"], found["error"]) == (None, None)


def test_series_matrices_of_geo(tmp_path):
    ids = [f"GSM{i}" for i in range(8)]
    lines = [
        "\t".join(["!Sample_geo_accession", *ids]),
        "\t".join(["!Sample_characteristics_ch1", *(f"tissue: {'AB'[i % 2]}" for i in range(8))]),
        "!series_matrix_table_begin",
        "\t".join(["ID_REF", *ids]),
        *("\t".join([f"{j}_at", *(str(i * j % 5) for i in range(8))]) for j in range(1, 6)),
        "!series_matrix_table_end",
    ]
    (tmp_path / "GSE1_series_matrix.txt").write_text("\n".join(lines) + "\n")
    found = shown(tmp_path, "GSE1_series_matrix.txt", target="tissue")
    assert (found["format"], size(found), names(found)[0]) == ("GEO series matrix", (8, 5), "tissue")


def test_missing_values_are_counted_and_left_to_the_user(tmp_path):
    rows = [["id", "died", "a", "y"], *([f"s{i}", i % 2, i + 0.5, "pq"[i % 2]] for i in range(12))]
    rows[3][1] = rows[4][2] = rows[5][2] = ""
    write(tmp_path / "t.csv", rows)
    found = shown(tmp_path, "t.csv")
    assert (found["missing"], found["error"]) == ({"values": 3, "columns": 2, "rows": 3}, None)
    assert found["corner"][3][1] == ""
    died = next(column for column in found["columns"] if column["name"] == "died")
    assert (died["kind"], died["missing"]) == ("class", 1)
    error = shown(tmp_path, "t.csv", target="y")["error"]
    assert "Set “Missing values” to “Replace by the column mean”" in error["advice"]
    found = shown(tmp_path, "t.csv", target="died", missing="rows")
    assert (found["samples"], found["error"]) == (9, None)
    assert "1 sample without a value of 'died' left out." in found["notes"]


def test_choices_of_samples_are_named_as_on_the_page(study, tmp_path):
    write("table.csv", study.rows())
    found = shown(tmp_path, "table.csv", target="tissue", exclude_samples=["s0[0-2]"])
    assert (found["samples"], found["error"]) == (N - 3, None)
    assert "'s0[0-2]' (“Samples to leave out”) matches 3 samples: s00, s01, s02." in found["notes"]
    assert not [note for note in found["notes"] if "without a value" in note]
    error = shown(tmp_path, "table.csv", target="tissue", exclude_class=["none"])["error"]
    assert "has no class 'none' (“Classes to leave out”)" in error["problem"]


def test_names_with_commas_quotes_and_markup(tmp_path):
    header = 'id,"dose, mg","say ""hi""",<script>alert(1)</script>,--out,y'
    rows = [f"s{i},{i}.5,{i * 3 % 7}.1,{i * 5 % 11},{i % 5},{'ab'[i % 2]}" for i in range(12)]
    (tmp_path / "odd.csv").write_text("\n".join([header, *rows]) + "\n")
    found = shown(tmp_path, "odd.csv", target="y", covariates=["dose, mg"], groups="--out")
    assert (found["error"], found["features"]) == (None, 2)
    assert {"dose, mg", 'say "hi"', "<script>alert(1)</script>", "--out"} <= set(names(found))


def test_a_column_that_does_not_exist_names_its_control(study, tmp_path):
    study.write_table("table.csv", target=False)
    study.write_sheet("sheet.csv")
    error = shown(tmp_path, "table.csv", "sheet.csv", target="tisue")["error"]
    assert "'tisue' (“Target”). Did you mean tissue?" in error["problem"]
    assert error["control"] == "target"
    with pytest.raises(InputError, match="'x' \\(“Sample names”\\)"):
        shown(tmp_path, "table.csv", id="x")


@pytest.mark.parametrize("options", [{"cv": "many"}, {"target": ["y"]}, {"covariates": "age"}, {"rm": "x"}])
def test_wrong_options_are_refused(study, tmp_path, options):
    study.write_table("table.csv")
    with pytest.raises(InputError, match=r"must be|no option"):
        shown(tmp_path, "table.csv", **options)


def test_one_sample_and_no_numbers(tmp_path):
    write(tmp_path / "one.csv", [["id", "a", "b"], ["s", 1, 2]])
    assert size(shown(tmp_path, "one.csv")) == (1, 2)
    assert "At least" in shown(tmp_path, "one.csv", target="b", kind="quantity")["error"]["problem"]
    write(tmp_path / "words.csv", [["id", "a"], ["s", "x"], ["t", "y"]])
    with pytest.raises(InputError, match="no numeric columns left"):
        shown(tmp_path, "words.csv")


def test_text_that_appears_late_is_a_candidate(tmp_path):
    rows = [["id", "g", "note"], *([f"s{i}", i * i % 7, "high" if i > 25 else 1] for i in range(40))]
    write(tmp_path / "late.csv", rows)
    assert "note" in names(shown(tmp_path, "late.csv"))


@pytest.mark.slow
def test_two_hundred_thousand_features(tmp_path):
    header = ",".join(["id", "state", *(f"g{j}" for j in range(200_000))])
    rows = (f"s{i},{'ab'[i % 2]}" + f",{i}.5,{i * i % 5}" * 100_000 for i in range(5))
    (tmp_path / "wide.csv").write_text("\n".join([header, *rows]) + "\n")
    found = shown(tmp_path, "wide.csv")
    assert (size(found), len(found["columns"]), names(found)[0]) == ((5, 200_000), 200, "state")
