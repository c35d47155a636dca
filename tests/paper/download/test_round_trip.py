"""Real arrays written in the format of their source come back with the checksum of the registry.

This shows that conversion loses nothing; that the public files hold these arrays it cannot show without a network.
"""

import zipfile

import numpy as np
import pytest

from ispca.datasets import load
from ispca.datasets.registry import find
from paper.download import main

pytestmark = pytest.mark.slow

EXPECTED = "checksum of the arrays matches"


@pytest.fixture
def convert(tmp_path, monkeypatch):
    """Convert a public file into an empty cache, after real data was read; return what is loaded from there."""

    def convert(name, filename, content):
        (tmp_path / filename).write_bytes(content)
        monkeypatch.delenv("ISPCA_DATA", raising=False)
        monkeypatch.setenv("ISPCA_CACHE", str(tmp_path / "cache"))
        assert main([name, "--file", str(tmp_path / filename)]) == 0
        return load(name)

    return convert


@pytest.mark.parametrize(
    ("name", "filename"), [("glioma-4c", "GLIOMA.mat"), ("basehock", "BASEHOCK.mat"), ("arcene", "arcene.mat")]
)
def test_mat(name, filename, real_data, convert, mat_bytes):
    X, y = real_data(name)
    labels = load(name).target_names[y].astype(float)
    assert EXPECTED in convert(name, filename, mat_bytes(X, labels)).DESCR


@pytest.mark.parametrize(
    ("name", "filename"), [("ovarian", "ovarian.RData"), ("reg-riboflavin", "riboflavin.RData")]
)
def test_rdata(name, filename, real_data, convert, tmp_path):
    rdata = pytest.importorskip("rdata")
    X, y = real_data(name)
    path = tmp_path / "some.RData"
    rdata.write_rda(path, {name: {"x": X, "y": y.astype(float)}})
    assert EXPECTED in convert(name, filename, path.read_bytes()).DESCR


def test_dexter(real_data, convert, tmp_path):
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
    assert EXPECTED in convert("dexter", "dexter.zip", (tmp_path / "some.zip").read_bytes()).DESCR


NOT_OBTAINED = {"glioma": "GLI_85.mat", "lung": "SMK_CAN_187.mat", "lung-5c": "lung.mat"}


@pytest.mark.parametrize(("name", "filename"), NOT_OBTAINED.items())
def test_the_three_missing_ones_at_full_size(name, filename, convert, mat_bytes, tmp_path, capsys):
    record = find(name)
    X = np.zeros((record.n, record.D), dtype="u1")
    X[:, 0] = np.arange(record.n)
    labels = np.repeat(np.arange(len(record.counts)) + 1, record.counts)
    data = convert(name, filename, mat_bytes(X, labels))
    np.testing.assert_array_equal(data.data, X)
    assert data.target_names.tolist() == [str(c + 1) for c in range(len(record.counts))]
    assert "NOT verified by checksum" in data.DESCR.replace("\n  ", " ")
    assert f"Values range from 0 to {record.n - 1}" in data.DESCR.replace("\n  ", " ")
    # Another number of classes or of samples per class is another data set.
    (tmp_path / filename).write_bytes(mat_bytes(X, np.roll(labels, 1) * 0 + 1))
    assert main([name, "--file", str(tmp_path / filename)]) == 1
    assert f"{filename} is not {name}: classes of" in capsys.readouterr().err
    assert main(["colon", "--file", str(tmp_path / filename)]) == 1
    assert f"{filename} is not a public file of colon" in capsys.readouterr().err
