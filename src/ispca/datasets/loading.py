"""Find a data set in ISPCA_DATA or the cache, load it, and describe it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from .arrays import Arrays, read_npz, verify
from .registry import Dataset, DatasetError, find


class Preprocessing(NamedTuple):
    """A function of the values, with its formula and the reason for it."""

    formula: str
    why: str
    apply: Callable[[Any], Any]


PREPROCESSING = {
    "none": Preprocessing("none", "the values are used as stored", lambda X: X),
    "log2": Preprocessing("log2(x)", "raw intensities, floored at 10 by the source", np.log2),
    # Half of chowdary lies below 16, noise that a plain logarithm would spread over many doublings.
    "log2-plus-16": Preprocessing(
        "log2(x + 16)",
        "raw intensities from 0; 16 is their median, so noise below it stays within one doubling",
        lambda X: np.log2(X + 16.0),
    ),
    # The negative values of gordon are noise of median magnitude 19; 20 is a common floor.
    "log2-floor-20": Preprocessing(
        "log2(max(x, 20))",
        "raw intensities; 22% are negative noise of median magnitude about 20",
        lambda X: np.log2(np.maximum(X, 20.0)),
    ),
}


def data_folder() -> Path | None:
    """Return the folder given by ``ISPCA_DATA``, which must exist if it is set."""
    given = os.environ.get("ISPCA_DATA")
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise DatasetError(f"ISPCA_DATA={given} is not a folder.")
    return folder


def cache_folder() -> Path | None:
    """Return the folder given by ``ISPCA_CACHE``, or the user's cache as determined by pooch."""
    given = os.environ.get("ISPCA_CACHE")
    if given:
        return Path(given).expanduser()
    try:
        return Path(import_module("pooch").os_cache("ispca"))
    except (ImportError, RuntimeError):
        # The home folder of the user may be unknown.
        return None


def locate(record: Dataset) -> Path | None:
    """Return the file that :func:`load` would read, without reading it."""
    paths = (folder / f"{record.name}.npz" for folder in (data_folder(), cache_folder()) if folder)
    return next((path for path in paths if path.is_file()), None)


def load(name: str, *, preprocess: bool = True) -> Bunch:
    """Load a data set by name, from the folder in ``ISPCA_DATA`` or the user's cache.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`; ``ispca datasets`` prints them.
    preprocess : bool, default=True
        Take logarithms of raw intensities, as stated in the description; False returns the stored values.

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
        If the data set is not present, or fails verification; the message says where to get it.

    Examples
    --------
    >>> from ispca.datasets import load
    >>> data = load("colon")  # doctest: +SKIP
    >>> data.data.shape, data.target_names.tolist()  # doctest: +SKIP
    ((62, 2000), ['0', '1'])
    """
    record = find(name)
    path = locate(record)
    if path is None:
        url = f" from {record.sources[0].url}" if record.sources else ""
        raise DatasetError(
            f"{record.name} is not present ({record.origin}). Put {record.name}.npz into the folder given by the "
            f"environment variable ISPCA_DATA. In a copy of the repository of ispca, python -m paper.download "
            f"{record.name} makes it{url}."
        )
    arrays = read_npz(path)
    verified = verify(record, arrays, str(path))
    X = PREPROCESSING[record.preprocessing].apply(arrays.X) if preprocess else arrays.X
    names = arrays.feature_names
    if names is None:
        names = np.array([f"feature {j + 1}" for j in range(record.D)])
    return Bunch(
        data=X,
        target=arrays.target,
        feature_names=names,
        target_names=arrays.classes,
        DESCR=describe(record, preprocess=preprocess) + "\n" + _contents_text(record, arrays, verified),
        name=record.name,
        path=str(path),
        **arrays.extras,
    )


def describe(record: Dataset, *, preprocess: bool = True) -> str:
    """Return a description of a data set."""
    done = PREPROCESSING[record.preprocessing]
    place = f"'{record.paper_name}' of Piironen and Vehtari (2018)" if record.paper_name else "not in the paper"
    if record.stand_in_for:
        place += f"; used in addition to {record.stand_in_for}, which could not be obtained"
    sizes = f" of {', '.join(map(str, record.counts))} samples" if record.counts else ""
    applied = "" if preprocess or record.preprocessing == "none" else " NOT APPLIED HERE (preprocess=False)."
    lines = [
        f"{record.name}: {record.title}",
        f"Paper: {place}.",
        f"Size: {record.n} samples, {record.D} features{', sparse' if record.sparse else ''}.",
        f"Target: {_target_words(record)}{sizes}.",
        f"Study: {record.study}.",
        f"Source: {record.origin}. License: unknown.",
        f"Values: {record.scale}.",
        f"Preprocessing: {done.formula} ({done.why}).{applied}",
    ]
    if record.notes:
        lines.append(f"Notes: {record.notes}")
    return "\n".join(textwrap.fill(line, 100, subsequent_indent="  ", break_on_hyphens=False) for line in lines)


def _target_words(record: Dataset) -> str:
    if record.is_survival:
        return "survival: a structured array of event (death observed) and time"
    if record.is_classification:
        return "two classes" if record.target == "binary" else "several classes"
    return "a count" if record.target == "counts" else "a number"


def _contents_text(record: Dataset, arrays: Arrays, verified: bool) -> str:
    if verified:
        return "Verified: the checksum of the arrays matches."
    text = "Verified: only size and class sizes; the content was NOT verified by checksum."
    if record.checksum is None:
        values = arrays.X.data if sp.issparse(arrays.X) else arrays.X
        text += f" Values range from {values.min():.4g} to {values.max():.4g}; take logarithms of raw intensities."
    return textwrap.fill(text, 100, subsequent_indent="  ")
