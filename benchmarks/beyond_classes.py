"""How well survival times, counts and a quantity are predicted, and how long it takes.

    python -m benchmarks.beyond_classes --out DIR [--jobs 2] [--splits 5] [--sets NAME ...] [--page FILE]

Every finished fit is a file in DIR, so that an interrupted run continues. The tables are printed, and with --page
written between the markers of the page docs/beyond-two-classes.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.metrics import d2_tweedie_score

from benchmarks.beyond_methods import PROBLEMS, Problem
from ispca.fitting.fit_and_predict import has_converged
from ispca.targets import TARGETS
from ispca.targets.intervals import split_interval
from ispca.validation import compare

D2_LIMITS = (-np.inf, 1.0)
FEWEST_SPLITS = 3
# Name of a measure, its heading, and whether larger is better (None: neither).
COLUMNS: dict[str, list[tuple[str, str, bool | None]]] = {
    "survival": [
        ("concordance", "concordance", True),
        ("integrated_brier", "integrated Brier score", False),
        ("mlpd", "log density", True),
    ],
    "count": [
        ("d2", "D2", True),
        ("mlpd", "log density", True),
        ("absolute_error", "absolute error", False),
        ("coverage", "coverage of 90% intervals", None),
    ],
    "regression": [
        ("r2", "R2", True),
        ("rmse", "RMSE", False),
        ("mlpd", "log density", True),
        ("coverage", "coverage of 90% intervals", None),
    ],
}


def fit_split(name: str, number: int, method: str, target: Path) -> None:
    """Fit a method to one training part, and store its measures and CPU seconds."""
    if target.exists():
        return
    problem = PROBLEMS[name]()
    split = problem.splits[number]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Each method alone: methods that are compared together share computations, and the first would pay.
        result = compare(
            {method: problem.methods[method]},
            problem.X,
            problem.y,
            kind=problem.kind,
            cv=[split],
            n_jobs=1,
            random_state=number,
        )
    found: dict[str, Any] = {measure: float(values[0, 0]) for measure, values in result.scores.items()}
    prediction = result.predictions[0][0]
    if problem.kind == "count" and prediction is not None:
        found["d2"] = float(d2_tweedie_score(problem.y[split[1]], prediction.value, power=1))
    found["seconds"] = time.process_time() - start
    found["failed"] = [error for _, _, error in result.errors]
    found["converged"] = prediction is None or has_converged(prediction)
    temporary = target.with_suffix(".part")
    temporary.write_text(json.dumps(found))
    os.replace(temporary, target)


def place(out: Path, name: str, number: int, method: str) -> Path:
    """Return the file of a fit."""
    return out / f"{name}-{number:02d}-{re.sub('[^A-Za-z0-9]+', '-', method)}.json"


def table(name: str, problem: Problem, out: Path) -> str:
    """Return the Markdown table of a set: means and corrected 95% intervals over the splits, and CPU seconds."""
    columns = COLUMNS[problem.kind]
    test_to_train = float(np.mean([len(test) / len(train) for train, test in problem.splits]))
    # Only splits in which all methods are finished: the comparison is paired.
    numbers = [
        number
        for number in range(len(problem.splits))
        if all(place(out, name, number, method).exists() for method in problem.methods)
    ]
    if not numbers:
        return "No split is finished."
    rows, notes = {}, []
    for method in problem.methods:
        fits = [json.loads(place(out, name, number, method).read_text()) for number in numbers]
        scores = [np.array([fit.get(key, np.nan) for fit in fits], dtype=float) for key, _, _ in columns]
        known = TARGETS[problem.kind].measures
        limits = [known[key].limits if key != "d2" else D2_LIMITS for key, _, _ in columns]
        pairs = zip(scores, limits, strict=True)
        rows[method] = [split_interval(values, test_to_train, ends) for values, ends in pairs]
        rows[method].append((float(np.mean([fit["seconds"] for fit in fits])), np.nan, np.nan))
        failed, rough = sum(bool(fit["failed"]) for fit in fits), sum(not fit["converged"] for fit in fits)
        for count, what in ((failed, "failed"), (rough, "did not converge")):
            if count:
                notes.append(f"{method}: {count} of {len(fits)} fits {what}.")
    headings = [heading for _, heading, _ in columns]
    lines = [f"| method | {' | '.join(headings)} | CPU s per fit |", "|---" * (len(columns) + 2) + "|"]
    best = [best_of([row[i][0] for row in rows.values()], larger) for i, (_, _, larger) in enumerate(columns)]
    for method, row in rows.items():
        # Two splits say nothing about the variation between splits.
        few = len(numbers) < FEWEST_SPLITS
        shown = [(values[0], np.nan, np.nan) if few else values for values in row[:-1]]
        cells = [cell(values, values[0] == best[i]) for i, values in enumerate(shown)]
        lines.append(f"| {method} | {' | '.join(cells)} | {row[-1][0]:.2f} |")
    splits = "1 split" if len(numbers) == 1 else f"{len(numbers)} splits"
    return "\n".join([*lines, "", f"{splits}. {' '.join(notes)}".rstrip()])


def best_of(means: list[float], larger: bool | None) -> float:
    """Return the best of some means; NaN where none is best."""
    if larger is None or np.isnan(means).all():
        return np.nan
    return float(np.nanmax(means) if larger else np.nanmin(means))


def cell(values: tuple[float, float, float], best: bool) -> str:
    """Return a mean with its interval in words, bold if it is the best."""
    mean, low, high = values
    if np.isnan(mean):
        return "-"
    text = f"**{mean:.3f}**" if best else f"{mean:.3f}"
    return text if np.isnan(low) else f"{text} ({low:.3f} to {high:.3f})"


def write_tables(page: Path, tables: dict[str, str]) -> None:
    """Put each table between its markers on the page."""
    text = page.read_text()
    for name, content in tables.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{content}\n{end}{rest.split(end)[1]}"
    page.write_text(text)


def main() -> None:
    """Run what is left to do, split by split, and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the finished fits")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--splits", type=int, help="only the first splits; five are every fold once")
    parser.add_argument("--page", type=Path, help="write the tables into this page")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    problems = {name: PROBLEMS[name]() for name in options.sets}
    problems = {name: item._replace(splits=item.splits[: options.splits]) for name, item in problems.items()}
    fits = [
        (number, name, method)
        for name, problem in problems.items()
        for number in range(len(problem.splits))
        for method in problem.methods
    ]
    # Split by split through all sets, so that an early look sees every set.
    fits.sort(key=lambda fit: fit[0])
    joblib.Parallel(n_jobs=options.jobs, pre_dispatch=options.jobs)(
        joblib.delayed(fit_split)(name, number, method, place(options.out, name, number, method))
        for number, name, method in fits
    )
    tables = {name: table(name, problem, options.out) for name, problem in problems.items()}
    for name, content in tables.items():
        print(f"\n{name}\n\n{content}")
    if options.page is not None:
        write_tables(options.page, tables)


if __name__ == "__main__":
    main()
