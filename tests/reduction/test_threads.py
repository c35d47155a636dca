"""Threads: maps inside maps, threads that cannot be started, processes that fork, and BLAS set back."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ispca import ISPCA
from ispca.reduction.threads import SMALL_WORK, available_threads, usable_threads, workers

LARGE = 2 * SMALL_WORK

FIT_THAT_NESTS = """
import numpy as np
from threadpoolctl import threadpool_limits
from ispca import ISPCA
rng = np.random.default_rng(0)
X, y = rng.normal(size=(700, 800)), np.arange(700) % 3
with threadpool_limits({threads}):
    Z = ISPCA(3, max_features=600, alpha=None).fit_transform(X, y)
print(repr(float(np.abs(Z).sum())))
"""


@pytest.mark.slow
def test_a_fit_whose_maps_nest_ends_and_gives_the_same_on_any_number_of_threads():
    results = set()
    for threads in (1, 2, 4):
        program = [sys.executable, "-c", FIT_THAT_NESTS.format(threads=threads)]
        run = subprocess.run(program, capture_output=True, text=True, timeout=120, check=True)
        results.add(run.stdout)
    assert len(results) == 1


def test_maps_inside_maps_run_inline_whichever_workers_they_use():
    deep = []

    def inner(i):
        return i, threading.get_ident()

    def outer(i):
        with workers() as others:
            found = [*threads.map(inner, range(4), LARGE), *others.map(inner, range(4), LARGE)]
        deep.append({ident for _, ident in found} == {threading.get_ident()})
        return [position for position, _ in found]

    with threadpool_limits(3), workers() as threads:
        assert threads.map(outer, range(9), LARGE) == [[0, 1, 2, 3, 0, 1, 2, 3]] * 9
    assert deep == [True] * 9


@pytest.mark.parametrize("n_started", [0, 1])
def test_a_map_goes_on_when_no_more_threads_can_be_started(monkeypatch, n_started):
    start, started, done = threading.Thread.start, [], []

    def limited(thread):
        if len(started) >= n_started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    with threadpool_limits(4), workers() as threads:
        for _ in range(3):
            assert threads.map(lambda i: done.append(i) or i, range(50), LARGE) == list(range(50))
    assert sorted(done) == sorted(3 * list(range(50))), "every item is done once"


def test_a_fit_without_threads_gives_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3000)), np.arange(60) % 2
    with threadpool_limits(4):
        expected = ISPCA(5, random_state=0).fit_transform(X, y)

        def fails(thread):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", fails)
        np.testing.assert_array_equal(ISPCA(5, random_state=0).fit_transform(X, y), expected)


def test_the_first_error_is_raised_and_the_items_after_it_are_left():
    done = []

    def task(i):
        if i >= 5:
            raise ValueError(f"item {i}")
        done.append(i)

    with threadpool_limits(4), workers() as threads:
        for _ in range(20):
            with pytest.raises(ValueError, match="item 5"):
                threads.map(task, range(2000), LARGE)
    assert max(done) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_forks_during_a_fit_can_fit_as_well():
    program = """
import os, time
from threadpoolctl import threadpool_limits
from ispca.reduction.threads import SMALL_WORK, available_threads, workers
with threadpool_limits(2):
    with workers() as threads:
        assert threads.map(lambda i: i, range(8), 2 * SMALL_WORK) == list(range(8))
        child = os.fork()
        if child == 0:
            assert threads.map(lambda i: i, range(8), 2 * SMALL_WORK) == list(range(8))
            assert available_threads() == 2
            with workers() as others:
                assert others.map(lambda i: i, range(8), 2 * SMALL_WORK) == list(range(8))
    assert available_threads() == 2
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)


def test_fits_inside_workers_use_as_many_threads():
    with threadpool_limits(2), workers() as threads:
        with threadpool_limits(1):
            assert (available_threads(), usable_threads()) == (1, 2)
        assert threads.map(lambda _: usable_threads(), range(4), LARGE) == [1] * 4
    with threadpool_limits(1):
        assert usable_threads() == 1


def test_overlapping_fits_set_blas_back():
    with threadpool_limits(2):
        first, second = workers(), workers()
        first.__enter__()
        second.__enter__()
        assert available_threads() == 1
        first.__exit__(None, None, None)
        assert available_threads() == 1, "the second fit still runs"
        second.__exit__(None, None, None)
        assert available_threads() == 2


def test_fits_in_threads_agree():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3000)), np.arange(60) % 2
    alone = ISPCA(5, random_state=0).fit_transform(X, y)
    found = {}

    def fit(i):
        found[i] = ISPCA(5, random_state=0).fit_transform(X, y)

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for Z in found.values():
        np.testing.assert_array_equal(Z, alone)
