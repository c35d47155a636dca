"""Leaks: single features that nearly determine the target, far better than the others could."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import betaincc

from ..foundation.arrays import Floats, Indices, Mask
from .copies_outliers_and_drift import N_COMPONENTS
from .findings import BLOCK, Finding, as_quantity, noun_with_names, ranks

# Features with the strongest association that a candidate is compared with.
STRONG = 50
# A leak explains this fraction of the target's variation and exceeds all other features by this much on Fisher's
# scale. Given the target, it is not correlated with them: the p-value is above the last number.
EXPLAINED, AHEAD, ALONE = 0.6, 0.3, 0.01
# Up to five features may repeat the target; the sixth shows what the others reach.
REPEATS = 5
# The fraction from which on a feature nearly determines the target.
NEARLY = 0.8
# Alone enough, without comparison.
COMPLETE = 0.999
# A feature of few values codes the classes if its values name the class of this fraction of each class.
VALUES, NAMED_CORRECTLY = 10, 0.95
# Fewer samples are separated by chance.
FEWEST, FEWEST_CODED = 8, 20
# Features with the largest correlations, whose rank correlations are computed as well.
RANKED = 50
WHY = "A model that uses such a feature looks good and fails on new samples."
CHECK = {
    True: f"{WHY} Check whether it was derived from the target, and drop it if so.",
    False: f"{WHY} Check whether they were derived from the target, and drop them if so.",
}


def p_values_given_target(X: Any, candidates: Indices, order: Indices, target: Floats) -> Floats:
    """Return the p-values of the correlations of candidates with the other strong features, given the target.

    Genes of one tissue vary together within the classes, too. Noise that was added to a target, and errors in a
    recoded one, do not. ``order`` has all features from the strongest association with the target to the weakest;
    the target is indicators of the classes, or a quantity.
    """
    others = order[~np.isin(order, candidates)][:STRONG]
    if not len(others) or not len(candidates):
        return np.ones(len(candidates))
    left, values, _ = np.linalg.svd(_residuals(_ranks(X, others), target), full_matrices=False)
    basis = left[:, :N_COMPONENTS][:, values[:N_COMPONENTS] > 1e-8 * max(values.max(), 1.0)]
    freedom = len(target) - max(target.shape[1], 2) - basis.shape[1]
    if not basis.shape[1] or freedom < 1:
        return np.ones(len(candidates))
    own = _residuals(_ranks(X, candidates), target)
    explained = ((basis.T @ own) ** 2).sum(axis=0) / np.maximum((own**2).sum(axis=0), np.finfo(np.float64).tiny)
    return np.asarray(betaincc(basis.shape[1] / 2, freedom / 2, np.clip(explained, 0.0, 1.0)))


def _ranks(X: Any, columns: Indices) -> Floats:
    part = X[:, columns]
    ranked = ranks(part.toarray() if sp.issparse(part) else part)
    spread = ranked.std(axis=0)
    return np.asarray((ranked - ranked.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _residuals(columns: Floats, target: Floats) -> Floats:
    """Return what the target leaves of columns."""
    design = np.column_stack([np.ones(len(target)), target])
    return np.asarray(columns - design @ np.linalg.lstsq(design, columns, rcond=None)[0])


def find_leaks(
    X: Any,
    y: Any,
    classes: Indices | None,
    n_distinct: Indices | None = None,
    features: Sequence[str] | None = None,
) -> list[Finding]:
    """Return findings if features nearly determine the target; ``n_distinct`` counts the values of each.

    ``classes`` are the codes of the classes, None if y has none.
    """
    if X.shape[0] < FEWEST or X.shape[1] == 0:
        return []
    explained = class_fractions(X, classes) if classes is not None else quantity_fractions(X, as_quantity(y))
    target = np.eye(classes.max() + 1)[classes] if classes is not None else ranks(as_quantity(y))[:, None]
    order = np.argsort(-explained, kind="stable")
    complete = explained >= COMPLETE
    coded = ~complete & _find_codes(X, classes, n_distinct)
    # The others do not contain the target itself.
    order = order[~complete[order]]
    # A leak is ahead by at least two standard errors, and never with few samples.
    ahead = max(AHEAD, 2 / np.sqrt(X.shape[0] - 3)) if X.shape[0] >= FEWEST_CODED else np.inf
    for candidates, margin in ((np.flatnonzero(coded), -np.inf), (_ahead(explained, order), ahead)):
        lone = candidates[p_values_given_target(X, candidates, order, target) > ALONE]
        # What features reach that vary together with others, as measurements do.
        usual = float(explained[order[~np.isin(order, lone)]].max(initial=0.0))
        complete[lone[_fisher(explained[lone]) - _fisher(usual) >= margin]] = True
    return _findings(explained, complete, coded, features)


def _findings(explained: Floats, leaks: Mask, coded: Mask, features: Sequence[str] | None) -> list[Finding]:
    """Return a finding about features that nearly determine the target, and one about weaker ones."""
    found, rest = [], float(explained[~leaks].max(initial=0.0))
    order = np.argsort(-explained, kind="stable")
    nearly = coded | (explained >= NEARLY)
    for mask, sentence in ((leaks & nearly, _nearly_sentence), (leaks & ~nearly, _weaker_sentence)):
        places = order[mask[order]]
        # Many such features are the nature of the data.
        if 0 < len(places) <= max(REPEATS, len(explained) // 100):
            words = sentence(
                noun_with_names("Feature", features, places), len(places), float(explained[places].min()), rest
            )
            found.append(Finding("leak", words, (), tuple(places.tolist())))
    return found


def _find_codes(X: Any, classes: Indices | None, n_distinct: Indices | None) -> Mask:
    """Return which features of few values code the classes."""
    found = np.zeros(X.shape[1], dtype=bool)
    if classes is not None and n_distinct is not None and X.shape[0] >= FEWEST_CODED:
        for column in np.flatnonzero((n_distinct <= VALUES) & (n_distinct > 1)):
            found[column] = _codes(X[:, column], classes)
    return found


def _ahead(explained: Floats, order: Indices) -> Indices:
    """Return the strong features that are ahead of the sixth."""
    if not len(order):
        return order
    sixth = _fisher(explained[order[min(REPEATS, len(order) // 2)]])
    return order[(explained[order] >= EXPLAINED) & (_fisher(explained[order]) - sixth >= AHEAD)]


def _nearly_sentence(who: str, number: int, least: float, rest: float) -> str:
    """Say what the features do, how well if their linear fit shows it, and what to check."""
    strength = f" ({_strength(number, least, rest)})" if least >= NEARLY else ""
    what = "nearly determines" if number == 1 else "each nearly determine"
    return f"{who} {what} the target{strength}. {CHECK[number == 1]}"


def _weaker_sentence(who: str, number: int, least: float, rest: float) -> str:
    what = "is associated" if number == 1 else "are each associated"
    shared = "Apart from that, it varies" if number == 1 else "Apart from that, they vary"
    return (
        f"{who} {what} with the target more strongly than all others ({_strength(number, least, rest)}). {shared} "
        f"independently of the other strong features, like a score that was derived from the target. "
        f"{CHECK[number == 1]}"
    )


def _strength(number: int, least: float, rest: float) -> str:
    bound = "" if number == 1 else "at least "
    return f"{bound}{_percent(least)} of its variation; every other feature: at most {_percent(rest)}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f}%" if fraction < 0.995 else f"{100 * fraction:.3g}%"


def class_fractions(X: Any, classes: Indices) -> Floats:
    """Return the fraction of each feature's variance that lies between the classes."""
    indicators = np.eye(classes.max() + 1)[classes]
    sizes = indicators.sum(axis=0)

    def between(Z: Floats) -> Floats:
        return np.asarray((indicators.T @ Z) ** 2 / sizes[:, None]).sum(axis=0)

    return _fractions(X, between)


def quantity_fractions(X: Any, y: Floats) -> Floats:
    """Return the squared correlations with a quantity, by values or, for the largest, by ranks."""
    explained = _squared_correlations(X, y)
    best = np.argsort(-explained, kind="stable")[:RANKED]
    columns = X[:, best].toarray() if sp.issparse(X) else X[:, best]
    ranked = _squared_correlations(ranks(columns), ranks(y))
    explained[best] = np.maximum(explained[best], ranked)
    return explained


def _squared_correlations(X: Any, y: Floats) -> Floats:
    centered = y - y.mean()
    unit = centered / max(np.linalg.norm(centered), np.finfo(np.float64).tiny)
    return _fractions(X, lambda Z: (unit @ Z) ** 2)


def _fractions(X: Any, explained_squares: Any) -> Floats:
    """Return explained over total sums of squares of each feature; 0 for constant ones."""
    result = np.zeros(X.shape[1])
    for start in range(0, X.shape[1], BLOCK):
        part = X[:, start : start + BLOCK]
        Z = np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)
        size = np.abs(Z).max(axis=0)
        Z = Z - Z.mean(axis=0)
        total = (Z**2).sum(axis=0)
        varies = total > (1e-12 * size) ** 2
        result[start : start + BLOCK][varies] = explained_squares(Z)[varies] / total[varies]
    return np.clip(result, 0.0, 1.0)


def _fisher(explained: Any) -> Any:
    return np.arctanh(np.minimum(np.sqrt(explained), 1 - 1e-12))


def _codes(values: Floats, classes: Indices) -> bool:
    """Return whether the most frequent class at each value is nearly always the true one, in every class."""
    codes = np.unique(values, return_inverse=True)[1].ravel()
    counts = np.zeros((codes.max() + 1, classes.max() + 1))
    np.add.at(counts, (codes, classes), 1)
    # Several samples per value, so that the value can stand for something.
    if len(counts) > len(values) / 5:
        return False
    chosen = counts.argmax(axis=1)
    correct = np.bincount(classes, weights=chosen[codes] == classes) / counts.sum(axis=0)
    return bool(correct.min() >= NAMED_CORRECTLY)
