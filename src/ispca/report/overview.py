"""Report section that answers first: the question, the verdict, the leading features and the caveats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._messages import count
from ..plots.comparison import TITLES
from .data_overview import question_section, size_facts
from .formatting import clean, section
from .input_checks import Inputs
from .prediction import MINUS, performance_sentences
from .ranked_features import MOST_RANKED, Ranked, directions, has_effects, rank_features

# Number of leading features, or groups of them, in the summary.
LEADING = 6
# Features with a smaller part of the largest effect are not leading.
SMALLEST = 0.1


def overview_section(inputs: Inputs) -> dict[str, Any]:
    """Return the summary of the whole report."""
    verdicts = (inputs.context.verdict, inputs.context.stack_verdict)
    sentences = [clean(verdict["sentence"], 1000) for verdict in verdicts if verdict]
    if not inputs.context.verdict:
        sentences = [*_own_verdict(inputs), *sentences]
    return section(
        "Summary",
        question_section(inputs)["text"][:1],
        verdict=sentences,
        better=None if not inputs.context.verdict else bool(inputs.context.verdict["better_than_baseline"]),
        facts=[*size_facts(inputs)[:2], *_component_fact(inputs), *_verdict_facts(inputs.context.verdict)],
        leading=[] if inputs.reduction is None else _leading(inputs, rank_features(inputs, MOST_RANKED)),
        caveats=_caveats(inputs),
        checked=inputs.context.findings is not None,
    )


def _own_verdict(inputs: Inputs) -> list[str]:
    """Return the first sentence on held-out performance, if that was measured."""
    return [] if inputs.comparison is None else performance_sentences(inputs.comparison)[:1]


def _component_fact(inputs: Inputs) -> list[list[str]]:
    if inputs.reduction is None:
        return []
    supervised, total = int(inputs.reduction.n_supervised_), int(inputs.reduction.n_components_)
    return [["Supervised components", f"{supervised} of {total}"]]


def _verdict_facts(verdict: Mapping[str, Any] | None) -> list[list[str]]:
    """Return the measure with its interval, and that of the baseline."""
    if not verdict:
        return []
    name = TITLES.get(verdict["measure"], verdict["measure"].replace("_", " "))
    value = _with_interval(*(verdict[part] for part in ("value", "low", "high")))
    facts = [[clean(name[0].upper() + name[1:], 60), value]]
    if _known(verdict["baseline_value"]):
        facts.append([f"{facts[0][0]} of the base rate", _shown(verdict["baseline_value"])])
    if _known(verdict.get("auc")):
        facts.append(["AUC", _with_interval(*(verdict.get(f"auc{end}") for end in ("", "_low", "_high")))])
    return facts


def _with_interval(value: Any, low: Any, high: Any) -> str:
    around = f" ({_shown(low)} to {_shown(high)})" if _known(low) and _known(high) else ""
    return _shown(value) + around


def _known(value: Any) -> bool:
    return value is not None and bool(np.isfinite(value))


def _shown(value: Any) -> str:
    return f"{float(value):.3g}".replace("-", MINUS)


def _leading(inputs: Inputs, ranked: Ranked) -> list[str]:
    """Return a line for each group of correlated features: its first member and the number of others."""
    words, lines = directions(inputs, ranked), []
    for group in range(min(LEADING, int(ranked.groups.max(initial=-1)) + 1)):
        members = np.flatnonzero(ranked.groups == group)
        if abs(ranked.weights[members[0]]) < SMALLEST * np.abs(ranked.weights).max():
            what = "effect" if has_effects(inputs) else "loading"
            lines.append(f"All other features have less than {SMALLEST:.0%} of the largest {what}.")
            break
        others = len(members) - 1
        notes = [words[members[0]]] if words[members[0]] else []
        notes += [f"with {count(others, 'correlated feature')}"] if others else []
        name = inputs.features[ranked.columns[members[0]]]
        lines.append(f"{name}: {', '.join(notes)}" if notes else name)
    return lines


def _caveats(inputs: Inputs) -> list[str]:
    """Return what should make a reader cautious, each as a sentence."""
    lines = [clean(finding.sentence, 1000) for finding in inputs.context.findings or ()]
    lines += [clean(line, 1000) for line in inputs.context.confounding]
    verdict = inputs.context.verdict
    if verdict and verdict["better_than_baseline"] is False:
        lines.append(
            "The model does not predict significantly better than the base rate, so its leading features may be "
            "due to chance."
        )
    if inputs.has_posterior and not inputs.model.diagnostics_.converged:
        lines.append("The chains have not converged, so the posterior is unreliable. See “Convergence”.")
    if inputs.model is not None and inputs.comparison is None and not inputs.context.verdict:
        lines.append("How well the model predicts new samples was not measured.")
    return list(dict.fromkeys(lines))
