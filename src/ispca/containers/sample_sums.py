"""Sums over all columns of a source, one number per sample, in one pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .._array_types import Floats
from .source import ColumnSource, block_width


def blocks_of(source: ColumnSource) -> list[slice]:
    """Return the blocks that one pass reads."""
    width, n_features = block_width(source), source.shape[1]
    return [slice(start, min(start + width, n_features)) for start in range(0, n_features, width)]


def sample_totals(source: ColumnSource, function: Callable[[Any], Floats]) -> Floats:
    """Return the sum over blocks of what a function of a block gives for each sample."""
    blocks = blocks_of(source)
    total: Floats = source.sum_blocks(partial(_apply, function=function), blocks, [None] * len(blocks), None)
    return total


def _apply(columns: Any, _: Any, __: Any, *, function: Callable[[Any], Floats]) -> Floats:
    return function(columns)
