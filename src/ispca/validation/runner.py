"""Fit and evaluate every method on every split: in parallel, resumable, the same for any number of workers."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from .._progress import progress
from .._splits import Split
from ..containers import ColumnSource
from ..reduction.reuse import Reuse
from .fingerprint import estimator_fingerprint
from .fit_store import FORMAT, Failure, Outcome, Store
from .fitting import prepared
from .prediction import Prediction, fit_and_predict
from .samples import Samples
from .target import Target
from .time_limit import run_limited

# Columns that tell data in a file from others of the same shape.
IDENTIFYING_COLUMNS = 20
in_a_fit: ContextVar[bool] = ContextVar("in_a_fit", default=False)


class Work(NamedTuple):
    """The methods, data, splits and seed that a worker needs, and what it does with each method.

    ``evaluate`` gets an unfitted estimator, training and held-out samples, the target and a `Reuse`, and returns
    a frozen dataclass of type ``record``.
    """

    estimators: dict[str, Any]
    samples: Samples
    target: Target
    splits: list[Split]
    seed: int
    evaluate: Callable[..., Any] = fit_and_predict
    record: type = Prediction

    def split_seed(self, number: int) -> int:
        """Return the seed of a split; all methods get the same one, so that they can share permutations."""
        return int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])

    def keys(self) -> dict[tuple[int, str], str]:
        """Return a key for each fit, made from its data, samples, estimator (parameters and code) and seed."""
        # Another version of ispca may give other numbers, so its fits get other keys.
        X, y = self.samples.X, self.samples.y
        data = joblib.hash((_content(X), y, FORMAT, version("ispca"), *self._conditions()))
        # A clone has no fitted attributes: a fitted estimator and a new one have the same key.
        estimators = {name: _fingerprint(name, clone(estimator)) for name, estimator in self.estimators.items()}
        return {
            (number, name): joblib.hash((data, *_samples(split), self.split_seed(number), estimator))
            for number, split in enumerate(self.splits)
            for name, estimator in estimators.items()
        }

    def _conditions(self) -> tuple[Any, ...]:
        """Return what else the fits depend on; nothing for the predictions of plain classes and quantities."""
        kind = () if self.target.kind in ("classification", "regression") else (self.target.kind,)
        given = self.samples.given()
        predicted = self.evaluate is fit_and_predict
        evaluation = () if predicted else (_fingerprint("The evaluation", self.evaluate),)
        return (*kind, *((given,) if given else ()), *evaluation)


def _samples(split: Split) -> tuple[Any, ...]:
    """Return what identifies the samples of a split."""
    parts = (split.train, split.test)
    return parts if split.train_groups is None else (*parts, split.train_groups)


def run(
    work: Work, resume: Any, n_jobs: int | None, label: str, timeout: float | None = None
) -> dict[tuple[int, str], Outcome]:
    """Run the fits that are not stored yet, and return all of them by split and method.

    Fits that took longer than ``timeout`` seconds are not stored, because with more time they may succeed.
    """
    with _directory(resume) as directory:
        store = Store(directory, lasting=resume is not None, record=work.record)
        store.open()
        store.sweep()
        keys = work.keys()
        # An estimator that occurs under two names is fitted once.
        places = {key: place for place, key in reversed(keys.items())}
        missing = [place for place, key in keys.items() if places[key] == place and store.read(key) is None]
        all_keys = list(places)
        n_workers = joblib.effective_n_jobs(n_jobs)
        elsewhere = n_jobs != 1 and cluster_client() is not None
        chunks = list(portions(missing, n_workers, elsewhere))
        # Inside a fit of another comparison, only the outer one shows its progress.
        shown = 0 if in_a_fit.get() else len(all_keys)
        stopped: dict[str, Outcome] = {}
        with progress(label, shown, lambda: store.finished(all_keys)):
            if elsewhere and chunks:
                reasons = _run_on_cluster(work, store, keys, chunks, timeout)
                stopped = {keys[place]: Failure(why) for place, why in reasons.items()}
            elif timeout is not None and chunks:
                task = partial(_do, work, store, keys)
                reasons = run_limited(task, chunks, n_workers, timeout)
                stopped = {keys[place]: Failure(why) for place, why in reasons.items()}
            elif n_workers == 1 or len(chunks) < 2:
                for chunk in chunks:
                    _do_all(work, store, keys, chunk)
            else:
                tasks = (joblib.delayed(_do_all)(work, store, keys, chunk) for chunk in chunks)
                joblib.Parallel(n_jobs=n_workers, pre_dispatch=n_workers, batch_size=1)(tasks)
        outcomes = {place: stopped.get(key) or store.read(key) for place, key in keys.items()}
    return {place: outcome for place, outcome in outcomes.items() if outcome is not None}


def cluster_client() -> Any:
    """Return the client of the Dask cluster that joblib sends work to; None if it works on this machine."""
    return getattr(joblib.parallel.get_active_backend()[0], "client", None)


@contextmanager
def shared_with_cluster(*shared: Any) -> Iterator[None]:
    """Send what tasks share to every worker of a cluster, if there is one, so that none has the only copy."""
    client = cluster_client()
    if client is None:
        yield
        return
    with joblib.parallel_config(backend="dask", client=client, scatter=list(shared)):
        yield


def _run_on_cluster(
    work: Work,
    store: Store,
    keys: dict[tuple[int, str], str],
    chunks: Sequence[Sequence[tuple[int, str]]],
    timeout: float | None,
) -> dict[tuple[int, str], str]:
    """Run the fits on machines that may not see the store: results are stored here, as soon as they return.

    Dask repeats what a lost worker was doing. Returns why each fit without a result was stopped.
    """
    X = work.samples.X
    sent = work._replace(samples=work.samples._replace(X=None))
    stopped: dict[tuple[int, str], str] = {}
    with shared_with_cluster(X, sent):
        tasks = (joblib.delayed(_do_elsewhere)(sent, X, chunk, timeout) for chunk in chunks)
        parallel = joblib.Parallel(pre_dispatch="all", batch_size=1, return_as="generator_unordered")
        for outcomes, reasons in parallel(tasks):
            for place, outcome in outcomes.items():
                store.write(keys[place], outcome)
            stopped |= reasons
    return stopped


def _do_elsewhere(
    work: Work, X: Any, places: Sequence[tuple[int, str]], timeout: float | None
) -> tuple[dict[tuple[int, str], Outcome], dict[tuple[int, str], str]]:
    """Evaluate some methods on one split; return the results, and why others were stopped."""
    work = work._replace(samples=work.samples._replace(X=X))
    keys = {place: f"{position:032x}" for position, place in enumerate(places)}
    stopped: dict[tuple[int, str], str] = {}
    with _directory(None) as directory:
        store = Store(directory, lasting=False, record=work.record)
        if timeout is None:
            _do_all(work, store, keys, places)
        else:
            stopped = run_limited(partial(_do, work, store, keys), [places], 1, timeout)
        found = {place: store.read(key) for place, key in keys.items()}
    return {place: outcome for place, outcome in found.items() if outcome is not None}, stopped


def _fingerprint(name: str, estimator: Any) -> str:
    try:
        return estimator_fingerprint(estimator)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"{name!r} cannot be pickled, so it can neither be identified nor sent to workers. Replace lambdas "
            f"with functions defined in a module. ({error})"
        ) from None


def _content(X: Any) -> Any:
    """Return what identifies X; the flags of a sparse matrix do not, because they change when it is used."""
    if isinstance(X, ColumnSource):
        # Some of its columns, because all of them may be on many disks.
        few = np.unique(np.linspace(0, X.shape[1] - 1, IDENTIFYING_COLUMNS).astype(np.intp))
        return X.label, X.shape, X.take(few)
    if not sp.issparse(X):
        return X
    compressed = X.tocsr()
    return compressed.shape, compressed.data, compressed.indices, compressed.indptr


@contextmanager
def _directory(resume: Any) -> Iterator[Path]:
    if resume is not None:
        yield Path(resume)
        return
    with tempfile.TemporaryDirectory(prefix="ispca-") as directory:
        yield Path(directory)


def portions(
    places: Iterable[tuple[int, str]], n_workers: int, elsewhere: bool = False
) -> Iterable[list[tuple[int, str]]]:
    """Divide the fits into pieces of work: complete splits, whose fits share computations, then pairs of fits.

    The last splits are divided, so that no worker waits long for another one to finish a complete split. Similar
    methods, which share the most, usually follow each other. On a cluster (``elsewhere``), each fit is a piece, so
    that a lost worker costs only the fits that it was running.
    """
    if elsewhere:
        yield from ([place] for place in places)
        return
    by_split: dict[int, list[tuple[int, str]]] = {}
    for place in places:
        by_split.setdefault(place[0], []).append(place)
    pieces = list(by_split.values())
    whole = max(0, len(pieces) - len(pieces) % n_workers - n_workers) if n_workers > 1 else len(pieces)
    yield from pieces[:whole]
    for piece in pieces[whole:]:
        yield from (piece[start : start + 2] for start in range(0, len(piece), 2))


@contextmanager
def _fitting() -> Iterator[None]:
    token = in_a_fit.set(True)
    try:
        yield
    finally:
        in_a_fit.reset(token)


def locked(part: Any) -> Any:
    """Make an array read-only: methods share it, so a method that works in place must copy it."""
    for values in (part, getattr(part, "data", None)):
        if isinstance(values, np.ndarray):
            values.flags.writeable = False
    return part


def _do_all(work: Work, store: Store, keys: dict[tuple[int, str], str], places: Sequence[tuple[int, str]]) -> None:
    for _ in _do(work, store, keys, places):
        pass


def _do(
    work: Work, store: Store, keys: dict[tuple[int, str], str], places: Sequence[tuple[int, str]]
) -> Iterator[None]:
    """Evaluate some methods on one split with one thread, store each result at once, and yield after each."""
    number = places[0][0]
    split = work.splits[number]
    # Inside a worker everything is serial, because the workers already use all cores.
    with threadpool_limits(1), joblib.parallel_config(backend="sequential"), _fitting():
        reuse = Reuse()
        train, test = (part._replace(X=locked(part.X), y=locked(part.y)) for part in work.samples.parts(split))
        for place in places:
            estimator = work.estimators[place[1]]
            try:
                fitted = prepared(estimator, work.split_seed(number))
                outcome: Outcome = work.evaluate(fitted, train, test, work.target, reuse)
            except Exception as error:  # a failed fit is a result, too
                outcome = Failure(f"{type(error).__name__}: {error}")
            store.write(keys[place], outcome)
            yield
