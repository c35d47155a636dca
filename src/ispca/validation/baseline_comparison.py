"""Cross-validate one model, kernels, the lasso, the base rate and the covariates alone, and their mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import has_fit_parameter

from ..containers import ColumnSource, wrap_container
from ..containers.array_api import matches, on_host
from ..foundation.arrays import Floats
from ..foundation.messages import listing
from ..kernels.base import MOST_SAMPLES
from ..stacking.candidates import default_candidates, in_fold
from ..stacking.combination import CONCENTRATION, combined_predictions, concentrations
from ..targets import CLASSES, QUANTITY, find_target, target_form
from ..targets.measures import Measure
from ..targets.samples import Prediction
from .comparison import Comparison, run_comparison
from .failed_fits import fair_scores
from .pooling import pooled_difference

MODEL, LASSO, COVARIATES, BASE_RATE = "this model", "lasso", "covariates only", "base rate"
# With the mixture of all methods, the model is called after its components.
COMBINED, COMPONENTS, KERNELS = "combined prediction", "components alone", "kernels"
# What is mixed.
CANDIDATES = (COMPONENTS, KERNELS, LASSO, BASE_RATE)


def compare_with_baselines(
    model: Any,
    X: Any,
    y: Any,
    *,
    kind: str | None = None,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    n_jobs: int | None = -1,
    random_state: int = 0,
    covariates: Sequence[int] = (),
    combine: bool = False,
) -> Comparison:
    """Refit a model, the lasso and the base rate in every fold, and compare them on the held-out samples.

    By default, every sample is held out once. Posteriors are sampled with two chains of 400 draws in the folds,
    because predictions are averages over the draws and do not need more. The lasso is left out where there is none
    for the kind of target, or none that uses the weights or the offset, and if X is not in memory.

    Parameters
    ----------
    model : estimator
        A model or a pipeline that ends in one, fitted or not. Clones of it are fitted.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The features. With an array of PyTorch, CuPy or JAX, the reduction of the model is fitted where that is,
        and everything else in NumPy.
    y : array-like of shape (n_samples,), or events and times
        The target, as in `compare`.
    kind : str, optional
        What y contains, as in `compare`. Survival times are recognized; counts and ordered classes are not.
    cv : int, splitter or iterable of pairs, default=5
        Number of folds, stratified by class or event, or the splits, as in `compare`. There are never more folds
        than samples or groups.
    groups, sample_weight, offset : array-like of shape (n_samples,), optional
        Groups, weights and offsets of the samples, as in `compare`.
    n_jobs : int or None, default=-1
        Number of worker processes; none with an array of PyTorch, CuPy or JAX, which they cannot share.
    random_state : int, default=0
        Seed of the folds.
    covariates : sequence of int, optional
        Columns of X that are covariates. A pipeline is then also compared with its last step on these alone, the
        method "covariates only"; see `covariate_gain`.
    combine : bool, default=False
        Whether to fit "kernels", too, and to add the "combined prediction", which mixes all methods. It comes
        first, and the model is called "components alone". The weights of the mixture for each fold come from the
        predictions of the other folds.

    Returns
    -------
    result : Comparison
        Pass it to `ispca.report.write_report` as ``validation``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ispca.datasets import make_expression
    >>> from ispca.validation import compare_with_baselines
    >>> data = make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> compare_with_baselines(LogisticRegression(), data.data, data.target, cv=2, n_jobs=1).methods
    ['this model', 'lasso', 'base rate']
    """
    form = target_form(y) or (QUANTITY if is_regressor(model) else CLASSES)
    kind = kind or form.name
    on_device = partial(wrap_container, X) if matches(X) else None
    X = on_host(X)
    n_classes = len(np.unique(y)) if find_target(kind).unordered else 0
    candidates = dict(default_candidates(kind, n_classes))
    given = {"sample_weight": sample_weight, "offset": offset}
    given = {name: values for name, values in given.items() if values is not None}
    lasso, in_memory = candidates.get(LASSO), not isinstance(X, ColumnSource)
    methods = {COMPONENTS if combine else MODEL: in_fold(model)}
    if combine and len(y) <= MOST_SAMPLES:
        methods[KERNELS] = in_fold(with_covariates(candidates[KERNELS], covariates))
    if in_memory and lasso is not None and all(has_fit_parameter(lasso, name) for name in given):
        methods[LASSO] = lasso
    if in_memory and len(covariates) and isinstance(model, Pipeline):
        methods[COVARIATES] = in_fold(covariates_only(model, covariates))
    methods[BASE_RATE] = candidates[BASE_RATE]
    options: dict[str, Any] = {"sample_weight": sample_weight, "offset": offset, "random_state": random_state}
    options |= {"kind": kind, "cv": cv, "folds": True, "groups": groups}
    options |= {"n_jobs": n_jobs if on_device is None else 1, "on_device": on_device}
    found = run_comparison(methods, X, y, baseline=BASE_RATE, label="Cross-validating", **options)
    return with_combination(found, methods) if combine else found


def with_covariates(method: Any, columns: Sequence[int]) -> Any:
    """Return kernels that do not penalize some columns of X."""
    if not len(columns):
        return method
    if not isinstance(method, Pipeline):
        return method.set_params(adjust=list(columns))
    method[0].set_params(adjust=list(columns), keep_adjusted=True)
    method[-1].set_params(unpenalized=list(range(-len(columns), 0)))
    return method


def candidates_of(comparison: Comparison) -> list[str]:
    """Return the methods that can be mixed: those with a predictive distribution in every split."""

    def usable(column: int) -> bool:
        parts = [row[column] for row in comparison.predictions]
        return all(part is not None and part.log_density is not None for part in parts)

    methods = comparison.methods
    return [name for name in CANDIDATES if name in methods and usable(methods.index(name))]


def predictions_of(comparison: Comparison, names: Sequence[str]) -> list[list[Prediction]]:
    """Return the predictions of some methods by split."""
    columns = [comparison.methods.index(name) for name in names]
    return [[cast(Prediction, row[column]) for column in columns] for row in comparison.predictions]


def with_combination(comparison: Comparison, methods: dict[str, Any]) -> Comparison:
    """Return the comparison with the mixture of its methods as the first one, if there are several to mix."""
    names = candidates_of(comparison)
    if len(names) < 2 or len(comparison.splits) < 2:
        return comparison
    target = find_target(comparison.kind, times=comparison.observed[0].times)
    prior = concentrations([methods[name] for name in names], CONCENTRATION)
    mixtures = combined_predictions(target, prior, predictions_of(comparison, names), comparison.observed)
    predictions = [[mixed, *row] for mixed, row in zip(mixtures, comparison.predictions, strict=True)]
    measures = {name: target.measures[name] for name in comparison.scores}
    scores = fair_scores(predictions, comparison.observed, comparison.rates, measures)
    return replace(comparison, methods=[COMBINED, *comparison.methods], scores=scores, predictions=predictions)


def covariates_only(model: Pipeline, columns: Sequence[int]) -> Pipeline:
    """Return the last step of a pipeline, to be fitted to some columns of X alone, without a penalty."""
    last = clone(model[-1]).set_params(unpenalized=list(range(len(columns))))
    chosen = FunctionTransformer(dense_columns, kw_args={"columns": list(columns)})
    return make_pipeline(chosen, StandardScaler(), last)


def dense_columns(X: Any, columns: Sequence[int]) -> Floats:
    """Return some columns of X as a dense array."""
    part = X[:, columns]
    dense: Floats = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
    return dense


def covariate_gain(
    comparison: Comparison, names: Sequence[str], method: str | None = None
) -> dict[str, Any] | None:
    """Return how much better a method predicts held-out samples than the covariates of these names alone.

    It is the first method by default. ``measure`` (that of the verdict, over all held-out samples), ``model`` and
    ``covariates`` (its values), ``difference``, ``low`` and ``high`` (95% interval, as that of the verdict) and
    ``sentence``. None if there are no covariates, one of the two could not be fitted, or there are too few events.
    """
    if COVARIATES not in comparison.methods:
        return None
    method = method or comparison.methods[0]
    own, alone = comparison.pooled[method], comparison.pooled[COVARIATES]
    if own is None or alone is None:
        return None
    judgment = comparison.judgment(method)
    measure, difference = judgment.measure, pooled_difference(judgment.measure, own, alone)
    if not judgment.judged or not np.isfinite(difference.low):
        return None
    more = (own.base_rate,) if measure.of_base_rate else ()
    both = {"model": own.prediction, "covariates": alone.prediction}
    values = {name: measure.score(own.held_out, item, *more) for name, item in both.items()}
    ends = {"difference": difference.value, "low": difference.low, "high": difference.high}
    found = {"measure": (measure.phrase or measure.title).removesuffix(" index"), **values, **ends}
    return found | {"sentence": _sentence(found, names, measure)}


def _sentence(found: dict[str, Any], names: Sequence[str], measure: Measure) -> str:
    values = (found[name] for name in ("difference", "low", "high"))
    if not measure.in_percent:
        title = measure.phrase or measure.title
        reached = f"{'an' if title.startswith('A') else 'a'} {title} of {measure.show(found['covariates'])}"
        change, low, high = (f"{round(value, 2) + 0.0:+.2f}".replace("+0.00", "0.00") for value in values)
        unit = ""
    else:
        reached, unit = f"{found['covariates']:.0%} {found['measure']}", " percentage points"
        change, low, high = (f"{round(100 * value):+d}".replace("+0", "0") for value in values)
    alone = f"The covariates alone ({listing(names)}) reach {reached} in held-out samples"
    size = f"{change}{unit} (95% interval {low} to {high})"
    if found["low"] > 0:
        return f"{alone}, and the features add to that: {size}."
    if found["high"] < 0:
        return f"{alone}, and the features reduce it: {size}."
    return f"{alone}. The features do not add to it significantly: {size}."
