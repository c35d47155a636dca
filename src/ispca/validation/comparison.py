"""Compare methods: each is refitted completely in every split and evaluated on the held-out samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from ..fitting.comparison_inputs import check_baseline, choose_target, named_estimators, resumable_seed
from ..fitting.fit_and_predict import check_fit_parameters, has_converged
from ..fitting.fit_store import Failure
from ..fitting.runner import Work, run
from ..foundation.arrays import Floats, Indices
from ..foundation.docstrings import share_docs
from ..foundation.messages import notify
from ..foundation.result_tables import ResultTable, as_table
from ..foundation.splits import Split, describe_folds, describe_splits, make_fold_splits, make_splits
from ..plots.comparison_and_panel import plot_comparison
from ..plots.plot_arguments import DOCS
from ..targets import Target, find_target
from ..targets.intervals import split_interval
from ..targets.measures import UNLIMITED, Limits, difference_limits, goodness
from ..targets.samples import HeldOut, Pooled, Prediction, Samples
from ..targets.target import Judgment
from ..targets.target_and_prediction_checks import check_offset, check_weights
from .comparison_text import comparison_html, comparison_text
from .failed_fits import base_rate, failure_text, fair_scores, held_out_part
from .pooling import pool, pooled_columns
from .winner import BestMethod, best_method


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
        Every measure for every split. Where a fit failed it is that of the base rate: the class frequencies, the
        mean and standard deviation, the mean rate of counts, or the Kaplan-Meier curve of the split's training
        part. NaN where the measure does not apply, and for a method that failed in every split.
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
    kind : str
        Kind of target, as in `compare`.
    observed : list of HeldOut
        What was observed in the held-out part of each split.
    rates : list of Prediction or None
        Predictions of the base rate in each split; None where the training part has none.
    units : ndarray of shape (n_samples,) or None
        Number of the group of each sample, if there are groups.
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
    kind: str = ""
    observed: list[HeldOut] = field(default_factory=list, repr=False)
    rates: list[Prediction | None] = field(default_factory=list, repr=False)
    units: Indices | None = field(default=None, repr=False)

    @property
    def main_metric(self) -> str:
        """The first measure: the mean log predictive density, or for survival the concordance, by default."""
        return next(iter(self.scores))

    @property
    def target(self) -> Target:
        """The kind of target."""
        return find_target(self.kind)

    @cached_property
    def best(self) -> BestMethod | None:
        """The best method by the main measure, corrected for having been chosen; see `best_method`."""
        return best_method(self)

    @cached_property
    def in_folds(self) -> bool:
        """Whether the splits hold out every sample once."""
        tested = np.concatenate([split.test for split in self.splits])
        every = np.unique(np.concatenate([tested, *(split.train for split in self.splits)]))
        return len(self.splits) > 1 and np.array_equal(np.sort(tested), every)

    @cached_property
    def pooled(self) -> dict[str, Pooled | None]:
        """The held-out predictions of each method in all splits together; None if it failed in every one."""
        return {method: pool(self, method) for method in self.methods}

    def judgment(self, method: str) -> Judgment:
        """Return what a verdict says about a method that did not fail in every split."""
        found = self.pooled[method]
        if found is not None and method not in self._judgments:
            self._judgments[method] = self.target.judge(found)
        return self._judgments[method]

    @cached_property
    def _judgments(self) -> dict[str, Judgment]:
        return {}

    @property
    def test_to_train(self) -> float:
        """Size of the test parts over that of the training parts, which the intervals need."""
        return float(np.mean([len(split.test) / len(split.train) for split in self.splits]))

    @cached_property
    def table(self) -> ResultTable:
        """One row per method, best first by the main measure.

        ``method``, then for every measure its value and 95% interval (``_low``, ``_high``) and the paired
        difference from the baseline with its interval (``_difference``, ``_difference_low``,
        ``_difference_high``), the seconds of reduction and model per fit, the number of failed fits
        (``n_failed``), and the number of posteriors whose held-out log density has not converged. Where a fit
        failed, the method has the scores of the base rate; a method that failed in every split comes last.
        ``result.table.to_frame()`` is a data frame.

        Of folds, the values are those of all held-out samples together, as in the verdict and the report; of other
        splits, they are means.
        """
        columns: dict[str, Any] = {"method": np.array(self.methods)}
        base = self.methods.index(self.baseline)
        for name, scores in self.scores.items():
            limits = self.limits.get(name, UNLIMITED)
            if self.in_folds:
                columns |= pooled_columns(self, name)
                continue
            columns |= self._summary(name, scores, limits)
            columns |= self._summary(f"{name}_difference", scores - scores[:, [base]], difference_limits(limits))
        columns |= {name: self._mean(name) for name in ("seconds_reduction", "seconds_model")}
        columns |= self.fit_counts()
        good = goodness(self.main_metric, columns[self.main_metric])
        # Methods without a value come last; ties stay in the order given.
        order = np.lexsort((-good, np.isnan(good)))
        return as_table({name: values[order] for name, values in columns.items()})

    @share_docs(**DOCS)
    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw one row per method with its interval; see `ispca.plots.plot_comparison`.

        Parameters
        ----------
        metric : str, optional
            The measure to draw; by default the main one.
        $ax
        """
        return plot_comparison(self, metric, ax)

    def _summary(self, name: str, values: Floats, limits: Limits) -> dict[str, Floats]:
        """Return the mean of each column and the ends of its interval, under three names."""
        summaries = np.array([split_interval(column, self.test_to_train, limits) for column in values.T])
        return dict(zip((name, f"{name}_low", f"{name}_high"), summaries.T, strict=True))

    def fit_counts(self) -> dict[str, Indices]:
        """Return the numbers of failed fits and of posteriors that have not converged, by method."""
        unconverged = [[item is not None and not has_converged(item) for item in row] for row in self.predictions]
        failed = np.array([self.n_failed(method) for method in self.methods])
        return {"n_failed": failed, "n_unconverged": np.sum(unconverged, axis=0)}

    def difference(self, method: str, other: str) -> tuple[float, float, float]:
        """Return by how much a method is better than another one by the main measure, and the 95% interval."""
        own, others = (self.scores[self.main_metric][:, self.methods.index(name)] for name in (method, other))
        limits = difference_limits(self.limits.get(self.main_metric, UNLIMITED))
        good = goodness(self.main_metric, own) - goodness(self.main_metric, others)
        return split_interval(good, self.test_to_train, limits)

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

    def _repr_html_(self) -> str:
        """Return the summary as a table for notebooks."""
        return comparison_html(self)


def compare(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    kind: str | None = None,
    cv: Any = 50,
    groups: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    metrics: Any = None,
    baseline: str = "lasso",
    n_jobs: int | None = -1,
    resume: Any = None,
    random_state: Any = 0,
) -> Comparison:
    """Refit complete procedures in every split, and compare them on the held-out samples.

    Parameters
    ----------
    estimators : dict of str to estimator, list of (name, estimator), or estimator
        Any scikit-learn classifiers, regressors or pipelines; for survival times, any methods that follow
        scikit-survival's conventions. A reduction with more components than a training part supports uses as
        many as possible.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,), or events and times
        Class labels, values or counts. Survival times as a structured array or a two-column frame of event and
        time, or as a tuple (event, time). Methods get ordered classes as their numbers from 0 on.
    kind : {"classification", "regression", "survival", "count", "ordinal"}, optional
        What y contains. By default, survival times and ordered categoricals of pandas are recognized, and
        otherwise the methods decide between classes and quantities; counts are never guessed.
    cv : int, splitter or iterable of pairs, default=50
        A number of random splits with one fifth held out (stratified by class or event; by groups if given), any
        scikit-learn splitter, or pairs of training and test indices.
    groups : array-like of shape (n_samples,), optional
        Samples of a group are never divided between training and test, nor in methods whose ``fit`` takes groups.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples in the fits and in the measures. Every step of a method whose ``fit`` takes weights
        gets them, and its last step must.
    offset : array-like of shape (n_samples,), optional
        For counts: offset of the linear predictor, such as the log of the exposure. All methods must take it.
    metrics : str or list of str, optional
        For classes ``mlpd``, ``accuracy``, ``balanced_accuracy``, ``auc``, ``brier``, ``calibration_error``; for
        values ``mlpd``, ``r2``, ``rmse``, ``coverage`` (of 90% intervals); for survival times ``concordance``,
        ``integrated_brier``, ``mlpd``; for counts ``mlpd``, ``poisson_deviance``, ``absolute_error``,
        ``coverage``; for ordered classes ``mlpd``, ``ranked_probability``, ``accuracy``, ``absolute_error`` (in
        classes). By default all; the first is the main one. A method has no value of a measure that it does not
        predict anything for.
    baseline : str, default="lasso"
        The method that the others are compared with; if there is no "lasso", the first one.
    n_jobs : int or None, default=-1
        Worker processes, each with one thread. Results do not depend on it.
    resume : path, optional
        Directory in which finished fits are stored; an interrupted comparison continues from there.
        Stored failures are not repeated; delete the directory to try again.
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
    options = {"kind": kind, "cv": cv, "groups": groups, "sample_weight": sample_weight, "offset": offset}
    options |= {"metrics": metrics, "baseline": baseline, "n_jobs": n_jobs, "resume": resume}
    return run_comparison(estimators, X, y, **options, random_state=random_state)


def run_comparison(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    kind: str | None,
    cv: Any,
    groups: Any,
    sample_weight: Any,
    offset: Any,
    baseline: str,
    n_jobs: int | None,
    random_state: Any,
    metrics: Any = None,
    resume: Any = None,
    folds: bool = False,
    label: str = "Comparing",
    on_device: Callable[[], Any] | None = None,
) -> Comparison:
    """Compare as `compare` does; with ``folds``, an integer is a number of folds instead of random splits.

    ``label`` says on the progress line what is being done. ``on_device`` returns X where reductions are fitted.
    """
    named = named_estimators(estimators)
    X, y, target = choose_target(named, X, y, kind)
    offset = check_offset(offset, len(y))
    if offset is not None and not target.counted:
        raise ValueError("offset applies to counts only. Pass kind='count' if y contains counts, or omit offset.")
    samples = Samples(X, y, None, check_weights(sample_weight, len(y)), offset, on_device)
    check_fit_parameters(named, samples)
    measures = target.choose_measures(metrics)
    base = check_baseline(baseline, list(named))
    seed = resumable_seed(random_state, resume)
    labels, strata = target.strata(y)
    make, describe = (make_fold_splits, describe_folds) if folds else (make_splits, describe_splits)
    splits = make(cv, X, labels, groups, strata is not None, seed)
    outcomes = run(Work(named, samples, target, splits, seed), resume, n_jobs, label)
    predictions: list[list[Prediction | None]] = []
    errors: list[tuple[int, str, str]] = []
    for number in range(len(splits)):
        row = {name: outcomes[number, name] for name in named}
        errors += [(number, name, item.error) for name, item in row.items() if isinstance(item, Failure)]
        predictions.append([None if isinstance(item, Failure) else item for item in row.values()])
    if errors:
        notify(failure_text(errors, len(splits)))
    observed = [held_out_part(samples, target, split) for split in splits]
    rates = [base_rate(samples, target, split) for split in splits]
    scores = fair_scores(predictions, observed, rates, measures)
    limits = {name: measure.limits for name, measure in measures.items()}
    words = describe(cv, len(splits), groups, strata)
    splitter = cv if isinstance(cv, Integral) or hasattr(cv, "split") else None
    units = None if groups is None else np.unique(groups, return_inverse=True)[1]
    made: tuple[Any, ...] = (words, seed, splitter, target.name, observed, rates, units)
    return Comparison(list(named), base, scores, predictions, splits, errors, limits, *made)
