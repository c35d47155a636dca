"""A validation gives the same for any number of workers, and goes on after it was killed."""

import os
import pickle
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.selection import ProjectionSelector
from odd_methods import Noted

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
N_FOLDS = 6
SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False}

RUN = """
    import pickle, sys
    sys.path.insert(0, {tests!r})
    import numpy as np
    from odd_methods import Noted
    from ispca.selection import ProjectionSelector

    rng = np.random.default_rng(0)
    X = rng.normal(size=(48, 5))
    y = (X[:, 1] > 0).astype(int)
    settings = dict(max_features=2, cv={folds}, n_jobs=1, random_state=0, resume={resume!r})
    selector = ProjectionSelector(Noted({log!r}, "", {pause}), **settings).fit(X, y)
    with open({out!r}, "wb") as file:
        pickle.dump((selector.path_, selector.n_features_), file)
"""


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 20))
    return X, np.where(X[:, 1] - X[:, 4] + rng.normal(size=60) > 0, "sick", "healthy")


def assert_same(first, second):
    assert first.dtype.names == second.dtype.names
    for name in first.dtype.names:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [LogisticRegression(), make_pipeline(ISPCA(4), HorseshoeClassifier(**SHORT))])
def test_one_worker_or_several(data, method):
    settings = {"max_features": 3, "cv": 3, "n_draws": 20, "random_state": 0}
    one = ProjectionSelector(method, n_jobs=1, **settings).fit(*data)
    two = ProjectionSelector(method, n_jobs=2, **settings).fit(*data)
    assert_same(one.path_, two.path_)
    assert_same(one.groups_, two.groups_)
    assert one.message_ == two.message_


def test_no_fold_is_repeated(data, tmp_path):
    log = tmp_path / "log"
    settings = {"max_features": 3, "cv": N_FOLDS, "n_jobs": 1, "random_state": 0, "resume": tmp_path / "fits"}
    first = ProjectionSelector(Noted(str(log)), **settings).fit(*data)
    assert n_fits(log) == N_FOLDS + 1
    again = ProjectionSelector(Noted(str(log)), **settings).fit(*data)
    # Only the reference of all samples is fitted again.
    assert n_fits(log) == N_FOLDS + 2
    assert_same(first.path_, again.path_)
    # What is searched for decides which folds can be used.
    ProjectionSelector(Noted(str(log)), **settings, never=[0]).fit(*data)
    assert n_fits(log) == 2 * N_FOLDS + 3


def n_fits(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


def start(folder, pause, resume="fits"):
    names = {"log": folder / "log", "resume": folder / resume, "out": folder / "out"}
    places = {name: str(path) for name, path in names.items()}
    code = textwrap.dedent(RUN).format(tests=str(TESTS), folds=N_FOLDS, pause=pause, **places)
    return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})


def test_a_killed_validation_goes_on(tmp_path):
    log, out = tmp_path / "log", tmp_path / "out"
    process = start(tmp_path, 0.2)
    end = time.monotonic() + 60
    while n_fits(log) < 4 and time.monotonic() < end:
        time.sleep(0.01)
    assert process.poll() is None
    process.kill()
    process.wait()
    n_before, n_stored = n_fits(log), len(list((tmp_path / "fits").glob("*.json")))
    assert 0 < n_stored < N_FOLDS
    assert start(tmp_path, 0.2).wait(60) == 0
    assert n_fits(log) == n_before + 1 + N_FOLDS - n_stored
    resumed = pickle.loads(out.read_bytes())
    assert start(tmp_path, 0.2, "others").wait(60) == 0
    undisturbed = pickle.loads(out.read_bytes())
    assert_same(resumed[0], undisturbed[0])
    assert resumed[1] == undisturbed[1]
