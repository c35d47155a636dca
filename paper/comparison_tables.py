"""Tables of the experiment: per set and method, averages over sets, and what the residual test changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .data_sets import Selection, kind, paper_sets
from .experiment import OURS, SetResult
from .scores import Estimate, Scores, SetScores, average

BASELINES = ("lasso", "lasso-best")


def groups(scores: Scores) -> dict[str, list[SetScores]]:
    """Return the groups of sets that are averaged over, by name; empty ones are left out."""
    own = [one for name, one in scores.items() if name in paper_sets()]
    everything = list(scores.values())
    found = {
        "paper's sets": own,
        "with stand-ins": everything,
        "expression": [one for one in own if kind(one.name) == "expression"],
        "expression with stand-ins": [one for one in everything if kind(one.name) == "expression"],
        "text": [one for one in own if kind(one.name) == "text"],
    }
    return {name: members for name, members in found.items() if members}


def set_rows(results: Sequence[SetResult], scores: Scores, selection: Selection) -> list[dict[str, Any]]:
    """Return one row per set and method, and one for every set that is not present."""
    rows: list[dict[str, Any]] = []
    for result in results:
        one, table = scores[result.name], {row["method"]: row for row in result.first.table}
        for method in result.comparison.methods:
            rows.append(
                {"set": result.name, "kind": kind(result.name), "method": method, "ours": method in OURS}
                | _columns("", one.estimate(method))
                | _differences(one, method)
                | {name: float(table[method][name]) for name in ("seconds_reduction", "seconds_model")}
                | {
                    "failed_fits": int(table[method]["n_failed"]),
                    "failed_posteriors_before": int(result.refits.before[:, one_column(result, method)].sum()),
                    "failed_posteriors": int(result.refits.after[:, one_column(result, method)].sum()),
                    "note": "" if result.name in paper_sets() else "not in the paper",
                }
            )
    rows += [{"set": name, "kind": kind(name), "note": "not present"} for name in selection.absent]
    return rows


def one_column(result: SetResult, method: str) -> int:
    """Return the place of a method in the arrays of a result."""
    return result.comparison.methods.index(method)


def average_rows(scores: Scores) -> list[dict[str, Any]]:
    """Return one row per group of sets and method: means, and differences to both lassos with both intervals."""
    rows = []
    for group, members in groups(scores).items():
        for method in members[0].values:
            row: dict[str, Any] = {
                "group": group,
                "n_sets": len(members),
                "method": method,
                "ours": method in OURS,
            }
            row |= _columns("", average(members, method).given)
            for baseline in BASELINES:
                given, over_sets = average(members, method, baseline)
                row |= _columns(f"minus_{baseline}", given)
                row |= {f"minus_{baseline}_low_over_sets": over_sets.low}
                row |= {f"minus_{baseline}_high_over_sets": over_sets.high}
            rows.append(row | {"sets": " ".join(one.name for one in members)})
    return rows


def residual_rows(scores: Scores) -> list[dict[str, Any]]:
    """Return ISPCA-residual minus ISPCA per set and on average, paired by split: what that test changes."""
    pair = ("ISPCA-residual", "ISPCA")
    rows: list[dict[str, Any]] = []
    for name, one in scores.items():
        difference = one.column(*pair)
        counts = {
            "splits_better": int(np.sum(difference > 0)),
            "splits_equal": int(np.sum(difference == 0)),
            "splits_worse": int(np.sum(difference < 0)),
        }
        rows.append({"set": name, "kind": kind(name)} | _columns("difference", one.estimate(*pair)) | counts)
    for group, members in groups(scores).items():
        given, over_sets = average(members, *pair)
        row = {"set": f"average, {group}", "kind": "", **_columns("difference", given), "n_sets": len(members)}
        rows.append(row | {"low_over_sets": over_sets.low, "high_over_sets": over_sets.high})
    return rows


def _differences(one: SetScores, method: str) -> dict[str, float]:
    columns: dict[str, float] = {}
    for baseline in BASELINES:
        columns |= _columns(f"minus_{baseline}", one.estimate(method, baseline))
    return columns


def _columns(name: str, estimate: Estimate) -> dict[str, float]:
    start = f"{name}_" if name else ""
    return {name or "mean": estimate.mean, f"{start}low": estimate.low, f"{start}high": estimate.high}
