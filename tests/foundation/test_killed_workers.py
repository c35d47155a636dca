"""A worker process that is killed is named by its signal, and memory is blamed only if it ran out."""

import os
import signal
import sys

import joblib
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from ispca.foundation import parallel
from ispca.foundation.parallel import run_parallel


def end(name):
    os.kill(os.getpid(), getattr(signal, name))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_the_signal_is_named(name):
    with pytest.raises(ChildProcessError, match=name) as found:
        list(run_parallel(end, (), [name, name], 2))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("codes", "killed", "error", "said"),
    [
        ("{SIGKILL(-9)}", 0, ChildProcessError, r"outside \(SIGKILL\)"),
        ("{SIGTERM(-15), SIGKILL(-9)}", 1, MemoryError, "^$"),
        ("{SIGTERM(-15), SIGSEGV(-11)}", 1, ChildProcessError, r"crashed \(SIGSEGV\)"),
        ("{EXIT(1)}", 0, ChildProcessError, "unknown reason"),
    ],
)
def test_the_cause_is_told_from_what_followed(monkeypatch, codes, killed, error, said):
    kills = iter([0, killed])
    monkeypatch.setattr(parallel, "kills_for_memory", lambda: next(kills))

    def fail(self, tasks):
        raise TerminatedWorkerError(f"A worker process was terminated.\n\nThe exit codes are {codes}\n")

    monkeypatch.setattr(joblib.Parallel, "__call__", fail)
    with pytest.raises(error, match=said):
        list(run_parallel(end, (), ["a", "b"], 2))
