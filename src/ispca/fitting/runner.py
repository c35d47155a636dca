"""Fit and evaluate every method on every split: in parallel, resumable, the same for any number of workers."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing, nullcontext
from contextvars import ContextVar
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from ..containers import ColumnSource
from ..foundation.block_settings import variable_set
from ..foundation.parallel import cluster_client, count_workers, run_parallel
from ..foundation.progress import progress
from ..foundation.splits import Split
from ..reduction.reuse import share_results
from ..targets import Target
from ..targets.samples import Prediction, Samples
from .fit_and_predict import clone_with_seed, fit_and_predict
from .fit_store import FORMAT, Failure, Outcome, Store, estimator_fingerprint

# Columns that tell data in a file from others of the same shape.
IDENTIFYING_COLUMNS = 20
# Starting worker processes takes about as long as fits of this length.
SECONDS_WORTH_WORKERS = 3.0
in_a_fit: ContextVar[bool] = ContextVar("in_a_fit", default=False)


class Work(NamedTuple):
    """The methods, data, splits and seed that a worker needs, and what it does with each method.

    ``evaluate`` gets an unfitted estimator, training and held-out samples and the target, and returns a frozen
    dataclass of type ``record``.
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
        """Return a key for each fit, made from its data, samples, estimator (parameters and versions) and seed."""
        # Another version may give other numbers, so its fits get other keys.
        versions = [version(package) for package in ("ispca", "numpy", "scipy", "scikit-learn")]
        X, y, given = self.samples.X, self.samples.y, self.samples.weight_and_offset()
        evaluation = _fingerprint("The evaluation", self.evaluate)
        data = joblib.hash((_content(X), y, given, self.target.name, evaluation, FORMAT, versions))
        # A clone has no fitted attributes: a fitted estimator and a new one have the same key.
        estimators = {name: _fingerprint(name, clone(estimator)) for name, estimator in self.estimators.items()}
        return {
            (number, name): joblib.hash((data, *_split_content(split), self.split_seed(number), estimator))
            for number, split in enumerate(self.splits)
            for name, estimator in estimators.items()
        }


def run(work: Work, resume: Any, n_jobs: int | None, label: str) -> dict[tuple[int, str], Outcome]:
    """Run the fits that are not stored yet, and return all of them by split and method."""
    temporary = tempfile.TemporaryDirectory(prefix="ispca-") if resume is None else nullcontext(resume)
    with temporary as directory:
        store = Store(Path(directory), lasting=resume is not None, record=work.record)
        store.open()
        store.sweep()
        keys = work.keys()
        # An estimator that occurs under two names is fitted once.
        places = {key: place for place, key in reversed(keys.items())}
        missing = [place for place, key in keys.items() if places[key] == place and store.read(key) is None]
        elsewhere = cluster_client(n_jobs) is not None
        pieces = [
            {place: keys[place] for place in portion}
            for portion in portions(missing, count_workers(n_jobs), elsewhere)
        ]
        X, others = work.samples.X, work._replace(samples=work.samples._replace(X=None))
        # Machines of a cluster may not see the directory: their results are stored here, as soon as they arrive.
        shared = (others, X, None if elsewhere else store)

        def evaluate(chosen: list[dict[tuple[int, str], str]], n_jobs: int | None) -> None:
            with closing(run_parallel(_evaluate, shared, chosen, n_jobs, "generator_unordered")) as results:
                for key, outcome in chain.from_iterable(results):
                    store.write(key, outcome)

        # Inside a fit of another comparison, only the outer one shows its progress.
        shown = 0 if in_a_fit.get() else len(places)
        with progress(label, shown, lambda: store.count_stored(list(places))):
            if count_workers(n_jobs) > 1 and not elsewhere:
                start = perf_counter()
                evaluate(pieces[:1], 1)
                pieces, seconds = pieces[1:], perf_counter() - start
                n_jobs = n_jobs if seconds * len(pieces) > SECONDS_WORTH_WORKERS else 1
            evaluate(pieces, n_jobs)
        return {place: store.read(key) for place, key in keys.items()}


def _split_content(split: Split) -> list[Any]:
    # Splits without weights have the keys that they had before there were weights.
    content = [split.train, split.test, split.train_groups]
    return content if split.train_weight is None else [*content, split.train_weight]


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


def _evaluate(
    work: Work, X: Any, store: Store | None, keys: dict[tuple[int, str], str]
) -> list[tuple[str, Outcome]]:
    """Evaluate some methods on one split with one thread; store each result at once, or return all of them."""
    work = work._replace(samples=work.samples._replace(X=X))
    number = next(iter(keys))[0]
    results = []
    train, test = (part.read_only() for part in work.samples.parts(work.splits[number]))
    # Inside a worker everything is serial, because the workers already use all cores.
    serial = joblib.parallel_config(backend="sequential")
    with threadpool_limits(1), serial, variable_set(in_a_fit, True), share_results(train.X):
        for (_, name), key in keys.items():
            try:
                fitted = clone_with_seed(work.estimators[name], work.split_seed(number))
                outcome: Outcome = work.evaluate(fitted, train, test, work.target)
            except Exception as error:  # a failed fit is a result, too
                outcome = Failure(f"{type(error).__name__}: {error}{_advice(error)}")
            if store is None:
                results.append((key, outcome))
            else:
                store.write(key, outcome)
    return results


def _advice(error: Exception) -> str:
    """Return what to do about a method that works in place."""
    if "read-only" not in str(error):
        return ""
    return ". Methods share their data, so let this one copy X before it changes it, for example with copy=True."
