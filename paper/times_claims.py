"""The paper's table of computation times, and what it says, each claim decided by a stated rule."""

from __future__ import annotations

from typing import Any

from .context import Context
from .data_sets import stand_ins
from .verdicts import Verdict, decide, not_testable

METHODS = ("PCA", "SPCA", "ISPCA", "lasso")
# Seconds in the paper, and the share of the reduction in per cent.
PAPER = {
    "leukemia": {"PCA": (9.6, 2), "SPCA": (8.3, 21), "ISPCA": (8.4, 24), "lasso": (1.0, 0)},
    "glioma": {"PCA": (14.6, 5), "SPCA": (16.6, 33), "ISPCA": (14.5, 28), "lasso": (2.7, 0)},
    "lung-5c": {"PCA": (81.0, 1), "SPCA": (82.2, 12), "ISPCA": (89.0, 19), "lasso": (5.2, 0)},
    "pcmac": {"PCA": (511.4, 2), "SPCA": (303.3, 4), "ISPCA": (565.0, 22), "lasso": (18.9, 0)},
}
SAME = 2.0
# Mean seconds of reduction and model, by set and method.
Seconds = dict[str, dict[str, tuple[float, float]]]


def verdicts(seconds: Seconds, context: Context) -> list[Verdict]:
    """Judge seconds and shares, set by set, then what the paper concludes from them."""
    found = []
    for name in PAPER:
        found += [seconds_verdict(name, seconds, context), share_verdict(name, seconds, context)]
    return [*found, model_dominates(seconds, context), lasso_faster(seconds, context)]


def seconds_verdict(name: str, seconds: Seconds, context: Context) -> Verdict:
    """Judge the seconds of one set."""
    claim = f"{name}: {' / '.join(f'{PAPER[name][method][0]:g}' for method in METHODS)} seconds"
    rule = f"all four within a factor of {SAME:g}"
    if name not in seconds:
        return not_testable(claim, context.sets.reason([name]), _beside(name, seconds, _total), rule)
    ratios = [PAPER[name][method][0] / sum(seconds[name][method]) for method in METHODS]
    holds = all(1 / SAME <= ratio <= SAME for ratio in ratios)
    times = " / ".join(f"{ratio:.3g}" for ratio in ratios)
    return decide(claim, holds, f"{_total(seconds[name])} on one thread, {times} times as fast", rule)


def share_verdict(name: str, seconds: Seconds, context: Context) -> Verdict:
    """Judge the shares of the reduction in one set."""
    shares = " / ".join(f"{PAPER[name][method][1]}" for method in METHODS[:3])
    claim = f"{name}: the reduction takes {shares} per cent"
    rule = "all three within 10 per cent of the total"
    if name not in seconds:
        return not_testable(claim, context.sets.reason([name]), _beside(name, seconds, _shares), rule)
    gaps = [abs(_percent(seconds[name][method]) - PAPER[name][method][1]) for method in METHODS[:3]]
    return decide(claim, max(gaps) <= 10, f"{_shares(seconds[name])} per cent", rule)


def model_dominates(seconds: Seconds, context: Context) -> Verdict:
    """Judge whether fitting the model takes more time than reducing."""
    claim = "fitting the model takes most of the time"
    rule = "the reduction takes less than half with all three methods on the paper's sets"
    own = {name: found for name, found in seconds.items() if name in PAPER}
    if not own:
        return not_testable(claim, context.sets.reason(list(PAPER)), rule=rule)
    percent = {f"{name} {m}": _percent(found[m]) for name, found in own.items() for m in METHODS[:3]}
    largest = max(percent, key=lambda key: percent[key])
    return decide(claim, percent[largest] < 50, f"largest share: {largest}, {percent[largest]:.0f} per cent", rule)


def lasso_faster(seconds: Seconds, context: Context) -> Verdict:
    """Judge whether the lasso is faster than everything else."""
    claim = "the reductions with the model cannot compete with the lasso in speed"
    rule = "the lasso takes less time than all three methods on the paper's sets"
    own = {name: found for name, found in seconds.items() if name in PAPER}
    if not own:
        return not_testable(claim, context.sets.reason(list(PAPER)), rule=rule)
    quickest = {name: min(sum(found[m]) for m in METHODS[:3]) / sum(found["lasso"]) for name, found in own.items()}
    detail = ", ".join(f"{name}: {ratio:.2g} times as long as the lasso" for name, ratio in quickest.items())
    return decide(claim, all(ratio > 1 for ratio in quickest.values()), f"the quickest of them on {detail}", rule)


def _beside(name: str, seconds: Seconds, say: Any) -> list[str]:
    return [f"{other} {say(seconds[other])}" for other in stand_ins(name) if other in seconds]


def _percent(pair: tuple[float, float]) -> float:
    return 100 * pair[0] / sum(pair)


def _total(found: dict[str, tuple[float, float]]) -> str:
    return " / ".join(f"{sum(found[method]):.2f}" for method in METHODS) + " seconds"


def _shares(found: dict[str, tuple[float, float]]) -> str:
    return " / ".join(f"{_percent(found[method]):.0f}" for method in METHODS[:3])
