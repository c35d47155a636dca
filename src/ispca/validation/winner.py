"""The best of several methods, with the optimism of choosing it removed by the bootstrap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..foundation.arrays import Floats, Indices
from ..foundation.messages import count, short_name
from ..targets.measures import Measure
from ..targets.samples import Pooled

if TYPE_CHECKING:
    from .comparison import Comparison

N_RESAMPLES = 500
ENDS = [0.025, 0.975]


class BestMethod(NamedTuple):
    """The best method of a comparison over all held-out samples, and what to expect of a method chosen like this.

    Attributes
    ----------
    method : str
        Its name.
    measure : Measure
        The measure by which it is the best.
    value : float
        The measure over all held-out samples, which is optimistic, because the method was chosen for it.
    corrected : float
        The same without the optimism of choosing.
    low, high : float
        Ends of the 95% interval of the corrected value.
    n_methods : int
        Number of methods that it was chosen from.
    """

    method: str
    measure: Measure
    value: float
    corrected: float
    low: float
    high: float
    n_methods: int

    @property
    def sentence(self) -> str:
        """The same in words."""
        value, corrected, low, high = (self._show(number) for number in self[2:6])
        return (
            f"Best of {count(self.n_methods, 'method')} over all held-out samples: {short_name(self.method)}, "
            f"{self.measure.short_title} {value}; corrected for choosing the best: {corrected} "
            f"(95% interval {low} to {high})."
        )

    def _show(self, value: float) -> str:
        fraction = self.measure.limits[1] == 1 and not self.measure.smaller_is_better
        return self.measure.show(value) if fraction else f"{value:.3f}"


def best_method(
    comparison: Comparison,
    measure: str | None = None,
    *,
    n_resamples: int = N_RESAMPLES,
    random_state: Any = 0,
) -> BestMethod | None:
    """Return the best method of a comparison, and its performance corrected for having been chosen.

    The best of many methods looks better than it is. In each bootstrap sample of the held-out samples or their
    groups, the best method is chosen anew and evaluated on the samples that were not drawn: bootstrap bias
    corrected cross-validation (Tsamardinos, Greasidou and Borboudakis, 2018). Nothing is refitted. The correction
    is the mean difference between these methods and the best one of all samples, both on the samples not drawn; it
    is 0 if the same method is chosen every time.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.
    measure : str, optional
        The measure to choose by and to report; by default the main one.
    n_resamples : int, default=500
        Number of bootstrap samples.
    random_state : int or Generator, default=0
        Seed of the bootstrap samples.

    Returns
    -------
    best : BestMethod or None
        None if fewer than two methods have a value of the measure, or there are too few samples.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ispca.datasets import make_expression
    >>> from ispca.validation import best_method, compare
    >>> data = make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> methods = {"chance": DummyClassifier(), "logistic": LogisticRegression()}
    >>> result = compare(methods, data.data, data.target, cv=5, n_jobs=1)
    >>> best_method(result).method
    'logistic'
    """
    name = comparison.main_metric if measure is None else measure
    chosen_by = comparison.target.choose_measures(name)[name]
    pooled = {method: found for method, found in comparison.pooled.items() if found is not None}
    values = {name: value for name, found in pooled.items() if np.isfinite(value := _value(chosen_by, found))}
    if len(values) < 2:
        return None
    methods = list(values)
    competing = [pooled[method] for method in methods]
    drawn = _bootstrap(competing[0], n_resamples, np.random.default_rng(random_state))
    best = int(np.argmax(chosen_by.goodness(np.array(list(values.values())))))
    outside, reference = _choose_and_evaluate(chosen_by, competing, drawn, best)
    if not len(outside):
        return None
    value = values[methods[best]]
    # On few samples, measures such as R2 are lower on average; this is not the price of choosing.
    outside = outside + (value - reference.mean())
    corrected = float(outside.mean())
    low, high = np.clip(np.quantile(outside, ENDS), *chosen_by.limits)
    ends = min(float(low), corrected), max(float(high), corrected)
    return BestMethod(methods[best], chosen_by, value, corrected, *ends, len(methods))


def _value(measure: Measure, found: Pooled) -> float:
    value = measure.score(found.held_out, found.prediction)
    return np.nan if value is None else float(value)


def _bootstrap(found: Pooled, n_resamples: int, rng: np.random.Generator) -> Indices:
    """Return how often each sample is drawn (resample x sample); those of a group are drawn together."""
    unit = found.held_out.unit
    units = np.arange(len(found.samples)) if unit is None else np.unique(unit, return_inverse=True)[1]
    n_units = int(units.max()) + 1
    counts = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=n_resamples)
    return counts[(counts == 0).any(axis=1)][:, units]


def _choose_and_evaluate(
    measure: Measure, found: list[Pooled], drawn: Indices, best: int
) -> tuple[Floats, Floats]:
    """Return the values of the chosen methods and of the best one of all samples, on the samples not drawn."""
    inside = np.column_stack([_resample_measure(measure, item, drawn) for item in found])
    good = np.where(np.isnan(inside), -np.inf, measure.goodness(inside))
    chosen, left = good.argmax(axis=1), (drawn == 0).astype(np.intp)
    reference = _resample_measure(measure, found[best], left)
    outside = reference.copy()
    for number in np.unique(chosen[chosen != best]):
        own = chosen == number
        outside[own] = _resample_measure(measure, found[number], left[own])
    known = np.isfinite(good.max(axis=1, initial=-np.inf)) & np.isfinite(outside) & np.isfinite(reference)
    return outside[known], reference[known]


def _resample_measure(measure: Measure, found: Pooled, drawn: Indices) -> Floats:
    """Return a measure for each resample, NaN where it does not apply."""
    held_out, prediction = found.held_out, found.prediction
    if measure.resampled is not None:
        return measure.resampled(held_out, prediction, drawn)
    every = np.arange(drawn.shape[1])
    rows = [np.repeat(every, row) for row in drawn]
    parts = (found._replace(held_out=held_out.part(row), prediction=prediction.part(row)) for row in rows)
    return np.array([_value(measure, part) for part in parts])
