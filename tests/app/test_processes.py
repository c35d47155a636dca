"""The queue of runs: order, cancellation at any moment, kills, and no process or file left behind.

A small script stands in for the worker, so that these tests are fast.
"""

import asyncio
import os
import shutil
import signal
import sqlite3
import sys
from contextlib import asynccontextmanager, closing

import pytest

from app_server import children_of, make_settings, open_files, processes_of
from ispca.app import processes
from ispca.app.processes import PreviewError, Processes
from ispca.app.run_folders import COMMAND, GONE, MARK, write_mark
from ispca.app.store import CANCELLED, DONE, FAILED, INTERRUPTED, QUEUED, RUNNING, RunStore, new_run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
WORKER = """
import json, os, subprocess, sys, time, signal
line = sys.stdin.readline()
if not line: sys.exit()
request = json.loads(line)
while "preview" in request:
    what = request["preview"]["what"]
    if what == "long": print("x" * 40_000_000)
    if what == "sleep": time.sleep(60)
    if what == "crash": os.abort()
    print(json.dumps({"pid": os.getpid()}), flush=True)
    request = json.loads(sys.stdin.readline())
os.chdir(request["run"])
what = open("what").read()
open("pid", "w").write(str(os.getpid()))
def leave(*_): os._exit(130)
signal.signal(signal.SIGINT, leave)
if "stubborn" in what: signal.signal(signal.SIGINT, signal.SIG_IGN)
if "child" in what: subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
if "part" in what: os.mkdir(".results.part")
open("started", "w").close()
if "short" in what: time.sleep(1)
elif "sleep" in what: time.sleep(60)
if "abort" in what: os.abort()
if "bad_alloc" in what: open("printed.txt", "w").write("std::bad_alloc"); os.abort()
if "fail" in what:
    error = {"problem": "No column 'x'.", "advice": "Set it."}
    json.dump({"error": error}, open("progress.json", "w"))
    sys.exit(3)
os.mkdir("results")
json.dump({"supervised_components": 2}, open("result.json", "w"))
"""


class Queue:
    def __init__(self, settings, store):
        self.settings, self.store = settings, store
        self.processes = Processes(settings, store)

    def add(self, what=""):
        run = self.store.add_run(new_run("fit", what, {}, {}))
        self.settings.run_folder(run.id).mkdir()
        write_mark(self.settings.run_folder(run.id), run)
        for name in ("what", COMMAND):
            (self.settings.run_folder(run.id) / name).write_text(what)
        self.processes.start(run.id)
        return run.id

    def state(self, id):
        return self.store.run(id).state

    async def started(self, id):
        await self.until(lambda: (self.settings.run_folder(id) / "started").exists())
        return int((self.settings.run_folder(id) / "pid").read_text())

    async def ended(self, id):
        await self.until(lambda: self.state(id) not in (QUEUED, RUNNING))
        return self.store.run(id)

    async def until(self, condition):
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.01)


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Run a test with a queue, and see that no process, file handle or unfinished file is left."""
    monkeypatch.setattr(processes, "WORKER", (sys.executable, "-c", WORKER))
    monkeypatch.setattr(processes, "SECONDS_TO_LEAVE", 0.5)
    settings = make_settings(tmp_path)

    @asynccontextmanager
    async def queue():
        found = Queue(settings, RunStore(tmp_path / "x.sqlite"))
        found.processes.recover()
        try:
            yield found
        finally:
            await found.processes.close()
            found.store.close()

    def run(test):
        async def whole():
            async with queue() as found:
                await test(found)

        before = open_files(os.getpid()), set(children_of(os.getpid()))
        asyncio.run(whole())
        assert set(children_of(os.getpid())) <= before[1]
        assert open_files(os.getpid()) <= before[0]
        assert not list(tmp_path.glob("runs/*/.*"))

    return run


def test_runs_end_with_their_verdict_or_their_error(check):
    async def test(queue):
        good, bad, killed = queue.add(), queue.add("fail part"), queue.add("abort")
        assert (await queue.ended(good)).verdict == "2 supervised components."
        failed = await queue.ended(bad)
        assert (failed.state, failed.exit_code) == (FAILED, 3)
        assert failed.message == "No column 'x'. Set it."
        assert "SIGABRT" in (await queue.ended(killed)).message

    check(test)


def test_one_run_after_the_other(check):
    async def test(queue):
        first, second = queue.add("sleep"), queue.add()
        await queue.started(first)
        assert queue.state(second) == QUEUED
        await queue.processes.cancel(first)
        assert queue.state(first) == CANCELLED
        assert (await queue.ended(second)).state == DONE

    check(test)


@pytest.mark.parametrize("what", ["sleep", "sleep child part", "sleep stubborn child"])
def test_a_cancelled_run_leaves_no_process(check, what):
    async def test(queue):
        id = queue.add(what)
        group = await queue.started(id)
        # Twice, as by two browsers.
        await asyncio.gather(queue.processes.cancel(id), queue.processes.cancel(id))
        assert queue.state(id) == CANCELLED
        assert processes_of(group) == []

    check(test)


def test_runs_are_cancelled_before_they_start(check):
    async def test(queue):
        at_once = queue.add()
        await queue.processes.cancel(at_once)
        assert queue.state(at_once) == CANCELLED
        running, waiting = queue.add("sleep"), queue.add()
        await queue.started(running)
        await queue.processes.cancel(waiting)
        assert queue.state(waiting) == CANCELLED
        await queue.processes.cancel("unknown")

    check(test)


@pytest.mark.parametrize("pause", [0, 0.001, 0.01, 0.05, 0.2])
def test_runs_are_cancelled_at_any_moment_and_run_again(check, pause):
    async def test(queue):
        id = queue.add()
        await asyncio.sleep(pause)
        await queue.processes.cancel(id)
        assert queue.state(id) in (CANCELLED, DONE)
        assert queue.store.queue(id)
        queue.processes.start(id)
        assert (await queue.ended(id)).state == DONE

    check(test)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_a_killed_worker_takes_its_processes_along(check, name):
    async def test(queue):
        id = queue.add("sleep child")
        group = await queue.started(id)
        os.kill(group, getattr(signal, name))
        run = await queue.ended(id)
        assert (run.state, run.message) == (FAILED, f"A process was ended from outside ({name}). Try again.")
        await queue.until(lambda: processes_of(group) == [])

    check(test)


def test_a_waiting_worker_that_was_killed_is_replaced(check):
    async def test(queue):
        spare = await queue.processes._spare
        spare.kill()
        await spare.wait()
        assert (await queue.ended(queue.add())).state == DONE

    check(test)


def test_a_stopped_server_interrupts_what_runs_and_keeps_what_waits(check):
    ids = []

    async def first(queue):
        ids.extend([queue.add("sleep part"), queue.add()])
        await queue.started(ids[0])

    async def second(queue):
        assert queue.state(ids[0]) == INTERRUPTED
        assert (await queue.ended(ids[1])).state == DONE

    check(first)
    check(second)


def test_a_killed_server_leaves_no_unfinished_results(check, tmp_path):
    store = RunStore(tmp_path / "x.sqlite")
    run = store.add_run(new_run("fit", "x", {}, {}))
    store.start(run.id)
    folder = tmp_path / "runs" / run.id
    for name in ("results", "store", ".results.part"):
        (folder / name).mkdir(parents=True)
    write_mark(folder, run)
    store.close()

    async def test(queue):
        assert queue.state(run.id) == INTERRUPTED
        assert {path.name for path in folder.iterdir()} == {"store", MARK}

    check(test)


def test_previews_at_once_leave_no_process(check):
    async def test(queue):
        wanted = [{"what": "", "matrix": f"{i}.csv"} for i in range(8)]
        answers = await asyncio.gather(*map(queue.processes.preview, wanted))
        assert len({answer["pid"] for answer in answers}) == 8
        assert len(queue.processes._idle) == processes.MOST_IDLE

    check(test)


def test_previews_of_the_same_files_ask_the_same_worker(check, monkeypatch):
    monkeypatch.setattr(processes, "SECONDS_BETWEEN_TRIES", 0.05)

    async def test(queue):
        async def pid(**wanted):
            return (await queue.processes.preview({"what": "", "matrix": "x.csv"} | wanted))["pid"]

        first = await pid()
        assert await pid(options={"cv": 3}, annotation="a.csv") == first
        assert first not in (other := await pid(sheet="s.csv"), await pid(matrix="y.csv"))
        # Two pages at once need two workers, of which one is kept.
        assert len(set(await asyncio.gather(pid(), pid()))) == 2
        assert len(queue.processes._idle) == 3
        with pytest.raises(PreviewError):
            await pid(what="crash", sheet="s.csv")
        assert await pid(sheet="s.csv") != other
        monkeypatch.setattr(processes, "IDLE_SECONDS", 0.0)
        await queue.until(lambda: not queue.processes._idle)

    check(test)


def test_a_worker_that_was_killed_between_two_previews_is_replaced(check):
    async def test(queue):
        for pause in (0, 0.5):
            group = (await queue.processes.preview({"what": ""}))["pid"]
            os.kill(group, signal.SIGKILL)
            await asyncio.sleep(pause)
            assert (await queue.processes.preview({"what": ""}))["pid"] != group

    check(test)


@pytest.mark.parametrize(
    ("what", "message"), [("crash", "SIGABRT"), ("long", "too long"), ("sleep", "takes too long")]
)
def test_failed_previews_say_why(check, monkeypatch, what, message):
    monkeypatch.setattr(processes, "PREVIEW_SECONDS", 1.0)

    async def test(queue):
        with pytest.raises(PreviewError, match=message):
            await queue.processes.preview({"what": what})

    check(test)


@pytest.mark.parametrize("pause", [0, 0.001, 0.1, 0.5])
def test_an_abandoned_preview_is_stopped(check, pause):
    async def test(queue):
        task = asyncio.ensure_future(queue.processes.preview({"what": "sleep"}))
        await asyncio.sleep(pause)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    check(test)


def test_a_worker_that_cannot_start_fails_its_run(check, monkeypatch):
    async def test(queue):
        await queue.processes._spare
        monkeypatch.setattr(processes, "WORKER", ("/does/not/exist",))
        first, second = queue.add(), queue.add()
        assert {(await queue.ended(id)).state for id in (first, second)} == {DONE, FAILED}
        assert "could not start" in queue.store.run(second).message

    check(test)


def test_memory_is_blamed_only_if_there_is_evidence(check):
    async def test(queue):
        assert "more memory" in (await queue.ended(queue.add("bad_alloc"))).message

    check(test)


def test_a_folder_that_was_deleted_by_hand_is_named(check):
    async def test(queue):
        first, second = queue.add("sleep"), queue.add()
        await queue.started(first)
        shutil.rmtree(queue.settings.run_folder(second))
        await queue.processes.cancel(first)
        assert (await queue.ended(second)).message == GONE

    check(test)


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_locked_database_neither_keeps_a_run_nor_stops_the_queue(
    check, monkeypatch, tmp_path, capsys, cancelled
):
    monkeypatch.setattr(processes, "SECONDS_BETWEEN_TRIES", 0.05)

    async def test(queue):
        for connection in queue.store._connections:
            connection.execute("PRAGMA busy_timeout = 100")
        first, second = queue.add("sleep" if cancelled else "short sleep"), queue.add()
        group = await queue.started(first)
        other = sqlite3.connect(tmp_path / "x.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        if cancelled:
            await queue.processes.cancel(first)
        ended = await queue.ended(first)
        assert (ended.state, processes_of(group)) == (CANCELLED if cancelled else DONE, [])
        assert not queue.store.is_written
        assert queue.state(second) == QUEUED
        other.execute("ROLLBACK")
        other.close()
        assert (await queue.ended(second)).state == DONE
        await queue.until(lambda: queue.store.is_written)
        with closing(RunStore(tmp_path / "x.sqlite")) as written:
            assert written.run(first).state == ended.state

    check(test)
    # Once for the end of the first run and once for the start of the second.
    assert capsys.readouterr().err.count("database is locked") <= 2


def test_a_server_whose_database_is_lost_still_stops(check):
    async def test(queue):
        group = await queue.started(queue.add("sleep"))
        queue.store.close()
        await queue.processes.close()
        assert processes_of(group) == []

    check(test)
