"""Choose features and samples by name, pattern or class, and transform features on a raw scale."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.derived import AppendedColumns, MappedSource
from ..foundation.messages import COMPARED, TRANSFORMS, count, listing, suggestion
from .table import Raw, TableError, UnknownColumnError, unknown_column
from .target_cleaning import merge_spellings
from .target_column import labels_of


def choose_features(
    raw: Raw, features: Sequence[str], drop: Sequence[str], others: Collection[str], where: str
) -> None:
    """Keep the features that match ``features`` (by default all) and none of ``drop``.

    ``others`` are columns with another role: they may match a pattern, but are never left out.
    """
    if not features and not drop:
        return
    known = [*raw.features, *raw.left_out, *others]
    dropped = names_that_match(drop, known, "drop", where, raw.notes)
    chosen = names_that_match(features, known, "features", where, raw.notes) if features else set(known)
    kept = [j for j, name in enumerate(raw.features) if name in chosen and name not in dropped]
    if features:
        raw.notes.append(f"{count(len(kept), 'feature')} of {len(raw.features):,} chosen by name.")
    for name in [*raw.features, *raw.left_out]:
        if name in dropped:
            raw.left_out[name] = "requested"
            raw.sheet.pop(name, None)
        elif name not in chosen:
            raw.left_out[name] = "not chosen"
    raw.keep_features(kept)


def names_that_match(
    patterns: Sequence[str], names: Sequence[str], role: str, where: str, notes: list[str], what: str = "column"
) -> set[str]:
    """Return the names that match any of the patterns, each of which must match some; a name matches itself.

    A note counts the names that a pattern matches.
    """
    known, found = set(names), set()
    for pattern in patterns:
        if pattern in known:
            found.add(pattern)
            continue
        if not set(pattern) & set("*?["):
            raise unknown_column(pattern, names, role, where, what)
        matches = [*dict.fromkeys(filter(re.compile(fnmatch.translate(pattern)).match, names))]
        found.update(matches)
        if not matches:
            problem = f"No {what} of {where} matches {pattern!r} (⟦{role}=⟧). {_near_matches(pattern, names)}"
            raise UnknownColumnError(problem, pattern)
        notes.append(f"{pattern!r} (⟦{role}=⟧) matches {count(len(matches), what)}: {listing(matches)}.")
    return found


def _near_matches(pattern: str, names: Sequence[str]) -> str:
    """Return a sentence that lists names which nearly match: in another case, or with a similar beginning or end.

    >>> _near_matches("CLIN_*", ["clin_age", "clin_sex", "g1"])
    'Did you mean clin_age, clin_sex?'
    >>> _near_matches("klin_*", ["g1", "clin_body_mass_index"])
    'Did you mean clin_body_mass_index?'
    """
    in_any_case = re.compile(fnmatch.translate(pattern), re.IGNORECASE)
    near = list(filter(in_any_case.match, names))
    text = pattern.strip("*?").lower()
    if not near and text:
        start = not pattern.startswith(("*", "?"))
        parts = [(name[: len(text)] if start else name[-len(text) :]).lower() for name in names[:COMPARED]]
        similar = set(difflib.get_close_matches(text, set(parts), n=3, cutoff=0.6))
        near = [name for name, part in zip(names, parts, strict=False) if part in similar]
    return f"Did you mean {listing(near)}?" if near else suggestion(text, names)


def choose_samples(
    raw: Raw, merge: bool, exclude_class: tuple[str, ...], exclude_samples: tuple[str, ...], where: str
) -> None:
    """Leave out samples by name or by class, and merge spellings of a class, before the target is interpreted."""
    if exclude_samples:
        names = raw.ids or [str(i + 1) for i in range(raw.X.shape[0])]
        gone = names_that_match(exclude_samples, names, "exclude_samples", where, raw.notes, "sample")
        _leave_out(raw, np.isin(names, list(gone)), f"by name: {listing(name for name in names if name in gone)}")
    if raw.target is None:
        if exclude_class:
            raise TableError("The target has no classes.", "⟦Leave out exclude_class=CLASS⟧.")
        return
    if merge:
        raw.target, notes = merge_spellings(raw.target, str(raw.target_name))
        raw.notes += notes
    if exclude_class:
        labels = labels_of(raw.target)
        known = np.unique(labels[labels != ""]).tolist()
        for name in exclude_class:
            if name not in known:
                problem = f"The target {raw.target_name!r} has no class {name!r} (⟦exclude_class=⟧)."
                raise TableError(f"{problem} {suggestion(name, known)}")
        which = f"of {listing(f'class {name!r}' for name in exclude_class)}"
        _leave_out(raw, np.isin(labels, exclude_class), which)


def _leave_out(raw: Raw, gone: np.ndarray, which: str) -> None:
    raw.notes.append(f"{count(int(np.count_nonzero(gone)), 'sample')} left out {which}.")
    raw.keep_samples(np.flatnonzero(~gone).tolist())


LOGARITHMS = ("log1p", "log2", "cpm-log")
# Fewer features are often columns of a clinical table, each in its own unit.
FEWEST_FEATURES = 50
# Features that are examined at most, and values of them.
EXAMINED = 2000
# A long right tail: the 99.9% quantile of the positive values exceeds their median by this factor, and that of
# intensities is this many times as far from the median as the 0.1% quantile on the other side.
LONG_TAIL = 10.0
# Values on a logarithmic scale, fractions and genotypes stay below these.
SMALLEST_TOP_COUNT, SMALLEST_TOP_INTENSITY = 20.0, 100.0
# Within a feature, the mean of skewed values exceeds the median by this many standard deviations.
SKEWNESS = 0.05
# Library sizes differ if the largest exceeds the smallest by this factor.
LIBRARY_RATIO = 1.1
# Values are cut off at a limit if at least this fraction of them equals it, this many times as many as equal the
# next value, which is hardly more frequent than the following ones: the frequencies of counts decrease.
CUT_OFF, CUT_OFF_RATIO, FLAT = 0.01, 5, 1.5


class Scale(NamedTuple):
    """What features look like: "counts", "intensities" or "other", a sentence, and whether some are negative."""

    kind: str
    sentence: str = ""
    negative: bool = False


def check_transform(name: str) -> None:
    """Refuse an unknown transformation."""
    if name not in TRANSFORMS:
        raise TableError(f"transform must be one of {', '.join(map(repr, TRANSFORMS))}, got {name!r}.")


def apply_transform(X: Any, name: str, covariates: np.ndarray | None = None) -> Any:
    """Return the features on the scale of a transformation; missing values stay missing.

    "log1p" is log(x + 1), "log2" is log2(x + 1), "cpm-log" is log2(1 + x per million), where the library size of a
    sample is the sum of its features, "binary" is 1 for positive values, and "none" is X itself. Columns that the
    mask ``covariates`` marks are never transformed. A logarithm of negative values is refused.

    >>> apply_transform(np.array([[0.0, 1.0], [3.0, 7.0]]), "log2").tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    check_transform(name)
    if name == "none":
        return X
    if isinstance(X, AppendedColumns):
        # Those behind are covariates.
        new = AppendedColumns(apply_transform(X.source, name), X.appended)
        new.names = X.names
        return new
    if isinstance(X, ColumnSource):
        factors = _size_factors(X.by_sample(library_sizes)) if name == "cpm-log" else None
        return MappedSource(X, partial(_transform_block, name=name, factors=factors))
    covariates = np.zeros(X.shape[1], dtype=bool) if covariates is None else covariates
    if not covariates.any():
        return _transform(X, name)
    features, others = np.flatnonzero(~covariates), np.flatnonzero(covariates)
    parts = [_transform(X[:, features], name), X[:, others]]
    join: Any = sp.hstack(parts, format="csr") if sp.issparse(X) else np.concatenate(parts, axis=1)
    return join[:, np.argsort(np.concatenate([features, others]))]


def _transform_block(block: Any, name: str, factors: np.ndarray | None) -> Any:
    sparse = sp.issparse(block)
    new = _transform(sp.csr_array(block) if sparse else block, name, factors)
    return sp.csc_array(new) if sparse else new


def _size_factors(sizes: np.ndarray) -> np.ndarray:
    return np.divide(1e6, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _transform(X: Any, name: str, factors: np.ndarray | None = None) -> Any:
    """Transform all columns; zeros stay zero, so only the stored entries of a sparse matrix change."""
    sparse = sp.issparse(X)
    values = X.data if sparse else X
    if name in LOGARITHMS:
        lowest = np.nanmin(values, initial=0.0)
        if lowest < 0:
            raise TableError(
                f"The features contain negative values, such as {lowest:g}, which have no logarithm.",
                f"⟦Leave out transform={name}⟧.",
            )
    if name == "cpm-log":
        factors = _size_factors(library_sizes(X)) if factors is None else factors
        values = values * (np.repeat(factors, np.diff(X.indptr)) if sparse else factors[:, None])
    values = np.asarray(values, dtype=np.float64)
    if name == "binary":
        new = np.where(np.isnan(values), np.nan, values > 0)
    else:
        new = np.log1p(values) / (1.0 if name == "log1p" else np.log(2.0))
    return sp.csr_array((new, X.indices, X.indptr), shape=X.shape) if sparse else new


def library_sizes(X: Any) -> np.ndarray:
    """Return the sum of the values of each sample without missing ones."""
    if sp.issparse(X):
        kind = sp.csc_array if X.format == "csc" else sp.csr_array
        finite = kind((np.nan_to_num(X.data, posinf=0.0, neginf=0.0), X.indices, X.indptr), shape=X.shape)
        return np.asarray(finite.sum(axis=1), dtype=np.float64)
    return np.asarray(np.sum(X, axis=1, where=np.isfinite(X), dtype=np.float64))


def recognize_scale(X: Any) -> Scale:
    """Return whether features look like raw counts, like raw intensities, or like neither.

    Raw counts are non-negative integers with a long right tail, and library sizes that differ. Raw intensities
    are skewed to the right, as a whole and within the features; after subtraction of a background, some are
    negative, or the smallest are replaced by a limit, and they may be rounded to integers. Tables with fewer than
    50 features are never recognized, because their columns often have different units. X has no covariates.
    """
    other = Scale("other")
    if X.shape[1] < FEWEST_FEATURES:
        return other
    stored = X.data if sp.issparse(X) else X
    if not stored.size:
        return other
    lowest = float(np.nanmin(stored, initial=0.0))
    columns = np.unique(np.linspace(0, X.shape[1] - 1, EXAMINED).astype(np.intp))
    part = X[:, columns]
    examined = np.ravel(part.data if sp.issparse(part) else part)
    n_values = part.shape[0] * part.shape[1] - np.count_nonzero(~np.isfinite(examined))
    examined = examined[np.isfinite(examined)]
    positive = examined[examined > 0]
    if not len(positive):
        return other
    median, top = np.quantile(positive, [0.5, 0.999])
    if top < LONG_TAIL * median:
        return other
    sizes = library_sizes(X)
    differ = sizes.max() > LIBRARY_RATIO * sizes.min()
    integers = lowest >= 0 and bool((positive == np.round(positive)).all())
    if top >= SMALLEST_TOP_COUNT and differ and integers and not _cut_off(positive, n_values):
        sums = f"library sizes from {sizes.min():,.0f} to {sizes.max():,.0f}"
        return Scale(
            "counts", f"The features look like raw counts (integers up to {positive.max():,.0f}, {sums})."
        )
    low, middle = np.quantile(examined, [0.001, 0.5])
    skewed = middle > 0 and top - middle >= LONG_TAIL * (middle - low) and _skewness(part) > SKEWNESS
    if top >= SMALLEST_TOP_INTENSITY and skewed:
        values = f"positive values with median {median:,.3g} and maximum {positive.max():,.3g}"
        below = f"; the smallest is {lowest:,.3g}" if lowest < 0 else ""
        return Scale("intensities", f"The features look like raw intensities ({values}{below}).", lowest < 0)
    return other


def _cut_off(positive: np.ndarray, n_values: int) -> bool:
    """Return whether the smallest of non-negative integers, given without zeros, were replaced by a limit."""
    often = np.unique(positive, return_counts=True)[1]
    if n_values > len(positive):
        often = np.append(n_values - len(positive), often)
    many = len(often) > 1 and often[0] >= max(CUT_OFF * n_values, CUT_OFF_RATIO * often[1])
    return bool(many and often[1] <= FLAT * often[1:6].mean())


def _skewness(X: Any) -> float:
    """Return the median over the features of (mean - median) / standard deviation, 0 if all are constant."""
    dense = X.toarray() if sp.issparse(X) else X
    deviations = np.nanstd(dense, axis=0)
    varying = deviations > 0
    if not varying.any():
        return 0.0
    dense = dense[:, varying]
    return float(np.median((np.nanmean(dense, axis=0) - np.nanmedian(dense, axis=0)) / deviations[varying]))
