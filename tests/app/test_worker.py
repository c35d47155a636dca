"""The worker: hostile files are refused in one sentence, memory is limited, and it leaves with its server."""

import errno
import gzip
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from app_server import table, wait_for
from ispca.app.run_folders import DISK_FULL
from ispca.app_worker import RunListener, answer
from ispca.foundation.killed_processes import killed_by
from ispca.foundation.messages import SettingError
from ispca.foundation.progress import Stage
from ispca.readers import TableError
from ispca.readers.kept_files import KeptFiles

LIMIT = 700_000_000


class Harmful:
    def __reduce__(self):
        return (os.mkdir, ("harmed",))


def archive(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in entries.items():
            zipped.writestr(name.replace("_", "."), content)
    return file.getvalue()


def pickled_array():
    file = io.BytesIO()
    np.save(file, np.array([[Harmful()]], dtype=object), allow_pickle=True)
    return file.getvalue()


HOSTILE = {
    "truncated.csv.gz": gzip.compress(table())[:-20],
    "garbage.csv.gz": os.urandom(1000),
    "garbage.xlsx": b"PK\x03\x04" + os.urandom(1000),
    "garbage.parquet": b"PAR1" + os.urandom(1000) + b"PAR1",
    "garbage.h5ad": b"\x89HDF\r\n\x1a\n" + os.urandom(1000),
    "garbage.npy": b"\x93NUMPY" + os.urandom(100),
    "garbage.csv": os.urandom(5000),
    "pickle.npz": archive(X_npy=pickled_array(), y_npy=pickled_array()),
    "pickle.npy": pickled_array(),
    "raw.npz": pickle.dumps(Harmful()),
    "page.csv": b"<script>alert(1)</script>\n<img src=x onerror=alert(1)>\n",
    "nothing.csv": b"\n\n\n",
    "other.xlsx": archive(a_txt=b"x"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_contents_are_refused_in_words(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(HOSTILE[name])
    found = answer({"preview": {"matrix": name, "sheet": None, "options": {}}, "memory": LIMIT}, KeptFiles())
    problem = found["error"]["problem"]
    assert problem
    assert "Traceback" not in problem
    assert not (tmp_path / "harmed").exists()
    json.dumps(found, allow_nan=False)


def test_unexpected_failures_become_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("ispca.app_worker.preview", lambda *_: 1 / 0)
    request = {"preview": {"matrix": "x.csv", "sheet": None, "options": {}}, "memory": LIMIT}
    assert answer(request, KeptFiles())["error"]["problem"] == "The file could not be read (ZeroDivisionError)."


def worker(request):
    command = [sys.executable, "-m", "ispca.app_worker"]
    process = subprocess.Popen(command, stdin=-1, stdout=-1, start_new_session=True)
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    return process


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory limit of Linux")
def test_a_bomb_stays_within_the_memory_limit(tmp_path):
    line = b"1," * 200_000 + b"1\n"
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(line * 500, 1))
    assert path.stat().st_size < 2e6
    with worker({"preview": {"matrix": str(path), "sheet": None, "options": {}}, "memory": LIMIT}) as process:
        # Its standard input stays open until it has answered, as that of the server does.
        said = process.stdout.readline()
        process.stdin.close()
        assert said == b"" or "memory" in json.loads(said)["error"]["problem"]


def test_it_answers_further_previews_until_its_server_leaves(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(table())
    choices = [{}, {"target": "state"}, {"target": "g1", "missing": "mean"}, {"target": "nothing"}, {"cv": "many"}]
    with worker({"preview": {"matrix": str(path), "options": {}}, "memory": 4 * 10**9}) as process:
        first = json.loads(process.stdout.readline())
        for options in choices:
            request = {"preview": {"matrix": str(path), "options": options}, "memory": 4 * 10**9}
            assert ask(process, request) == json.loads(json.dumps(answer(request, KeptFiles())))
        path.write_bytes(table(features=9))
        assert ask(process, request | {"preview": {"matrix": str(path), "options": {}}})["features"] == 9
        process.stdin.close()
    assert first["features"] == 5


def write_command(folder, matrix, **options):
    command = {"kind": "fit", "options": options, "files": {"matrix": matrix}, "names": {}, "model": None}
    (folder / "command.json").write_text(json.dumps(command))


def told(folder):
    return json.loads((folder / "progress.json").read_text())


def ask(process, request):
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory limit of Linux")
def test_a_run_without_enough_memory_ends_with_one_sentence(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.random.default_rng(0).normal(size=(300, 100_000)), y=np.arange(300) % 2)
    write_command(tmp_path, "x.npz")
    process = worker({"run": str(tmp_path), "memory": LIMIT})
    assert process.wait(120) in (1, 3)
    assert "memory" in told(tmp_path)["error"]["problem"]
    assert "Traceback" not in (tmp_path / "printed.txt").read_text()
    assert not (tmp_path / "results").exists()
    assert not (tmp_path / "result.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="process groups")
def test_it_leaves_with_its_server(tmp_path):
    rows = table(400, 60)
    (tmp_path / "x.csv").write_bytes(rows)
    write_command(tmp_path, "x.csv", target="state", draws=50_000)
    process = worker({"run": str(tmp_path), "memory": 4 * 10**9})
    wait_for(
        lambda: (
            "ampling" in (tmp_path / "progress.json").read_text() if (tmp_path / "progress.json").exists() else 0
        )
    )
    process.stdin.close()
    assert process.wait(10) != 0
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_it_leaves_without_a_request():
    assert subprocess.run([sys.executable, "-m", "ispca.app_worker"], stdin=subprocess.DEVNULL).returncode == 0


def test_stages_are_written_in_order_and_whole(tmp_path):
    file = RunListener(tmp_path / "progress.json")
    file.hear(Stage("Reading", 0.5))
    file.hear(Stage("Reading", 1.234, ended=True))
    file.hear(Stage("Sampling", 2.0, 1, 4, 6.0))
    stages = told(tmp_path)["stages"]
    assert [(stage["name"], stage["state"], stage["seconds"]) for stage in stages] == [
        ("Reading", "done", 1.23),
        ("Sampling", "running", 2.0),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["progress.json"]


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "code", "problem", "advice", "control"),
    [
        (
            TableError("x.csv has no column 'y'.", "⟦Pass target=COLUMN⟧."),
            3,
            "no column",
            "Set “Target”.",
            "target",
        ),
        (SettingError("⟦cv=1⟧ leaves nothing to fit."), 2, "“Folds of the cross-validation”: “1”", "", "cv"),
        (MemoryError(), 1, "more memory than the limit of a process (2.0 GB)", "", None),
        (FULL, errno.ENOSPC, DISK_FULL, "", None),
        (ChildProcessError(killed_by("SIGKILL")), 1, "ended from outside (SIGKILL)", "", None),
        (ZeroDivisionError("x"), 1, "ZeroDivisionError('x')", "", None),
    ],
)
def test_errors_are_told_as_data(tmp_path, error, code, problem, advice, control):
    listener = RunListener(tmp_path / "progress.json")
    listener.note("Column 'a' (⟦target=⟧) is text.")
    listener.warn("It leaks.", "leak")
    assert listener.fail(error, 2 * 10**9) == code
    found = told(tmp_path)
    assert found["notes"] == ["Column 'a' (“Target”) is text.", "warning: It leaks."]
    assert problem in found["error"].pop("problem")
    assert found["error"] == {"advice": advice, "control": control}
