"""A new user has a matrix and a sheet, files of GEO, 10x, R or Excel, or cells that are not numbers."""

import gzip

import pytest

from user_files import SAMPLES, D, N, table, text, write


def test_a_matrix_and_a_sample_sheet(study, user):
    """Genes in rows, with symbols; the sheet in another order, with a sample that was never measured."""
    study.write_matrix("matrix.csv")
    study.write_sheet("sheet.csv", extra=[["s99", "tumour", "50"]])
    answer = user("ispca fit matrix.csv --samples sheet.csv --target tissue --cv 3")
    assert answer.lines[0].startswith("Verdict: ")
    assert "classified correctly" in answer.lines[0]
    assert "compared with" in answer.lines[0]
    assert answer.lines[1].startswith("Model: 1 supervised component, 3 unsupervised components; leading features")
    assert SAMPLES in answer.out
    assert "24 samples of matrix.csv matched with column 'sample' of sheet.csv." in answer.notes
    assert "1 row of sheet.csv without a sample in matrix.csv: s99." in answer.notes
    header, (_, first, *_) = table("matrix-results/coefficients.csv")
    assert first[header.index("Gene Symbol")] == "SYM" + first[0][1:]
    header, (first, *_) = table("matrix-results/loadings.csv")
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


def test_samples_and_features_that_do_not_match(study, user):
    """What is in one file only is counted and listed."""
    study.write_matrix("matrix.csv")
    study.write_sheet("sheet.csv", leave_out=("s03", "s07"))
    write("genes.csv", [["id", "symbol"], *([gene, "x"] for gene in study.genes[:50]), ["g99", "x"]])
    answer = user("ispca fit matrix.csv --samples sheet.csv --target tissue --annotation genes.csv")
    assert "22 samples, 60 features" in answer.out
    assert "2 samples of matrix.csv not in sheet.csv, left out: s03, s07." in answer.notes
    assert "10 features of matrix.csv not in genes.csv: g50, g51, g52, g53, g54 and 5 more." in answer.notes
    assert "1 row of genes.csv without a feature in matrix.csv." in answer.notes


def test_names_of_columns_that_are_wrong(study, user):
    study.write_matrix("matrix.csv")
    study.write_sheet("sheet.csv")
    answer = user("ispca fit matrix.csv --samples sheet.csv --target tissue --on smaple", code=3)
    assert answer.notes == ["sheet.csv has no column 'smaple' (on). Did you mean sample?"]
    answer = user("ispca fit matrix.csv --samples sheet.csv --target tissue --label Symbol", code=3)
    assert answer.notes == ["The annotation has no column 'Symbol' (label). Did you mean Gene Symbol?"]


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
    assert table("GSE1_series_matrix-results/scores.csv")[1][0][0] == "GSM0"
    answer = user("ispca fit GSE1_series_matrix.txt.gz --target x", code=3)
    assert answer.out == ""
    assert "tissue" in answer.notes[-1]


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
    assert "24 samples of tenx matched with column 'sample' of sheet.csv." in answer.notes
    assert {"g4", "SYM4", "Gene Expression"} <= {*table("tenx-results/loadings.csv")[1][4]}
    assert "SYM4" in text("tenx-results/report.html")
    answer = user("ispca predict tenx-results tenx")
    assert answer.lines[0] == "id,prediction,p(normal),p(tumour),training_sample"
    assert "24 of the 24 samples of tenx are training samples of the model" in answer.notes[-1]


def test_a_table_of_r_and_comment_lines(study, user, tmp_path):
    study.write_table("plain.csv")
    rows = [" ".join(f'"{name}"' for name in ["tissue", *study.genes])]
    for name, tissue, values in zip(study.ids, study.tissue, study.X, strict=True):
        rows.append(f'"{name}" "{tissue}" ' + " ".join(f"{value:.4f}" for value in values))
    (tmp_path / "r.txt").write_text("\n".join(rows) + "\n")
    assert SAMPLES in user("ispca fit r.txt --target tissue").out
    assert table("r-results/scores.csv")[1][0][0] == "s00"
    (tmp_path / "comments.csv").write_text("# exported\n# twice\n" + (tmp_path / "plain.csv").read_text())
    answer = user("ispca fit comments.csv --target tissue")
    assert SAMPLES in answer.out
    assert answer.notes[0] == "2 comment lines skipped, such as '# exported'."


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


def test_mistakes_in_typing(study, user):
    study.write_table("plain.csv")
    answer = user("ispca fit plain.csv --target tisue", code=3)
    assert answer.notes[-1] == "plain.csv has no column 'tisue' (target). Did you mean tissue?"
    assert user("ispca fit plan.csv --target tissue", code=3).notes == ["There is no file plan.csv."]
