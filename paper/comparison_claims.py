"""What the paper says of the comparison, each claim decided by a stated rule."""

from __future__ import annotations

from collections.abc import Sequence

from .data_sets import Selection, kind, paper_sets, stand_ins
from .experiment import OURS
from .scores import Scores, SetScores, average
from .verdicts import Verdict, decide, not_testable

REDUCTIONS = ("PCA", "SPCA", "ISPCA")
# Whether these are better than the method itself is a matter of other claims.
VARIANTS = {"SPCA": ("PSPCA",), "ISPCA": ("ISPCA-naive", "ISPCA-small")}
ORIGINAL_FEATURES = ("ridge", "lasso")
OVERFITTED = ("colon", "prostate", "lung")
HELPED = ("pcmac", "arcene")
# Differences of this size cannot be seen in the paper's figures.
INVISIBLE = {"mlpd": 0.02, "accuracy": 0.01}


def verdicts(scores: Scores, selection: Selection, metric: str) -> list[Verdict]:
    """Return the verdict on every claim.

    Parameters
    ----------
    scores : dict of str to SetScores
        By set.
    selection : Selection
        Which sets were run, and which are not there.
    metric : {"mlpd", "accuracy"}
        The measure the scores are of.

    Returns
    -------
    verdicts : list of Verdict
        In the order of the paper.
    """
    own = {name: one for name, one in scores.items() if name in paper_sets()}
    found = [beats_lasso(own, selection, lasso) for lasso in ("lasso", "lasso-best")]
    found += [best_on(own, selection, "ISPCA", "expression"), best_on(own, selection, "SPCA", "text")]
    found += [overfits(scores, selection, name) for name in OVERFITTED]
    found += [unsupervised_helps(scores, selection, name) for name in HELPED]
    return [*found, never_harmful(own, selection), alike(own, selection, INVISIBLE[metric])]


def beats_lasso(own: Scores, selection: Selection, lasso: str) -> Verdict:
    """Judge whether PCA, SPCA and ISPCA beat a lasso clearly on average."""
    which = "one standard error" if lasso == "lasso" else "best lambda"
    claim = f"the reductions beat the lasso ({which}) clearly on average"
    rule = "average difference over the paper's sets: interval over sets above 0 for PCA, SPCA and ISPCA"
    members = list(own.values())
    if len(members) < 2:
        return not_testable(claim, selection.reason(paper_sets()), rule=rule)
    averages = {method: average(members, method, lasso) for method in REDUCTIONS}
    parts = [
        f"{method} {found.over_sets} over sets ({found.given.low:+.3f} to {found.given.high:+.3f} given these)"
        for method, found in averages.items()
    ]
    holds = all(found.over_sets.low > 0 for found in averages.values())
    return decide(claim, holds, "; ".join([*parts, _coverage(members, selection, paper_sets())]), rule)


def best_on(own: Scores, selection: Selection, method: str, what: str) -> Verdict:
    """Judge whether a method is the best of the paper's eight on average on a kind of data."""
    claim = f"{method} is best on average on {what} data"
    rule = (
        f"largest average over the sets among the paper's methods, variants ({', '.join(VARIANTS[method])}) aside"
    )
    wanted = [name for name in paper_sets() if kind(name) == what]
    members = [own[name] for name in wanted if name in own]
    if not members:
        return not_testable(claim, selection.reason(wanted), rule=rule)
    means = {name: average(members, name).given.mean for name in members[0].values if name not in OURS}
    rivals = sorted((name for name in means if name not in VARIANTS[method]), key=lambda name: -means[name])
    variants = [name for name in VARIANTS[method] if means[name] > means[method]]
    ahead = [f"its variant {name} is ahead of it by {average(members, name, method).given}" for name in variants]
    coverage = "; ".join([*ahead, _coverage(members, selection, wanted)])
    best, second = rivals[:2]
    if best == method:
        lead = average(members, method, second).given
        return decide(claim, True, f"ahead of {second} by {lead}; {coverage}", rule)
    gap = average(members, best, method).given
    told = "" if gap.low > 0 else " (not told apart)"
    reductions = [name for name in rivals if name not in ORIGINAL_FEATURES]
    if reductions[0] == method:
        lead = average(members, method, reductions[1]).given
        told += f"; of the reductions it is the best, ahead of {reductions[1]} by {lead}"
    return decide(claim, False, f"{best} is ahead of it by {gap}{told}; {coverage}", rule)


def overfits(scores: Scores, selection: Selection, name: str) -> Verdict:
    """Judge whether ISPCA without the test loses to ISPCA on a set."""
    rule = "ISPCA-naive minus ISPCA: interval below 0"
    return _difference(scores, selection, name, f"naive overfits {name}", ("ISPCA-naive", "ISPCA"), -1, rule)


def unsupervised_helps(scores: Scores, selection: Selection, name: str) -> Verdict:
    """Judge whether ISPCA gains by unsupervised components on a set."""
    rule = "ISPCA minus ISPCA-small: interval above 0"
    claim = f"unsupervised components help {name}"
    return _difference(scores, selection, name, claim, ("ISPCA", "ISPCA-small"), 1, rule)


def _difference(
    scores: Scores, selection: Selection, name: str, claim: str, pair: tuple[str, str], sign: int, rule: str
) -> Verdict:
    if name not in scores:
        beside = [f"{other} {scores[other].estimate(*pair)}" for other in stand_ins(name) if other in scores]
        return not_testable(claim, selection.reason([name]), beside, rule)
    found = scores[name].estimate(*pair)
    holds = found.low > 0 if sign > 0 else found.high < 0
    detail = f"{pair[0]} minus {pair[1]} {found}"
    if not holds and found.mean * sign > 0:
        plain = scores[name].uncorrected(*pair)
        detail += (
            f"; the sign agrees, but the interval includes 0 (uncorrected {plain.low:+.3f} to {plain.high:+.3f})"
        )
    return decide(claim, holds, detail, rule)


def never_harmful(own: Scores, selection: Selection) -> Verdict:
    """Judge whether unsupervised components are nowhere clearly harmful."""
    claim = "unsupervised components are practically never harmful"
    rule = "ISPCA minus ISPCA-small: on no set of the paper is the interval below 0"
    if not own:
        return not_testable(claim, selection.reason(paper_sets()), rule=rule)
    estimates = {name: one.estimate("ISPCA", "ISPCA-small") for name, one in own.items()}
    harmed = [f"{name} {found}" for name, found in estimates.items() if found.high < 0]
    lowest = min(estimates, key=lambda name: estimates[name].mean)
    detail = f"harmed: {'; '.join(harmed)}" if harmed else f"lowest on {lowest}: {estimates[lowest]}"
    return decide(claim, not harmed, f"{detail}; {_coverage(list(own.values()), selection, paper_sets())}", rule)


def alike(own: Scores, selection: Selection, invisible: float) -> Verdict:
    """Judge whether SPCA and PSPCA are practically the same on every set."""
    claim = "SPCA and PSPCA are practically the same on every set"
    rule = f"SPCA minus PSPCA: on every set at most {invisible:g} or an interval that includes 0"
    if not own:
        return not_testable(claim, selection.reason(paper_sets()), rule=rule)
    estimates = {name: one.estimate("SPCA", "PSPCA") for name, one in own.items()}
    unlike = [
        f"{name} {found}"
        for name, found in estimates.items()
        if abs(found.mean) > invisible and not found.low <= 0 <= found.high
    ]
    largest = max(estimates, key=lambda name: abs(estimates[name].mean))
    detail = f"unlike: {'; '.join(unlike)}" if unlike else f"largest on {largest}: {estimates[largest]}"
    return decide(claim, not unlike, f"{detail}; {_coverage(list(own.values()), selection, paper_sets())}", rule)


def _coverage(members: Sequence[SetScores], selection: Selection, wanted: Sequence[str]) -> str:
    reason = selection.reason(wanted)
    return f"{len(members)} of {len(wanted)} sets" + (f", {reason}" if reason else "")
