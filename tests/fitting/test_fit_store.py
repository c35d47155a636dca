"""Finished fits on disk: exact, whole or not there, and never mistaken."""

import json
import os
import stat
import time

import numpy as np
import pytest

from ispca.fitting.fit_store import FORMAT, Failure, Store, _checksum
from ispca.targets.samples import Prediction
from odd_methods import TrainingMeans

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


def test_a_record_of_another_type_is_no_result(store, prediction):
    store.write(KEY, prediction)
    other = Store(store.path(KEY).parent, record=TrainingMeans)
    assert other.read(KEY) is None
    other.write(KEY, TrainingMeans(np.eye(2), 3, ("a", "b")))
    assert store.read(KEY) is None
    back = other.read(KEY)
    np.testing.assert_array_equal(back.means, np.eye(2))
    assert (back.seed, back.names) == (3, ("a", "b"))


def test_nothing_there(store):
    assert store.read(KEY) is None
    assert store.count_stored([KEY]) == 0


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
        lambda content: {"kind": "Failure", "format": FORMAT},
        lambda content: 5,
    ],
)
def test_foreign_content_is_no_result(store, prediction, change):
    """Even with the right checksum."""
    store.write(KEY, prediction)
    record = change(json.loads(store.path(KEY).read_text())["record"])
    store.path(KEY).write_text(json.dumps({"checksum": _checksum(KEY, record), "record": record}))
    assert store.read(KEY) is None
    store.path(KEY).write_text(json.dumps(record))
    assert store.read(KEY) is None


def altered(record):
    """Yield the record with one thing changed at a time."""
    for name in record:
        yield {other: item for other, item in record.items() if other != name}
    yield {**record, "log_density": [0.0, *record["log_density"][1:]]}
    yield {**record, "value": record["value"][::-1]}
    yield {**record, "seconds_model": 0.3}
    yield {**record, "messages": []}
    yield {**record, "posterior": {**record["posterior"], "n_divergent": 1}}


def test_an_altered_record_is_no_result(store, prediction):
    store.write(KEY, prediction)
    content = json.loads(store.path(KEY).read_text())
    store.path(KEY).write_text(json.dumps(content, indent=1))
    assert store.read(KEY) is not None
    for record in altered(content["record"]):
        store.path(KEY).write_text(json.dumps({**content, "record": record}))
        assert store.read(KEY) is None


def test_every_flipped_digit_is_seen(store, prediction):
    store.write(KEY, prediction)
    whole = store.path(KEY).read_text()
    for place in [place for place, letter in enumerate(whole) if letter in "123456789"]:
        store.path(KEY).write_text(whole[:place] + str(int(whole[place]) - 1) + whole[place + 1 :])
        # Beyond its last digit a number is read as the same one.
        back = store.read(KEY)
        assert back is None or np.array_equal(back.probabilities, prediction.probabilities)


def test_a_record_under_another_name_is_no_result(store, prediction):
    store.write(KEY, prediction)
    store.path(KEY).rename(store.path(KEY[::-1]))
    assert store.read(KEY[::-1]) is None


def test_file_and_folder_are_synced(store, prediction, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(os.fstat(handle).st_mode), fsync(handle)))
    store.write(KEY, prediction)
    assert [stat.S_ISDIR(mode) for mode in synced] == [False, True]


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
        folder / name
        for name in (f".{KEY}.json.{KEY[:16]}.part", f".{KEY}.json.{KEY[15::-1]}.part", ".film.mkv.part")
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
