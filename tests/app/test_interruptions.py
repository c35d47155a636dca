"""Real runs that are killed, cancelled at every stage or stopped by a full disk leave nothing half-done."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from app_server import PATIENCE, Server, children_of, processes_of, table, wait_for
from ispca.app.requests_and_uploads import SPARE_BYTES
from ispca.app.run_folders import DISK_FULL, read_progress

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]
STAGES = ("Reading", "Finding components", "Sampling the posterior", "Cross-validating", "Writing")


def test_a_killed_comparison_continues(tmp_path):
    first = Server(tmp_path, "--runs", "1")
    fit = first.fit(table(60, 20), draws=4000)
    queued = first.fit(table())
    folder = tmp_path / "runs" / fit
    wait_for(lambda: "Sampling the posterior" in names_of(folder))
    stop_at_once(first)
    with Server(tmp_path, "--runs", "1") as second:
        assert second.wait(queued)["state"] == "done"
        assert second.run(fit)["state"] == "interrupted"
        id = compared(second, queued)
        store = tmp_path / "runs" / id / "store"
        wait_for(lambda: len(written(store)) >= 2)
        stop_at_once(second)
    before = written(store)
    with Server(tmp_path, "--runs", "1") as third:
        assert third.run(id)["state"] == "interrupted"
        assert third.api("POST", f"/runs/{id}/again")[0] == 200
        assert third.api("POST", f"/runs/{fit}/again")[0] == 200
        comparing = wait_for(lambda: [stage for stage in third.run(id)["stages"] if stage["name"] == "Comparing"])
        assert len(before) <= comparing[0]["done"]
        resumed = third.wait(id)
        assert resumed["state"] == "done", resumed["message"]
        after = written(store)
        assert len(before) < len(after) == comparing[0]["total"]
        # Finished fits are not written a second time.
        assert before.items() <= after.items()
        undisturbed = third.wait(compared(third, queued))
        assert numbers(resumed) == numbers(undisturbed)
        assert third.wait(fit)["state"] == "done"


def test_a_run_is_cancelled_at_every_stage(tmp_path):
    with Server(tmp_path, "--runs", "1") as server:
        long = server.fit(table(60, 20), draws=100_000)
        id = server.fit(table(100, 3000), draws=500, cv=2)
        assert server.api("POST", f"/runs/{id}/cancel")[1]["state"] == "cancelled"
        assert server.api("POST", f"/runs/{long}/cancel")[1]["state"] == "cancelled"
        folder = tmp_path / "runs" / id
        for stage in STAGES:
            assert server.api("POST", f"/runs/{id}/again")[0] == 200
            worker = worker_at(server, id, stage)
            found = server.api("POST", f"/runs/{id}/cancel")[1]
            assert (found["state"], found["files"], found["result"]) == ("cancelled", [], None)
            assert found["stages"][-1]["name"].startswith(stage)
            assert processes_of(worker) == []
            assert {path.name for path in folder.iterdir()} == {
                *("command.json", "printed.txt", "progress.json", "tiny.csv", "ispca.json")
            }
        assert server.api("POST", f"/runs/{id}/again")[1]["state"] in ("queued", "running")


def test_a_full_disk_ends_a_run_with_one_sentence(small_disk):
    with Server(small_disk, "--runs", "1") as server:
        id = server.fit(table(60, 20), draws=20_000)
        wait_for(lambda: "Sampling the posterior" in names_of(small_disk / "runs" / id))
        ballast, folder = fill(small_disk), small_disk / "runs" / id
        wait_for(lambda: not [pid for pid in children_of(server.process.pid) if works_in(pid, folder)])
        assert server.request("GET", "/")[0] == 200
        ballast.unlink()
        # Only now the list of runs can be changed.
        run = server.wait(id)
        assert (run["state"], run["message"], run["files"]) == ("failed", DISK_FULL, [])
        assert server.api("POST", f"/runs/{id}/again")[0] == 200
        assert server.wait(id)["state"] == "done"


def test_runs_are_deleted_on_a_full_disk(small_disk):
    with Server(small_disk, "--runs", "1") as server:
        first, second = server.fit(table()), server.fit(table())
        for id in (first, second):
            assert server.wait(id)["state"] == "done"
        assert server.request("DELETE", f"/api/runs/{first}")[0] == 204
        assert server.api("GET", "/trash")[1] == {"count": 1}
        ballast = fill(small_disk)
        # Nothing would be gained in the trash.
        assert server.request("DELETE", f"/api/runs/{second}")[0] == 204
        assert server.api("GET", "/trash")[1] == {"count": 1}
        assert server.api("DELETE", "/trash")[0] == 204
        assert list(small_disk.glob("runs/*/*")) == list(small_disk.glob("uploads/*/*")) == []
        ballast.unlink()
        assert server.wait(server.fit(table()))["state"] == "done"
    with Server(small_disk) as server:
        assert len(server.api("GET", "/runs")[1]) == 1


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for little more than what uploads leave free."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={SPARE_BYTES + 8 * 2**20}", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def fill(folder):
    """Write a file until no byte is free."""
    path = folder / "ballast"
    with open(path, "wb", buffering=0) as file, suppress(OSError):
        # The last writes are cut short and then refused.
        while file.write(bytes(2**20)):
            pass
    return path


def stop_at_once(server):
    """Kill a server, and wait until all its workers have noticed."""
    groups = children_of(server.process.pid)
    server.stop(signal.SIGKILL)
    wait_for(lambda: not [pid for group in groups for pid in processes_of(group)], 10)


def compared(server, fit):
    return server.api("POST", f"/runs/{fit}/compare", {"splits": 1})[1]["id"]


def written(store):
    return {path.name: path.stat().st_mtime_ns for path in store.glob("*.json")}


def numbers(run):
    """Return the results of the methods, without times."""
    methods = sorted(run["result"]["methods"], key=lambda row: row["method"])
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in methods]


def names_of(folder):
    return [stage["name"] for stage in read_progress(folder)["stages"]]


def worker_at(server, id, stage):
    """Return the worker of a run as soon as the run has reached a stage; look often, because stages are short."""
    folder, end = server.folder / "runs" / id, time.monotonic() + PATIENCE
    while not any(name.startswith(stage) for name in names_of(folder)):
        assert time.monotonic() < end, stage
        time.sleep(0.005)
    return next(pid for pid in children_of(server.process.pid) if works_in(pid, folder))


def works_in(pid, folder):
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(folder.resolve())
    except OSError:
        return False
