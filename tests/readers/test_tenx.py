"""Folders of 10x Genomics."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.cli import main
from ispca.readers import TableError, read_table

N_CELLS, N_GENES = 30, 12
COUNTS = np.random.default_rng(0).poisson(0.8, (N_CELLS, N_GENES))
COUNTS[::2, :3] += 3
BARCODES = [f"CELL{i}-1" for i in range(N_CELLS)]
IDS = [f"ENSG{j}" for j in range(N_GENES)]


def parts(counts=COUNTS):
    """The text of each file, as Cell Ranger writes it: genes in rows, cells in columns, counted from 1."""
    entries = [f"{j + 1} {i + 1} {counts[i, j]}" for j, i in zip(*np.nonzero(counts.T), strict=True)]
    size = f"{N_GENES} {N_CELLS} {len(entries)}"
    head = ["%%MatrixMarket matrix coordinate integer general", '%metadata_json: {"format_version": 2}', size]
    return {
        "matrix.mtx": "\n".join([*head, *entries, ""]),
        "barcodes.tsv": "".join(f"{name}\n" for name in BARCODES),
        "features.tsv": "".join(f"{name}\tGENE{j}\tGene Expression\n" for j, name in enumerate(IDS)),
    }


def write(folder, texts, packed=True, prefix=""):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        content = gzip.compress(text.encode()) if packed else text.encode()
        (folder / f"{prefix}{name}{'.gz' if packed else ''}").write_bytes(content)
    return folder


@pytest.fixture
def sheet(tmp_path):
    """A sample sheet in another order."""
    rows = [f"{name},{'B cell' if i % 2 else 'T cell'}" for i, name in enumerate(BARCODES)]
    (tmp_path / "cells.csv").write_text("\n".join(["barcode,type", *reversed(rows)]))
    return tmp_path / "cells.csv"


@pytest.mark.parametrize(("packed", "prefix"), [(True, ""), (False, ""), (True, "GSM1_")])
def test_a_folder_with_a_sample_sheet(tmp_path, sheet, packed, prefix):
    folder = write(tmp_path / "filtered", parts(), packed, prefix)
    table = read_table(folder, samples=sheet, target="type")
    assert sp.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), COUNTS)
    assert table.ids.tolist() == BARCODES
    assert table.features.tolist() == IDS
    assert table.target.tolist() == ["T cell", "B cell"] * (N_CELLS // 2)
    assert table.annotation["symbol"].tolist() == [f"GENE{j}" for j in range(N_GENES)]
    assert table.label == "symbol"


def test_old_folders_name_genes(tmp_path):
    texts = parts()
    texts["genes.tsv"] = texts.pop("features.tsv").replace("\tGene Expression", "")
    table = read_table(write(tmp_path / "old", texts, packed=False), supervised=False)
    assert table.features.tolist() == IDS
    assert list(table.annotation) == ["symbol"]


def without(name):
    return lambda texts: {key: text for key, text in texts.items() if key != name}


def changed(old, new):
    return lambda texts: texts | {"matrix.mtx": texts["matrix.mtx"].replace(old, new, 1)}


DAMAGED = {
    "contains no file barcodes.tsv.gz": without("barcodes.tsv"),
    "contains no file features.tsv.gz": without("features.tsv"),
    "without a matrix.mtx": without("matrix.mtx"),
    "several matrices": lambda texts: texts | {"raw_matrix.mtx": texts["matrix.mtx"]},
    "first line is not": changed("coordinate", "array"),
    "does not give the size": changed("\n12 30", "\n-12 30"),
    "name 12 and 29": lambda texts: texts | {"barcodes.tsv": texts["barcodes.tsv"].partition("\n")[2]},
    "entries instead of": lambda texts: texts | {"matrix.mtx": texts["matrix.mtx"][:-20].rpartition("\n")[0]},
    "an entry is outside": changed("\n1 1 ", "\n13 1 "),
    "is damaged: could not convert": changed("\n1 1 ", "\n1 x "),
    "2 fields per entry": lambda texts: texts | {"matrix.mtx": texts["matrix.mtx"].split("\n1 1 ")[0] + "\n1 1\n"},
    "would take": changed("\n12 30 ", "\n12 30 999999999"),
}


@pytest.mark.parametrize("reason", DAMAGED)
def test_damaged_folders_are_refused(tmp_path, reason):
    folder = write(tmp_path / "filtered", DAMAGED[reason](parts()))
    with pytest.raises(TableError, match=reason):
        read_table(folder, supervised=False)


def test_a_folder_does_not_describe_its_cells(tmp_path, sheet):
    folder = write(tmp_path / "filtered", parts())
    with pytest.raises(TableError, match=r"does not describe its cells\. Pass samples='SHEET'"):
        read_table(folder, target="type")
    with pytest.raises(TableError, match=r"Neither cells.csv nor filtered has a column 'tpe'.*Did you mean type"):
        read_table(folder, target="tpe", samples=sheet)
    with pytest.raises(TableError, match="cannot be transposed: a 10x folder has samples in rows"):
        read_table(folder, target="type", samples=sheet, transpose=True)


def test_a_folder_can_be_fitted_and_predicted(tmp_path, sheet, capsys):
    folder, out = write(tmp_path / "filtered", parts()), tmp_path / "out"
    options = ["--samples", str(sheet), "--target", "type", "--transform", "log1p"]
    options += ["--bags=0", "--draws", "20", "--cv", "0"]
    assert main(["fit", str(folder), *options, "--format", "json", "--out", str(out)]) == 0
    assert "30 samples, 12 features, target 'type': classes B cell (15), T cell (15)" in capsys.readouterr().out
    assert "symbol" in (out / "loadings.csv").read_text().partition("\n")[0]
    assert main(["predict", str(out / "model.ispca"), str(folder), "--out", str(tmp_path / "new.csv")]) == 0
    assert (tmp_path / "new.csv").read_text().count("\n") == N_CELLS + 1
