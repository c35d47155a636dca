"""Dask arrays: the same result for any chunks and scheduler, lost workers, bad chunks, X stays on the cluster."""

import copy
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed", reason="the cluster of these tests needs distributed")

from ispca.containers.dask_array import DaskArray, wrap  # noqa: E402
from ispca.containers.dask_array import _keep as returned  # noqa: E402

pytestmark = pytest.mark.slow


def problem(n=80, n_features=5000, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, n_features))
    X[:, :40] += 1.5 * y[:, None] * rng.uniform(size=40)
    return X, y


X, y = problem()
MODEL = ISPCA(4, random_state=0, max_features=50)


def fitted(X):
    return ISPCA(**MODEL.get_params()).fit(X, y)


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": "1GB"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.run(__import__, "ispca.reduction.design")
        yield client


@pytest.fixture
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_same(found, expected):
    assert found.n_supervised_ == expected.n_supervised_
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-12)


def test_result_on_a_cluster_is_that_of_numpy_for_any_chunks(client):
    expected = fitted(X)
    by_features = fitted(da.from_array(X, chunks=(-1, 700)))
    assert_same(by_features, expected)
    for chunks in [(30, -1), (50, 1900)]:
        found = fitted(da.from_array(X, chunks=chunks))
        np.testing.assert_array_equal(found.components_, by_features.components_)


def test_result_does_not_depend_on_the_scheduler(client):
    array = da.from_array(X, chunks=(50, 1900))
    on_cluster = fitted(array)
    for scheduler in ["synchronous", "threads"]:
        with dask.config.set(scheduler=scheduler):
            assert wrap(array).client is None
            np.testing.assert_array_equal(fitted(array).components_, on_cluster.components_)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array])
def test_sparse_chunks(synchronous, kind):
    counts = np.random.default_rng(1).poisson(0.1, X.shape).astype(float)
    counts[:, :40] += np.random.default_rng(2).poisson(0.5, (len(X), 40)) * y[:, None]
    array = da.from_array(counts, chunks=(50, 1900)).map_blocks(kind)
    assert wrap(array).sparse
    assert_same(fitted(array), fitted(sp.csr_array(counts)))


def test_a_killed_worker_does_not_lose_the_fit(client, monkeypatch):
    compute, n_operations = DaskArray._results, []

    def killing(self, tasks):
        n_operations.append(len(tasks))
        if len(n_operations) == 3:
            # The worker has chunks of the persisted X.
            pid = client.run(os.getpid).popitem()[1]
            threading.Timer(0.03, os.kill, (pid, signal.SIGKILL)).start()
        return compute(self, tasks)

    monkeypatch.setattr(DaskArray, "_results", killing)
    array = da.from_array(X, chunks=(30, -1))
    found = fitted(array)
    assert len(n_operations) > 3
    client.wait_for_workers(2, timeout=60)
    assert_same(found, fitted(X))


class Counted:
    """A task that counts how often it leaves this process."""

    n_pickled = 0

    def __reduce__(self):
        Counted.n_pickled += 1
        return copy.copy, (returned,)


def test_vectors_leave_the_client_once_per_operation(client):
    source = wrap(da.from_array(X, chunks=(-1, 512)))
    blocks = [slice(start, min(start + 512, 5000)) for start in range(0, 5000, 512)]
    Counted.n_pickled = 0
    found = list(source.map_blocks(Counted(), blocks, [None] * len(blocks), None))
    np.testing.assert_array_equal(np.hstack(found), X)
    assert Counted.n_pickled < len(blocks) / 2


def test_number_of_tasks_is_proportional_to_chunks(synchronous):
    n_tasks = []

    def n_tasks_per_chunk(n_features):
        wide, y = problem(n_features=n_features)
        n_tasks.clear()
        with dask.callbacks.Callback(start=lambda graph: n_tasks.append(len(graph))):
            ISPCA(2, n_permutations=50, random_state=0).fit(da.from_array(wide, chunks=(-1, 512)), y)
        return max(n_tasks) / (n_features / 512)

    few, many = n_tasks_per_chunk(4096), n_tasks_per_chunk(4 * 4096)
    assert max(few, many) <= 5


def test_x_does_not_reach_the_client(synchronous, monkeypatch):
    compute, sizes = DaskArray._results, []

    def measured(self, tasks):
        found = compute(self, tasks)
        sizes.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(DaskArray, "_results", measured)
    ISPCA(4, random_state=0, max_features=50, cross_fit=3).fit(da.from_array(X, chunks=(30, -1)), y)
    assert max(sizes) < X.nbytes / 4


@pytest.mark.parametrize("chunks", [(30, -1), (-1, 700), (50, 1900)])
def test_transform_is_lazy(synchronous, chunks):
    model = ISPCA(3, random_state=0, missing="mean").fit(X, y)
    new = X.copy()
    new[4, 1000] = np.nan
    array = da.from_array(new, chunks=chunks)
    with dask.callbacks.Callback(start=lambda graph: pytest.fail("computed too early")):
        Z = model.transform(array)
    assert Z.chunks[0] == array.chunks[0]
    np.testing.assert_allclose(Z.compute(), model.transform(new), atol=1e-10)


def test_new_samples_with_missing_values_are_refused_when_computed(synchronous):
    model = fitted(X)
    new = X.copy()
    new[4, 3000] = np.nan
    with pytest.raises(ValueError, match=r"1 column, 3000 \(1\)"):
        model.transform(da.from_array(new, chunks=(50, 1900))).compute()


def test_a_target_and_single_precision(synchronous):
    single = X.astype(np.float32)
    array = da.from_array(single, chunks=(50, 1900))
    model = ISPCA(3, random_state=0).fit(array, da.from_array(y, chunks=20))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.transform(array).compute().dtype == np.float32


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (lambda: da.ones((4, 5, 6)), "3 dimensions"),
        (lambda: da.ones((80, 5), dtype=complex), "complex128 values"),
        (lambda: da.from_array(X)[da.from_array(y) == 0], "compute_chunk_sizes"),
        (
            lambda: da.from_array(X, chunks=(-1, 700)).map_blocks(np.float32, dtype=float, meta=np.empty((0, 0))),
            "of X: the chunk has 80 x 700 values of float32, but the array says 80 x 700 values of float64",
        ),
    ],
)
def test_bad_arrays_are_refused(synchronous, array, message):
    with pytest.raises(ValueError, match=message):
        fitted(array())


def from_file(path, row, column, chunks):
    """Return X as a Dask array whose chunk with this value needs a file."""

    def chunk(block, block_info=None):
        (start, stop), (first, last) = block_info[0]["array-location"]
        if start <= row < stop and first <= column < last:
            path.read_text()
        return block

    return da.from_array(X, chunks=chunks).map_blocks(chunk, dtype=float, meta=np.empty((0, 0)))


@pytest.fixture(params=["synchronous", "threads", "cluster"])
def scheduler(request):
    if request.param == "cluster":
        yield request.getfixturevalue("client")
    else:
        with dask.config.set(scheduler=request.param):
            yield None


def n_failed(dask_scheduler):
    return sum(task.state == "erred" for task in dask_scheduler.tasks.values())


def wait_until_forgotten(client):
    """Wait until the scheduler has removed failed tasks, which it does soon after the error."""
    deadline = time.monotonic() + 20
    while client is not None and client.run_on_scheduler(n_failed) and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("chunks", "place"),
    [
        ((-1, 512), "columns 1,024 to 1,535 of X"),
        ((30, 200), "columns 1,200 to 1,399 of X, samples 30 to 59"),
    ],
)
def test_a_chunk_that_cannot_be_computed_is_named(scheduler, tmp_path, chunks, place):
    path = tmp_path / "genes.txt"
    array = from_file(path, 40, 1300, chunks)
    message = rf"^Could not compute {place}: FileNotFoundError: .*genes\.txt'\. Check how X is computed\.$"
    with pytest.raises(OSError, match=message) as caught:
        fitted(array)
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    # The failure is forgotten when its cause is gone.
    wait_until_forgotten(scheduler)
    path.touch()
    assert_same(fitted(array), fitted(X))


def failing(columns):
    raise ArithmeticError("not a problem of X")


def test_an_error_leaves_the_data_of_the_user_on_the_cluster(client):
    array = client.persist(da.from_array(X, chunks=(-1, 512)))
    for chunks in [(-1, 512), (30, 700)]:
        with pytest.raises(ArithmeticError):
            wrap(array.rechunk(chunks)).by_column(failing)
    np.testing.assert_array_equal(array.compute(), X)


def test_a_failure_that_does_not_repeat(synchronous):
    failures = [ConnectionError("the server is busy.")]

    def chunk(block):
        if failures:
            raise failures.pop()
        return block

    array = da.from_array(X, chunks=(-1, 700)).map_blocks(chunk, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(OSError, match=r"compute X: ConnectionError: the server is busy\. .* repeat the call"):
        fitted(array)


def test_an_error_of_a_task_is_not_searched_for_in_x(scheduler):
    n_computed = []
    array = da.from_array(X, chunks=(-1, 512)).map_blocks(np.positive, meta=np.empty((0, 0)))
    with dask.callbacks.Callback(start=n_computed.append), pytest.raises(ArithmeticError, match="not a problem"):
        wrap(array).by_column(failing)
    assert len(n_computed) <= 1


@pytest.mark.parametrize(
    ("change", "has"),
    [
        (lambda block: block[:-1], "29 x 700 values of float64"),
        (lambda block: np.hstack([block, block[:, :1]]), "30 x 701 values of float64"),
        (lambda block: block.astype(np.float32), "30 x 700 values of float32"),
        (lambda block: None, "no values of NoneType"),
    ],
)
def test_a_wrong_chunk_is_named(scheduler, change, has):
    def chunk(block, block_info=None):
        return change(block) if block_info[0]["chunk-location"] == (1, 2) else block

    array = da.from_array(X, chunks=(30, 700)).map_blocks(chunk, dtype=float, meta=np.empty((0, 0)))
    message = f"columns 1,400 to 2,099 of X, samples 30 to 59: the chunk has {has}, but the array says 30 x 700"
    with pytest.raises(ValueError, match=message):
        fitted(array)
    with pytest.raises(ValueError, match=message):
        fitted(X).transform(array).compute()


def test_missing_values_are_named_by_column(scheduler):
    lost = X.copy()
    lost[4, [1200, 3000]] = np.nan
    with pytest.raises(ValueError, match=r"2 columns, 1200 \(1\), 3000 \(1\)"):
        fitted(da.from_array(lost, chunks=(30, 700)))
