"""What a new user types, and the first lines that this person sees: data as people have it, and the answer."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from user_files import D, N, Study, type_in, write

SAMPLES = f"{N} samples, {D} features, target 'tissue': classes normal (12), tumour (12)."


def text(name):
    return Path(name).read_text(encoding="utf-8")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A folder to work in, and the data of a study that a test writes to files."""
    monkeypatch.chdir(tmp_path)
    return Study()


@pytest.fixture
def user(capsys):
    return lambda line, code=0: type_in(line, capsys, code)


def test_a_matrix_and_a_sample_sheet(study, user):
    """Genes in rows, with symbols; the sheet in another order, with a sample that was never measured."""
    study.write_matrix("matrix.csv")
    study.write_sheet("sheet.csv", extra=[["s99", "tumour", "50"]])
    answer = user("ispca fit matrix.csv --samples sheet.csv --target tissue --cv 3")
    assert answer.lines[0].startswith("Verdict: ")
    assert "of held-out samples are classified correctly (95% interval" in answer.lines[0]
    assert "compared with" in answer.lines[0]
    assert answer.lines[1].startswith("Model: 1 supervised component, 3 unsupervised components; leading features")
    assert SAMPLES in answer.out
    assert "24 samples of matrix.csv matched with column 'sample' of sheet.csv." in answer.notes
    assert "1 row of sheet.csv without a sample in matrix.csv: s99." in answer.notes
    with open("matrix-results/coefficients.csv", newline="") as file:
        header, _, first, *_ = csv.reader(file)
    assert first[header.index("Gene Symbol")] == "SYM" + first[0][1:]
    page = text("matrix-results/report.html")
    assert page.index(answer.lines[0].removeprefix("Verdict: ")[:60]) < page.index('id="components"')


def test_samples_in_rows_and_a_third_file(study, user):
    study.write_table("matrix.csv", target=False)
    study.write_sheet("sheet.csv")
    write("genes.csv", [["id", "symbol"], *([gene, f"SYM{j}"] for j, gene in enumerate(study.genes))])
    options = "--on sample --annotation genes.csv --label symbol --out results"
    answer = user(f"ispca fit matrix.csv --samples sheet.csv --target tissue {options}")
    assert f"{D} features annotated by column 'id' of genes.csv." in answer.notes
    assert "SYM4" in text("results/report.html")
    assert "SYM4" in text("results/loadings.csv")


def test_a_sheet_of_other_samples(study, user):
    study.write_matrix("matrix.csv")
    write("sheet.csv", [["sample", "tissue"], *([f"other{i}", "tumour"] for i in range(5))])
    answer = user("ispca fit matrix.csv --samples sheet.csv --target tissue", code=3)
    assert answer.out == ""
    assert "sheet.csv" in answer.notes[-1]


def test_a_series_matrix_of_geo(study, user):
    quoted = "\t".join(f'"GSM{i}"' for i in range(N))
    lines = ['!Series_title\t"a study"', f"!Sample_geo_accession\t{quoted}"]
    lines += ["!Sample_characteristics_ch1\t" + "\t".join(f'"tissue: {name}"' for name in study.tissue)]
    lines += ["!series_matrix_table_begin", f'"ID_REF"\t{quoted}']
    for gene, values in zip(study.genes, study.X.T, strict=True):
        lines.append(f'"{gene}"\t' + "\t".join(f"{value:.4f}" for value in values))
    with gzip.open("GSE1_series_matrix.txt.gz", "wt") as file:
        file.write("\n".join([*lines, "!series_matrix_table_end", ""]))
    answer = user("ispca fit GSE1_series_matrix.txt.gz --target tissue")
    assert SAMPLES in answer.out
    assert answer.notes[0].startswith("GSE1_series_matrix.txt.gz is a series matrix of GEO")


def test_a_folder_of_10x(study, user, tmp_path):
    counts = study.counts()
    study.write_sheet("sheet.csv")
    (tmp_path / "tenx").mkdir()
    entries = [f"{j + 1} {i + 1} {counts[i, j]}" for i in range(N) for j in range(D) if counts[i, j]]
    head = ["%%MatrixMarket matrix coordinate integer general", f"{D} {N} {len(entries)}"]
    parts = {"matrix.mtx": head + entries, "barcodes.tsv": study.ids}
    parts["features.tsv"] = [f"{gene}\tSYM{gene[1:]}\tGene Expression" for gene in study.genes]
    for name, lines in parts.items():
        with gzip.open(f"tenx/{name}.gz", "wt") as file:
            file.write("\n".join(lines) + "\n")
    answer = user("ispca fit tenx --samples sheet.csv --target tissue --transform cpm-log")
    assert SAMPLES in answer.out


def test_a_table_of_r_and_comment_lines(study, user, tmp_path):
    study.write_table("plain.csv")
    rows = [" ".join(f'"{name}"' for name in ["tissue", *study.genes])]
    for name, tissue, values in zip(study.ids, study.tissue, study.X, strict=True):
        rows.append(f'"{name}" "{tissue}" ' + " ".join(f"{value:.4f}" for value in values))
    (tmp_path / "r.txt").write_text("\n".join(rows) + "\n")
    assert SAMPLES in user("ispca fit r.txt --target tissue").out
    (tmp_path / "comments.csv").write_text("# exported\n# twice\n" + (tmp_path / "plain.csv").read_text())
    answer = user("ispca fit comments.csv --target tissue")
    assert SAMPLES in answer.out
    assert answer.notes[0] == "2 comment lines skipped, such as '# exported'."


def test_repeated_names_and_groups(study, user):
    study.ids = [f"p{i // 2}" for i in range(N)]
    study.write_table("repeated.csv", first="patient")
    answer = user("ispca fit repeated.csv --target tissue --groups patient")
    assert "Sample names come from the first column, 'patient'." in answer.notes
    assert any(note.startswith("Some sample names appear more than once: p0, p1") for note in answer.notes)
    with open("repeated-results/scores.csv", newline="") as file:
        assert [row[0] for row in csv.reader(file)][1:4] == ["p0", "p0", "p1"]


def test_choosing_columns(study, user):
    study.write_table("plain.csv")
    answer = user("ispca fit plain.csv --target tissue --features 'g1*' --positive normal --threads 1")
    assert f"11 features of {D} chosen by name." in answer.notes
    assert "24 samples, 11 features" in answer.out
    assert "for normal, P(sign)" in answer.out
    answer = user("ispca fit plain.csv --target tissue --drop 'g1*' 'g2*' --out dropped")
    assert f"24 samples, {D - 22} features" in answer.out
    answer = user("ispca fit plain.csv --target tissue --features 'h*'", code=3)
    assert "'h*'" in answer.notes[-1]
    answer = user("ispca fit plain.csv --target tissue --positive tumor", code=3)
    assert "tumour" in answer.notes[-1]


def test_sheets_of_excel(study, user):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    data = book.create_sheet("expression")
    for row in study.rows():
        data.append(row)
    book.save("study.xlsx")
    assert SAMPLES in user("ispca fit study.xlsx --target tissue --sheet expression").out
    answer = user("ispca fit study.xlsx --target tissue --sheet expresion", code=3)
    assert "notes" in answer.notes[-1]
    assert "expression" in answer.notes[-1]


def test_messy_cells(study, user):
    rows = study.rows()
    rows[1][2], rows[2][3], rows[3][4] = "<0.01", "ND", '"1,234.5"'
    write("messy.csv", rows)
    answer = user("ispca fit messy.csv --target tissue --missing mean")
    assert SAMPLES in answer.out
    assert answer.notes[0] == (
        "1 cell below a limit (<0.01) replaced by half the limit; 1 cell with a word (ND) read as missing; "
        "1 cell with thousands separators (1,234.5) read without them, in 3 features: g0, g1, g2."
    )


def test_messy_classes(study, user):
    rows = study.rows()
    tumours = [row for row in rows if row[1] == "tumour"]
    tumours[0][1], tumours[1][1], tumours[2][1], tumours[3][1] = "unknown", "n/a", "Tumour", "Tumour"
    write("classes.csv", rows)
    answer = user("ispca fit classes.csv --target tissue")
    assert "22 samples" in answer.out
    assert "In 'tissue', 2 values read as missing: 'unknown' (1), 'n/a' (1)." in answer.err
    assert "probably one class, but are treated as 2: 'Tumour' (2), 'tumour' (8)." in answer.err


def test_raw_counts(study, user):
    study.X = study.counts()
    study.write_table("counts.csv")
    answer = user("ispca fit counts.csv --target tissue --out raw")
    assert "counts" in answer.err
    assert "--transform" in answer.err
    answer = user("ispca fit counts.csv --target tissue --transform log1p --out logs")
    assert "--transform" not in answer.err
    study.X = np.log1p(study.X)
    study.write_table("logs.csv", target=False)
    answer = user("ispca predict logs logs.csv")
    assert "warning: logs.csv is on another scale than the training data" in answer.err


def test_predictions_without_some_features(study, user):
    study.write_table("plain.csv")
    user("ispca fit plain.csv --target tissue --out results")
    study.write_table("fewer.csv", target=False, genes=slice(0, D - 2))
    answer = user("ispca predict results fewer.csv")
    assert answer.lines[0] == "id,prediction,p(normal),p(tumour)"
    assert len(answer.lines) == N + 1
    assert f"fewer.csv lacks 2 of the {D} features of the model, which carry" in answer.notes[-1]
    assert answer.notes[-1].endswith("They are replaced by the mean of the training data.")
    study.write_table("without.csv", target=False, genes=slice(6, D))
    answer = user("ispca predict results without.csv", code=3)
    assert answer.out == ""
    assert f"without.csv lacks 6 of the {D} features of the model, which carry" in answer.notes[-1]
    assert "Features with up to 10% of the weight can be replaced" in answer.notes[-1]


def test_an_evaluation_of_predictions(study, user):
    study.write_table("plain.csv")
    Study(seed=1).write_table("new.csv")
    answer = user("ispca fit plain.csv --target tissue --test new.csv --out results")
    assert "Evaluation on 24 samples of new.csv with a known 'tissue':" in answer.lines
    assert "  confusion matrix (rows: observed, columns: predicted):" in answer.lines
    assert "External test" in text("results/report.html")
    answer = user("ispca predict results new.csv --json")
    evaluation = json.loads(answer.out)["evaluation"]
    assert evaluation["accuracy"] > 0.8
    assert evaluation["auc"] > 0.9
    assert np.sum(evaluation["confusion"]["counts"]) == N
    assert {"log_density", "calibration_error"} <= set(evaluation)


def test_mistakes_in_typing(study, user):
    study.write_table("plain.csv")
    answer = user("ispca fit plain.csv --target tisue", code=3)
    assert answer.notes[-1] == "plain.csv has no column 'tisue' (target). Did you mean tissue?"
    assert user("ispca fit plan.csv --target tissue", code=3).notes == ["There is no file plan.csv."]
