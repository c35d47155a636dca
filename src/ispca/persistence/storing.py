"""The model file: an .npz archive of plain arrays with ``model.json``, and a checksum as its last bytes."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from .._atomic import whole_file
from .nodes import NodeError, decode, encode

NAME = "ispca model"
# Raised when files of this version can no longer be read by older programs.
VERSION = 1
DESCRIPTION = "model.json"
# The comment at the end of the archive: this, and the sha256 of all bytes before it.
MARK = b"ispca model sha256 "
DIGITS = 64
LARGEST_CONTENT = 2**34
_EPOCH = (1980, 1, 1, 0, 0, 0)
_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, KeyError, TypeError, AttributeError)
_MORE_DAMAGED = (NotImplementedError, RecursionError, IndexError, OverflowError, MemoryError)


class ModelFileError(ValueError):
    """A file that is no model, or no longer the one that was written; the message is a sentence."""


def save_model(model: Any, path: Any, details: dict[str, Any] | None = None) -> None:
    """Write a fitted reduction, horseshoe model or pipeline of them to a file, without pickle.

    Parameters
    ----------
    model : Pipeline, ISPCA, SPCA, HorseshoeClassifier or HorseshoeRegressor
        A fitted model. All posterior draws are kept, in double precision, so that a loaded model predicts the same
        numbers. A ``random_state`` that is no whole number is stored as None.
    path : path
        The file; it appears when it is complete, in the place of one that may be there.
    details : dict, optional
        Anything else that JSON can hold; `read_details` returns it.

    Raises
    ------
    ValueError
        If something in the model cannot be stored.

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
        "written_by": _program(),
        "details": details or {},
        "model": encode(model, arrays),
        "arrays": len(arrays),
    }
    with whole_file(Path(path)) as temporary:
        _write(temporary, json.dumps(description, indent=1).encode(), arrays)


def _program() -> str:
    from .. import __version__

    return f"ispca {__version__}"


def _write(path: Path, description: bytes, arrays: list[np.ndarray]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.comment = MARK + b"0" * DIGITS
        archive.writestr(_member(DESCRIPTION), description)
        for number, values in enumerate(arrays):
            buffer = io.BytesIO()
            np.save(buffer, values, allow_pickle=False)
            archive.writestr(_member(_array_name(number)), buffer.getbuffer())
    content = path.read_bytes()[:-DIGITS]
    with open(path, "rb+") as file:
        file.seek(len(content))
        file.write(hashlib.sha256(content).hexdigest().encode())


def _member(name: str) -> zipfile.ZipInfo:
    # Equal models make equal files: no clock.
    member = zipfile.ZipInfo(name, _EPOCH)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _array_name(number: int) -> str:
    return f"array{number}.npy"


def load_model(path: Any) -> Any:
    """Read a model that `save_model` has written.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : Pipeline, ISPCA, SPCA, HorseshoeClassifier or HorseshoeRegressor
        The fitted model; it predicts the same numbers as the one that was stored.

    Raises
    ------
    ModelFileError
        If the file is something else, cut off, altered, or written by a newer version. Nothing in it is executed.

    Examples
    --------
    >>> from ispca.persistence import load_model
    >>> load_model("model.ispca").predict(X_new)  # doctest: +SKIP
    """
    path = Path(path)
    description, arrays = _read(path)
    try:
        return decode(description["model"], arrays)
    except NodeError as error:
        raise ModelFileError(f"{path} is refused: {error}.") from None
    except (*_DAMAGED, *_MORE_DAMAGED):
        raise ModelFileError(f"{path} is refused: its description does not make a model.") from None


def read_details(path: Any) -> dict[str, Any]:
    """Return the details that were stored with a model.

    Parameters
    ----------
    path : path
        A file that `save_model` has written.

    Returns
    -------
    details : dict
        What was given to `save_model`.
    """
    details = _read(Path(path), with_arrays=False)[0]["details"]
    return details if isinstance(details, dict) else {}


def _read(path: Path, with_arrays: bool = True) -> tuple[dict[str, Any], list[np.ndarray]]:
    content = _checked_content(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > LARGEST_CONTENT:
                raise ModelFileError(f"{path} is refused: it would take more than {LARGEST_CONTENT >> 30} GiB.")
            description = json.loads(archive.read(DESCRIPTION))
            _check_description(path, description)
            numbers = range(description["arrays"] if with_arrays else 0)
            arrays = [_array(archive, _array_name(number)) for number in numbers]
    except ModelFileError:
        raise
    except (*_DAMAGED, *_MORE_DAMAGED):
        raise ModelFileError(f"{path} is refused: its content cannot be read.") from None
    return description, arrays


def _checked_content(path: Path) -> bytes:
    if not path.is_file():
        raise ModelFileError(f"There is no model file {path}.")
    content = path.read_bytes()
    end = len(content) - DIGITS
    if content[:4] != b"PK\3\4":
        raise ModelFileError(f"{path} is no model of ispca: it was written by another program.")
    if content[max(end - len(MARK), 0) : max(end, 0)] != MARK:
        raise ModelFileError(
            f"{path} is no model of ispca, or it was cut off or altered: its checksum is missing."
        )
    if hashlib.sha256(content[:end]).hexdigest().encode() != content[end:]:
        raise ModelFileError(f"{path} was altered since it was written: its checksum is wrong.")
    return content


def _check_description(path: Path, description: Any) -> None:
    if not isinstance(description, dict) or description.get("format") != NAME:
        raise ModelFileError(f"{path} is no model of ispca.")
    version = description.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ModelFileError(
            f"{path} was written by a newer version of ispca ({description.get('written_by')!s:.40}): "
            "upgrade with pip install -U ispca."
        )


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    data = archive.read(name)
    values: np.ndarray = npy.read_array(io.BytesIO(data), allow_pickle=False)
    return values
