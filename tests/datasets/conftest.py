"""An empty cache, and a small data set that the registry knows and the cache contains."""

import numpy as np
import pytest

from ispca.datasets.arrays import Arrays, checksum
from ispca.datasets.registry import Dataset, Source, all_datasets
from paper.download import write_npz

X = np.random.default_rng(0).normal(size=(12, 5)).astype("f4").astype(float)
ARRAYS = Arrays(X, np.repeat([0, 1], [5, 7]), np.array(["1", "2"]))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no ISPCA_DATA."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ISPCA_CACHE", str(folder))
    monkeypatch.delenv("ISPCA_DATA", raising=False)
    return folder


@pytest.fixture
def data_folder(tmp_path, monkeypatch, cache):
    """An empty folder in ISPCA_DATA."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("ISPCA_DATA", str(folder))
    return folder


@pytest.fixture
def tiny(monkeypatch):
    """A small data set with two classes, known to the registry."""
    words = {"title": "small", "origin": "made for the tests", "study": "none", "scale": "normal"}
    source = Source("https://nowhere/TINY.mat", "mat")
    found = {"counts": (5, 7), "sources": (source,), "checksum": checksum(ARRAYS)}
    record = Dataset(name="tiny", n=12, D=5, target="binary", **words, **found)
    monkeypatch.setitem(all_datasets(), "tiny", record)
    return record


@pytest.fixture
def stored(tiny, cache):
    """The path of the small data set in the cache."""
    cache.mkdir()
    write_npz(cache / "tiny.npz", ARRAYS)
    return cache / "tiny.npz"
