"""Comparisons and stacks on a Dask cluster: same numbers, resumable, and a lost worker costs what it was doing."""

import os
import signal
import threading
import time
from collections import Counter

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from ispca import ISPCA
from ispca.foundation.parallel import run_parallel
from ispca.validation import StackedClassifier, compare, compare_with_baselines
from odd_methods import Fragile, Noted

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="the cluster of these tests needs distributed")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": "1GB"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.run(__import__, "ispca.validation")
        yield client


@pytest.fixture
def on_cluster(client):
    with joblib.parallel_config(backend="dask"):
        yield client


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 30))
    y = np.where(X[:, 1] + rng.normal(size=60) > 0, "sick", "healthy")
    X[:, 0] = np.arange(60)
    return X, y


METHODS = {
    "ISPCA": make_pipeline(ISPCA(3, n_permutations=50), LogisticRegression()),
    "fragile": Fragile(3),
    "bayes": GaussianNB(),
}


def same(first, second):
    assert first.methods == second.methods
    assert sorted(first.errors) == sorted(second.errors)
    for name, scores in first.scores.items():
        np.testing.assert_array_equal(scores, second.scores[name], err_msg=name)


def fits(log):
    return [line.split("|")[:2] for line in log.read_text().splitlines()]


@pytest.mark.filterwarnings("ignore:.*could not be fitted")
def test_same_numbers_as_here(data, on_cluster):
    with joblib.parallel_config(backend="loky"):
        here = compare(METHODS, *data, cv=3, n_jobs=1)
    assert here.errors
    same(compare(METHODS, *data, cv=3), here)


def test_fits_run_on_the_workers_and_are_stored_here(data, on_cluster, tmp_path):
    log = tmp_path / "fits.log"
    named = {name: Noted(str(log), name) for name in "ab"}
    first = compare(named, *data, cv=4, resume=tmp_path / "fits")
    assert {int(pid) for _, pid in fits(log)} == set(on_cluster.run(os.getpid).values())
    assert len(list((tmp_path / "fits").glob("*.json"))) == 8
    # Nothing is fitted again, wherever the comparison continues.
    with joblib.parallel_config(backend="loky"):
        same(compare(named, *data, cv=4, n_jobs=1, resume=tmp_path / "fits"), first)
    assert len(fits(log)) == 8


def killed_during_its_second_fit(client, log):
    """Kill a worker while it runs a fit, after it has finished another one of the same split."""
    victim = client.run(os.getpid).popitem()[1]

    def kill():
        while not log.exists() or sum(int(pid) == victim for _, pid in fits(log)) < 2:
            time.sleep(0.02)
        time.sleep(0.4)  # the client has received the result of the first one
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    return killer


def assert_only_running_fits_were_repeated(log, n_fits):
    # Marker and samples identify a fit. On a busy machine, the fit before may be lost, too.
    n_runs = Counter(tuple(line.split("|")[::3]) for line in log.read_text().splitlines())
    assert len(n_runs) == n_fits
    assert 1 <= sum(n_runs.values()) - n_fits <= 2


def test_a_lost_worker_costs_only_its_running_fits(data, on_cluster, tmp_path):
    log = tmp_path / "fits.log"
    named = {name: Noted(str(log), name, 0.8) for name in "abcde"}
    quick = {name: Noted(str(tmp_path / "quick.log"), name) for name in "abcde"}
    expected = compare(quick, *data, cv=2, n_jobs=1)
    killer = killed_during_its_second_fit(on_cluster, log)
    same(compare(named, *data, cv=2), expected)
    killer.join()
    assert_only_running_fits_were_repeated(log, 10)
    on_cluster.wait_for_workers(2, timeout=60)


def test_a_lost_worker_costs_only_its_running_fits_of_a_stack(data, on_cluster, tmp_path):
    log, folds = tmp_path / "fits.log", [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    named = {name: Noted(str(log), name, 0.8) for name in "abcdef"}
    options = {"cv": folds, "random_state": 0, "resume": tmp_path / "fits"}
    StackedClassifier(named, **options).fit(*data)
    log.unlink()
    # The folds are finished: the fits to all samples follow.
    killer = killed_during_its_second_fit(on_cluster, log)
    StackedClassifier(named, **options).fit(*data)
    killer.join()
    assert_only_running_fits_were_repeated(log, 6)
    on_cluster.wait_for_workers(2, timeout=60)


def slow_sum(values, item):
    time.sleep(0.2)
    return values.sum() + item


def test_shared_data_survives_the_loss_of_every_worker(on_cluster):
    values = np.arange(1_000.0)
    results = run_parallel(slow_sum, (values,), list(range(8)), None)
    found = [next(results)]
    for victim in on_cluster.run(os.getpid).values():
        os.kill(victim, signal.SIGKILL)
    assert found + list(results) == [values.sum() + item for item in range(8)]
    on_cluster.wait_for_workers(2, timeout=60)


def test_stack_and_baselines(data, on_cluster):
    candidates = {"ridge": LogisticRegression(), "bayes": GaussianNB()}
    found = StackedClassifier(candidates, cv=3, random_state=0).fit(*data)
    compared = compare_with_baselines(LogisticRegression(), *data, cv=2, random_state=0)
    with joblib.parallel_config(backend="loky"):
        expected = StackedClassifier(candidates, cv=3, random_state=0, n_jobs=1).fit(*data)
        same(compared, compare_with_baselines(LogisticRegression(), *data, cv=2, random_state=0, n_jobs=1))
    np.testing.assert_array_equal(found.weights_, expected.weights_)
    np.testing.assert_array_equal(found.predict_proba(data[0]), expected.predict_proba(data[0]))
