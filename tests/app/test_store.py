"""The database keeps uploads and runs through threads, kills, and damage."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from ispca.app.store import CANCELLED, DONE, QUEUED, RUNNING, RunStore, StoreError, new_run


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "x.sqlite")


def test_a_run_waits_starts_ends_and_waits_again(store):
    run = store.add_run(new_run("fit", "Zoë's <run>", {"target": "y"}, {"matrix": "m"}))
    assert store.run(run.id) == run
    assert store.waiting() == [run.id]
    assert not store.queue(run.id)
    assert store.start(run.id)
    assert not store.start(run.id)
    assert store.run(run.id).state == RUNNING
    store.end(run.id, DONE, exit_code=0, verdict="Good.")
    assert store.run(run.id).verdict == "Good."
    assert store.queue(run.id)
    again = store.run(run.id)
    assert (again.state, again.verdict, again.ended, again.options) == (QUEUED, None, None, {"target": "y"})


def test_runs_and_children_come_in_order(store):
    first, second = (store.add_run(new_run("fit", name, {}, {})) for name in "ab")
    child = store.add_run(new_run("predict", "c", {}, {}, parent=first.id))
    assert [run.id for run in store.runs()] == [child.id, second.id, first.id]
    assert store.children(first.id) == [child]
    assert store.waiting() == [first.id, second.id, child.id]
    store.delete_run(second.id)
    assert {run.id for run in store.runs()} == {first.id, child.id}
    assert store.run(second.id) is None


def test_names_are_values_not_queries(store):
    hostile = "x'; DROP TABLE runs; --"
    run = store.add_run(new_run("fit", hostile, {}, {}))
    assert store.run(hostile) is None
    assert store.run(run.id).name == hostile


def test_many_threads_write_at_once(store):
    def work():
        for _ in range(20):
            run = store.add_run(new_run("fit", "x", {}, {}))
            store.start(run.id)
            store.end(run.id, CANCELLED)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.state for run in store.runs()] == [CANCELLED] * 160


def test_many_changes_of_a_locked_database_fail_together(store, tmp_path, monkeypatch):
    """One after the other would take as long as all of them together."""
    monkeypatch.setattr("ispca.app.store.SECONDS_TO_CHANGE", 0.5)
    for connection in store._connections:
        connection.execute("PRAGMA busy_timeout = 500")
    with closing(sqlite3.connect(tmp_path / "x.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        before = time.monotonic()
        with ThreadPoolExecutor(30) as pool:
            failures = [pool.submit(store.add_run, new_run("fit", "x", {}, {})).exception for _ in range(30)]
            assert {type(failure()) for failure in failures} == {StoreError}
        assert time.monotonic() - before < 7.5
        other.execute("ROLLBACK")
    assert store.add_run(new_run("fit", "x", {}, {})) in store.runs()


@pytest.mark.skipif(os.name == "nt", reason="needs kill -9")
def test_what_was_recorded_survives_kill_9(tmp_path):
    code = (
        "import os, sys; from ispca.app.store import RunStore, new_run\n"
        "s = RunStore(sys.argv[1])\n"
        "for i in range(50): s.add_run(new_run('fit', str(i), {}, {}))\n"
        "os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.sqlite")])
    assert killed.returncode == -signal.SIGKILL
    assert len(RunStore(tmp_path / "x.sqlite").runs()) == 50


def test_damage_and_newer_versions_are_named(tmp_path):
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match="Move it away"):
        RunStore(path)
    path.unlink()
    RunStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer version"):
        RunStore(path)
    with pytest.raises(StoreError, match="Could not open"):
        RunStore(tmp_path / "missing" / "x.sqlite")


def test_a_database_that_cannot_grow_says_so(store):
    pages = store._rows("PRAGMA page_count")[0][0]
    store._change(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="full"):
        store.add_run(new_run("fit", "x" * 100_000, {}, {}))
    assert store.runs() == []
