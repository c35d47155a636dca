"""Comparisons killed at any point go on: same table, nothing lost, nothing repeated but what was in flight."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
N_FITS = 18

SETUP = """
    import os, pickle, signal, sys, time
    sys.path.insert(0, {tests!r})
    import numpy as np
    from odd_methods import Noted
    from sklearn.linear_model import LogisticRegression
    from ispca.fitting import fit_store
    from ispca.validation import compare

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = (X[:, 1] > 0).astype(int)
    named = {{name: Noted({log!r}, name, {pause}) for name in ("lasso", "b", "c")}}

    def run(n_jobs, resume={resume!r}):
        result = compare(named, X, y, cv=6, n_jobs=n_jobs, resume=resume)
        with open({out!r}, "wb") as file:
            pickle.dump(result.table, file)
"""

# The process that was imported once forks one comparison after the other, and kills each.
KILL_BY_CLOCK = """
    delays = rng.uniform(0.0, 0.2, 14)
    n_killed = 0
    for delay in [*delays, 60.0]:
        child = os.fork()
        if child == 0:
            run(1)
            os._exit(0)
        end = time.monotonic() + delay
        while (status := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.002)
        n_killed += os.WIFSIGNALED(status[1])
        if not os.WIFSIGNALED(status[1]):
            break
    assert os.WEXITSTATUS(status[1]) == 0
    print(n_killed)
"""

# Each comparison kills itself at a point of the writing of its second fit.
KILL_AT_POINT = """
    def deadly(original, moment, number):
        calls = []
        def call(*args):
            calls.append(1)
            if len(calls) == number:
                if moment == "half way":
                    args[1].write('{{"checksum": "0", "rec')
                    args[1].flush()
                if moment == "after":
                    original(*args)
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*args)
        return call

    # Each fit is synced twice: the file, then the folder.
    POINTS = [(fit_store, "write_json", "half way", 2), (os, "fsync", "before", 3)]
    POINTS += [(os, "replace", "before", 2), (os, "replace", "after", 2), (os, "fsync", "before", 4)]
    for module, name, moment, number in POINTS:
        child = os.fork()
        if child == 0:
            setattr(module, name, deadly(getattr(module, name), moment, number))
            run(1)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    run(1)
    print(len(POINTS))
"""


class Place:
    """Where a comparison in another process leaves its fits, its log and its table."""

    def __init__(self, folder):
        folder.mkdir()
        self.log, self.out, self.resume = folder / "log", folder / "table", folder / "fits"

    def start(self, code, pause):
        setup = SETUP.format(
            tests=str(TESTS), log=str(self.log), out=str(self.out), resume=str(self.resume), pause=pause
        )
        command = [sys.executable, "-c", textwrap.dedent(setup) + textwrap.dedent(code).replace("{{", "{")]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment
        )

    def run(self, code, pause=0.0):
        process = self.start(code, pause)
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        return output

    def n_fits(self):
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def table(self):
        return pickle.loads(self.out.read_bytes())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("kill") / "undisturbed")
    place.run("\nrun(1)\n")
    assert place.n_fits() == N_FITS
    return place.table()


def assert_same(table, expected):
    assert table.dtype.names == expected.dtype.names
    for name in expected.dtype.names:
        if not name.startswith("seconds"):
            np.testing.assert_array_equal(table[name], expected[name], err_msg=name)


def assert_clean(place):
    # A half-written file may stay until it is old, but never under the name of a result.
    assert len(list(place.resume.glob("*.json"))) == N_FITS


def test_killed_at_random_moments(tmp_path, undisturbed):
    place = Place(tmp_path / "killed")
    # The paths are parameters of the estimators, so each place has keys of its own.
    n_killed = int(place.run(KILL_BY_CLOCK, pause=0.1))
    assert n_killed >= 12
    assert N_FITS <= place.n_fits() <= N_FITS + n_killed
    assert_clean(place)
    assert_same(place.table(), undisturbed)


def test_killed_at_every_point_of_writing(tmp_path, undisturbed):
    place = Place(tmp_path / "killed")
    n_points = int(place.run(KILL_AT_POINT))
    # Each run finished one fit more, and the last two points came after the file was in place.
    assert place.n_fits() == N_FITS + n_points - 2
    assert_clean(place)
    assert_same(place.table(), undisturbed)


def test_workers_left_alone_by_their_killed_parent(tmp_path, undisturbed):
    place = Place(tmp_path / "killed")
    rng = np.random.default_rng(1)
    process = place.start("\nrun(2)\n", pause=0.1)
    end = time.monotonic() + 60
    while place.n_fits() < 4 and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(rng.uniform(0, 0.1))
    assert process.poll() is None
    process.kill()
    process.wait()
    process.stdout.close()
    assert len(list(place.resume.glob("*.json"))) < N_FITS
    place.run("\nrun(1)\n", pause=0.1)
    # The workers would wait for more work for some minutes.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # Two workers: two fits in flight.
    assert N_FITS <= place.n_fits() <= N_FITS + 2
    assert_clean(place)
    assert_same(place.table(), undisturbed)
