"""Where files are looked for, and what happens with files that are not what they should be."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.datasets import DatasetError, load
from ispca.datasets.arrays import Arrays, checksum, read_npz, survival_target, verify
from ispca.datasets.loading import cache_folder, locate
from ispca.datasets.registry import find
from paper.download import write_npz


def change(path, **changes):
    with np.load(path) as file:
        stored = dict(file)
    np.savez(path, **(stored | changes))


def test_ispca_data_comes_before_the_cache(stored, data_folder):
    assert locate(find("tiny")) == stored
    copy = data_folder / "tiny.npz"
    copy.write_bytes(stored.read_bytes())
    assert locate(find("tiny")) == copy
    assert load("tiny").path == str(copy)


def test_a_tampered_file_in_ispca_data_is_an_error(stored, data_folder):
    path = data_folder / "tiny.npz"
    path.write_bytes(stored.read_bytes())
    X = read_npz(path).X
    X[3, 2] += 1e-3
    change(path, X=X)
    with pytest.raises(DatasetError, match=r"data/tiny.npz is not tiny: the checksum"):
        load("tiny")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.zeros((12, 4))}, "12 x 4 instead of 12 x 5"),
        ({"X": np.zeros(12)}, "X in tiny.npz has 1 axis instead of 2"),
        ({"X": np.full((12, 5), np.nan)}, "missing or infinite"),
        ({"y": np.zeros(11, dtype=int)}, "target is not one binary value per sample"),
        ({"y": np.repeat([0, 1], [6, 6])}, r"classes of \[6, 6\] samples instead of \[5, 7\]"),
        ({"y": np.repeat([0, 2], [5, 7])}, "classes have no names"),
        ({"y": np.repeat([0.0, 1.0], [5, 7])}, "classes have no names"),
        ({"classes": np.array(["2", "1"])}, "checksum of its arrays"),
        ({"feature_names": np.array(["a"])}, "1 feature names"),
    ],
)
def test_what_else_may_be_wrong_with_a_file(stored, data_folder, changes, message):
    path = data_folder / "tiny.npz"
    path.write_bytes(stored.read_bytes())
    change(path, **changes)
    with pytest.raises(DatasetError, match=message):
        load("tiny")


@pytest.mark.parametrize("content", [b"", b"no zip file", b"PK\x03\x04 half a zip file"])
def test_a_damaged_file_in_ispca_data_is_an_error(tiny, data_folder, content):
    (data_folder / "tiny.npz").write_bytes(content)
    with pytest.raises(DatasetError, match=r"tiny.npz as a data set"):
        load("tiny")


def test_an_npz_file_without_the_arrays(tiny, data_folder):
    np.savez(data_folder / "tiny.npz", Z=np.ones(3))
    with pytest.raises(DatasetError, match=r"tiny.npz as a data set"):
        load("tiny")


def test_pickles_are_not_read(tiny, data_folder):
    np.savez(data_folder / "tiny.npz", X=np.array([object()]), y=np.zeros(1))
    with pytest.raises(DatasetError, match=r"tiny.npz as a data set"):
        load("tiny")


@pytest.mark.parametrize("keep", [0, 100, -10])
def test_a_damaged_file_in_the_cache_is_an_error(stored, keep):
    stored.write_bytes(stored.read_bytes()[:keep])
    with pytest.raises(DatasetError, match=r"tiny.npz as a data set"):
        load("tiny")


def test_a_file_that_is_not_there(tiny, cache):
    with pytest.raises(DatasetError, match=r"tiny is not present.*ISPCA_DATA.*from https://nowhere/TINY.mat"):
        load("tiny")
    with pytest.raises(DatasetError, match=r"Put lung-5c-1543.npz into the folder"):
        load("lung-5c-1543")


def test_ispca_data_that_is_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ISPCA_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match=r"ISPCA_DATA=.*nowhere is not a folder"):
        load("colon")


@pytest.mark.parametrize("name", ["prostata", "Colon", "GLI_85", "lung_5c"])
def test_unknown_names_bring_the_nearest(name):
    with pytest.raises(ValueError, match=f"no data set '{name}'.*(prostate|colon|glioma|lung-5c)"):
        load(name)


def test_names_far_from_all_bring_the_list():
    with pytest.raises(ValueError, match=r"Choose from ovarian, colon, .* more"):
        load("xyzzy")


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        write_npz(tmp_path / "some.npz", Arrays(np.ones((2, 2)), np.zeros(2)))
    assert not list(tmp_path.iterdir())


DENSE = Arrays(np.arange(6.0).reshape(3, 2), np.array([0, 1, 1]), np.array(["a", "b"]), np.array(["f", "g"]))
ROUND_TRIPS = {
    "dense": DENSE,
    "sparse": replace(DENSE, X=sp.csr_array(DENSE.X), extras={"split": np.array([0, 0, 1])}),
    "regression": Arrays(DENSE.X, np.array([0.1, 0.2, 0.3])),
    "counts": Arrays(DENSE.X, np.array([3, 0, 9]), extras={"day": np.array([0, 1, 1])}),
    "survival": Arrays(DENSE.X, survival_target([1.5, 2.25, 3.0], [1, 0, 1])),
}


@pytest.mark.parametrize("arrays", ROUND_TRIPS.values(), ids=ROUND_TRIPS.keys())
def test_round_trip(arrays, tmp_path):
    arrays = replace(arrays, url="http://somewhere", file_sha256="abc")
    write_npz(tmp_path / "some.npz", arrays)
    back = read_npz(tmp_path / "some.npz")
    assert checksum(back) == checksum(arrays)
    assert (back.url, back.file_sha256) == ("http://somewhere", "abc")
    np.testing.assert_array_equal(back.target, arrays.target)
    assert sp.issparse(back.X) == sp.issparse(arrays.X)
    assert set(back.extras) == set(arrays.extras)


def test_the_checksum_sees_values_target_and_classes_but_not_the_container():
    changed = [
        replace(DENSE, X=DENSE.X + 1e-3),
        replace(DENSE, X=DENSE.X.reshape(2, 3)),
        replace(DENSE, target=np.array([0, 1, 0])),
        replace(DENSE, classes=np.array(["b", "a"])),
        replace(DENSE, extras={"split": np.zeros(3)}),
    ]
    assert len({checksum(arrays) for arrays in [DENSE, *changed]}) == len(changed) + 1
    same = [replace(DENSE, X=np.asfortranarray(DENSE.X)), replace(DENSE, X=DENSE.X.astype("i2"))]
    assert {checksum(arrays) for arrays in same} == {checksum(DENSE)}
    unsorted = sp.csr_array(([2.0, 1.0, 0.0], [1, 0, 1], [0, 2, 3]), shape=(2, 2))
    plain = sp.csr_array(np.array([[1.0, 2.0], [0.0, 0.0]]))
    two = {checksum(Arrays(X, np.zeros(2))) for X in (unsorted, plain)}
    assert len(two) == 1


def test_another_copy_than_ours_may_differ_in_content_but_not_in_size(tiny):
    rng = np.random.default_rng(1)
    source = replace(tiny.sources[0], same_file=False)
    other = replace(tiny, sources=(source,))
    arrays = Arrays(rng.normal(size=(12, 5)), np.repeat([0, 1], [5, 7]), np.array(["1", "2"]), url=source.url)
    assert verify(other, arrays, "here") is False
    with pytest.raises(DatasetError, match="checksum"):
        verify(tiny, arrays, "here")
    with pytest.raises(DatasetError, match="12 x 4"):
        verify(other, replace(arrays, X=arrays.X[:, :4]), "here")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, the system knows the home")
def test_a_user_without_a_home_has_no_cache(monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME", "ISPCA_CACHE"):
        monkeypatch.delenv(name, raising=False)

    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert cache_folder() is None
