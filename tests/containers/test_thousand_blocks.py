"""A thousand blocks, of which one is bad: the error names its columns."""

import os

import numpy as np
import pytest

from ispca import ISPCA
from ispca.containers import wrap_container
from ispca.containers.source import block_width

pytestmark = pytest.mark.slow

N, WIDTH, N_BLOCKS = 16, 512, 1000
BAD = slice(936 * WIDTH, 937 * WIDTH)  # block 937, counted from one
BUDGET = 2**20
Y = np.arange(N) % 2


@pytest.fixture
def mapped(tmp_path):
    """Return a memory map by column, so that a block is a part of the file, which can be changed."""
    shape = (N, WIDTH * N_BLOCKS)
    X = np.memmap(tmp_path / "X.bin", np.float32, "w+", shape=shape, order="F")
    X.T[:] = np.random.default_rng(0).standard_normal(shape[::-1], dtype=np.float32)
    X.flush()
    assert block_width(wrap_container(X), BUDGET) == WIDTH
    return X


def test_missing_values_are_named_by_column(mapped):
    mapped[3, BAD.start + 79] = mapped[5, BAD.start + 79] = np.nan
    with pytest.raises(ValueError, match=r"2 values in 1 column, 479311 \(2\)"):
        ISPCA(2, memory_budget=BUDGET).fit(mapped, Y)


def test_an_unreadable_block_is_named(mapped):
    os.truncate(mapped.filename, BAD.stop * N * 4 - 100)
    with pytest.raises(OSError, match=r"Could not read columns 479,232 to 479,743 of X\.bin: the file ends after"):
        ISPCA(2, memory_budget=BUDGET).fit(mapped, Y)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda block: block[1:], "16 samples of float32, but read 15 of float32"),
        (lambda block: block.astype(np.float64), "16 samples of float32, but read 16 of float64"),
        (lambda block: block[:, 1:], r"an array of shape \(16, 512\), but read one of shape \(16, 511\)"),
    ],
    ids=["samples", "type", "features"],
)
def test_a_block_that_differs_is_named(mapped, change, expected):
    source = wrap_container(mapped)
    load = source.load
    source.load = lambda columns: change(load(columns)) if columns == BAD else load(columns)
    with pytest.raises(ValueError, match=rf"columns 479,232 to 479,743 of X\.bin: expected {expected}\. The data"):
        ISPCA(2, memory_budget=BUDGET).fit(source, Y)
