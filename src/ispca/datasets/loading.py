"""Load a data set by name, as a Bunch."""

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
    "survival": "survival: a structured array of event (whether death was observed) and time",
}


def load(name: str, *, preprocess: bool = True, known_hash: str | None = None) -> Bunch:
    """Load a data set by name: from ``ISPCA_DATA``, the user's cache, or its public source.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`; ``ispca datasets`` prints them.
    preprocess : bool, default=True
        Take logs of raw intensities, as the description of the set states; False gives the stored values.
    known_hash : str or None, default=None
        The sha256 that the file of the public source must have, for sets whose checksum is not known here.

    Returns
    -------
    data : Bunch
        ``data`` (n x D floats, dense or CSR), ``target`` (class codes, numbers, counts, or a structured array of
        ``event`` and ``time``), ``feature_names``, ``target_names`` (of the classes; None elsewhere), ``DESCR``,
        ``name``, ``path``, and for some sets ``split`` or ``day``.

    Raises
    ------
    ValueError
        If there is no such data set; the message names the nearest ones.
    DatasetError
        If it is not there and cannot be downloaded, or is not what it should be.

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
    """Return what is known of a data set, as text."""
    done = PREPROCESSING[record.preprocessing]
    place = f"'{record.paper_name}' of Piironen and Vehtari (2018)" if record.paper_name else "not in the paper"
    if record.stand_in_for:
        place += f"; run beside {record.stand_in_for} while that is missing, never under its name"
    applied = "" if preprocess or record.preprocessing == "none" else " NOT APPLIED HERE (preprocess=False)."
    lines = [
        f"{record.name}: {record.title}",
        f"Paper: {place}.",
        f"Size: {record.n} samples, {record.D} features{', sparse' if record.sparse else ''}.",
        f"Target: {TARGETS[record.target]}{_class_sizes(record)}.",
        f"Study: {record.study}.",
        f"Source: {record.origin}. Licence: not known.",
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
        return "Verified: the checksum of the arrays is the expected one."
    text = "Verified: size and samples per class only; the content was NOT verified by checksum."
    if record.checksum is None:
        values = arrays.X.data if sp.issparse(arrays.X) else arrays.X
        text += f" Stored values run from {values.min():.4g} to {values.max():.4g}: take logs of raw intensities."
    return textwrap.fill(text, 100, subsequent_indent="  ")
