"""Threads: BLAS is set back after fits that overlap."""

import threading

import numpy as np
from threadpoolctl import threadpool_limits

from ispca import ISPCA
from ispca.reduction.threads import available_threads, workers


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
