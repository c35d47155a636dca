"""Which ISPCA to recommend: the paper's, or the cross-fitted one with the residual test, on every data set.

    python -m benchmarks.recipe --out DIR [--splits 50] [--jobs 2] [--sets NAME ...]

Every finished fit is stored in DIR, so that an interrupted run continues. The splits are those of the paper's
experiment (docs/paper).
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

from benchmarks.prediction_rules import PAPER, SETS, head, pooled_calibration_error
from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import load
from ispca.stacking.candidates import HONEST, N_COMPONENTS, N_COMPONENTS_MANY_CLASSES, reduction_pipeline
from ispca.targets.intervals import split_interval
from ispca.validation import Comparison, compare, paper_methods

CROSS_FITTED = "ISPCA-cross-fitted"
# Fixed beforehand: the mean gain and the largest loss on a set with which the cross-fitted ISPCA is recommended.
SMALLEST_GAIN, LARGEST_LOSS = 0.01, 0.015
MEASURES = ("log density", "Brier", "calibration error")
COLUMNS = ["gain (95% interval)", *(f"{name}, {kind}" for name in MEASURES for kind in ("paper", "cross-fitted"))]


def run_set(name: str, out: Path, n_splits: int, n_jobs: int) -> tuple[Comparison, np.ndarray]:
    """Compare both on one data set, and return the observed classes, too."""
    data = load(name)
    classes, y = np.unique(np.asarray(data.target), return_inverse=True)
    count = N_COMPONENTS if len(classes) == 2 else N_COMPONENTS_MANY_CLASSES
    model = HorseshoeClassifier(retry=False)
    methods = {
        PAPER: paper_methods(count, model=model)["ISPCA"],
        CROSS_FITTED: reduction_pipeline(ISPCA(count, whiten=True, **HONEST), model),
    }
    metrics = ["mlpd", "brier"]
    result = compare(
        methods, data.data, data.target, metrics=metrics, cv=n_splits, n_jobs=n_jobs, resume=out / name
    )
    return result, y


def row(result: Comparison, y: np.ndarray) -> tuple[list[str], float]:
    """Return the cells of one set, and its gain."""
    scores = result.scores["mlpd"]
    gain, low, high = split_interval(scores[:, 1] - scores[:, 0], result.test_to_train)
    values = [*scores.mean(axis=0), *result.scores["brier"].mean(axis=0)]
    for column in range(2):
        splits = [
            (np.asarray(predictions[column].probabilities), y[split.test])
            for predictions, split in zip(result.predictions, result.splits, strict=True)
            if predictions[column] is not None
        ]
        values.append(pooled_calibration_error(splits))
    return [f"{gain:+.3f} ({low:+.3f} to {high:+.3f})", *(f"{value:.3f}" for value in values)], gain


def report(results: dict[str, tuple[Comparison, np.ndarray]]) -> str:
    """Return the table and the verdict."""
    lines = head(f"{CROSS_FITTED} against {PAPER}", COLUMNS)
    rows = {name: row(*result) for name, result in results.items()}
    lines += [f"| {name} | {' | '.join(cells)} |" for name, (cells, _) in rows.items()]
    means = np.mean([[float(cell) for cell in cells[1:]] for cells, _ in rows.values()], axis=0)
    gains = np.array([gain for _, gain in rows.values()])
    lines.append(f"| mean | {gains.mean():+.3f} | {' | '.join(f'{value:.3f}' for value in means)} |")
    return "\n".join([*lines, "", verdict(gains, set(results) == set(SETS))])


def verdict(gains: np.ndarray, complete: bool) -> str:
    """Return in words whether the cross-fitted ISPCA is recommended."""
    met = gains.mean() >= SMALLEST_GAIN and gains.min() >= -LARGEST_LOSS
    return (
        f"{'' if complete else 'NOT final, not all sets: '}**{'met' if met else 'missed'}**: mean gain at least "
        f"{SMALLEST_GAIN} ({gains.mean():+.3f}), and on no set more than {LARGEST_LOSS} behind "
        f"(worst {gains.min():+.3f})."
    )


def main() -> None:
    """Run what is left to do, set by set, and print the table and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the finished fits")
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="NAME")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = {name: run_set(name, options.out, options.splits, options.jobs) for name in options.sets}
    print(report(results))


if __name__ == "__main__":
    main()
