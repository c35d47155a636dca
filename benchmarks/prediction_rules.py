"""Tables of the stored predictions of predictions.py, and verdicts by rules that were fixed beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ispca.targets.intervals import split_interval
from ispca.targets.measures import brier, calibration_error, mlpd
from ispca.targets.mixture_weights import SMALLEST_PROBABILITY
from ispca.targets.samples import HeldOut, Prediction

SMALL = ["ovarian", "colon", "prostate", "leukemia", "gravier", "glioma-4c", "chowdary", "gordon"]
NEW = ["armstrong-3c", "bredel-3c", "su-10c", "garber-4c", "tomlins-4c", "pomeroy-5c", "west"]
TEXT = ["dexter", "pcmac", "basehock"]
SETS = [*SMALL, *NEW, "arcene", "lung-5c-1543", *TEXT]
# Kernels, candidates and weights were chosen on every other set in alphabetical order.
DEVELOPMENT = sorted(SETS)[::2]
STACK, PAPER, KERNELS = "stacking", "ISPCA-paper", "kernels"
TEST_TO_TRAIN = 0.25
# The limits were fixed beforehand.
STACK_GAIN, STACK_LOSS = 0.02, 0.03

Means = dict[str, np.ndarray]


@dataclass(frozen=True)
class Rule:
    """A rule in words, and its verdict on the mean log density of every method on every set."""

    words: str
    judge: Callable[[Means], tuple[bool, str]]


def rivals(means: Means) -> list[str]:
    """Return the candidates and the standard methods; the paper's ISPCA is neither."""
    return [name for name in means if name not in (STACK, PAPER)]


def stack_is_best(means: Means, left_out: tuple[str, ...] = ()) -> tuple[bool, str]:
    """Judge the stack against the best other method on average."""
    others = {name: means[name].mean() for name in rivals(means) if name not in left_out}
    best = max(others, key=others.__getitem__)
    mean = means[STACK].mean()
    return bool(mean >= others[best] + STACK_GAIN), f"mean {mean:.3f}, best other {best} {others[best]:.3f}"


def stack_is_safe(means: Means) -> tuple[bool, str]:
    """Judge the stack against the best other method of each set."""
    best = np.max([means[name] for name in rivals(means)], axis=0)
    behind = (best - means[STACK]).max()
    return bool(behind <= STACK_LOSS), f"at most {behind:.3f} behind"


RULES = [
    Rule(
        f"the stack is {STACK_GAIN} better on average than every candidate and every standard method",
        stack_is_best,
    ),
    Rule(
        f"the stack is {STACK_GAIN} better on average than every single kernel, every other candidate and every "
        "standard method",
        lambda means: stack_is_best(means, (KERNELS,)),
    ),
    Rule(f"the stack is never more than {STACK_LOSS} behind the best of them on a set", stack_is_safe),
]


def verdicts(means: Means, complete: bool) -> str:
    """Return one line per rule; a rule whose methods are missing is not judged."""
    lines = [f"### Rules{'' if complete else ' (NOT final: not all sets)'}", ""]
    for rule in RULES:
        try:
            passed, numbers = rule.judge(means)
        except (KeyError, ValueError):
            lines.append(f"- not judged: {rule.words}")
            continue
        lines.append(f"- **{'met' if passed else 'missed'}**: {rule.words} ({numbers})")
    return "\n".join(lines)


def make_prediction(probabilities: np.ndarray, observed: np.ndarray) -> Prediction:
    """Return a record of probabilities, as the measures of `compare` take it."""
    chosen = probabilities[np.arange(len(observed)), observed]
    log_density = np.log(np.maximum(chosen, SMALLEST_PROBABILITY))
    return Prediction(probabilities.argmax(axis=1), probabilities=probabilities, log_density=log_density)


def measure_split(measure: Any, probabilities: np.ndarray, observed: np.ndarray) -> float:
    """Return a measure of the probabilities of one split."""
    held_out = HeldOut(observed, probabilities.shape[1])
    return float(measure(held_out, make_prediction(probabilities, observed)))


MEASURES = {"mean log predictive density": mlpd, "Brier score": brier}


def read_probabilities(out: Path, name: str) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the probabilities and the observed classes of each method, split by split."""
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for path in sorted(out.glob(f"{name}-[0-9][0-9][0-9]-*.npz")):
        method = path.stem[len(name) + 5 :]
        if method.endswith(".part"):
            continue
        with np.load(path) as file:
            observed = file["observed"]
            if method == STACK:
                for candidate, part in zip(file["candidates"].tolist(), file["parts"], strict=True):
                    found.setdefault(candidate, []).append((part, observed))
            found.setdefault(method, []).append((file["probabilities"], observed))
    return found


def pooled_calibration_error(splits: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the expected calibration error over the held-out samples of all splits, since one split has few."""
    probabilities, observed = (np.concatenate(parts) for parts in zip(*splits, strict=True))
    return measure_split(calibration_error, probabilities, observed)


def head(title: str, columns: list[str]) -> list[str]:
    """Return the title and the first two lines of a Markdown table."""
    return [f"### {title}", "", f"| set | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]


def table(
    title: str, columns: list[str], rows: dict[str, list[float]], best: Callable[[list[float]], float]
) -> str:
    """Return a Markdown table with the best value of each row in bold, and the means of the columns."""
    lines = head(title, columns)
    halves = {"mean, development": DEVELOPMENT, "mean, confirmation": set(SETS) - set(DEVELOPMENT), "mean": SETS}
    found = {words: [values for name, values in rows.items() if name in half] for words, half in halves.items()}
    rows = rows | {words: np.mean(values, axis=0).tolist() for words, values in found.items() if values}
    for name, values in rows.items():
        cells = [f"**{value:.3f}**" if value == best(values) else f"{value:.3f}" for value in values]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def differences(results: dict[str, dict[str, np.ndarray]], columns: list[str]) -> str:
    """Return a Markdown table of the stack against each other method, with corrected intervals per set."""
    others = [method for method in columns if method != STACK]
    lines = [
        f"### {STACK} minus the other",
        "",
        f"| set | {' | '.join(others)} |",
        "|---" * (len(others) + 1) + "|",
    ]
    for name, values in results.items():
        cells = []
        for method in others:
            # A run that was stopped may have more splits of one method than of the other.
            count = min(len(values[STACK]), len(values[method]))
            mean, low, high = split_interval(values[STACK][:count] - values[method][:count], TEST_TO_TRAIN)
            cells.append(f"{mean:+.3f} ({low:+.3f} to {high:+.3f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def report(out: Path, names: list[str]) -> str:
    """Return all tables and verdicts."""
    found = {name: read_probabilities(out, name) for name in names}
    found = {name: methods for name, methods in found.items() if methods}
    columns = [method for method in next(iter(found.values())) if all(method in parts for parts in found.values())]
    tables, means = [], {}
    for title, measure in MEASURES.items():
        scores = {
            name: {
                method: np.array([measure_split(measure, *split) for split in methods[method]])
                for method in columns
            }
            for name, methods in found.items()
        }
        rows = {name: [float(values[method].mean()) for method in columns] for name, values in scores.items()}
        tables.append(table(title, columns, rows, max if measure is mlpd else min))
        if measure is mlpd:
            means = {method: np.array([row[j] for row in rows.values()]) for j, method in enumerate(columns)}
            if STACK in columns:
                tables.append(differences(scores, columns))
    errors = {
        name: [pooled_calibration_error(methods[method]) for method in columns] for name, methods in found.items()
    }
    tables.append(table("expected calibration error", columns, errors, min))
    counts = ", ".join(f"{name} {len(next(iter(methods.values())))}" for name, methods in found.items())
    return "\n\n".join([*tables, f"Splits: {counts}.", verdicts(means, set(found) == set(SETS))])
