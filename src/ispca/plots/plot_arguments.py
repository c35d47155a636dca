"""Check the arguments of the plots, and build their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..fitted_parts import take_apart
from ..foundation.messages import count
from ..foundation.result_tables import ResultTable, as_table
from ..targets import guess_target

# What the docstrings of all plots say.
DOCS = {
    "ax": """
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes""",
    "reduction": "model : ISPCA, SPCA or Pipeline\n    Fitted reduction, or a fitted pipeline with one.",
    "feature_names": "feature_names : array-like of shape (n_features_in_,), optional\n    Names of the features.",
    "fitted_reduction": """
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)""",
    "fitted_pipeline": """
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import ISPCA, HorseshoeClassifier, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(3, whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
    >>> model = model.fit(data.data, data.target)""",
}


def make_table(columns: Mapping[str, Any]) -> ResultTable:
    """Return a record array of these columns; objects become text."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    return as_table({name: a.astype(str) if a.dtype == object else a for name, a in arrays.items()})


def stack_tables(parts: Sequence[Mapping[str, Any]]) -> ResultTable:
    """Return one table of several parts; single values are repeated in all rows of their part."""
    rows = [np.broadcast_arrays(*part.values()) for part in parts]
    return make_table(dict(zip(parts[0], map(np.concatenate, zip(*rows, strict=True)), strict=True)))


def component_fields(table: np.ndarray) -> list[str]:
    """Return the names of the fields that hold scores of components."""
    return [name for name in table.dtype.names or () if name.startswith(("supervised_", "unsupervised_"))]


def fitted_reduction(model: Any) -> Any:
    """Return the fitted ISPCA or SPCA: the model itself, or a step of a pipeline."""
    reduction = take_apart(model).reduction
    if reduction is None:
        name = type(model).__name__
        raise ValueError(f"This plot needs a fitted ISPCA or SPCA, or a pipeline with one; got {name}.")
    check_is_fitted(reduction)
    return reduction


def component_name(model: Any, component: Any) -> str:
    """Return the name of a component, counted from 1 by the user."""
    reduction = fitted_reduction(model)
    return str(reduction.get_feature_names_out()[check_component(reduction, component)])


def check_component(reduction: Any, component: Any) -> int:
    """Return the index of a component, which users number from 1."""
    most = reduction.n_components_
    integer = isinstance(component, int | np.integer) and not isinstance(component, bool)
    if not integer or not 1 <= component <= most:
        choice = "pass 1" if most == 1 else f"pass an integer from 1 to {most}"
        has = count(most, "component")
        raise ValueError(f"component={component!r} does not exist: the reduction has {has}, so {choice}.")
    return int(component) - 1


def check_positive(number: int | None, name: str) -> None:
    """Raise an error for a number below one."""
    if number is not None and number < 1:
        raise ValueError(f"{name}={number} is too small: pass 1 or more.")


def check_length(values: Any, count: int, name: str, of: str) -> None:
    """Raise an error unless there is one value per sample or feature."""
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} entries, but X has {count} {of}s: pass one per {of}.")


def feature_names(model: Any, names: Any = None) -> np.ndarray:
    """Return a name for every feature of the reduction: those given, those seen in fit, or the column numbers."""
    parts = take_apart(model)
    if names is not None:
        check_length(names, parts.n_features_in, "feature_names", "feature")
        names = [str(name) for name in names]
    # Objects, because in an array of strings every entry would be as wide as the longest name.
    return np.array(parts.reduction_input_names(names), dtype=object)


def sample_names(X: Any, n_samples: int, names: Any = None) -> np.ndarray:
    """Return a name for every sample: those given, the index of a pandas data frame, or the row numbers."""
    if names is None:
        index = getattr(X, "index", None)
        names = range(n_samples) if index is None or callable(index) else index
    check_length(names, n_samples, "sample_names", "sample")
    return np.array([str(name) for name in names], dtype=object)


def check_target(y: Any, n_samples: int) -> np.ndarray:
    """Return the target as an array with one entry per sample."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (n_samples,):
        raise ValueError(
            f"y has shape {y.shape}, but X has {n_samples} samples: pass one label or value per sample."
        )
    return np.array(y.tolist()) if y.dtype == object else y


def all_classes(model: Any, y: Any) -> np.ndarray | None:
    """Return the classes of y, or None for a continuous target.

    If y contains only classes of the fit, all of these are returned, so that colors do not depend on the subset.
    """
    known = getattr(model, "classes_", None)
    if known is not None and np.isin(y, known).all():
        return np.asarray(known)
    quantity = guess_target(y)[0].numeric
    # A reduction fitted to a continuous target may be plotted over integers that are not labels.
    counts = known is None and hasattr(model, "steps_") and model.n_supervised_ > 0 and y.dtype.kind in "iuf"
    return None if quantity or counts else np.unique(y)


def table_classes(reduction: Any, table: ResultTable) -> np.ndarray | None:
    """Return the classes of the target of a table, or None without a target or for a continuous one."""
    return all_classes(reduction, table["target"]) if "target" in (table.dtype.names or ()) else None
