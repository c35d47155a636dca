"""AnnData files: obs is the sample sheet, and var annotates the features."""

import h5py
import numpy as np
import pytest

from ispca.cli import main
from ispca.readers import TableError, h5ad, read_table
from ispca.readers.file_access import limit_for
from ispca.readers.hdf5_crash_guard import can_be_opened
from ispca.readers.table import SampleColumns

N, D = 24, 40


@pytest.fixture
def path(tmp_path):
    """Cells of two states; the first genes differ, and var has symbols."""
    rng = np.random.default_rng(0)
    state = np.arange(N) % 2
    X = rng.normal(size=(N, D)) + 5
    X[:, :5] += 3 * state[:, None]
    with h5py.File(tmp_path / "cells.h5ad", "w") as file:
        file["X"] = X
        obs, var = file.create_group("obs"), file.create_group("var")
        obs.attrs["_index"], var.attrs["_index"] = "barcode", "_index"
        obs["barcode"] = [f"c{i}" for i in range(N)]
        obs["state/codes"], obs["state/categories"] = state.astype(np.int8), ["ill", "well"]
        obs["batch"] = [f"b{i // 12}" for i in range(N)]
        obs["depth"] = np.r_[np.nan, np.arange(1.0, N)]
        var["_index"] = [f"ENSG{j}" for j in range(D)]
        var["symbol"] = [f"S{j}" for j in range(D)]
        var["highly_variable"] = np.arange(D) < 10
        var["mean"] = np.arange(D) / 2
        var.attrs["column-order"] = ["symbol", "mean", "highly_variable"]
    return tmp_path / "cells.h5ad"


def test_obs_is_the_sheet_and_var_the_annotation(path):
    table = read_table(path, target="state", label="symbol", columns=SampleColumns(groups="batch"))
    assert table.ids[:2].tolist() == ["c0", "c1"]
    assert set(table.sheet) == {"batch", "depth"}
    assert table.sheet["batch"][[0, -1]].tolist() == ["b0", "b1"]
    assert table.sheet["depth"][:3].tolist() == ["", "1", "2"]
    assert list(table.annotation) == ["symbol", "mean", "highly_variable"]
    assert [values[1] for values in table.annotation.values()] == ["S1", "0.5", "True"]
    assert (table.label, table.groups[0]) == ("symbol", "b0")
    chosen = read_table(path, target="state", features=("ENSG3*",))
    assert chosen.annotation["symbol"].tolist() == ["S3", *(f"S{j}" for j in range(30, 40))]
    with pytest.raises(TableError, match=r"The annotation has no column 'symbl' \(label\). Did you mean symbol"):
        read_table(path, target="state", label="symbl")


def test_columns_that_cannot_be_read_are_listed(path, monkeypatch):
    with h5py.File(path, "a") as file:
        file["var/short"] = np.arange(3)
        file["obs/damaged/codes"] = np.array([9] * N, dtype=np.int8)
        file["obs/damaged/categories"] = ["a"]
        file["obs/colors/nested/deep"] = 1
    table = read_table(path, target="state")
    assert "Columns of var that cannot be read: short." in table.notes
    assert "Columns of obs that cannot be read: colors, damaged." in table.notes
    assert set(table.sheet) == {"batch", "depth"}
    with pytest.raises(TableError, match="some codes have no category"):
        read_table(path, target="damaged")
    monkeypatch.setattr(h5ad, "MOST_TEXTS", 150)
    table = read_table(path, target="state")
    assert table.sheet != {}
    assert table.annotation == {}
    assert "var is too large to describe the data: its 4 columns are not used." in table.notes


def test_the_command_line_shows_the_label_of_var(path, tmp_path, capsys):
    options = ["--target", "state", "--label", "symbol", "--components", "3"]
    options += ["--bags=0", "--draws", "40", "--cv", "0"]
    assert main(["fit", str(path), *options, "--out", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    strongest = captured.out.split("leading features ")[1].split(".")[0].split(", ")
    assert set(strongest) <= {f"S{j}" for j in range(D)}
    header = (tmp_path / "out" / "loadings.csv").read_text().splitlines()[0]
    assert header.startswith("feature,symbol,mean,highly_variable,supervised_1")
    # The state is in obs, so predictions of other samples are evaluated.
    with h5py.File(path, "a") as file:
        stored = file["X"] if isinstance(file["X"], h5py.Dataset) else file["X/data"]
        stored[...] = stored[...] + 1
    assert main(["predict", str(tmp_path / "out"), str(path), "--out", str(tmp_path / "p.csv")]) == 0
    assert "Evaluation on 24 samples of cells.h5ad" in capsys.readouterr().out


@pytest.mark.parametrize(
    "stored", [{}, {"chunks": (3,)}, {"chunks": (3,), "compression": "gzip", "shuffle": True}]
)
def test_the_declared_lengths_of_texts_are_checked_before_they_are_read(tmp_path, stored):
    """HDF5 allocates whatever length a text declares, here 900 MB for a file of a few kilobytes."""
    path = tmp_path / "cells.h5ad"
    texts = [f"sample {'x' * i}" for i in range(8)]
    with h5py.File(path, "w") as file:
        file.create_dataset("names", data=texts, dtype=h5py.string_dtype(), **stored)
    with h5py.File(path) as file:
        reader = h5ad.Reader(h5py, path, limit_for(path))
        assert reader._lengths(file["names"])[:8].tolist() == [len(text) for text in texts]
        assert reader.values(file, "names").tolist() == texts
        offset = file["names"].id.get_offset()
    if offset is not None:
        content = bytearray(path.read_bytes())
        content[offset : offset + 4] = (900_000_000).to_bytes(4, "little")
        path.write_bytes(content)
        with h5py.File(path) as file, pytest.raises(TableError, match="a text is longer than the file"):
            h5ad.Reader(h5py, path, limit_for(path)).values(file, "names")


def test_an_attribute_that_declares_a_long_text_is_refused(tmp_path):
    path = tmp_path / "cells.h5ad"
    with h5py.File(path, "w") as file:
        file.create_group("obs").attrs["_index"] = "unusual name"
    assert can_be_opened(path)
    # A text is stored as its length and the place of a collection of texts.
    content = bytearray(path.read_bytes())
    place = content.index(len("unusual name").to_bytes(4, "little") + content.index(b"GCOL").to_bytes(8, "little"))
    content[place : place + 4] = (900_000_000).to_bytes(4, "little")
    path.write_bytes(content)
    assert not can_be_opened(path)
