"""Evaluate predictions of new samples whose target is known."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._messages import count, listing
from ..fitted_parts import take_apart
from ..models.posterior_model import PosteriorModel
from ..readers import Table, TableError
from ..readers.target import observed_values, survival
from ..validation.measure_intervals import measure_intervals
from ..validation.metrics import MEASURES, HeldOut
from ..validation.prediction import PREDICT, Prediction
from ..validation.samples import Samples
from ..validation.survival_measures import censoring_curve
from ..validation.target import Target, evaluation_times
from ._class_order import class_order, positive_class

# The names of measures in an evaluation that differ from those in a comparison.
RENAMED = {"mlpd": "log_density"}
LABELS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "log_density": "mean log density",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "r2": "R2",
    "rmse": "RMSE",
    "coverage": "coverage of the 90% intervals",
    "concordance": "concordance index",
    "integrated_brier": "integrated Brier score",
    "poisson_deviance": "mean Poisson deviance",
    "absolute_error": "mean absolute error",
    "ranked_probability": "ranked probability score",
}
# Larger confusion matrices are not printed.
MOST_CLASSES = 10


def target_columns(details: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of the target, as a model file names them: time and event, one column, or none."""
    kind, names = details.get("kind"), [details.get("target")]
    if kind == "survival":
        names.append(details.get("event"))
    usable = kind in PREDICT and all(isinstance(name, str) for name in names)
    return tuple(str(name) for name in names) if usable else ()


def evaluate(
    model: Any, X: Any, table: Table, kept: np.ndarray, details: Mapping[str, Any], where: str
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
        y, known = _observed(table, columns, kind, kept)
    except TableError as error:
        return None, [f"The predictions are not evaluated. {error.problem}"]
    y, known, notes = _known_classes(y, known, getattr(last, "classes_", None), where)
    if not known.any():
        return None, notes
    chosen = np.flatnonzero(known)
    offset = None if table.offset is None else table.offset[kept][chosen]
    dense = parts.reduction is None and isinstance(last, PosteriorModel)
    samples = Samples(_rows(X, chosen, dense), y[chosen], offset=offset)
    target = _target(kind, samples.y, last)
    prediction = _predicted(model, samples, target)
    found = {"data": where, "target": columns[0], "kind": kind, "samples": len(chosen)}
    found |= measures(samples.y, target, prediction)
    if target.classes is not None:
        ids, positive = table.ids[kept][chosen], positive_class(details)
        found |= of_classes(target, prediction, target.observed(samples.y), ids, positive)
    return found, notes


def _observed(
    table: Table, columns: tuple[str, ...], kind: str, kept: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    values = [table.sheet[name][kept] for name in columns]
    if kind == "survival":
        return survival(values[1], columns[1], values[0], columns[0])[:2]
    return observed_values(values[0], columns[0], kind)


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


def _rows(X: Any, chosen: np.ndarray, dense: bool) -> Any:
    part = X[chosen]
    # A posterior on the features themselves, such as that of a panel, takes dense ones.
    return part.toarray() if sp.issparse(part) and dense else part


def _target(kind: str, y: Any, last: Any) -> Target:
    if kind == "survival":
        return Target(kind, times=evaluation_times(y))
    return Target(kind, getattr(last, "classes_", None))


def _predicted(model: Any, samples: Samples, target: Target) -> Prediction:
    with warnings.catch_warnings():
        # The names were already compared.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return PREDICT[target.kind](model, samples, target)


def measures(y: Any, target: Target, prediction: Prediction) -> dict[str, Any]:
    """Return all measures of a kind of target, None where they do not apply, and their 95% intervals."""
    censoring = censoring_curve(y["event"], y["time"]) if target.kind == "survival" else None
    held_out = HeldOut(target.observed(y), target.n_classes, times=target.times, censoring=censoring)
    known = MEASURES[target.kind][0]
    values = {RENAMED.get(name, name): measure.score(held_out, prediction) for name, measure in known.items()}
    estimates = measure_intervals(held_out, prediction, known)
    return values | {"intervals": {RENAMED.get(name, name): [e.low, e.high] for name, e in estimates.items()}}


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


def evaluation_text(values: Mapping[str, Any]) -> str:
    """Return an evaluation as a few lines."""
    samples = count(values["samples"], "sample")
    lines = [f"Evaluation on {samples} of {values['data']} with a known {values['target']!r}:"]
    for name, label in LABELS.items():
        if values.get(name) is not None:
            ends = values.get("intervals", {}).get(name)
            notes = [f"95% interval {ends[0]:.3g} to {ends[1]:.3g}"] if ends else []
            notes += [f"always the largest class: {values['majority']:.3g}"] if name == "accuracy" else []
            lines.append(f"  {label}: {values[name]:.3g}" + (f" ({'; '.join(notes)})" if notes else ""))
    confusion = values.get("confusion")
    if confusion is not None and len(confusion["classes"]) <= MOST_CLASSES:
        lines += ["  confusion matrix (rows: observed, columns: predicted):", *_matrix_lines(confusion)]
    return "\n".join(lines)


def _matrix_lines(confusion: Mapping[str, Any]) -> list[str]:
    names = [name if len(name) <= 20 else name[:17] + "..." for name in confusion["classes"]]
    first = max(map(len, names))
    widths = [max(len(name), 4) for name in names]
    rows = [("", names), *zip(names, confusion["counts"], strict=True)]
    return [
        f"    {name:<{first}}" + "".join(f"  {item:>{width}}" for item, width in zip(cells, widths, strict=True))
        for name, cells in rows
    ]
