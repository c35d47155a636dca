"""Real arrays written in the format of their source come back with the checksum of the registry.

This shows that conversion loses nothing; that the public files hold these arrays it cannot show without a network.
"""

import zipfile

import numpy as np
import pytest

from ispca.datasets import load

EXPECTED = "checksum of the arrays matches"


@pytest.mark.parametrize(
    ("name", "filename"), [("glioma-4c", "GLIOMA.mat"), ("basehock", "BASEHOCK.mat"), ("arcene", "arcene.mat")]
)
def test_mat(name, filename, real_data, data_folder_with, mat_bytes):
    X, y = real_data(name)
    labels = load(name).target_names[y].astype(float)
    folder = data_folder_with({filename: mat_bytes(X, labels)})
    data = load(name)
    assert data.path == str(folder / filename)
    assert EXPECTED in data.DESCR


@pytest.mark.parametrize(
    ("name", "filename"), [("ovarian", "ovarian.RData"), ("reg-riboflavin", "riboflavin.RData")]
)
def test_rdata(name, filename, real_data, data_folder_with, tmp_path):
    rdata = pytest.importorskip("rdata")
    X, y = real_data(name)
    path = tmp_path / "some.RData"
    rdata.write_rda(path, {name: {"x": X, "y": y.astype(float)}})
    data_folder_with({filename: path.read_bytes()})
    assert EXPECTED in load(name).DESCR


def test_dexter(real_data, data_folder_with, tmp_path):
    X, y = real_data("dexter")
    rows = [
        " ".join(f"{j + 1}:{int(count)}" for j, count in zip(X[[i]].indices, X[[i]].data, strict=True))
        for i in range(600)
    ]
    labels = np.where(y == 1, "1", "-1")
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        for part, where in {"train": slice(300), "valid": slice(300, 600)}.items():
            archive.writestr(f"DEXTER/dexter_{part}.data", "\n".join(rows[where]) + "\n")
            archive.writestr(f"dexter_{part}.labels", "\n".join(labels[where]) + "\n")
    data_folder_with({"dexter.zip": (tmp_path / "some.zip").read_bytes()})
    assert EXPECTED in load("dexter").DESCR


@pytest.fixture
def data_folder_with(tmp_path, monkeypatch):
    """Put files into a new folder and let ISPCA_DATA name it, after real data was read from the old one."""

    def fill(files):
        folder = tmp_path / "data"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        monkeypatch.setenv("ISPCA_DATA", str(folder))
        return folder

    return fill
