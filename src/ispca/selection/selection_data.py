"""Check the data and the wishes of a selection, before any long work, and turn them into arrays."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ..containers import ColumnSource
from ..families.ordinal import ordinal_target
from ..fitted_parts import take_apart
from ..fitting.comparison_inputs import choose_target, named_estimators
from ..fitting.fit_and_predict import check_fit_parameters
from ..foundation.arrays import ColumnRanges, Floats, Indices, Mask, column_ranges, refuse_out_of_range
from ..foundation.messages import count, listing, suggestion
from ..foundation.parameters import column_mask
from ..foundation.splits import check_groups
from ..inputs.checks import check_values, is_numeric, known_names, read_training_data
from ..targets import Target, find_target, target_form
from ..targets.samples import Samples
from ..targets.target_and_prediction_checks import check_offset, check_weights
from .search import SearchSettings
from .submodels_and_panels import find_submodel

MISSING_ADVICE = "Impute them, or rule these columns out with never."


class Data(NamedTuple):
    """The samples of a selection, as the reference gets them."""

    samples: Samples
    target: Target
    labels: Any  # of the classes as they were given, or None; ordered classes are numbers in ``samples``


def read_features(selector: Any, X: Any) -> Any:
    """Return X as the reference gets it; the selector remembers the number and names of the features."""
    if not hasattr(X, "columns"):
        return read_training_data(selector, X, None, needs_target=False)[0]
    X = validate_data(selector, X, skip_check_array=True)
    if all(isinstance(name, str) for name in X.columns):
        # scikit-learn before 1.9 does not see the names of newer polars frames.
        selector.feature_names_in_ = np.asarray(X.columns, dtype=object)
    return X


def read_data(reference: Any, X: Any, y: Any, kind: str | None, given: dict[str, Any]) -> Data:
    """Return the samples and the target; ``given`` contains groups, weights and offset, which may be None."""
    list_names = named_estimators({"reference": reference})
    form = target_form(y) if kind is None else find_target(kind)
    kind = None if form is None else form.name
    labels = ordinal_target(y)[1] if form is not None and form.ordered else None
    X, y, target = choose_target(list_names, X, y, kind)
    offset = check_offset(given["offset"], len(y))
    if offset is not None and not target.counted:
        raise ValueError("offset applies to counts only. Pass kind='count' if y contains counts, or omit offset.")
    weights, groups = check_weights(given["sample_weight"], len(y)), check_groups(given["groups"], len(y))
    samples = Samples(X, y, groups, weights, offset)
    check_fit_parameters(list_names, samples)
    find_submodel(target)
    _check_distribution(reference, target)
    return Data(samples, target, target.classes if labels is None else labels)


def _check_distribution(reference: Any, target: Target) -> None:
    """Refuse a reference that does not predict a distribution of the target."""
    model, needs = take_apart(reference).model, "log_predictive_density"
    fine = hasattr(model, needs)
    if target.has_classes:
        needs, fine = "predict_proba", hasattr(reference, "predict_proba")
    elif target.numeric and not target.counted:
        needs = "log_predictive_density, or predict with return_std"
        fine = "return_std" in signature(model.predict).parameters
    if not fine:
        raise ValueError(
            f"{type(model).__name__} cannot be a reference, because it predicts no distribution of the target. "
            f"Use a model that has {needs}."
        )


def check_prefit(selector: Any, data: Data) -> None:
    """Refuse a reference that is not fitted to data of this form; it may know names that X does not have."""
    reference = selector.reference
    check_is_fitted(
        reference, msg="With prefit=True, the reference must be fitted. Fit %(name)s first, or pass prefit=False."
    )
    n_features, width = getattr(reference, "n_features_in_", None), data.samples.X.shape[1]
    if n_features not in (None, width):
        raise ValueError(f"The reference was fitted to {n_features} features, but X has {width}.")
    known = list(getattr(reference, "classes_", ()))
    if data.labels is not None and known != list(data.labels):
        raise ValueError(
            f"The reference was fitted to the classes {listing(known)}, but y contains {listing(data.labels)}. "
            "Pass the samples that the reference was fitted to."
        )
    first = take_apart(reference).steps[0]
    if known_names(selector) is None and known_names(first) is not None:
        selector.feature_names_in_ = np.asarray(first.feature_names_in_, dtype=object)


def numeric_mask(X: Any) -> Mask:
    """Return which columns contain numbers: all but the categories and texts of data frames."""
    if not hasattr(X, "columns"):
        return np.ones(X.shape[1], dtype=bool)
    dtypes = X.dtypes if isinstance(X.dtypes, list) else X.dtypes.tolist()
    return np.array([is_numeric(dtype) for dtype in dtypes], dtype=bool)


def numeric_values(X: Any) -> Any:
    """Return an array or sparse matrix; columns of a data frame that are not made of numbers become 0."""
    if not hasattr(X, "columns"):
        return X
    numeric = numeric_mask(X)
    if hasattr(X, "iloc"):
        found = X.iloc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        found = np.asarray(X[:, np.flatnonzero(numeric).tolist()], dtype=np.float64)
    if numeric.all():
        return found
    values = np.zeros(X.shape)
    values[:, numeric] = found
    return values


def read_settings(
    X: Any, names: Any, max_features: int, always: Any, never: Any, costs: Any
) -> tuple[SearchSettings, Any]:
    """Return what the search may choose, and the values of X; check the columns that are candidates."""
    width = X.shape[1]
    excluded = column_mask(never, width, names, "never")
    wanted = _in_order(always, width, names)
    numeric = numeric_mask(X)
    _check_wanted(wanted, excluded, numeric, names, max_features)
    excluded |= ~numeric
    n_allowed = width - int(excluded.sum())
    if not n_allowed:
        raise ValueError("No feature is left to choose from. Shorten never, or add numeric columns to X.")
    values = numeric_values(X)
    shown = np.arange(width) if names is None else np.asarray(names)
    if isinstance(values, ColumnSource):
        low, high, *bad = values.by_column(_ranges)[~excluded].T
        ranges = ColumnRanges(low, high, *(often.astype(np.intp) for often in bad))
        refuse_out_of_range(ranges, shown[~excluded], False, MISSING_ADVICE)
    else:
        candidates = values if not excluded.any() else values[:, ~excluded]
        check_values(candidates, shown[~excluded], False, MISSING_ADVICE)
    settings = SearchSettings(
        min(int(max_features), n_allowed), wanted, np.flatnonzero(excluded), _read_costs(costs, width, names)
    )
    return settings, values


def _ranges(columns: Any) -> Floats:
    return np.column_stack(column_ranges(columns))


def _in_order(always: Any, width: int, names: Any) -> Indices:
    """Return the positions of features in the order in which they are named."""
    mask = column_mask(always, width, names, "always")
    given = [] if always is None or isinstance(always, slice | set | frozenset) else np.atleast_1d(always).tolist()
    if not given or isinstance(given[0], bool):
        return np.flatnonzero(mask)
    places = [int(np.flatnonzero(column_mask([item], width, names, "always"))[0]) for item in given]
    return np.array(list(dict.fromkeys(places)), dtype=np.intp)


def _check_wanted(wanted: Indices, excluded: Mask, numeric: Mask, names: Any, max_features: int) -> None:
    def list_names(places: Indices) -> str:
        return listing(repr(str(place if names is None else names[place])) for place in places)

    both = wanted[excluded[wanted]]
    if len(both):
        raise ValueError(f"always and never both contain {list_names(both)}: name a feature in one of them only.")
    text = wanted[~numeric[wanted]]
    if len(text):
        raise ValueError(
            f"always contains columns not made of numbers: {list_names(text)}. Encode them as numbers."
        )
    if len(wanted) > max_features:
        raise ValueError(
            f"always contains {count(len(wanted), 'feature')}, but max_features is {max_features}: raise it."
        )


def _read_costs(costs: Any, width: int, names: Any) -> Floats | None:
    """Return the price of every feature; None if there are no prices."""
    if costs is None:
        return None
    prices = np.ones(width)
    if isinstance(costs, Mapping):
        places = {name: place for place, name in enumerate(range(width) if names is None else names)}
        unknown = [name for name in costs if name not in places]
        if unknown:
            what = "features of X" if names is not None else "indices of features, and X has no feature names"
            advice = "Pass X as a data frame to use names."
            advice = advice if names is None else suggestion(unknown[0], list(places))
            raise ValueError(f"costs contains names that are not {what}: {listing(map(repr, unknown))}. {advice}")
        for name, price in costs.items():
            prices[places[name]] = _number(price)
    else:
        prices = np.array([_number(price) for price in np.ravel(np.asarray(costs, dtype=object))])
        if prices.shape != (width,):
            raise ValueError(f"costs has {count(len(prices), 'entry', 'entries')}, but X has {width} features.")
    if not (np.isfinite(prices) & (prices > 0)).all():
        raise ValueError("costs must be positive numbers. Give features that cost nothing a small price.")
    return prices


def _number(price: Any) -> float:
    try:
        return float(price)
    except (TypeError, ValueError):
        return np.nan
