"""Stability over splits: how often each feature is used, and how similar the components are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from ..families import FAMILIES
from ..families.survival_target import is_survival, survival_target
from ..fitting.comparison_inputs import checked_data
from ..fitting.fit_and_predict import clone_with_seed
from ..foundation.arrays import Floats, Mask
from ..foundation.docstrings import share_docs
from ..foundation.parallel import run_parallel
from ..foundation.parameters import integer_seed
from ..foundation.result_tables import ResultTable, as_table
from ..foundation.splits import Split, make_splits
from ..plots.comparison_and_panel import plot_stability
from ..plots.plot_arguments import DOCS
from ..reduction.reuse import share_results
from ..targets import choose_family, is_category, target_form
from ..targets.samples import rows
from ..transformers.base import SupervisedComponents
from ..transformers.ispca_transformer import ISPCA
from ..transformers.linear_projection import component_names


@dataclass(frozen=True)
class Stability:
    """What `stability` returns.

    Attributes
    ----------
    table : recarray
        One row per feature, most used first: ``feature``, ``frequency`` (fraction of splits in which any of the
        first components uses it), and ``supervised_1``, ... (the same for each component).
    chance_frequency : float
        What ``frequency`` would be if as many features were used at random.
    components : recarray
        One row per component: in how many splits it was ``found``, the number of ``features`` it used on average,
        the ``similarity`` of its scores between splits (mean absolute correlation over all samples) and that
        of a target permuted at random (``chance_similarity``), and the ``overlap`` of its features between splits
        (Jaccard index) with ``chance_overlap`` for random sets of the same sizes.
    n_splits : int
        Number of splits.
    """

    table: ResultTable = field(repr=False)
    chance_frequency: float
    components: ResultTable
    n_splits: int

    @share_docs(**DOCS)
    def plot(self, n_features: int = 25, ax: Any = None) -> Any:
        """Draw the features used most often; see `ispca.plots.plot_stability`.

        Parameters
        ----------
        n_features : int, default=25
            Number of bars.
        $ax
        """
        return plot_stability(self, n_features, ax)


class _Fit(NamedTuple):
    """The features that each component of one split uses, its scores for all samples, and scores by chance."""

    used: Mask
    scores: Floats
    chance_scores: Floats


def stability(
    reduction: SupervisedComponents,
    X: Any,
    y: Any,
    *,
    n_components: int = 2,
    cv: Any = 50,
    groups: Any = None,
    n_jobs: int | None = -1,
    random_state: Any = 0,
) -> Stability:
    """Refit a reduction on many parts of the data, and measure what stays the same.

    Parameters
    ----------
    reduction : ISPCA or SPCA
        Not fitted; only its supervised components are examined.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,), or events and times
        The target, as in `compare`; its kind is that of the reduction's family.
    n_components : int, default=2
        Number of supervised components to examine, starting with the first.
    cv : int, splitter or iterable of pairs, default=50
        As in `compare`; the reduction is fitted to the training parts.
    groups : array-like of shape (n_samples,), optional
        Samples of a group are never divided.
    n_jobs : int or None, default=-1
        Worker processes.
    random_state : int, Generator, RandomState or None, default=0
        Seed of splits, permutations and the chance level.

    Returns
    -------
    result : Stability
        See its ``table`` and ``components``, and `ispca.plots.plot_stability`.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.validation import stability
    >>> data = make_expression(n_samples=60, n_features=200, signal=2.0, random_state=0)
    >>> result = stability(ISPCA(), data.data, data.target, n_components=1, cv=5, n_jobs=1)
    >>> bool(result.components["similarity"][0] > result.components["chance_similarity"][0])
    True
    """
    if not isinstance(reduction, SupervisedComponents):
        raise ValueError(f"reduction must be ISPCA(...) or SPCA(...), got {reduction!r}.")
    if n_components < 1:
        raise ValueError(f"n_components must be at least 1, got {n_components}.")
    labels = is_category(y)
    form = target_form(y)
    if form is not None and form.timed:
        y = survival_target(y)
    elif reduction.family in FAMILIES and FAMILIES[reduction.family].ordered:
        y = FAMILIES[reduction.family].target(y)
    X, y = checked_data(X, y)
    seed = integer_seed(random_state)
    family = choose_family(reduction.family, y, labels)
    # Chosen once: a training part may have fewer distinct integers than all samples.
    # Only components are compared here, which cross-fitting does not change.
    reduction = clone(reduction).set_params(family=family.name, cross_fit=None)
    stratified = family.classification or family.ordered
    splits = make_splits(cv, X, y["event"] if is_survival(y) else y, groups, stratified, seed)
    seeds = np.random.SeedSequence(seed).generate_state(len(splits))
    # The splits share one permuted target, as they share the true one.
    permuted = np.random.default_rng(seed).permutation(y)
    items = [(split, int(split_seed)) for split, split_seed in zip(splits, seeds, strict=True)]
    fits = list(run_parallel(_fit_one, (reduction, X, y, permuted, n_components), items, n_jobs))
    names = getattr(X, "columns", range(X.shape[1]))
    return _summarize(fits, [str(name) for name in names])


def _fit_one(reduction: Any, X: Any, y: Any, permuted: Any, count: int, item: tuple[Split, int]) -> _Fit:
    split, seed = item
    part = rows(X, split.train)
    with threadpool_limits(1), warnings.catch_warnings(), share_results(part):
        # A split without a signal is a result here, counted by `found`.
        warnings.simplefilter("ignore", UserWarning)
        fitted = clone_with_seed(reduction, seed).fit(part, y[split.train])
        found = min(count, fitted.n_supervised_)
        chance = _without_test(fitted, found or 1).fit(part, permuted[split.train])
        used = np.zeros((found, fitted.n_features_in_), dtype=bool)
        # Covariates, of which categories have several columns or none, are never used.
        used[:, fitted.source_columns_] = fitted.directions_[:found] != 0
        return _Fit(
            used,
            np.asarray(fitted.transform(X))[:, :found],
            np.asarray(chance.transform(X))[:, : found or 1],
        )


def _without_test(fitted: Any, count: int) -> Any:
    """Return a reduction that finds the same number of components and features in a permuted target."""
    chance = clone(fitted)
    if isinstance(chance, ISPCA):
        return chance.set_params(alpha=None, n_components=count, n_supervised=count)
    kept = max(1, len(fitted.selected_))
    return chance.set_params(n_features=kept, threshold=None, n_components=None, n_supervised=count)


def _summarize(fits: list[_Fit], names: list[str]) -> Stability:
    n_splits, n_features = len(fits), len(names)
    count = max(1, max(len(fit.used) for fit in fits))
    used = np.zeros((n_splits, count, n_features), dtype=bool)
    for row, fit in zip(used, fits, strict=True):
        row[: len(fit.used)] = fit.used
    frequency = used.any(axis=1).mean(axis=0)
    each = used.mean(axis=0)
    order = np.argsort(-frequency, kind="stable")
    columns = {"feature": np.array(names), "frequency": frequency}
    columns |= dict(zip(component_names(count, count), each, strict=True))
    table = as_table({name: values[order] for name, values in columns.items()})
    components = [_component(fits, used[:, k], k) for k in range(count)]
    by_component = as_table({name: [row[name] for row in components] for name in components[0]})
    return Stability(table, float(frequency.mean()), by_component, n_splits)


def _component(fits: list[_Fit], used: Mask, k: int) -> dict[str, float]:
    """Compare one component between all pairs of splits that found it."""
    found = [i for i, fit in enumerate(fits) if len(fit.used) > k]
    sizes = used.sum(axis=1)
    overlaps, by_chance = [], []
    for i, j in combinations(found, 2):
        common = np.count_nonzero(used[i] & used[j])
        overlaps.append(common / (sizes[i] + sizes[j] - common))
        by_chance.append(_random_overlap(*sorted((int(sizes[i]), int(sizes[j]))), used.shape[1]))
    return {
        "component": k + 1,
        "found": len(found),
        "features": _mean(sizes[found]),
        "similarity": _similarity([fits[i].scores[:, k] for i in found]),
        "chance_similarity": _similarity([f.chance_scores[:, k] for f in fits if f.chance_scores.shape[1] > k]),
        "overlap": _mean(overlaps),
        "chance_overlap": _mean(by_chance),
    }


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else np.nan


@lru_cache(maxsize=4096)
def _random_overlap(smaller: int, larger: int, n_features: int) -> float:
    """Return the expected Jaccard index of two random sets of these sizes."""
    # The number of common features is hypergeometric; for small sets, its mean alone does not give the mean index.
    common = np.arange(smaller + 1)
    index = common / (smaller + larger - common)
    return float(hypergeom.pmf(common, n_features, larger, smaller) @ index)


def _similarity(scores: list[Floats]) -> float:
    """Return the mean absolute correlation between all pairs."""
    if len(scores) < 2:
        return np.nan
    correlation = np.abs(np.corrcoef(scores))
    return float(correlation[np.triu_indices(len(scores), 1)].mean())
