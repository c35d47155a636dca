"""Stability: which features and components of a reduction come back in bootstrap samples."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ..bagging.bags import read_data, run_bags
from ..bagging.pooled_components import PooledComponents
from ..bagging.stability import Stability, bag_components, summarize
from ..families import FAMILIES, CountFamily
from ..fitting.comparison_inputs import checked_data
from ..foundation.parameters import integer_seed
from ..targets import TARGETS, Target, find_target, guess_target, is_category, target_form
from ..transformers.base import SupervisedComponents


def stability(
    reduction: SupervisedComponents,
    X: Any,
    y: Any,
    *,
    n_components: int = 2,
    n_bags: int = 50,
    groups: Any = None,
    n_jobs: int | None = -1,
    random_state: Any = 0,
) -> Stability:
    """Repeat a reduction on bootstrap samples, and measure what stays the same.

    `BaggedPosterior.stability` returns the same from the bags of a model, without fitting again.

    Parameters
    ----------
    reduction : ISPCA or SPCA
        Not fitted; only its supervised components are examined. SPCA has no ``error_rate``.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The features, in memory. They are scaled by their standard deviations over all samples.
    y : array-like of shape (n_samples,), or events and times
        The target, as in `compare`; its kind is that of the reduction's family.
    n_components : int, default=2
        Number of supervised components to examine, starting with the first.
    n_bags : int, default=50
        Number of bootstrap samples.
    groups : array-like of shape (n_samples,), optional
        Samples of a group are drawn together.
    n_jobs : int or None, default=-1
        Worker processes.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the bags, and of what happens in them.

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
    >>> result = stability(ISPCA(), data.data, data.target, n_components=1, n_bags=10, n_jobs=1)
    >>> listed = result.table[result.table["error_rate"] <= 0.2]["feature"].astype(int)
    >>> bool(data.relevant[listed].mean() > 0.8)
    True
    """
    if not isinstance(reduction, SupervisedComponents):
        raise ValueError(f"reduction must be ISPCA(...) or SPCA(...), got {reduction!r}.")
    for name, value, least in (("n_components", n_components, 1), ("n_bags", n_bags, 2)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}.")
    data = read_data(clone(reduction), _choose_target(reduction.family, X, y), X, y, groups=groups)
    bags = run_bags(reduction, None, data, n_bags, n_jobs, None, integer_seed(random_state))
    Z = PooledComponents.of(data.columns, bags.basis, bags.bags).project(data.samples.X)
    names = getattr(data.columns, "feature_names_in_", range(data.columns.n_features_in_))
    return summarize(bag_components(bags, Z, data), [str(name) for name in names], n_components)


def _choose_target(family: str, X: Any, y: Any) -> Target:
    """Return the kind of target of a family; for "auto", it shows in the form of y, or else in its values."""
    form = target_form(y)
    if form is not None and form.timed:
        return form
    if family == "auto":
        return find_target("classification") if is_category(y) else guess_target(checked_data(X, y)[1])[0]
    if isinstance(FAMILIES[family], CountFamily):
        return find_target("count")
    # The two families of classes depend on their number.
    of_family = (target for target in TARGETS.values() if target.family is FAMILIES[family])
    return next(of_family, find_target("classification"))
