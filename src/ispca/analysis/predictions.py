"""Predictions of new samples by the columns of their file, and their evaluation if the target is known."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..fitted_parts import take_apart
from ..foundation.messages import Listener, Text, count, listing
from ..foundation.progress import waiting
from ..models.posterior_predictor import PosteriorModel
from ..readers import Table, TableError
from ..readers.target_column import observed_values, survival
from ..targets import TARGETS, Target, find_target
from ..targets.classes import class_order
from ..targets.intervals import fraction_interval, measure_intervals
from ..targets.samples import Prediction, Samples
from .model_loading import describe_data, positive_class
from .new_samples import Matched, match, reduce_in_blocks, warn_about_scale
from .settings import Settings
from .training_record import KnownSamples, known_samples

# Entries of an evaluation: which fraction of prediction sets contain the class, and their mean number of classes.
SET_COVERAGE, SET_SIZE = "set_coverage", "set_size"


def predict_table(
    model: Any,
    details: Mapping[str, Any],
    path: Any,
    table: Table,
    settings: Settings,
    listener: Listener,
    bagged: Any = None,
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return sample names and predictions by column, and an evaluation if the target is known.

    ``details`` is what the model file at ``path`` says about the data of the fit. Intervals come from the bagged
    posterior of the same fit, if there is one.
    """
    listener.notes([*table.notes, *table.substitutes])
    where = settings.data_name
    samples, known = match_and_recognize(model, details, path, table, settings, listener)
    kept = samples.kept
    offset = None if table.offset is None else table.offset[kept]
    listener.notes(filter(None, () if known is None else known.texts(table.ids[kept], where)))
    with waiting("Predicting"):
        pooled = pooled_model(bagged, samples.X)
        model, X = reduce_in_blocks(model, samples.X)
        found = predictions(model, X, offset, positive_class(details))
        bounds = {} if pooled is None else pooled.columns(offset, found)
        seen = None if known is None else known.seen
        evaluation, notes = evaluate(model, X, table, kept, details, where, seen, pooled)
    listener.notes(notes)
    found |= bounds
    return {"id": table.ids[kept], **(found if known is None else known.with_held_out(found, bounds))}, evaluation


def match_and_recognize(
    model: Any, details: Mapping[str, Any], path: Any, table: Table, settings: Settings, listener: Listener
) -> tuple[Matched, KnownSamples | None]:
    """Return new samples as a model takes them, and which of them it was fitted to, if its file tells."""
    description = describe_data(details, path)
    samples = match(table, model, description, settings, listener, replace_absent=True)
    warn_about_scale(samples, model, description, settings.data_name, listener)
    covariates = description.covariates(tuple(take_apart(model).feature_names_in()))
    return samples, known_samples(details, path, table, samples, covariates)


def predictions(
    model: Any, X: Any, offset: np.ndarray | None = None, positive: str | None = None
) -> dict[str, Any]:
    """Return the predictions, one entry per output column; that of the positive class comes last."""
    with warnings.catch_warnings():
        # The names were already compared.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        parts = take_apart(model)
        last, Z = parts.model, parts.model_input(X)
        if isinstance(last, PosteriorModel) and hasattr(Z, "toarray"):
            # The data may be sparse, but the features of a panel are few.
            Z = Z.toarray()
        return dict(last.target.new_columns(last, Z, offset, positive))


class Pooled(NamedTuple):
    """The model of all bags, and its linear features of new samples."""

    model: Any
    Z: np.ndarray

    def columns(self, offset: np.ndarray | None, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of intervals and sets around the predictions of the same samples."""
        columns: dict[str, Any] = self.model.interval_columns(self.Z, offset, found)
        return columns

    def evaluated(
        self,
        chosen: np.ndarray,
        offset: np.ndarray | None,
        observed: np.ndarray,
        target: Target,
        prediction: Prediction,
    ) -> tuple[Prediction, dict[str, Any]]:
        """Return the prediction with the interval that is printed, and the coverage of prediction sets."""
        Z = self.Z[chosen]
        if target.timed:
            return prediction, {}
        if target.classes is None:
            ends = self.model.interval_columns(Z, offset, {"mean": prediction.value})
            return replace(prediction, interval=np.column_stack([ends["q5"], ends["q95"]])), {}
        labels = [str(label) for label in self.model.classes_]
        names = np.array([str(label) for label in target.classes])
        order = [labels.index(name) for name in names.tolist()]
        rows, predicted = np.arange(len(Z)), np.asarray(prediction.value, dtype=np.intp)
        # As in the files, a set contains the predicted class.
        sets = self.model.predict_set(Z)[:, order]
        sets[rows, predicted] = True
        inside = float(sets[rows, observed].mean())
        found = {SET_COVERAGE: inside, SET_SIZE: float(sets.sum(axis=1).mean())}
        return prediction, found | {"intervals": {SET_COVERAGE: list(fraction_interval(inside, 0.0, len(Z)))[1:]}}


def pooled_model(bagged: Any, X: Any) -> Pooled | None:
    """Return the model of all bags and its features of new samples; None without bags."""
    if bagged is None:
        return None
    parts = take_apart(bagged)
    with warnings.catch_warnings():
        # The names were already compared.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return Pooled(parts.model, np.asarray(parts.model_input(X), dtype=np.float64))


def target_columns(details: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of the target, as a model file names them: time and event, one column, or none."""
    kind, names = details.get("kind"), [details.get("target")]
    if kind not in TARGETS:
        return ()
    if TARGETS[kind].timed:
        names.append(details.get("event"))
    return tuple(map(str, names)) if all(isinstance(name, str) for name in names) else ()


def evaluate(
    model: Any,
    X: Any,
    table: Table,
    kept: np.ndarray,
    details: Mapping[str, Any],
    where: str,
    left_out: np.ndarray | None = None,
    pooled: Pooled | None = None,
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return measures of the predictions of samples with a known target, or None, and notes.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : ndarray or csr_array
        Its features.
    table : Table
        What was read; its sheet contains the target.
    kept : ndarray of int
        The samples of the table that are in X.
    details : mapping
        What the model file says about the target.
    where : str
        The name of the data file.
    left_out : ndarray of bool, optional
        Samples of X that the model was fitted to, which are not evaluated.
    pooled : Pooled, optional
        The model of all bags, whose intervals and sets are evaluated, too.

    Returns
    -------
    evaluation : dict or None
        Measures by name, and for classes the confusion matrix and the misclassified samples.
    notes : list of str
        What was left out, and why.
    """
    columns = target_columns(details)
    if not columns or not all(name in table.sheet for name in columns):
        return None, []
    parts = take_apart(model)
    kind, last = str(details["kind"]), parts.model
    try:
        y, known = _observations(table, columns, details, kept)
    except TableError as error:
        return None, [Text(f"The predictions are not evaluated. {error.problem}")]
    known = known if left_out is None else known & ~left_out
    y, known, notes = _known_classes(y, known, getattr(last, "classes_", None), where)
    if not known.any():
        return None, notes
    chosen = np.flatnonzero(known)
    offset = None if table.offset is None else table.offset[kept][chosen]
    X = X[chosen]
    if sp.issparse(X) and parts.reduction is None and isinstance(last, PosteriorModel):
        # A posterior on the features themselves, such as that of a panel, takes dense ones.
        X = X.toarray()
    samples = Samples(X, y[chosen], offset=offset)
    target = find_target(kind, getattr(last, "classes_", None))
    target = target.of(samples.y) if target.timed else target
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        prediction = target.predict(model, parts, samples)
    observed, of_sets = target.observations(samples.y), dict[str, Any]()
    if pooled is not None:
        prediction, of_sets = pooled.evaluated(chosen, offset, np.asarray(observed), target, prediction)
    found = {"data": where, "target": columns[0], "kind": kind, "samples": len(chosen)}
    found |= measures(samples.y, target, prediction)
    found = found | of_sets | {"intervals": found["intervals"] | of_sets.get("intervals", {})}
    if target.classes is not None:
        ids, positive = table.ids[kept][chosen], positive_class(details)
        found |= of_classes(target, prediction, observed, ids, positive)
    return found, notes


def _observations(
    table: Table, columns: tuple[str, ...], details: Mapping[str, Any], kept: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    values = [table.sheet[name][kept] for name in columns]
    if len(columns) == 2:
        event_value = details.get("event_value")
        named = event_value if isinstance(event_value, str) else None
        return survival(values[1], columns[1], values[0], columns[0], named)[:2]
    return observed_values(values[0], columns[0], str(details["kind"]))


def _known_classes(
    y: np.ndarray, known: np.ndarray, classes: Any, where: str
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the target in the labels of the model, which samples it can be evaluated on, and a note on others."""
    if classes is None:
        return y, known, []
    labels = {str(label): label for label in np.asarray(classes).tolist()}
    # Ordered classes are read as floating-point numbers.
    texts = y if y.dtype.kind == "U" else np.array([f"{value:g}" for value in y.tolist()])
    possible = known & np.isin(texts, list(labels))
    notes = []
    strange = np.unique(texts[known & ~possible])
    if len(strange):
        samples = count(int(np.count_nonzero(known & ~possible)), "sample")
        verb = "belongs" if samples.startswith("1 ") else "belong"
        notes.append(
            f"{samples} of {where} {verb} to classes that the model does not know ({listing(strange)}; it knows "
            f"{listing(labels)}) and cannot be evaluated."
        )
    first = next(iter(labels.values()))
    return np.array([labels.get(text, first) for text in texts.tolist()]), possible, notes


def measures(y: Any, target: Target, prediction: Prediction) -> dict[str, Any]:
    """Return all measures of a kind of target, None where they do not apply, and their 95% intervals."""
    samples, known = Samples(None, y), target.measures
    held_out = target.held_out(samples, samples)
    estimates = measure_intervals(held_out, prediction, known)
    found = {known[name].evaluation_name or name: each for name, each in estimates.items()}
    ends = {name: [each.low, each.high] for name, each in found.items() if np.isfinite(each.low)}
    values = {measure.evaluation_name or name: None for name, measure in known.items()}
    return values | {name: each.value for name, each in found.items()} | {"intervals": ends}


def of_classes(
    target: Target, prediction: Prediction, observed: np.ndarray, ids: np.ndarray, positive: str | None = None
) -> dict[str, Any]:
    """Return the confusion matrix, the misclassified samples, and the accuracy of predicting the largest class.

    The positive class comes last in the confusion matrix.
    """
    predicted = np.asarray(prediction.value, dtype=np.intp)
    matrix = np.zeros((target.n_classes, target.n_classes), dtype=int)
    np.add.at(matrix, (observed, predicted), 1)
    names = [str(label) for label in target.classes]
    wrong = [
        {
            "id": str(ids[i]),
            "observed": names[observed[i]],
            "predicted": names[predicted[i]],
            "probability": None if prediction.probabilities is None else float(prediction.probabilities[i].max()),
        }
        for i in np.flatnonzero(observed != predicted)
    ]
    order = class_order(names, positive)
    return {
        "majority": float(matrix.sum(axis=1).max() / len(observed)),
        "confusion": {
            "classes": [names[place] for place in order],
            "counts": matrix[np.ix_(order, order)].tolist(),
        },
        "misclassified": wrong,
    }
