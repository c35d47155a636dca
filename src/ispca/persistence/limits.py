"""Limits of a model file: memory, members, and the nesting and lengths in its JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

# A file may unpack to this many times its size, ...
LARGEST_RATIO = 100
# ... always to this many bytes, ...
ALWAYS_ALLOWED = 2**28
# ... and to more than this only if the caller says so.
LARGEST_CONTENT = 2**32
# Python objects take up to about 32 times as many bytes as the JSON they are read from.
JSON_EXPANSION = 32
LARGEST_COUNT = 50_000
DEEPEST = 64
LONGEST_STRING = 2**20
LONGEST_NUMBER = 40

# An unclosed string extends to the end of the text, which keeps the search linear.
_STRING = re.compile(r'"(?:[^"\\]+|\\.)*+"?', re.DOTALL)
_LONG_NUMBER = re.compile(rf"[0-9]{{{LONGEST_NUMBER + 1}}}")


class ContentError(ValueError):
    """Why a file is refused or an object cannot be stored: half a sentence for the caller to complete."""

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(problem)
        self.advice = advice


def memory_limit(file_size: int, max_bytes: int | None) -> int:
    """Return how many bytes the content of a file of this size may take."""
    if max_bytes is not None:
        return max_bytes
    return min(LARGEST_CONTENT, max(ALWAYS_ALLOWED, LARGEST_RATIO * file_size))


def check_memory(n_bytes: int, limit: int) -> None:
    """Refuse content that takes more memory than allowed."""
    if n_bytes > limit:
        raise ContentError(
            f"its content takes {n_bytes / 1e9:,.1f} GB of memory, but the limit for this file is "
            f"{limit / 1e9:,.1f} GB",
            "If you trust the file, raise the limit with max_bytes=N.",
        )


def parse_json(content: bytes) -> Any:
    """Parse JSON after checking its nesting and the lengths of its strings and numbers."""
    text = content.decode("utf-8")
    longest = 0

    def without(match: re.Match[str]) -> str:
        nonlocal longest
        longest = max(longest, len(match[0]))
        return "s"

    structure = _STRING.sub(without, text)
    if longest > LONGEST_STRING + 2:
        raise ContentError(f"it contains a string of more than {LONGEST_STRING:,} characters")
    if _LONG_NUMBER.search(structure):
        raise ContentError(f"it contains a number of more than {LONGEST_NUMBER} digits")
    if _depth(structure) > DEEPEST:
        raise ContentError(f"its description is nested more than {DEEPEST} levels deep")
    return json.loads(text)


def _depth(structure: str) -> int:
    codes = np.frombuffer(structure.encode("utf-8", "replace"), np.uint8)
    opens = (codes == ord("[")) | (codes == ord("{"))
    closes = (codes == ord("]")) | (codes == ord("}"))
    levels = np.cumsum(opens.astype(np.int32) - closes.astype(np.int32))
    return int(levels.max(initial=0))
