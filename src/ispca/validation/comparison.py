"""Compare methods: each is refitted completely in every split and evaluated on the held-out samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from .._array_types import Floats
from .._recarray import as_table
from .._splits import Split, describe_splits, make_splits
from .._warnings import notify
from ..plots.comparison import plot_comparison
from .comparison_text import comparison_text
from .corrected_interval import interval
from .failed_fits import NEVER, RULE, fair_scores
from .fit_store import Failure
from .input_checks import (
    checked_baseline,
    checked_data,
    checked_timeout,
    named_estimators,
    resumable_seed,
    target_is_classes,
)
from .metrics import UNLIMITED, Limits, choose_measures, difference_limits, goodness
from .prediction import Prediction
from .runner import Work, run


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns.

    Attributes
    ----------
    methods : list of str
        Names of the methods.
    baseline : str
        The method the others are compared with.
    scores : dict of str to ndarray of shape (n_splits, n_methods)
        Every measure for every split. Where a fit failed it is that of the base rate: the class frequencies,
        or the mean and standard deviation, of the split's training part. NaN where the measure does not apply,
        and for a method that failed in every split.
    predictions : list of list of Prediction or None
        Predictions for the held-out samples, by split and method; None where the fit failed.
    splits : list of Split
        Training and test indices.
    errors : list of tuple
        Split, method and message of every fit that failed.
    limits : dict of str to tuple of float
        Smallest and largest possible value of each measure; intervals are cut off there.
    cv : str
        How the splits were made, in words.
    seed : int or None
        The seed that they were made with; pass it as ``random_state`` to repeat the comparison.
    splitter : int, splitter or None
        The number of random splits or the splitter that was given; None for lists of indices.
    """

    methods: list[str]
    baseline: str
    scores: dict[str, Floats]
    predictions: list[list[Prediction | None]] = field(repr=False)
    splits: list[Split] = field(repr=False)
    errors: list[tuple[int, str, str]] = field(default_factory=list)
    limits: dict[str, Limits] = field(default_factory=dict, repr=False)
    cv: str = ""
    seed: int | None = None
    splitter: Any = field(default=None, repr=False)

    @property
    def main_metric(self) -> str:
        """The first measure: the mean log predictive density unless others were asked for."""
        return next(iter(self.scores))

    @property
    def test_to_train(self) -> float:
        """Size of the test parts over that of the training parts, which the intervals need."""
        return float(np.mean([len(split.test) / len(split.train) for split in self.splits]))

    @property
    def table(self) -> np.recarray:
        """One row per method, best first by the main measure.

        ``method``, then for every measure its mean over the splits and 95% interval (``_low``, ``_high``) and
        the paired difference from the baseline with its interval (``_difference``, ``_difference_low``,
        ``_difference_high``), the seconds of reduction and model per fit, the number of failed fits
        (``n_failed``), and the number of posteriors whose held-out log density has not converged. Where a fit
        failed, the method has the scores of the base rate; a method that failed in every split comes last.
        ``pandas.DataFrame(result.table)`` makes a frame of it.
        """
        columns: dict[str, Any] = {"method": np.array(self.methods)}
        base = self.methods.index(self.baseline)
        for name, scores in self.scores.items():
            limits = self.limits.get(name, UNLIMITED)
            columns |= self._summary(name, scores, limits)
            columns |= self._summary(f"{name}_difference", scores - scores[:, [base]], difference_limits(limits))
        columns |= {name: self._mean(name) for name in ("seconds_reduction", "seconds_model")}
        columns["n_failed"] = np.array([self.n_failed(method) for method in self.methods])
        unconverged = [[item is not None and not item.converged for item in row] for row in self.predictions]
        columns["n_unconverged"] = np.sum(unconverged, axis=0)
        good = goodness(self.main_metric, columns[self.main_metric])
        # Methods without a value come last; ties stay in the order given.
        order = np.lexsort((-good, np.isnan(good)))
        return as_table({name: values[order] for name, values in columns.items()})

    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw one row per method with its interval; see `ispca.plots.plot_comparison`.

        Parameters
        ----------
        metric : str, optional
            The measure to draw; by default the main one.
        ax : matplotlib Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        return plot_comparison(self, metric, ax)

    def _summary(self, name: str, values: Floats, limits: Limits) -> dict[str, Floats]:
        """Return the mean of each column and the ends of its interval, under three names."""
        summaries = np.array([interval(column, self.test_to_train, limits) for column in values.T])
        return dict(zip((name, f"{name}_low", f"{name}_high"), summaries.T, strict=True))

    def n_failed(self, method: str) -> int:
        """Return the number of splits in which a method failed."""
        return sum(name == method for _, name, _ in self.errors)

    def _mean(self, name: str) -> Floats:
        def mean(column: int) -> float:
            values = [getattr(row[column], name) for row in self.predictions if row[column] is not None]
            return float(np.mean(values)) if values else np.nan

        return np.array([mean(column) for column in range(len(self.methods))])

    def __str__(self) -> str:
        return comparison_text(self)


def compare(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 50,
    groups: Any = None,
    metrics: Any = None,
    baseline: str = "lasso",
    n_jobs: int | None = -1,
    resume: Any = None,
    timeout: float | None = None,
    random_state: Any = 0,
) -> Comparison:
    """Refit complete procedures in every split, and compare them on the held-out samples.

    Parameters
    ----------
    estimators : dict of str to estimator, list of (name, estimator), or estimator
        Any scikit-learn classifiers, regressors or pipelines. A reduction with more components than a training
        part supports uses as many as possible.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        Class labels or values.
    cv : int, splitter or iterable of pairs, default=50
        A number of random splits with one fifth held out (stratified by class; by groups if given), any
        scikit-learn splitter, or pairs of training and test indices.
    groups : array-like of shape (n_samples,), optional
        Samples of a group are never divided between training and test, nor in methods whose ``fit`` takes groups.
    metrics : str or list of str, optional
        For classes ``mlpd``, ``accuracy``, ``balanced_accuracy``, ``auc``, ``brier``, ``calibration_error``; for
        values ``mlpd``, ``r2``, ``rmse``, ``coverage`` (of 90% intervals). By default all; the first is the
        main one.
    baseline : str, default="lasso"
        The method that the others are compared with; if there is no "lasso", the first one.
    n_jobs : int or None, default=-1
        Worker processes, each with one thread. Results do not depend on it.
    resume : path, optional
        Directory in which finished fits are stored; an interrupted comparison continues from there.
        Stored failures are not repeated; delete the directory to try again.
    timeout : float, optional
        Time limit in seconds for a fit with its predictions. A fit that takes longer is stopped, even in
        compiled code, and counts as failed. It is not stored in ``resume``, so a later call with more time
        repeats it. The fits run in separate processes, which does not change the results.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the splits and of every estimator whose own ``random_state`` is None.

    Returns
    -------
    result : Comparison
        See its ``table`` and `ispca.plots.plot_comparison`; ``print(result)`` shows a summary.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ispca.datasets import make_expression
    >>> from ispca.validation import compare
    >>> data = make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> methods = {"chance": DummyClassifier(), "logistic": LogisticRegression()}
    >>> result = compare(methods, data.data, data.target, cv=5, baseline="chance", n_jobs=1)
    >>> result.table["method"].tolist()
    ['logistic', 'chance']
    """
    named = named_estimators(estimators)
    X, y = checked_data(X, y)
    classification = target_is_classes(named, y)
    measures = choose_measures(metrics, classification)
    base = checked_baseline(baseline, list(named))
    seed = resumable_seed(random_state, resume)
    timeout = checked_timeout(timeout)
    splits = make_splits(cv, X, y, groups, classification, seed)
    classes = np.unique(y) if classification else None
    outcomes = run(Work(named, X, y, classes, splits, seed), resume, n_jobs, "Comparing", timeout)
    predictions: list[list[Prediction | None]] = []
    errors: list[tuple[int, str, str]] = []
    for number in range(len(splits)):
        row = {name: outcomes[number, name] for name in named}
        errors += [(number, name, item.error) for name, item in row.items() if isinstance(item, Failure)]
        predictions.append([None if isinstance(item, Failure) else item for item in row.values()])
    if errors:
        number, name, error = errors[0]
        first = f"{len(errors)} of {len(outcomes)} fits failed; the first: {name} on split {number}, {error}"
        notify(f"{first}\n{RULE}. {NEVER}.")
    scores = fair_scores(predictions, y, splits, measures, classes)
    limits = {name: measure.limits for name, measure in measures.items()}
    words = describe_splits(cv, len(splits), groups, classification)
    splitter = cv if isinstance(cv, Integral) or hasattr(cv, "split") else None
    return Comparison(list(named), base, scores, predictions, splits, errors, limits, words, seed, splitter)
