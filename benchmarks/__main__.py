"""One table of the reduction's speed and memory: ``make bench`` (``make bench ARGS='colon pcmac'`` for some)."""

from __future__ import annotations

import argparse
import platform
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from ispca import ISPCA
from ispca.reduction.permutation import draw_permutations

from .measure import float32_bytes, floor, import_seconds, nbytes, peak_bytes, seconds
from .problems import SHAPES, Problem, load

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from naive import literal_ispca

HEADER = (
    f"{'data set':<22}{'n':>6}{'D':>7}{'sup':>5}{'floor':>9}{'fit':>9}{'ratio':>8}"
    f"{'10 folds':>10}{'literal':>10}{'speed-up':>10}{'PCA':>9}{'extra/X':>9}{'extra':>9}{'allowed':>9}"
)


def row(problem: Problem, literal: bool) -> str:
    """Measure one problem: seconds, and megabytes of extra memory at their peak."""
    X, y = problem.X, problem.y
    ispca = ISPCA(problem.n_components, random_state=0)
    best, fit = floor(X, problem.n_columns), seconds(lambda: ispca.fit(X, y))
    cross_fitted = seconds(lambda: ISPCA(problem.n_components, random_state=0, cross_fit=10).fit(X, y))
    extra = peak_bytes(lambda: ispca.fit(X, y))
    allowed = 1.5 * float32_bytes(X) + ispca.memory_budget
    slow = literal_seconds(problem) if literal else np.nan
    pca = np.nan
    if not sp.issparse(X):
        model = PCA(problem.n_components)
        pca = seconds(lambda: model.fit(StandardScaler().fit_transform(X)))
    name = problem.name + ("" if problem.real else " (simulated)")
    size = f"{name:<22}{X.shape[0]:>6}{X.shape[1]:>7}{ispca.n_supervised_:>5}"
    speed = f"{best:>9.4f}{fit:>9.4f}{fit / best:>7.1f}x{cross_fitted / fit:>9.1f}x"
    speed += f"{slow:>10.2f}{slow / fit:>9.0f}x{pca:>9.3f}"
    memory = f"{extra / nbytes(X):>9.2f}{extra / 1e6:>9.1f}{allowed / 1e6:>9.0f}"
    return size + speed + memory


def literal_seconds(problem: Problem) -> float:
    """Time the paper's text in NumPy, with the same permutations."""
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    permutations = draw_permutations(0, X.shape[0], 0, 1000)
    options = {"n_components": problem.n_components, "alpha": 0.01, "permutations": permutations}
    return seconds(lambda: literal_ispca(X, problem.y, **options), repeats=1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SHAPES), help="data sets")
    parser.add_argument("--no-literal", action="store_true", help="leave out the slow literal transcription")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    threads = max(library["num_threads"] for library in threadpool_info())
    print(f"{platform.machine()}, {threads} threads, Python {platform.python_version()}, NumPy {np.__version__},")
    print(f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}. Times in seconds, memory in MB.")
    print("floor: one float32 product of the sizes of the permutation test (sparse: the sparse-dense product)")
    print("10 folds: the cross-fitted reduction over the plain one")
    print("extra: peak memory of the fit beyond X; allowed: 1.5 float32 copies of X and the memory budget\n")
    print(HEADER)
    for name in arguments.names:
        problem = load(name)
        print(row(problem, not arguments.no_literal), flush=True)
        if sp.issparse(problem.X) and problem.X.shape[0] > 1000:
            dense = Problem(f"{name} as dense", problem.X.toarray(), problem.y, problem.real)
            print(row(dense, literal=False), flush=True)
    ratio = import_seconds("ispca") / import_seconds("sklearn")
    print(f"\nimport ispca takes {ratio:.2f} times as long as import sklearn")


if __name__ == "__main__":
    main()
