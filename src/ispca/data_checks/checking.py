"""Run all checks of the data, and turn what they find into Python warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.messages import DataWarning, notify
from .confounding import find_batches
from .copies_outliers_and_drift import (
    MOST_SAMPLES,
    find_duplicates,
    find_file_order,
    find_outliers,
    inner_products,
)
from .findings import Finding, as_classes
from .leak import find_leaks
from .odd_features import count_distinct, find_odd_features, find_raw_scale, log_if_raw
from .repeated_samples import find_repeated_samples, numbers_replicates, source_word
from .small_class import limit_folds


def check_data(
    X: Any,
    y: Any,
    kind: str,
    *,
    features: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    sheet: Mapping[str, Any] | None = None,
    groups: Any = None,
    n_folds: int | None = None,
) -> list[Finding]:
    """Check data for what would make results misleading.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features, all finite, without covariates. Sparse features are not checked for outliers, near copies,
        drifts along the file and odd features.
    y : array-like of shape (n_samples,)
        The target.
    kind : str
        What y contains, as in `ispca.validation.compare`.
    features, ids : sequence of str, optional
        Names of the features and of the samples; without them, sentences give their numbers, from 0.
    sheet : mapping of str to array-like, optional
        Further columns that describe the samples. Batches and dates among them are compared with the target, and
        columns such as "patient" tell which samples belong together.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together. Copies within a group are not reported, nor several samples of one source.
    n_folds : int, optional
        Number of folds of the cross-validation that is planned.

    Returns
    -------
    findings : list of Finding
        What was found, in the order of the checks; empty if nothing was.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.data_checks import check_data
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 200)), np.tile(["ill", "well"], 30)
    >>> check_data(X, y, "classification")
    []
    >>> X[:, 3] = y == "ill"
    >>> check_data(X, y, "classification")[0].kind
    'leak'
    """
    from sklearn.utils import check_array

    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    classes = as_classes(y, kind)
    dense = not sp.issparse(X)
    n_distinct = count_distinct(X) if dense else None
    compared = log_if_raw(X) if dense else X
    products = inner_products(compared) if dense and X.shape[0] <= MOST_SAMPLES else None
    findings = [] if n_folds is None else limit_folds(y, kind, n_folds, groups)[1]
    findings += find_leaks(X, y, classes, n_distinct, features)
    findings += find_batches(sheet, y, classes)
    findings += find_duplicates(X, products, classes, groups, ids)
    findings += find_repeated_samples(ids, {**(sheet or {}), **_sources(X, features)}, classes, groups)
    if products is not None:
        findings += find_outliers(products, classes, ids)
    findings += find_raw_scale(X)
    if n_distinct is not None:
        leaks = {column for finding in findings for column in finding.columns}
        findings += find_odd_features(compared, n_distinct, features, leaks)
    return findings + find_file_order(products, classes)


def _sources(X: Any, features: Sequence[str] | None) -> dict[str, Any]:
    """Return features that are called like the source of a sample or replicates of it, and contain integers."""
    names = {j: name for j, name in enumerate(features or ()) if source_word(name) or numbers_replicates(name)}
    columns = {str(name): X[:, [j]].toarray() if sp.issparse(X) else X[:, j] for j, name in names.items()}
    found = {name: np.asarray(column).ravel() for name, column in columns.items()}
    return {name: values.astype(np.int64) for name, values in found.items() if (values == np.round(values)).all()}


def warn(findings: Iterable[Finding]) -> None:
    """Issue an `ispca.DataWarning` for each finding; its attribute ``kind`` is that of the finding."""
    for finding in findings:
        notify(DataWarning(finding.sentence, finding.kind))
