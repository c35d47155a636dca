"""What the server does to the folders of runs and uploads, and why a run failed, in the words of the page."""

import errno
import json
import os
import shutil
from contextlib import closing
from datetime import date
from types import SimpleNamespace

import pytest

from app_server import make_settings
from ispca.app.processes import Processes
from ispca.app.run_folders import (
    COMMAND,
    DISK_FULL,
    MARK,
    PROGRESS,
    RESULT,
    discard,
    empty_trash,
    error_text,
    rebuild,
    trash_count,
    verdict_text,
    write_mark,
)
from ispca.app.store import DONE, RUNNING, RunStore, Upload, new_run


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"error": {"problem": "x.csv is empty.", "advice": "", "control": None}}, "x.csv is empty."),
        ({"error": {"problem": "No target.", "advice": "Set it.", "control": "target"}}, "No target. Set it."),
        ({"notes": ["a note"]}, "The run failed without a message."),
        ([], "The run failed without a message."),
    ],
)
def test_the_error_of_a_run_says_why(tmp_path, told, text):
    (tmp_path / PROGRESS).write_text(json.dumps(told))
    assert error_text(tmp_path) == text


def test_a_message_that_did_not_fit_on_the_disk(tmp_path, monkeypatch):
    assert error_text(tmp_path, errno.ENOSPC) == DISK_FULL
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    assert error_text(tmp_path) == DISK_FULL


@pytest.mark.parametrize(
    ("known", "added"), [(0, ""), (1, "; 1 is a training sample"), (2, "; 2 are training samples")]
)
def test_predictions_of_training_samples_are_counted(tmp_path, known, added):
    rows = [{"id": f"s{i}", "training_sample": "held-out prediction" if i < known else None} for i in range(3)]
    (tmp_path / RESULT).write_text(json.dumps({"predictions": rows}))
    assert verdict_text("predict", tmp_path) == f"Predicted 3 samples{added}."


@pytest.fixture
def settings(tmp_path):
    return make_settings(tmp_path / "app")


@pytest.fixture
def store(settings):
    with closing(RunStore(settings.folder / "ispca.sqlite")) as found:
        yield found


def make_run(settings, **changes):
    """Return a run that is done, and its folder."""
    run = new_run("fit", "x", {}, {})._replace(**{"state": DONE, "ended": 1.0} | changes)
    folder = settings.run_folder(run.id)
    (folder / "results").mkdir(parents=True)
    for name in (COMMAND, RESULT, "results/report.html"):
        (folder / name).write_text("{}")
    write_mark(folder, run)
    return run, folder


def everything(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_results_stay_although_the_list_and_the_command_are_lost(settings, store):
    run, folder = make_run(settings)
    (folder / COMMAND).unlink()
    before = everything(folder)
    rebuild(settings, store)
    assert (store.run(run.id).state, everything(folder)) == (DONE, before)


def test_an_upload_that_was_edited_by_hand_stays(settings, store):
    upload = Upload("0" * 16, "x.csv", "x.csv", 1, 0.0)
    folder = settings.upload_folder(upload.id)
    folder.mkdir()
    write_mark(folder, upload)
    (folder / "x.csv").write_text("longer")
    rebuild(settings, store)
    assert (store.uploads(), (folder / "x.csv").read_text()) == ([upload], "longer")


@pytest.mark.parametrize("mark", ["none", "damaged", "a link"])
def test_results_that_an_older_list_calls_running_stay(settings, store, monkeypatch, mark):
    """Earlier versions wrote no marks, and what is not marked may be somebody else's."""
    run, folder = make_run(settings)
    (folder / MARK).unlink()
    if mark == "damaged":
        (folder / MARK).write_text("{")
    elif mark == "a link":
        folder.rename(settings.folder / "moved")
        folder.symlink_to(settings.folder / "moved")
    before = everything(folder)
    store.add_run(run._replace(state=RUNNING, ended=None))
    rebuild(settings, store)
    Processes(settings, store)._sweep(run.id) if store.run(run.id).state == RUNNING else None
    after = everything(folder)
    assert {path: after.get(path) for path in before} == before
    assert (store.run(run.id).state == DONE) is (mark == "none")


@pytest.mark.skipif(os.name == "nt", reason="makes a pipe")
def test_a_mark_that_is_no_file_does_not_stop_the_start(settings, store):
    folder = settings.run_folder("0" * 16)
    folder.mkdir()
    os.mkfifo(folder / MARK)
    rebuild(settings, store)
    assert store.runs() == []


def test_a_run_that_was_copied_from_the_trash_is_deleted_again(settings):
    run, folder = make_run(settings)
    discard(settings, run.id)
    (deleted,) = settings.trash_folder.glob(f"*/{run.id}")
    shutil.copytree(deleted, folder)
    (folder / "added").touch()
    discard(settings, run.id)
    assert (folder.exists(), (deleted / "added").exists(), trash_count(settings)) == (False, True, 1)


@pytest.mark.parametrize("what", ["link", "file"])
@pytest.mark.parametrize("day", [False, True])
def test_nothing_is_moved_through_a_link_or_over_a_file(settings, tmp_path, what, day):
    run, folder = make_run(settings)
    before, place = everything(folder), settings.trash_folder
    if day:
        place.mkdir()
        place /= f"{date.today():%Y-%m-%d}"
    (tmp_path / "elsewhere").mkdir()
    place.symlink_to(tmp_path / "elsewhere") if what == "link" else place.write_text("mine")
    with pytest.raises(OSError, match="Move it away") as found:
        discard(settings, run.id)
    assert str(place) in str(found.value)
    assert everything(folder) == before
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_trash_is_emptied_whatever_the_clock_said(settings):
    for _ in range(2):
        discard(settings, make_run(settings)[0].id)
    (day,) = settings.trash_folder.iterdir()
    day.rename(day.with_name("2999-01-01"))
    foreign = day.with_name("2999-01-01") / "mine"
    foreign.mkdir()
    empty_trash(settings, 0)
    assert trash_count(settings) == 2
    empty_trash(settings)
    assert (trash_count(settings), foreign.exists()) == (0, True)
