"""Load a data set by name, and describe it."""

from __future__ import annotations

import textwrap

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from .arrays import Arrays
from .preprocessing import PREPROCESSING
from .records import Dataset
from .registry import find
from .store import obtain

TARGETS = {
    "binary": "two classes",
    "multiclass": "several classes",
    "regression": "a number",
    "counts": "a count",
    "survival": "survival: a structured array of event (death observed) and time",
}


def load(name: str, *, preprocess: bool = True, known_hash: str | None = None) -> Bunch:
    """Load a data set by name: from ``ISPCA_DATA``, the user's cache, or its public source.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`; ``ispca datasets`` prints them.
    preprocess : bool, default=True
        Take logarithms of raw intensities, as stated in the description; False returns the stored values.
    known_hash : str or None, default=None
        Expected sha256 of the downloaded file, for data sets without a known checksum.

    Returns
    -------
    data : Bunch
        ``data`` (n x D floats, dense or CSR), ``target`` (class codes, numbers, counts, or a structured array of
        ``event`` and ``time``), ``feature_names``, ``target_names`` (class names, or None), ``DESCR``,
        ``name``, ``path``, and for some data sets ``split`` or ``day``.

    Raises
    ------
    ValueError
        If there is no such data set; the message suggests similar names.
    DatasetError
        If the data set is not present and cannot be downloaded, or fails verification.

    Examples
    --------
    >>> from ispca.datasets import load
    >>> data = load("colon")  # doctest: +SKIP
    >>> data.data.shape, data.target_names.tolist()  # doctest: +SKIP
    ((62, 2000), ['0', '1'])
    """
    record = find(name)
    arrays, verified, path = obtain(record, known_hash)
    X = PREPROCESSING[record.preprocessing].apply(arrays.X) if preprocess else arrays.X
    names = arrays.feature_names
    if names is None:
        names = np.array([f"feature {j + 1}" for j in range(record.D)])
    return Bunch(
        data=X,
        target=arrays.target,
        feature_names=names,
        target_names=arrays.classes,
        DESCR=describe(record, preprocess=preprocess) + "\n" + _found(record, arrays, verified),
        name=record.name,
        path=path,
        **arrays.extras,
    )


def describe(record: Dataset, *, preprocess: bool = True) -> str:
    """Return a description of a data set."""
    done = PREPROCESSING[record.preprocessing]
    place = f"'{record.paper_name}' of Piironen and Vehtari (2018)" if record.paper_name else "not in the paper"
    if record.stand_in_for:
        place += f"; used in addition to {record.stand_in_for}, which could not be obtained"
    applied = "" if preprocess or record.preprocessing == "none" else " NOT APPLIED HERE (preprocess=False)."
    lines = [
        f"{record.name}: {record.title}",
        f"Paper: {place}.",
        f"Size: {record.n} samples, {record.D} features{', sparse' if record.sparse else ''}.",
        f"Target: {TARGETS[record.target]}{_class_sizes(record)}.",
        f"Study: {record.study}.",
        f"Source: {record.origin}. License: unknown.",
        f"Values: {record.scale}.",
        f"Preprocessing: {done.formula} ({done.why}).{applied}",
    ]
    if record.notes:
        lines.append(f"Notes: {record.notes}")
    return "\n".join(textwrap.fill(line, 100, subsequent_indent="  ", break_on_hyphens=False) for line in lines)


def _class_sizes(record: Dataset) -> str:
    return f" of {', '.join(map(str, record.counts))} samples" if record.counts else ""


def _found(record: Dataset, arrays: Arrays, verified: bool) -> str:
    if verified:
        return "Verified: the checksum of the arrays matches."
    text = "Verified: only size and class sizes; the content was NOT verified by checksum."
    if record.checksum is None:
        values = arrays.X.data if sp.issparse(arrays.X) else arrays.X
        text += f" Values range from {values.min():.4g} to {values.max():.4g}; take logarithms of raw intensities."
    return textwrap.fill(text, 100, subsequent_indent="  ")
