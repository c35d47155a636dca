"""Report sections that answer first and describe the data: the summary, the question and the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..families.survival_curves import censoring_curve, kaplan_meier, median_times
from ..foundation.messages import count, listing
from ..targets.measures import measure_title
from ..validation.baseline_comparison import COMBINED, MODEL
from .formatting import capitalize, clean, minus_signs, number, percent, section, table
from .held_out_predictions import describe_method
from .leading_features import TITLE, chance_warning, directions, no_leading_text, rule_text
from .panel import panel_sentences
from .report_inputs import Inputs

QUESTION = "Question and method"
# Number of leading features, or groups of them, in the summary.
LEADING = 6
# Number of classes and dropped columns that are listed.
LISTED = 200


def overview_section(inputs: Inputs) -> dict[str, Any]:
    """Return the summary of the whole report."""
    verdict, supervised = inputs.verdict, []
    sentences = [clean(verdict["sentence"], 1000)] if verdict else []
    method = MODEL if inputs.comparison is None else describe_method(inputs.comparison)
    if sentences and method not in (MODEL, COMBINED):
        sentences[0] = f"{clean(method)}: {sentences[0]}"
    gain = verdict.get("covariate_gain")
    sentences[1:1] = [clean(gain["sentence"], 1000)] if gain else []
    if inputs.panel is not None:
        sentences = [*panel_sentences(inputs), *sentences]
    if inputs.reduction is not None:
        numbers = int(inputs.reduction.n_supervised_), int(inputs.reduction.n_components_)
        supervised = [["Supervised components", "{} of {}".format(*numbers)]]
    return section(
        "Summary",
        question_section(inputs)["text"][:1],
        verdict=sentences,
        better=bool(verdict["better_than_baseline"]) if verdict else None,
        facts=[*_size_facts(inputs)[:2], *supervised, *_verdict_facts(inputs)],
        leading=[] if inputs.reduction is None else _leading_lines(inputs),
        caveats=_caveats(inputs),
        checked=inputs.context.findings is not None,
    )


def _verdict_facts(inputs: Inputs) -> list[list[str]]:
    """Return the measure with its interval, and that of the baseline."""
    verdict = inputs.verdict
    if not verdict or not _is_known(verdict["value"]):
        return []
    name = measure_title(verdict["measure"])
    value = _with_interval(*(verdict[part] for part in ("value", "low", "high")))
    facts = [[clean(capitalize(name), 60), value]]
    if _is_known(verdict["baseline_value"]):
        facts.append([f"{facts[0][0]} of the base rate", minus_signs(f"{float(verdict['baseline_value']):.3g}")])
    if _is_known(verdict.get("auc")) and verdict["measure"] != "auc":
        facts.append(["AUC", _with_interval(*(verdict.get(f"auc{end}") for end in ("", "_low", "_high")))])
    return facts


def _with_interval(value: Any, low: Any, high: Any) -> str:
    ends = f" ({float(low):.3g} to {float(high):.3g})" if _is_known(low) and _is_known(high) else ""
    return minus_signs(f"{float(value):.3g}{ends}")


def _is_known(value: Any) -> bool:
    return value is not None and bool(np.isfinite(value))


def _leading_lines(inputs: Inputs) -> list[str]:
    """Return a line for each group of correlated features: its first member and the number of others."""
    ranked = inputs.ranked
    words = directions(inputs, ranked)
    lines = ["These features may be due to chance."] if chance_warning(inputs) and len(ranked.columns) else []
    for group in range(min(LEADING, int(ranked.groups.max(initial=-1)) + 1)):
        members = np.flatnonzero(ranked.groups == group)
        others = len(members) - 1
        notes = [words[members[0]]] if words[members[0]] else []
        notes += [f"with {count(others, 'correlated feature')}"] if others else []
        name = inputs.features[ranked.columns[members[0]]]
        lines.append(f"{name}: {', '.join(notes)}" if notes else name)
    more = int(np.count_nonzero(ranked.groups >= LEADING))
    if more:
        lines.append(f"{count(more, 'more feature')}: see “{TITLE}”.")
    elif not len(ranked.columns):
        lines.append(no_leading_text(inputs))
    elif len(ranked.columns) < np.count_nonzero(~inputs.adjusted):
        lines.append(f"All other features have {rule_text(inputs)}.")
    return lines


def _caveats(inputs: Inputs) -> list[str]:
    """Return what should make a reader cautious, each as a sentence."""
    lines = [finding.sentence for finding in inputs.context.findings or ()]
    lines += [*inputs.context.confounding, *inputs.verdict.get("caveats", ())]
    lines = [clean(line, 1000) for line in lines] + chance_warning(inputs)
    if inputs.has_posterior and not inputs.model.diagnostics_.converged:
        lines.append("The chains have not converged, so the posterior is unreliable. See “Convergence”.")
    folds = inputs.comparison is not None or inputs.panel_validated
    if inputs.model is not None and not folds and not inputs.verdict:
        lines.append("How well the model predicts new samples was not measured.")
    return list(dict.fromkeys(lines))


def question_section(inputs: Inputs) -> dict[str, Any]:
    """Return the question in plain words."""
    target, reduction, model = clean(inputs.context.target_name), inputs.reduction, inputs.model
    if reduction is None:
        methods = ", ".join(clean(name) for name in inputs.comparison.methods) if inputs.comparison else ""
        text = [
            f"Which of these methods best predicts “{target}” for new samples: {methods}?",
            "This report compares methods. It describes no single fit, so it shows no components.",
        ]
        return section(QUESTION, text)
    name = type(reduction).__name__
    if inputs.y is None:
        text = [f"Which combinations of features describe the samples best? The method is {name}."]
        return section(QUESTION, text)
    text = [
        f"Which combinations of features are related to “{target}” ({inputs.target.noun}), and how well do they "
        "predict it?",
        f"{name} finds such combinations, called components. A supervised component is computed from features "
        "associated with the target; an unsupervised one captures the largest remaining variation.",
    ]
    if model is not None and not inputs.has_posterior:
        text.append(f"A linear model ({type(model).__name__}) then predicts the target from the components.")
    elif model is not None:
        text.append(
            f"A Bayesian regression then predicts {inputs.target.predicted} from the components. Its horseshoe "
            "prior assumes that few components matter and shrinks the coefficients of the others toward zero."
        )
    return section(QUESTION, text)


def data_section(inputs: Inputs) -> dict[str, Any]:
    """Return the numbers of samples, features and classes, and what was dropped."""
    context, tables = inputs.context, []
    facts = [["File", clean(context.data_name)]] if context.data_name else []
    facts += _size_facts(inputs)
    noun = "" if inputs.is_quantity else f": {inputs.target.noun}"
    facts.append(["Target", clean(context.target_name) + noun])
    if inputs.classes is not None:
        tables.append(_class_table(inputs))
    elif inputs.y is not None:
        facts += _target_facts(inputs)
    if context.left_out:
        rows = [[clean(name), clean(why)] for name, why in list(context.left_out.items())[:LISTED]]
        caption = "Columns dropped before the fit" + _list_heading(len(context.left_out))
        tables.append(table("left-out", caption, [("Column", "text"), ("Reason", "text")], rows))
    text = [clean(note, 600) for note in context.notes]
    if inputs.n_renamed:
        text.append(
            f"{count(inputs.n_renamed, 'feature or sample name')} shortened or cleaned for this report, because "
            "they are very long, empty or contain control characters."
        )
    return section("Data", text, facts=facts, tables=tables)


def _size_facts(inputs: Inputs) -> list[list[str]]:
    """Return the numbers of samples and of features first, and then what else there is to count."""
    X, reduction = inputs.original_X, inputs.reduction
    if X is None:
        return []
    facts = [["Samples", f"{X.shape[0]:,}"], ["Features", f"{inputs.n_features:,}"]]
    if inputs.before:
        steps = ", ".join(type(step).__name__ for step in inputs.before)
        facts.append(["Preprocessing", f"{steps}: {inputs.X.shape[1]:,} features remain"])
    if reduction is not None:
        if reduction.adjusted_.any():
            adjusted = [inputs.features[j] for j in np.flatnonzero(reduction.adjusted_)]
            facts.append(["Adjusted for", listing(adjusted)])
        unused = int(np.count_nonzero(~reduction.feature_mask_ & ~reduction.adjusted_))
        why = " (constant, determined by a single sample, or excluded)" if unused else ""
        facts.append(["Features not used", f"{unused:,}{why}"])
    facts.append(["Columns dropped before the fit", f"{len(inputs.context.left_out):,}"])
    facts.append(["Missing values", _missing_fact(inputs)])
    if sp.issparse(X):
        facts.append(["Nonzero values", percent(X.nnz / max(X.shape[0] * X.shape[1], 1))])
    return facts


def _missing_fact(inputs: Inputs) -> str:
    X = inputs.original_X
    if inputs.reduction is not None and inputs.reduction.n_missing_:
        return f"{inputs.reduction.n_missing_:,}, replaced by column means"
    missing = 0
    # The fit has refused those in a source that it did not replace.
    if not isinstance(X, ColumnSource):
        values = X.data if sp.issparse(X) else X
        missing = int(np.count_nonzero(np.isnan(values))) if values.dtype.kind == "f" else 0
    return f"{missing:,}" if missing else "none in the fitted data"


def _class_table(inputs: Inputs) -> dict[str, Any]:
    counts = inputs.class_sizes
    pairs = list(zip(inputs.labels, counts, strict=True))[:LISTED]
    rows: list[list[Any]] = [
        [label, often, number(100 * often / max(sum(counts), 1), 3)] for label, often in pairs
    ]
    columns = [("Class", "text"), ("Samples", "number"), ("Percent", "number")]
    caption = "Classes" + _list_heading(len(counts))
    if inputs.positive is not None:
        caption += f"; “{inputs.positive}” is the positive class, for which effects and rates are given"
    return table("classes", caption, columns, rows)


def _list_heading(total: int) -> str:
    return f" (the first {LISTED} of {total:,})" if total > LISTED else ""


def _target_facts(inputs: Inputs) -> list[list[str]]:
    """Return what the numbers of a target look like; the median follow-up is that of the time to censoring."""
    y = inputs.target.numbers(inputs.y)
    if inputs.target.timed:
        event = inputs.y["event"]
        n_events = int(event.sum())
        curves = censoring_curve(event, y), kaplan_meier(event, y)
        medians = [float(median_times(curve.x, curve.y[None, :])[0]) for curve in curves]
        follow_up, survival = (f"{median:.4g}" if np.isfinite(median) else "not reached" for median in medians)
        return [
            ["Events", f"{n_events:,} ({percent(n_events / len(y))})"],
            ["Censored", f"{len(y) - n_events:,}"],
            ["Median follow-up", follow_up],
            ["Median survival", survival],
            ["Longest time", f"{y.max():.4g}"],
        ]
    variance = float(np.var(y, ddof=1)) if len(y) > 1 else 0.0
    if inputs.target.counted:
        zeros = int(np.count_nonzero(y == 0))
        return [
            ["Target, minimum and maximum", f"{y.min():.0f}, {y.max():.0f}"],
            ["Target, mean and variance", f"{y.mean():.4g}, {variance:.4g}"],
            ["Samples with count 0", count(zeros, "sample") if zeros else "none"],
        ]
    low, median, high = np.quantile(y, [0, 0.5, 1])
    return [
        ["Target, minimum and maximum", f"{low:.4g}, {high:.4g}"],
        ["Target, median", f"{median:.4g}"],
        ["Target, mean and standard deviation", f"{y.mean():.4g}, {np.sqrt(variance):.4g}"],
    ]
