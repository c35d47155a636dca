"""Fits that take too long are stopped: for any number of workers, wherever they hang, and no other changes."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, HorseshoeClassifier
from ispca.validation import compare
from odd_methods import Fragile, Hanging, Noted

pytestmark = pytest.mark.filterwarnings("ignore:.*fits? failed")
TESTS = Path(__file__).parents[1]
QUICK = {"lasso": LogisticRegression(), "bayes": GaussianNB()}


@pytest.fixture
def data(rng):
    """Forty samples; the first feature is the number of the sample."""
    X = rng.normal(size=(40, 30))
    y = np.where(X[:, 1] + rng.normal(size=40) > 0, "sick", "healthy")
    X[:, 0] = np.arange(40)
    return X, y


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


def processes(log):
    return [int(line.split("|")[1]) for line in log.read_text().splitlines()]


def gone(process):
    """Whether a process has ended: it is no more, or a zombie that its parent has not read yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize(("n_jobs", "how"), [(1, "sleep"), (2, "sleep"), (1, "compiled"), (1, "deaf")])
def test_a_fit_that_hangs_is_stopped(data, log, n_jobs, how):
    named = {"hanging": Hanging(str(log), 3, how), **QUICK}
    result = compare(named, *data, cv=2, n_jobs=n_jobs, timeout=3)
    stopped = [number for number, split in enumerate(result.splits) if 3 in split.train]
    assert stopped
    assert result.errors == [(number, "hanging", "timed out after 3 s") for number in stopped]
    np.testing.assert_array_equal(
        result.scores["mlpd"][:, 1:], compare(QUICK, *data, cv=2, n_jobs=1).scores["mlpd"]
    )
    assert all(gone(process) for process in processes(log))


@pytest.mark.parametrize(("how", "words"), [("dies", "signal SIGSEGV"), ("exits", "exit code 3")])
def test_a_fit_that_takes_its_process_with_it(data, log, how, words):
    result = compare({"dying": Hanging(str(log), how=how), **QUICK}, *data, cv=2, n_jobs=1, timeout=60)
    assert [error for _, _, error in result.errors] == [f"the process of the fit ended ({words})"] * 2
    assert np.isfinite(result.scores["mlpd"][:, 1:]).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_changes_for_fits_that_finish(data, log, n_jobs):
    model = HorseshoeClassifier(n_chains=2, n_warmup=50, n_draws=50, retry=False)
    named = {
        "SPCA": make_pipeline(SPCA(5, whiten=True), model),
        "ISPCA": make_pipeline(ISPCA(5, whiten=True), model),
        "fragile": Fragile(3),
        "noted": Noted(str(log)),
        **QUICK,
    }
    free, limited = (compare(named, *data, cv=3, n_jobs=n_jobs, timeout=timeout) for timeout in (None, 300))
    assert free.errors == limited.errors
    for name, scores in free.scores.items():
        np.testing.assert_array_equal(limited.scores[name], scores)
    lines = [line.split("|") for line in log.read_text().splitlines()]
    # One process for many fits, other than this one, with one thread.
    assert {line[2] for line in lines} == {"1"}
    assert str(os.getpid()) not in {line[1] for line in lines[3:]}
    assert len({line[1] for line in lines[3:]}) <= n_jobs


def test_stopped_fits_are_not_recorded(data, log, tmp_path):
    named = {"slow": Noted(str(log), pause=4.0), **QUICK}
    options = {"cv": 2, "n_jobs": 1, "resume": tmp_path / "fits"}
    assert compare(named, *data, timeout=1, **options).n_failed("slow") == 2
    assert len(list((tmp_path / "fits").iterdir())) == 4
    again = compare(named, *data, timeout=60, **options)
    assert not again.errors
    assert len(processes(log)) == 4
    # What was fitted within the time is found again without one.
    assert not compare(named, *data, **options).errors
    assert len(processes(log)) == 4


SCRIPT = """
    import sys
    sys.path.insert(0, {tests!r})
    import numpy as np
    from odd_methods import Hanging
    from ispca.validation import compare

    class Own(Hanging):
        def predict(self, X):
            print("predicting")
            return super().predict(X)

    X = np.random.default_rng(0).normal(size=(40, 3))
    result = compare(Own({log!r}, {number}), X, np.tile([0, 1], 20), cv=2, n_jobs=1, timeout={timeout})
    print(result.errors)
"""


def script(log, number, timeout):
    code = textwrap.dedent(SCRIPT.format(tests=str(TESTS), log=str(log), number=number, timeout=timeout))
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_classes_of_a_script_without_a_guard(log):
    with script(log, 1e9, 60) as process:
        output, errors = process.communicate(timeout=300)
    assert output == "[]\n"
    assert errors.count("predicting") == 2


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_after_an_interrupt_no_process_is_left(log):
    with script(log, None, 3000) as process:
        wait_for(log.exists)
        process.send_signal(2)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    wait_for(lambda: all(gone(child) for child in processes(log)))


def test_a_process_without_a_parent_ends(log):
    """The parent is killed; what hangs ends some seconds after its time is up."""
    with script(log, None, 3) as process:
        wait_for(log.exists)
        process.kill()
        process.stdout.close()
        process.stderr.close()
    assert not gone(processes(log)[0])
    wait_for(lambda: gone(processes(log)[0]))


class Local(LogisticRegression):
    """A class whose module cannot be found by its name."""


def test_methods_that_cannot_be_sent(data, log, monkeypatch):
    module = type(sys)("users_module")
    monkeypatch.setitem(sys.modules, "users_module", module)
    monkeypatch.setattr(Local, "__module__", "users_module")
    module.Local = Local
    with pytest.raises(ValueError, match=r"could not be started in another process.*users_module.*timeout=None"):
        compare({"local": Local()}, *data, cv=2, n_jobs=2, timeout=60)


@pytest.mark.parametrize("timeout", [0, -1, np.nan, np.inf, "60", True, 1e9])
def test_bad_timeouts_are_refused_before_any_fit(data, log, timeout):
    with pytest.raises(ValueError, match="timeout must be None or a positive number of seconds"):
        compare(Noted(str(log)), *data, cv=2, n_jobs=1, timeout=timeout)
    assert not log.exists()
