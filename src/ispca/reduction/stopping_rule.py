"""When a permutation test stops, and what it then decides: after a fixed number, or sequentially.

`FixedNumber` is the paper's rule. `sequential_rule` is for ``n_permutations="auto"``: after n permutations with S
exceedances, the test decides ``p < alpha`` if ``S <= L_n`` and ``p >= alpha`` if ``S >= U_n``. With ``p = alpha``,
the probability of having crossed either boundary by then is at most ``spending(n)``, computed exactly from the
binomial distribution (Gandy 2009, Sequential implementation of Monte Carlo tests, JASA 104):

    U_n = min {j : P(crossed U before n) + P(still going on, S_n >= j) <= e_n}
    L_n = max {j : P(crossed L before n) + P(still going on, S_n <= j) <= e_n}
    e_n = ERROR log(1 + n / 50) / log(1 + MOST / 50)

A larger p crosses L less often and a smaller p crosses U less often, so a decision is on the wrong side with
probability at most ERROR, whatever p is. Spending by the logarithm of n leaves about as much for each doubling of
the number of permutations. If MOST permutations do not settle the matter, ``p < alpha`` is not established.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, gammaln, xlog1py, xlogy

from ..foundation.arrays import Floats, Indices

# Largest probability of a decision on the wrong side, and the largest number of permutations.
ERROR, MOST = 0.001, 100_000
# A p-value within this factor of alpha is borderline, even if its side is known.
BORDERLINE_FACTOR = 1.5
# What has become of a test after some permutations.
UNDECIDED, PASSED, FAILED = 0, 1, 2


def exceedance_limit(alpha: float, n_permutations: int) -> int:
    """Return the number of exceedances from which ``p < alpha`` is impossible."""
    return max(1, int(np.ceil(alpha * n_permutations - 1e-9)))


@dataclass(frozen=True)
class FixedNumber:
    """Compare p with alpha after ``most`` permutations, or before if the outcome is certain."""

    alpha: float
    most: int

    @property
    def first_pass(self) -> int:
        """The fewest permutations after which a test can pass."""
        return self.most

    def outcomes(self, done: Indices, exceedances: Indices) -> Indices:
        """Return the outcome after each of these numbers of permutations and exceedances."""
        at_end = np.where(done == self.most, PASSED, UNDECIDED)
        return np.where(exceedances >= exceedance_limit(self.alpha, self.most), FAILED, at_end)


@dataclass(frozen=True, eq=False)
class Sequential:
    """Look at the exceedances after each of ``looks`` permutations; the boundaries belong to the looks."""

    alpha: float
    looks: Indices
    lower: Indices
    upper: Indices

    @property
    def most(self) -> int:
        """The largest number of permutations."""
        return int(self.looks[-1])

    @property
    def first_pass(self) -> int:
        """The fewest permutations after which a test can pass; more than ``most`` if it cannot."""
        passing = np.flatnonzero(self.lower >= 0)
        return int(self.looks[passing[0]]) if len(passing) else self.most + 1

    def outcomes(self, done: Indices, exceedances: Indices) -> Indices:
        """Return the outcome after each of these numbers of permutations and exceedances."""
        look = np.minimum(np.searchsorted(self.looks, done), len(self.looks) - 1)
        outcome = np.where(exceedances >= self.upper[look], FAILED, UNDECIDED)
        outcome[exceedances <= self.lower[look]] = PASSED
        outcome[self.looks[look] != done] = UNDECIDED
        return outcome


StoppingRule = FixedNumber | Sequential


def stopping_rule(n_permutations: int | str, alpha: float) -> StoppingRule:
    """Return the rule for a fixed number of permutations or for "auto"."""
    if not isinstance(n_permutations, str):
        return FixedNumber(alpha, n_permutations)
    rule = sequential_rule(alpha)
    if rule.first_pass > rule.most:
        raise ValueError(
            f"alpha={alpha:g} is too small for n_permutations='auto': {rule.most:,} permutations cannot show "
            "that a p-value is smaller. Pass a larger alpha or an integer n_permutations."
        )
    return rule


def spending(done: Indices) -> Floats:
    """Return how much of the error may be spent after some permutations."""
    allowed: Floats = ERROR * np.log1p(done / 50) / np.log1p(MOST / 50)
    return allowed


def look_schedule() -> Indices:
    """Return after how many permutations to look: every 8 at first, later when there are 2% more."""
    looks = [8]
    while looks[-1] < MOST:
        looks.append(min(MOST, looks[-1] + 8 * (1 + looks[-1] // 400)))
    return np.array(looks)


@lru_cache(maxsize=16)
def sequential_rule(alpha: float) -> Sequential:
    """Return the boundaries for a level."""
    looks = look_schedule()
    lower, upper = np.empty((2, len(looks)), dtype=np.intp)
    # Probabilities of first, first + 1, ... exceedances in tests that are still going on.
    first, going_on = 0, np.ones(1)
    spent_below = spent_above = 0.0
    for i, (look, allowed) in enumerate(zip(looks, spending(looks), strict=True)):
        fewest, added = _binomial(look - (looks[i - 1] if i else 0), alpha)
        going_on = np.convolve(going_on, added)
        first += fewest
        from_below = spent_below + np.cumsum(going_on)
        from_above = spent_above + np.cumsum(going_on[::-1])
        n_below = int(np.count_nonzero(from_below <= allowed))
        n_above = int(np.count_nonzero(from_above <= allowed))
        lower[i], upper[i] = first + n_below - 1, first + len(going_on) - n_above
        spent_below = from_below[n_below - 1] if n_below else spent_below
        spent_above = from_above[n_above - 1] if n_above else spent_above
        going_on = going_on[n_below : len(going_on) - n_above]
        first += n_below
    return Sequential(alpha, looks, lower, upper)


def _binomial(n: int, p: float) -> tuple[int, Floats]:
    """Return the binomial probabilities from the first that matters on; what is left out is below 1e-20."""
    spread = 12 * np.sqrt(n * p * (1 - p)) + 40
    k = np.arange(max(0, int(n * p - spread)), min(n, int(n * p + spread)) + 1)
    choices = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return int(k[0]), np.exp(choices + xlogy(k, p) + xlog1py(n - k, -p))


def p_value_interval(exceedances: int, done: int) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of p, each end with probability ERROR, as if ``done`` had been fixed."""
    low = betaincinv(exceedances, done - exceedances + 1, ERROR) if exceedances else 0.0
    high = betaincinv(exceedances + 1, done - exceedances, 1 - ERROR) if exceedances < done else 1.0
    return float(low), float(high)


def is_borderline(p_value: float, interval: tuple[float, float], alpha: float) -> bool:
    """Return whether the interval contains alpha, or p lies within a factor of BORDERLINE_FACTOR of it.

    A score that no permutation reaches is not borderline, however few the permutations.
    """
    near = alpha / BORDERLINE_FACTOR <= p_value <= alpha * BORDERLINE_FACTOR
    return p_value > 0 and (near or interval[0] <= alpha <= interval[1])
