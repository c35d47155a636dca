"""Save and load model files: .npz archives of plain arrays, ``model.json`` and a checksum."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from ..foundation.atomic import whole_file
from ..foundation.messages import ModelFileError
from .archive import LARGEST_COUNT, ContentError, open_archive, parse_json, write_archive
from .encoding import Content, decode_model, encode_model

NAME = "ispca model"
# Increased whenever the content of files changes; files of other versions are refused.
VERSION = 3


def save_model(model: Any, path: Any, details: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator of the package, or a pipeline with one, to a file, without pickle.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted reduction, model, submodel or stack of this package, or a pipeline of them, of scikit-learn's
        scalers, SimpleImputer, VarianceThreshold and SelectKBest, and of other pipelines. All posterior draws are
        stored in double precision, so a loaded model predicts the same numbers. A kernel method is stored with its
        training samples, in the precision they have. Of a BaggedPosterior, its ``pipeline_`` is stored: with
        an orthonormal basis of the training samples, and with the targets, weights and groups that prediction sets
        and intervals need. A ``random_state`` or
        ``cv`` that is not an integer and the ``resume`` of a stack are replaced by their defaults.
    path : path
        The file. It is written completely or not at all, and replaces an existing file.
    details : dict, optional
        Additional information that JSON can represent; `read_details` returns it.

    Raises
    ------
    ValueError
        If this is not a model, or something in it cannot be stored.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from ispca import ISPCA
    >>> from ispca.persistence import load_model, save_model
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 100)); y = X[:, 0] + X[:, 1]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "reduction.ispca"
    >>> ispca = ISPCA(n_components=2, random_state=0).fit(X, y)
    >>> save_model(ispca, path)
    >>> bool((load_model(path).transform(X) == ispca.transform(X)).all())
    True
    """
    arrays: list[np.ndarray] = []
    description = {
        "format": NAME,
        "version": VERSION,
        "written_by": f"ispca {version('ispca')}",
        "details": details or {},
        "model": encode_model(model, arrays),
        "arrays": len(arrays),
    }
    content = json.dumps(description, indent=1).encode()
    # What `load_model` would refuse at any memory limit.
    try:
        parse_json(content)
    except ContentError as error:
        raise ContentError(f"This model cannot be stored: {error}.") from None
    if len(arrays) >= LARGEST_COUNT:
        raise ContentError(f"This model cannot be stored: it has more than {LARGEST_COUNT - 1:,} arrays.")
    with whole_file(Path(path)) as temporary:
        write_archive(temporary, content, arrays)


def load_model(path: Any, *, max_bytes: int | None = None) -> Any:
    """Load a model written by `save_model`.

    Parameters
    ----------
    path : path
        The file.
    max_bytes : int, optional
        Memory that the content may take, in bytes. By default 100 times the size of the file, but at
        least 256 MiB and at most 4 GiB; a file that takes more is refused before it is unpacked.

    Returns
    -------
    model : estimator or Pipeline
        The fitted model. It predicts the same numbers as the stored model.

    Raises
    ------
    ModelFileError
        If the file is not a model file, or is truncated, altered, damaged, too large, or written by another
        version. Nothing in it is executed.

    Examples
    --------
    >>> from ispca.persistence import load_model
    >>> load_model("model.ispca").predict(X_new)  # doctest: +SKIP
    """
    with _boundary(Path(path), max_bytes), open_archive(Path(path), max_bytes) as archive:
        description = _check_description(archive.description())
        count = description.get("arrays")
        if type(count) is not int or count != archive.n_arrays:
            raise ContentError("it does not contain the arrays that its description counts")
        return decode_model(description["model"], Content(dict(enumerate(archive.arrays())), archive.limit))


def read_details(path: Any, *, max_bytes: int | None = None) -> dict[str, Any]:
    """Return the details that were stored with a model.

    Parameters
    ----------
    path : path
        A file written by `save_model`.
    max_bytes : int, optional
        Memory that the content may take, in bytes; see `load_model`.

    Returns
    -------
    details : dict
        The details passed to `save_model`.

    Raises
    ------
    ModelFileError
        If the file is not a model file or cannot be read.
    """
    with _boundary(Path(path), max_bytes), open_archive(Path(path), max_bytes) as archive:
        details = _check_description(archive.description())["details"]
        if not isinstance(details, dict):
            raise ContentError("its details are not named values")
        return details


@contextmanager
def _boundary(path: Path, max_bytes: int | None) -> Iterator[None]:
    """Turn every failure to read a file into one error with the file and the reason."""
    if max_bytes is not None and (not isinstance(max_bytes, Integral) or max_bytes < 1):
        raise ValueError(f"max_bytes must be None or a positive integer, got {max_bytes!r}.")
    if not path.is_file():
        raise ModelFileError(f"There is no model file {path}.")
    try:
        yield
    except ContentError as error:
        raise ModelFileError(f"Could not load {path}: {error}.", error.advice) from None
    except PermissionError:
        raise ModelFileError(f"Could not load {path}: permission denied.") from None
    except MemoryError as error:
        raise ModelFileError(f"Could not load {path}: not enough memory.") from error
    # The content is not trusted: any exception of zipfile, json or NumPy means that the file is damaged.
    except Exception as error:
        raise ModelFileError(f"Could not load {path}: its content is damaged.") from error


def _check_description(description: Any) -> dict[str, Any]:
    if not isinstance(description, dict) or description.get("format") != NAME:
        raise ContentError("it is not a model of ispca")
    version = description.get("version")
    if type(version) is not int or version < 1:
        raise ContentError(f"its version must be a positive integer, got {version!r:.40}")
    if version < VERSION:
        raise ContentError(
            f"it was written by an older version of ispca ({description.get('written_by')!r:.40}), whose files "
            "can no longer be read",
            "Fit the model again.",
        )
    if version > VERSION:
        raise ContentError(
            f"it was written by a newer version of ispca ({description.get('written_by')!r:.40})",
            "Upgrade ispca to read it.",
        )
    return description
