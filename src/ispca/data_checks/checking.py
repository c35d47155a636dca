"""Run all checks of the data, and turn what they find into Python warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from .._warnings import (
    BatchWarning,
    BorderlineWarning,
    DataWarning,
    DuplicateWarning,
    FileOrderWarning,
    LeakWarning,
    OddFeaturesWarning,
    OutlierWarning,
    ScaleWarning,
    SmallClassWarning,
    notify,
)
from .batch import find_batches
from .duplicates import find_duplicates
from .file_order import find_file_order
from .findings import Finding, as_classes
from .leak import find_leaks
from .odd_features import count_distinct, find_odd_features
from .outliers import find_outliers
from .raw_scale import find_raw_scale, log_if_raw
from .similarity import MOST_SAMPLES, inner_products
from .small_class import find_small_class

WARNINGS: dict[str, type[DataWarning]] = {
    "leak": LeakWarning,
    "odd_features": OddFeaturesWarning,
    "outliers": OutlierWarning,
    "duplicates": DuplicateWarning,
    "batch": BatchWarning,
    "file_order": FileOrderWarning,
    "small_class": SmallClassWarning,
    "borderline": BorderlineWarning,
    "scale": ScaleWarning,
}


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
    kind : {"classification", "regression", "survival", "count", "ordinal"}
        What y contains.
    features, ids : sequence of str, optional
        Names of the features and of the samples; without them, sentences give their numbers, from 0.
    sheet : mapping of str to array-like, optional
        Further columns that describe the samples. Batches and dates among them are compared with the target.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together. Copies within a group are not reported.
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
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    classes = as_classes(y, kind)
    dense = not sp.issparse(X)
    n_distinct = count_distinct(X) if dense else None
    compared = log_if_raw(X) if dense else X
    products = inner_products(compared) if dense and X.shape[0] <= MOST_SAMPLES else None
    findings = [] if n_folds is None else find_small_class(y, kind, n_folds, groups)
    findings += find_leaks(X, y, kind, n_distinct, features)
    findings += find_batches(sheet, y, kind)
    findings += find_duplicates(X, products, classes, groups, ids)
    if products is not None:
        findings += find_outliers(products, classes, ids)
    findings += find_raw_scale(X)
    if n_distinct is not None:
        leaks = {column for finding in findings for column in finding.columns}
        findings += find_odd_features(compared, n_distinct, features, leaks)
    return findings + find_file_order(products, classes)


def warn(findings: Iterable[Finding]) -> None:
    """Issue a Python warning for each finding, of a class that can be filtered, such as `ispca.LeakWarning`."""
    for finding in findings:
        notify(finding.sentence, WARNINGS[finding.kind])
