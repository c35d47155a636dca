"""All held-out samples of a comparison together: the predictions of a method, and its measures with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..families.survival_curves import censoring_curve
from ..foundation.arrays import Floats, Indices
from ..foundation.result_tables import ResultTable, as_table
from ..targets.intervals import UNKNOWN, Estimate, estimate, measure_intervals
from ..targets.measures import UNLIMITED, Measure, difference_limits, goodness
from ..targets.samples import OF_SAMPLES, HeldOut, Pooled, Prediction

if TYPE_CHECKING:
    from .comparison import Comparison


def pool(comparison: Comparison, method: str) -> Pooled | None:
    """Return the held-out predictions of a method in all splits; None if it failed in every one.

    Where it failed in some, it has the predictions of the base rate. A sample that was held out several times
    counts once, with the mean of its predictions: the class with the largest mean probability, or the mean value.
    Survival times are not averaged, because risks of different fits are not comparable: each of the k predictions
    of a sample has the k-th part of its weight.
    """
    column = comparison.methods.index(method)
    if all(row[column] is None for row in comparison.predictions):
        return None
    known = [number for number, rate in enumerate(comparison.rates) if rate is not None]
    own = [comparison.predictions[number][column] or comparison.rates[number] for number in known]
    samples = np.concatenate([comparison.splits[number].test for number in known])
    held_out = _observations([comparison.observed[number] for number in known])
    if comparison.units is not None:
        held_out = held_out._replace(unit=comparison.units[samples])
    both = [_together(parts) for parts in (own, [comparison.rates[number] for number in known])]
    keep = np.ones(len(samples), dtype=bool) if held_out.weight is None else held_out.weight > 0
    samples, held_out, both = samples[keep], held_out.part(keep), [item.part(keep) for item in both]
    places, often = np.unique(samples, return_inverse=True, return_counts=True)[1:]
    if often.max(initial=0) > 1 and comparison.target.timed:
        weight = np.ones(len(samples)) if held_out.weight is None else held_out.weight
        held_out = held_out._replace(weight=weight / often[places])
        held_out = held_out if held_out.unit is not None else held_out._replace(unit=samples)
    elif len(often):
        # In the order of the samples.
        first = np.unique(samples, return_index=True)[1]
        both = [item.part(first) if often.max() == 1 else _means(item, places, often) for item in both]
        samples, held_out = samples[first], held_out.part(first)
    n_train = float(np.mean([len(comparison.splits[number].train) for number in known]))
    return Pooled(samples, held_out._replace(overlap=len(often) / n_train), *both)


def _observations(parts: list[HeldOut]) -> HeldOut:
    weight = None if parts[0].weight is None else np.concatenate([np.asarray(part.weight) for part in parts])
    y = np.concatenate([part.observed for part in parts])
    if parts[0].censoring is None:
        return parts[0]._replace(observed=y, weight=weight)
    fold = np.repeat(np.arange(len(parts)), [len(part.observed) for part in parts])
    censoring = censoring_curve(y["event"], y["time"], weight)
    return parts[0]._replace(observed=y, weight=weight, censoring=censoring, fold=fold)


def _together(parts: list[Any]) -> Prediction:
    """Return the predictions of several splits as one, without what some of them lack."""
    found: dict[str, Any] = {}
    for name in OF_SAMPLES:
        values = [getattr(part, name) for part in parts]
        found[name] = None if any(value is None for value in values) else np.concatenate(values)
    return Prediction(**found)


def _means(prediction: Prediction, places: Indices, often: Indices) -> Prediction:
    """Return the mean of the predictions of each sample; the density is that of the mixture."""

    def mean(values: Any) -> Any:
        sums = np.zeros((len(often), *values.shape[1:]))
        np.add.at(sums, places, values)
        return sums / often.reshape(-1, *[1] * (values.ndim - 1))

    found = {
        name: mean(getattr(prediction, name))
        for name in ("probabilities", "ranking", "interval")
        if getattr(prediction, name) is not None
    }
    value, density = np.asarray(prediction.value), prediction.log_density
    if density is not None:
        by_sample = np.argsort(places, kind="stable")
        starts = np.cumsum(often) - often
        found["log_density"] = np.logaddexp.reduceat(density[by_sample], starts) - np.log(often)
    if "probabilities" in found:
        found["value"] = found["probabilities"].argmax(axis=1)
    elif value.dtype.kind in "iu":
        # Without probabilities, the class that was predicted most often.
        votes = np.zeros((len(often), value.max() + 1))
        np.add.at(votes, (places, value), 1)
        found["value"] = votes.argmax(axis=1)
    else:
        found["value"] = mean(value)
    return Prediction(**found)


def pooled_estimates(comparison: Comparison, method: str) -> dict[str, Estimate]:
    """Return the measures of a comparison over all held-out samples, with their intervals, for one method."""
    found = comparison.pooled[method]
    if found is None:
        return {}
    known = comparison.target.measures
    return measure_intervals(found.held_out, found.prediction, {name: known[name] for name in comparison.scores})


def pooled_difference(measure: Measure, own: Pooled, rival: Pooled, *, signed: bool = False) -> Estimate:
    """Return by how much a measure over all held-out samples is better than that of a rival, with its interval.

    With ``signed``, by how much it is larger.
    """

    def gain(held_out: HeldOut, first: Prediction, second: Prediction, *base_rate: Prediction) -> float | None:
        values = [measure.score(held_out, item, *base_rate) for item in (first, second)]
        if any(value is None for value in values):
            return None
        good = np.array(values, dtype=np.float64) if signed else measure.goodness(np.array(values, dtype=float))
        return float(good[0] - good[1])

    more = (own.base_rate,) if measure.of_base_rate else ()
    found = estimate(gain, UNLIMITED, own.held_out, own.prediction, rival.prediction, *more)
    low, high = difference_limits(measure.limits)
    return Estimate(found.value, *(float(np.clip(end, low, high)) for end in found[1:]))


def pooled_columns(comparison: Comparison, name: str) -> dict[str, Floats]:
    """Return a measure of every method and its difference from the baseline, with intervals, as columns."""
    measure, base = comparison.target.measures[name], comparison.pooled[comparison.baseline]
    values, differences = [], []
    for found in comparison.pooled.values():
        value = difference = UNKNOWN
        if found is not None:
            value = measure_intervals(found.held_out, found.prediction, {name: measure}).get(name, UNKNOWN)
            difference = UNKNOWN if base is None else pooled_difference(measure, found, base, signed=True)
        values.append(value)
        differences.append(difference)
    columns: dict[str, Floats] = {}
    for key, estimates in ((name, values), (f"{name}_difference", differences)):
        columns |= dict(zip((key, f"{key}_low", f"{key}_high"), np.array(estimates).T, strict=True))
    return columns


def pooled_table(comparison: Comparison) -> ResultTable:
    """Return one row per method, best first by the main measure, with all measures over all held-out samples.

    ``method``, every measure with the ends of its 95% interval (``_low``, ``_high``), ``n_failed`` and
    ``n_unconverged``.
    """
    estimates = [pooled_estimates(comparison, method) for method in comparison.methods]
    columns: dict[str, Any] = {"method": np.array(comparison.methods)}
    for name in comparison.scores:
        values = np.array([found.get(name, UNKNOWN) for found in estimates])
        columns |= dict(zip((name, f"{name}_low", f"{name}_high"), values.T, strict=True))
    columns |= comparison.fit_counts()
    good = goodness(comparison.main_metric, columns[comparison.main_metric])
    order = np.lexsort((-good, np.isnan(good)))
    return as_table({name: values[order] for name, values in columns.items()})
