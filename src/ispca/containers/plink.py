"""PLINK 1 genotypes: two bits each, unpacked block by block."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..foundation.arrays import Indices
from ..foundation.messages import InputError, count
from .source import Block, ColumnSource

MAGIC, SAMPLE_MAJOR, VARIANT_MAJOR = b"\x6c\x1b", 0, 1
HEADER_BYTES, PER_BYTE = 3, 4
# Copies of A1 for the codes 0 to 3: two copies of A1, missing, one copy, none.
COPIES = np.array([2.0, np.nan, 1.0, 0.0], dtype=np.float32)
# The four genotypes of every byte; the first sample has the lowest bits.
UNPACKED = COPIES[(np.arange(256)[:, None] >> np.arange(0, 8, 2)) & 3]
# Columns of .fam and .bim, and the places of the names in them.
FAM_COLUMNS, SAMPLE_NAME = 6, 1
BIM_COLUMNS, CHROMOSOME, VARIANT_NAME, POSITION = 6, 0, 1, 3


def open_plink(path: Any) -> PlinkGenotypes:
    r"""Open a PLINK ``.bed`` file, with the ``.fam`` and ``.bim`` beside it, without reading its genotypes.

    Each column is a variant, and its values are the numbers of copies of allele A1, 0, 1 or 2, as float32. Missing
    genotypes are NaN: pass ``missing="mean"`` to the transformer to replace them by the mean of the variant.

    Parameters
    ----------
    path : path
        The ``.bed`` file, in the variant-major order that PLINK writes.

    Returns
    -------
    genotypes : PlinkGenotypes
        What `ispca.ISPCA` takes as X. ``names`` are the names of the variants, or chromosome and position of those
        without a name, and ``sample_names`` the within-family names of the samples.

    Raises
    ------
    ValueError
        If the file is not a ``.bed`` file, is truncated, or does not fit its ``.fam`` and ``.bim``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ispca.containers import open_plink
    >>> stem = pathlib.Path(tempfile.mkdtemp()) / "tiny"
    >>> _ = stem.with_suffix(".fam").write_text("f a 0 0 1 -9\nf b 0 0 2 -9\nf c 0 0 1 -9\n")
    >>> _ = stem.with_suffix(".bim").write_text("1 rs1 0 100 A G\n")
    >>> _ = stem.with_suffix(".bed").write_bytes(bytes([0x6C, 0x1B, 1, 0b001000]))
    >>> genotypes = open_plink(stem.with_suffix(".bed"))
    >>> genotypes.take([0]).ravel().tolist()
    [2.0, 1.0, 2.0]
    """
    return PlinkGenotypes(Path(path))


class PlinkGenotypes(ColumnSource):
    """The genotypes of a ``.bed`` file."""

    dtype = np.dtype(np.float32)

    def __init__(self, path: Path) -> None:
        self.path, self.label = path, path.name
        _check_header(path)
        samples = _fields(path.with_suffix(".fam"), FAM_COLUMNS, path.name)
        variants = _fields(path.with_suffix(".bim"), BIM_COLUMNS, path.name)
        self.sample_names = np.array([fields[SAMPLE_NAME] for fields in samples], dtype=object)
        names = [
            fields[VARIANT_NAME] if fields[VARIANT_NAME] != "." else f"{fields[CHROMOSOME]}:{fields[POSITION]}"
            for fields in variants
        ]
        self.names = np.array(names, dtype=object)
        self.shape = (len(samples), len(variants))
        self._bytes_per_variant = -(-len(samples) // PER_BYTE)
        found, expected = path.stat().st_size, HEADER_BYTES + self._bytes_per_variant * len(variants)
        if found != expected:
            raise InputError(
                f"{path.name} is {'truncated' if found < expected else 'too large'}: it has {found:,} bytes, but "
                f"{count(len(samples), 'sample')} in the .fam file and {count(len(variants), 'variant')} in the "
                f".bim file need {expected:,}. Use the three files of one data set."
            )

    def load(self, columns: Block) -> Any:
        indices = np.arange(self.shape[1])[columns]
        packed = np.empty((len(indices), self._bytes_per_variant), np.uint8)
        with self.path.open("rb") as file:
            for part in _runs(indices):
                file.seek(HEADER_BYTES + int(indices[part.start]) * self._bytes_per_variant)
                if file.readinto(packed[part].data) != packed[part].nbytes:
                    raise OSError("the file ends too early")
        return np.take(UNPACKED, packed, axis=0).reshape(len(indices), -1)[:, : self.shape[0]].T


def _runs(indices: Indices) -> list[slice]:
    """Return the parts of ascending indices that follow each other without a gap."""
    borders = [0, *(np.flatnonzero(np.diff(indices) != 1) + 1).tolist(), len(indices)]
    return [slice(start, stop) for start, stop in pairwise(borders) if start < stop]


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        header = file.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES or header[:2] != MAGIC:
        raise InputError(f"Could not read {path.name} as PLINK genotypes: its first bytes do not match.")
    if header[2] == SAMPLE_MAJOR:
        raise InputError(
            f"{path.name} is in sample-major order, which is out of use. Convert it with: plink --make-bed"
        )
    if header[2] != VARIANT_MAJOR:
        raise InputError(f"{path.name} is in an unknown order ({header[2]}). Write it with: plink --make-bed")


def _fields(path: Path, n_columns: int, where: str) -> list[list[str]]:
    """Return the fields of each line of a .fam or .bim file."""
    if not path.exists():
        raise InputError(f"{where} needs {path.name} in the same folder.")
    with path.open(encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.isspace()]
    wrong = next((i for i, fields in enumerate(rows) if len(fields) != n_columns), None)
    if wrong is not None:
        raise InputError(
            f"Line {wrong + 1:,} of {path.name} has {count(len(rows[wrong]), 'field')} instead of {n_columns}."
        )
    if not rows:
        raise InputError(f"{path.name} is empty.")
    return rows
