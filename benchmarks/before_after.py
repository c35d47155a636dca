"""Compare the speed of two installations: ``python -m benchmarks.before_after OLD/bin/python NEW/bin/python``.

Each task runs in fresh processes of both interpreters by turns, because the speed of a shared machine changes. The
table shows the smallest CPU time of each and their ratio. Both installations need the same versions of the
libraries; the data sets are read from ``ISPCA_DATA``.
"""

import argparse
import os
import subprocess
import time
import warnings
from functools import partial

REPEATS = 5


def fastest(task):
    """Return the smallest CPU time of a few runs, in all threads."""
    warnings.simplefilter("ignore")
    task()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def importing(module):
    # Not ours, and slower where pandas is installed.
    import sklearn  # noqa: F401

    start = time.process_time()
    __import__(module)
    return time.process_time() - start


def reduction(kind, name):
    import ispca
    from ispca.datasets import load

    data = load(name)
    return fastest(lambda: getattr(ispca, kind)(10, random_state=0).fit(data.data, data.target))


def penalized(penalty, name):
    from ispca.datasets import load

    try:
        from ispca.penalized import PenalizedClassifier
    except ImportError:  # the spelling until November 2026
        from ispca.penalised import PenalisedClassifier as PenalizedClassifier
    data = load(name)
    return fastest(lambda: PenalizedClassifier(penalty=penalty, random_state=0).fit(data.data, data.target))


def logistic(name):
    from ispca import ISPCA
    from ispca.datasets import load
    from ispca.models import HorseshoeClassifier

    data = load(name)
    Z = ISPCA(20, whiten=True, random_state=0).fit_transform(data.data, data.target)
    return fastest(lambda: HorseshoeClassifier(random_state=0, n_jobs=1).fit(Z, data.target))


def gaussian(sampler):
    import numpy as np

    from ispca.models import HorseshoeRegressor

    rng = np.random.default_rng(0)
    Z = rng.normal(size=(100, 30))
    y = Z[:, 0] + rng.normal(size=100)
    return fastest(lambda: HorseshoeRegressor(random_state=0, n_jobs=1, sampler=sampler).fit(Z, y))


TASKS = {
    "import ispca": partial(importing, "ispca"),
    "import ispca.cli": partial(importing, "ispca.cli"),
    **{f"ISPCA, {name}": partial(reduction, "ISPCA", name) for name in ("leukemia", "prostate", "pcmac")},
    **{f"SPCA, {name}": partial(reduction, "SPCA", name) for name in ("leukemia", "prostate", "pcmac")},
    "lasso, leukemia": partial(penalized, "lasso", "leukemia"),
    "lasso, prostate": partial(penalized, "lasso", "prostate"),
    "ridge, leukemia": partial(penalized, "ridge", "leukemia"),
    "logistic horseshoe, leukemia": partial(logistic, "leukemia"),
    "Gaussian horseshoe, blocked": partial(gaussian, "blocked"),
    "Gaussian horseshoe, NUTS": partial(gaussian, "nuts"),
}


def measure(python, task):
    """Return the CPU time of a task in a fresh process, which sees only its installation and keeps bytecode."""
    hidden = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [python, "-P", __file__, "--run", task]
    return float(subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", metavar="python", help="the interpreters before and after")
    parser.add_argument("--tasks", nargs="+", default=[""], help="only tasks that contain one of these words")
    parser.add_argument("--rounds", type=int, default=5, help="fresh processes for each task and interpreter")
    parser.add_argument("--run", choices=TASKS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(TASKS[arguments.run]())
        return
    before, after = arguments.pythons
    print(f"before: {before}\nafter: {after}\n")
    print("| task | before, ms | after, ms | ratio |\n|---|---|---|---|")
    for task in TASKS:
        if any(word in task for word in arguments.tasks):
            pairs = [(measure(before, task), measure(after, task)) for _ in range(arguments.rounds)]
            old, new = map(min, zip(*pairs, strict=True))
            print(f"| {task} | {1000 * old:.1f} | {1000 * new:.1f} | {new / old:.3f} |", flush=True)


if __name__ == "__main__":
    main()
