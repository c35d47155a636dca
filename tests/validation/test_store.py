"""Finished fits on disk: exact, whole or not there, and never mistaken."""

import json
import os
import time

import numpy as np
import pytest

from ispca.validation.prediction import Prediction
from ispca.validation.store import Failure, Store

KEY = "0123456789abcdef" * 2


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "fits")
    store.open()
    return store


@pytest.fixture
def prediction(rng):
    return Prediction(
        value=rng.integers(0, 3, 5),
        probabilities=rng.dirichlet(np.ones(3), 5),
        log_density=np.array([-0.1, 1e-300, -np.inf, np.pi, np.nan]),
        seconds_model=0.1 + 0.2,
        posterior={"r_hat": 1.003, "bulk_ess": 812.5, "n_draws": 4000, "n_divergent": 0},
        messages=("über", "two\nlines"),
    )


def test_what_is_read_equals_what_was_written(store, prediction):
    store.write(KEY, prediction)
    back = store.read(KEY)
    for name, value in vars(prediction).items():
        np.testing.assert_array_equal(getattr(back, name), value, err_msg=name)
    assert back.value.dtype.kind == "i"
    assert isinstance(back.messages, tuple)


def test_a_failure_is_kept_as_one(store):
    store.write(KEY, Failure("ValueError: X"))
    assert store.read(KEY) == Failure("ValueError: X")


def test_nothing_there(store):
    assert store.read(KEY) is None
    assert store.finished([KEY]) == 0


def test_every_cut_file_is_no_result(store, prediction):
    store.write(KEY, prediction)
    whole = store.path(KEY).read_bytes()
    for length in range(0, len(whole), 7):
        store.path(KEY).write_bytes(whole[:length])
        assert store.read(KEY) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda content: {**content, "format": 99},
        lambda content: {name: item for name, item in content.items() if name != "format"},
        lambda content: {name: item for name, item in content.items() if name != "log_density"},
        lambda content: {**content, "more": 1},
        lambda content: [content],
        lambda content: {"kind": "Failure", "format": 1},
        lambda content: 5,
    ],
)
def test_foreign_content_is_no_result(store, prediction, change):
    store.write(KEY, prediction)
    content = json.loads(store.path(KEY).read_text())
    store.path(KEY).write_text(json.dumps(change(content)))
    assert store.read(KEY) is None


def test_bytes_and_folders_are_no_result(store):
    store.path(KEY).write_bytes(bytes(range(256)))
    assert store.read(KEY) is None
    store.path(KEY).unlink()
    store.path(KEY).mkdir()
    assert store.read(KEY) is None


def test_a_write_that_fails_leaves_the_old_result_and_no_litter(store, prediction, monkeypatch):
    store.write(KEY, prediction)

    def full_disk(handle):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        store.write(KEY, Failure("later"))
    assert isinstance(store.read(KEY), Prediction)
    assert [path.name for path in store.path(KEY).parent.iterdir()] == [f"{KEY}.json"]


def test_sweeping_removes_old_litter_only(store):
    folder = store.path(KEY).parent
    old, new, foreign = (
        folder / name for name in (f"{KEY}.{KEY}.part", f"{KEY}.{KEY[::-1]}.part", "film.mkv.part")
    )
    for path in (old, new, foreign):
        path.touch()
    hour_ago = time.time() - 3600
    os.utime(old, (hour_ago, hour_ago))
    os.utime(foreign, (hour_ago, hour_ago))
    store.sweep()
    assert sorted(folder.iterdir()) == sorted([new, foreign])


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_file_is_no_directory(tmp_path, below):
    path = tmp_path / "results.csv"
    path.write_text("important")
    with pytest.raises(ValueError, match=r"resume=.*results.csv.*pass a new or existing directory"):
        Store(path / below).open()
    assert path.read_text() == "important"
