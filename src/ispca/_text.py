"""Results as text, written the same way everywhere."""

from __future__ import annotations

import math


def p_value_text(p_value: float | None, n_permutations: int) -> str:
    """Return the p-value of a permutation test as text, bounded by one permutation if none reached the score.

    Examples
    --------
    >>> from ispca._text import p_value_text
    >>> p_value_text(0.312, 1000), p_value_text(0.0, 1000), p_value_text(None, 0)
    ('p = 0.31', 'p < 0.001', 'no test')
    """
    if p_value is None or math.isnan(p_value):
        return "no test"
    return f"p = {p_value:.2g}" if p_value else f"p < {1 / max(n_permutations, 1):.2g}"
