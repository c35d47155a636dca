"""Compare methods: each is refitted completely in every split and evaluated on the held-out samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from .._checks import check_container, check_mask, numeric_target
from .._messages import count, suggestion
from .._splits import Split, make_splits
from ..families.target_kind import has_fractions
from ..reduction.records import Floats
from ..reduction.user_warnings import notify
from .comparison_text import comparison_text
from .corrected_interval import interval
from .failed_fits import NEVER, RULE, fair_scores
from .fit_store import Failure
from .metrics import CLASSIFICATION_LIMITS, REGRESSION_LIMITS, Limits, choose_measures, difference_limits, goodness
from .prediction import Prediction
from .record_array import as_table
from .runner import Work, checked_timeout, resumable_seed, run

UNLIMITED: Limits = (-np.inf, np.inf)


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
    """

    methods: list[str]
    baseline: str
    scores: dict[str, Floats]
    predictions: list[list[Prediction | None]] = field(repr=False)
    splits: list[Split] = field(repr=False)
    errors: list[tuple[int, str, str]] = field(default_factory=list)
    limits: dict[str, Limits] = field(default_factory=dict, repr=False)

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
        ratio = self.test_to_train
        columns: dict[str, Any] = {"method": np.array(self.methods)}
        base = self.methods.index(self.baseline)
        for name, scores in self.scores.items():
            limits = self.limits.get(name, UNLIMITED)
            apart = difference_limits(limits)
            summaries = np.array([interval(column, ratio, limits) for column in scores.T])
            differences = np.array([interval(column - scores[:, base], ratio, apart) for column in scores.T])
            for ending, values in zip(("", "_low", "_high"), summaries.T, strict=True):
                columns[name + ending] = values
            for ending, values in zip(("", "_low", "_high"), differences.T, strict=True):
                columns[f"{name}_difference{ending}"] = values
        columns |= {name: self._mean(name) for name in ("seconds_reduction", "seconds_model")}
        columns["n_failed"] = np.array([self.n_failed(method) for method in self.methods])
        columns["n_unconverged"] = self._unconverged()
        good = goodness(self.main_metric, columns[self.main_metric])
        # What has no value comes after the worst value; equal ones stay in the order given.
        order = np.lexsort((-good, np.isnan(good)))
        return as_table({name: values[order] for name, values in columns.items()})

    def n_failed(self, method: str) -> int:
        """Return the number of splits in which a method failed."""
        return sum(name == method for _, name, _ in self.errors)

    def _mean(self, name: str) -> Floats:
        def mean(column: int) -> float:
            values = [getattr(row[column], name) for row in self.predictions if row[column] is not None]
            return float(np.mean(values)) if values else np.nan

        return np.array([mean(column) for column in range(len(self.methods))])

    def _unconverged(self) -> np.ndarray:
        failed = [[item is not None and not item.converged for item in row] for row in self.predictions]
        return np.array(failed).sum(axis=0)

    def __str__(self) -> str:
        return comparison_text(self)

    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw one row per method with its interval, and a dashed line at the baseline.

        Parameters
        ----------
        metric : str, optional
            The measure to draw; by default the main one.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        ax : matplotlib Axes
            The drawing.
        """
        from ..plots.comparison import plot_comparison

        return plot_comparison(self, metric, ax)


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
        See its ``table`` and ``plot()``; ``print(result)`` shows a summary.

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
    base = _baseline(baseline, list(named))
    seed = resumable_seed(random_state, resume)
    timeout = checked_timeout(timeout)
    splits = make_splits(cv, X, y, groups, classification, seed)
    classes = np.unique(y) if classification else None
    work = Work(named, X, y, classes, splits, seed)
    outcomes = run(work, resume, n_jobs, "Comparing", timeout)
    n_splits = range(len(splits))
    predictions = [[_prediction(outcomes[number, name]) for name in named] for number in n_splits]
    errors = [
        (number, name, outcome.error)
        for (number, name), outcome in sorted(outcomes.items(), key=lambda item: item[0][0])
        if isinstance(outcome, Failure)
    ]
    if errors:
        number, name, error = errors[0]
        first = f"{len(errors)} of {len(outcomes)} fits failed; the first: {name} on split {number}, {error}"
        notify(f"{first}\n{RULE}. {NEVER}.")
    scores = fair_scores(predictions, y, splits, measures, classes)
    every = CLASSIFICATION_LIMITS if classification else REGRESSION_LIMITS
    limits = {name: every[name] for name in measures}
    return Comparison(list(named), base, scores, predictions, splits, errors, limits)


def _prediction(outcome: Any) -> Prediction | None:
    return outcome if isinstance(outcome, Prediction) else None


def named_estimators(estimators: Any) -> dict[str, Any]:
    """Return the estimators by name, or say what is wrong with them."""
    if hasattr(estimators, "fit"):
        estimators = {type(estimators).__name__: estimators}
    try:
        pairs = list(estimators.items() if isinstance(estimators, Mapping) else estimators)
        named = {str(name): estimator for name, estimator in pairs}
    except (TypeError, ValueError):
        raise ValueError(
            "estimators must be a dict of names and estimators, a list of (name, estimator), or one estimator."
        ) from None
    if not named or len(named) < len(pairs):
        raise ValueError("estimators needs at least one entry, and every name must be different.")
    for name, estimator in named.items():
        if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
            raise ValueError(
                f"{name!r} is {estimator!r}, not a scikit-learn estimator: pass an instance, not a class."
            )
        if not hasattr(estimator, "predict"):
            raise ValueError(f"{name!r} cannot predict. Add a model, as in make_pipeline({name}, model).")
    return named


def checked_data(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Return X with a shape, and y as an array of as many entries."""
    X = check_container(X if hasattr(X, "shape") else np.asarray(X))
    y = np.asarray(check_mask(y, "y"))
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if len(X.shape) != 2 or y.shape != (X.shape[0],):
        raise ValueError(
            f"X of shape {tuple(X.shape)} and y of shape {y.shape} do not match. "
            "X needs one row and y one entry per sample."
        )
    if y.dtype.kind in "cMm":
        what = "complex" if y.dtype.kind == "c" else str(y.dtype)
        raise ValueError(f"y contains {what} values. Pass class labels or real numbers.")
    n_missing = sum(map(_is_missing, y)) if y.dtype.kind in "fOM" else 0
    if n_missing:
        raise ValueError(f"y contains {count(n_missing, 'missing value')} (NaN or None). Drop these samples.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"y contains {count(int(np.isinf(y).sum()), 'infinite value')}. Drop these samples.")
    if y.dtype.kind == "O" and all(isinstance(item, Real) for item in y):
        y = np.array(y.tolist())
    return X, y


def _is_missing(item: Any) -> bool:
    try:
        return item is None or bool(item != item)
    except TypeError:  # pandas.NA, which equals nothing and differs from nothing
        return True


def target_is_classes(named: dict[str, Any], y: np.ndarray) -> bool:
    """Return whether all estimators are classifiers (True) or regressors (False); refuse a mixture."""
    classifiers = [name for name, estimator in named.items() if is_classifier(estimator)]
    regressors = [name for name, estimator in named.items() if is_regressor(estimator)]
    neither = [name for name in named if name not in classifiers and name not in regressors]
    if neither:
        raise ValueError(f"{neither[0]!r} is neither a classifier nor a regressor. Remove it.")
    if classifiers and regressors:
        raise ValueError(
            f"{classifiers[0]!r} is a classifier and {regressors[0]!r} a regressor. Compare methods of one kind."
        )
    if not classifiers:
        if y.dtype.kind not in "biuf":
            raise ValueError("y contains labels, but the methods are regressors. Pass numbers or use classifiers.")
        if len(y):
            numeric_target(y)
        return False
    if has_fractions(y):
        raise ValueError(
            "y contains fractions, but the methods are classifiers. Pass class labels or use regressors."
        )
    if len(np.unique(y)) < 2:
        raise ValueError("y contains a single class. Classification needs at least two.")
    return True


def _baseline(baseline: str, names: list[str]) -> str:
    if baseline in names:
        return baseline
    if baseline == "lasso":
        return names[0]
    raise ValueError(f"baseline={baseline!r} is not one of the methods. {suggestion(baseline, names)}")
