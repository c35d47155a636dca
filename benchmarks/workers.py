"""How `compare` scales: the same comparison with one worker and with two, and whether the numbers are the same.

python -m benchmarks.workers [--set prostate] [--splits 40]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from ispca import HorseshoeClassifier
from ispca.validation import compare, paper_methods

from .problems import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="prostate")
    parser.add_argument("--splits", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    problem = load(options.set)
    methods = paper_methods(problem.n_components, model=HorseshoeClassifier(retry=False))
    seconds, scores = [], []
    for n_jobs in (1, 2):
        start = time.perf_counter()
        result = compare(methods, problem.X, problem.y, cv=options.splits, n_jobs=n_jobs)
        seconds.append(time.perf_counter() - start)
        scores.append(result.scores["mlpd"])
        print(f"{n_jobs} worker(s): {seconds[-1]:.1f} s", flush=True)
    same = np.array_equal(scores[0], scores[1])
    print(f"speed-up {seconds[0] / seconds[1]:.2f}x, the same numbers: {same}")


if __name__ == "__main__":
    main()
