"""Time of 50 bags, relative to one fit of the same pipeline in the same run.

    python -m benchmarks.bagging_speed [--samples 100] [--features 20000] [--repeat 2]

A bag repeats the reduction with ten folds, and samples one chain of 500 draws; the pipeline has no folds and four
chains of 2,000 draws. Targets: two classes under 10 s, four classes under 25 s, on two idle cores.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.pipeline import make_pipeline

from ispca import ISPCA, BaggedPosterior, HorseshoeClassifier
from ispca.datasets import make_expression


def seconds(work: Callable[[], Any], repeat: int) -> float:
    """Return the shortest time of several runs."""
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    """Print a line for two and for four classes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--features", type=int, default=20000)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for n_classes in (2, 4):
        shape = {"n_samples": options.samples, "n_features": options.features, "n_classes": n_classes}
        data = make_expression(**shape, random_state=0)
        reduction = ISPCA(50 if n_classes == 2 else 20, whiten=True, test="residual", random_state=0)
        pipeline = make_pipeline(reduction, HorseshoeClassifier(random_state=0))
        bagged = BaggedPosterior(pipeline, random_state=0)
        once = seconds(lambda pipeline=pipeline, data=data: pipeline.fit(data.data, data.target), options.repeat)
        bags = seconds(lambda bagged=bagged, data=data: bagged.fit(data.data, data.target), options.repeat)
        print(
            f"{n_classes} classes: 50 bags {bags:.1f} s, one fit {once:.2f} s, ratio {bags / once:.1f}", flush=True
        )


if __name__ == "__main__":
    main()
