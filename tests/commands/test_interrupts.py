"""Ctrl-C and kills: one line, exit code 130, no process lives on, and the same command continues."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from ispca.analysis.file_names import PANEL_FILES
from ispca.cli import main
from ispca.commands import datasets
from ispca.foundation.messages import SettingError
from ispca.foundation.output_folder import output_folder

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc, signals")]

# A module whose import, or a call that writes, sends Ctrl-C to the process.
INTERRUPTED = """
    import os, re, signal, sys
    sys.argv[:2], (kind, name) = ["ispca"], sys.argv[1].split("=")
    class Finder:
        def find_spec(self, found, path=None, target=None):
            if found == name:
                os.kill(os.getpid(), signal.SIGINT)
    def hear(event, arguments):
        if event == kind and re.search(name, str(arguments[0])):
            os.kill(os.getpid(), signal.SIGINT)
    sys.meta_path.insert(0, Finder()) if kind == "import" else sys.addaudithook(hear)
    from ispca.__main__ import main
    sys.exit(main())
"""
SMALL = ["--max-size", "2", "--folds", "4", "--draws", "40"]
SECONDS = 120


def entries(folder):
    return sorted(entry.name for entry in folder.iterdir())


def interrupted_at(moment, arguments):
    start = [sys.executable, "-c", textwrap.dedent(INTERRUPTED), moment, *arguments]
    return subprocess.run(start, capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.mark.parametrize(
    "module", ["importlib.metadata", "ispca.cli", "numpy", "sklearn.base", "ispca.commands.fit"]
)
def test_ctrl_c_while_modules_are_imported(data, tmp_path, module):
    out = str(tmp_path / "out")
    done = interrupted_at(f"import={module}", ["fit", str(data), "--target", "diagnosis", "--out", out])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ispca: interrupted\n")
    assert entries(tmp_path) == ["data.csv"]


@pytest.mark.parametrize(
    ("moment", "finished"),
    [
        ("os.mkdir=.part", False),
        ("open=scores.csv", False),
        (r"os.rename=/\.out\.\w+\.part$", True),
        (r"os.remove=\.out\.lock$", True),
    ],
    ids=["first", "writing", "last", "unlocking"],
)
def test_ctrl_c_while_results_are_written(data, tmp_path, moment, finished):
    """Nothing remains of a fit, unless its results are being put in place: then they all are."""
    options = ["--target", "diagnosis", "--bags=0", "--components", "2", "--draws", "4", "--cv", "0", "--quiet"]
    done = interrupted_at(moment, ["fit", str(data), *options, "--out", str(tmp_path / "out")])
    expected = (0, "") if finished else (130, "ispca: interrupted\n")
    assert (done.returncode, done.stderr) == expected
    assert entries(tmp_path) == ["data.csv", "out"] if finished else ["data.csv"]


def test_ctrl_c_that_python_turned_into_another_error(monkeypatch, capsys):
    """Python 3.11 does so while it defines classes, as imports do."""

    def run(args):
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(datasets, "run", run)
    assert main(["datasets"]) == 130
    assert capsys.readouterr().err == "ispca: interrupted\n"


KILLED = """
    import os, re, sys
    from pathlib import Path
    from ispca.foundation.output_folder import output_folder
    from ispca.analysis.file_names import PANEL_FILES
    from ispca.commands.select import forget_folds
    def hear(event, arguments):
        if event in ("os.remove", "shutil.rmtree") and re.search(r"folds|\\.part", str(arguments[0])):
            os._exit(9)
    sys.addaudithook(hear)
    out = Path(sys.argv[1])
    with output_folder(out, False, PANEL_FILES, lambda: forget_folds(out)) as folder:
        (folder / "panel.csv").touch()
"""


def test_a_kill_behind_the_last_step_leaves_no_folds(tmp_path):
    """The results are in place: the next run refuses to replace them, and removes the rest of the folds."""
    store, out = tmp_path / ".out.folds", tmp_path / "out"
    store.mkdir()
    (store / "one.json").touch()
    start = [sys.executable, "-c", textwrap.dedent(KILLED), str(out)]
    assert subprocess.run(start, timeout=SECONDS, check=False).returncode == 9
    with pytest.raises(SettingError, match="already exists"), output_folder(out, False, PANEL_FILES):
        pass
    assert entries(tmp_path) == ["out"]
    assert entries(out) == ["panel.csv"]


class Run:
    """A command in a group of its own, as a terminal starts it, that can be stopped after some folds."""

    def __init__(self, arguments, log, program=("-m", "ispca")):
        self.mark, self._log = f"ISPCA_TEST_RUN={os.urandom(8).hex()}", log
        environment = {**os.environ, **dict([self.mark.split("=")])}
        with open(log, "w") as file:
            command = [sys.executable, *program, *arguments]
            options = {"stdout": file, "stderr": file, "env": environment, "start_new_session": True}
            self.process = subprocess.Popen(command, **options)

    def stop(self, kind, store, folds):
        """Send Ctrl-C to all processes, or a kill to the parent alone, once so many folds are stored."""
        end = time.monotonic() + SECONDS
        while not store.is_dir() or len(list(store.glob("*.json"))) < folds:
            assert self.process.poll() is None, self._log.read_text()
            assert time.monotonic() < end
            time.sleep(0.01)
        (os.killpg if kind == signal.SIGINT else os.kill)(self.process.pid, kind)
        return self.end()

    def end(self):
        return self.process.wait(SECONDS), self._log.read_text()

    def processes(self):
        """Return the processes of the run that live, waiting for those that are about to end."""
        end = time.monotonic() + 20
        while (found := [one for one in Path("/proc").glob("[0-9]*") if self._marked(one)]) and (
            time.monotonic() < end
        ):
            time.sleep(0.1)
        return found

    def _marked(self, process):
        try:
            return self.mark.encode() in (process / "environ").read_bytes().split(b"\0")
        except OSError:
            return False


@pytest.fixture(scope="module")
def whole(fitted, table_of, tmp_path_factory):
    """The command without --out, and the files of a selection that nobody disturbed."""
    rows, write = table_of
    folder = tmp_path_factory.mktemp("whole")
    command = ["select", str(fitted), str(write(folder / "data.csv", rows())), *SMALL]
    assert Run([*command, "--out", str(folder / "out")], folder / "log").end()[0] == 0
    return command, {one.name: one.read_bytes() for one in (folder / "out").glob("*.csv")}


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_selection_continues(whole, tmp_path, kind):
    command, expected = whole
    place = tmp_path / "place"
    place.mkdir()
    command = [*command, "--out", str(place / "out")]
    run = Run(command, tmp_path / "log")
    code, said = run.stop(kind, place / ".out.folds", 1)
    assert "Traceback" not in said
    assert run.processes() == []
    if kind == signal.SIGINT:
        assert code == 130
        assert entries(place) == [".out.folds"]
        kept = entries(place / ".out.folds")
        assert all(name.endswith(".json") for name in kept)
        folds = f"{len(kept)} finished fold{'s' * (len(kept) > 1)} kept in {place / '.out.folds'}"
        assert said.splitlines()[-1].startswith(f"ispca: interrupted. {folds}: the same command")
    again = Run(command, tmp_path / "log")
    assert again.end()[0] == 0, again.end()
    assert {one.name: one.read_bytes() for one in (place / "out").glob("*.csv")} == expected
    assert entries(place) == ["out"]
    assert again.processes() == []


def test_an_interrupted_comparison_continues(data, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    command = ["compare", str(data), "--target", "diagnosis", "--methods", "lasso", "ridge", "--splits", "40"]
    command += ["--jobs", "2", "--resume", str(place / "fits"), "--out", str(place / "out")]
    run = Run(command, tmp_path / "log")
    code, said = run.stop(signal.SIGINT, place / "fits", 3)
    assert (code, said.splitlines()[-1][:18]) == (130, "ispca: interrupted")
    assert run.processes() == []
    assert entries(place) == ["fits"]
    before = {one.name: one.stat().st_mtime_ns for one in (place / "fits").iterdir()}
    assert 3 <= len(before) < 80
    assert all(name.endswith(".json") for name in before)
    again = Run(command, tmp_path / "log")
    assert again.end()[0] == 0, again.end()
    assert before.items() <= {one.name: one.stat().st_mtime_ns for one in (place / "fits").iterdir()}.items()
    assert again.processes() == []


# The parent dies while its workers read their first task.
ORPHANS = """
    import os, sys, time
    from pathlib import Path
    from ispca.foundation.parallel import run_parallel
    def wait(parent, store):
        (store / f"{os.getpid()}.json").touch()
        while os.getppid() == parent:
            time.sleep(0.01)
    class Task:
        def __reduce__(self):
            return wait, (os.getpid(), Path(sys.argv[1]))
    list(run_parallel(print, (), [Task(), Task()], 2))
"""


def test_workers_end_if_their_parent_is_killed_before_they_begin(tmp_path):
    run = Run([str(tmp_path)], tmp_path / "log", ("-c", textwrap.dedent(ORPHANS)))
    run.stop(signal.SIGKILL, tmp_path, 2)
    assert run.processes() == []
    assert run.end()[1] == ""
