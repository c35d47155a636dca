"""Penalized regression beside R's cv.glmnet: whole cross-validated fits on the same folds, in turn, on one thread.

    python -m benchmarks.penalized                       # the lasso on all data sets
    python -m benchmarks.penalized --penalty ridge colon leukemia
    python -m benchmarks.penalized --sklearn colon       # and scikit-learn's LogisticRegressionCV

Needs Rscript with glmnet (apt install r-cran-glmnet). Times are those of the fit alone, best of --repeats; R's is
its own system.time. Programs alternate, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp

from ispca.families import class_family
from ispca.penalized.cross_validation import cross_validated_path, random_folds
from ispca.penalized.problem import Problem
from ispca.targets.samples import Samples

from .problems import load

NAMES = ["colon", "prostate", "leukemia", "arcene", "glioma-4c", "lung-5c-1543", "dexter", "pcmac"]

R_CODE = """
suppressMessages({library(glmnet); library(Matrix)})
arguments <- commandArgs(TRUE); folder <- arguments[1]
read <- function(name, what = "double") readBin(file.path(folder, name), what, 1e9)
size <- read("size", "integer")
if (file.exists(file.path(folder, "indices"))) {
  X <- sparseMatrix(i = read("indices", "integer"), p = read("indptr", "integer"), x = read("x"), dims = size,
                    index1 = FALSE)
} else X <- matrix(read("x"), size[1], size[2])
y <- read("y", "integer"); foldid <- read("folds", "integer") + 1L
family <- if (max(y) > 1) "multinomial" else "binomial"
elapsed <- system.time(cv <- suppressWarnings(
  cv.glmnet(X, y, family = family, alpha = as.numeric(arguments[2]), foldid = foldid)))[3]
cat(elapsed, min(cv$cvm), cv$lambda.min, cv$lambda.1se)
"""


def write(folder: Path, X: Any, y: np.ndarray, folds: np.ndarray) -> None:
    """Leave the problem where R reads it."""
    np.array(X.shape, dtype=np.int32).tofile(folder / "size")
    if sp.issparse(X):
        columns = sp.csc_array(X)
        columns.data.tofile(folder / "x")
        columns.indices.astype(np.int32).tofile(folder / "indices")
        columns.indptr.astype(np.int32).tofile(folder / "indptr")
    else:
        np.ascontiguousarray(X.T).tofile(folder / "x")
    y.astype(np.int32).tofile(folder / "y")
    folds.astype(np.int32).tofile(folder / "folds")
    (folder / "fit.R").write_text(R_CODE)


def glmnet(folder: Path, penalty: str) -> list[float]:
    """Return seconds, least deviance, and the two chosen penalties."""
    alpha = "1" if penalty == "lasso" else "0"
    command = ["Rscript", folder / "fit.R", folder, alpha]
    return [float(word) for word in subprocess.run(command, check=True, capture_output=True).stdout.split()]


def ours(X: Any, y: np.ndarray, folds: np.ndarray, penalty: str) -> list[float]:
    """Return the same of this package."""
    started = time.perf_counter()
    path = cross_validated_path(Problem(Samples(X, y), class_family(y.max() + 1), 100), penalty, folds)
    elapsed = time.perf_counter() - started
    return [elapsed, path.mean.min(), path.lambdas[path.best], path.lambdas[path.one_standard_error]]


def scikit_learn(X: Any, y: np.ndarray, penalty: str) -> float:
    """Return the seconds of LogisticRegressionCV with ten folds and as many penalties on the same range."""
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.preprocessing import StandardScaler

    started = time.perf_counter()
    X = StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X)
    largest = np.abs(X.T @ (y - y.mean())).max()
    strengths = np.geomspace(1, 100, 100) / largest
    kind, solver = ("l1", "liblinear") if penalty == "lasso" else ("l2", "lbfgs")
    model = LogisticRegressionCV(Cs=strengths, cv=10, penalty=kind, solver=solver, scoring="neg_log_loss")
    model.fit(X, y)
    return time.perf_counter() - started


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, help="data sets")
    parser.add_argument("--penalty", choices=["lasso", "ridge"], default="lasso")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sklearn", action="store_true", help="time scikit-learn, too")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'data set':<14}{'ours, s':>9}{'glmnet':>9}{'ratio':>7}{'least deviance':>16}{'glmnet':>9}  choices")
    for name in arguments.names:
        problem = load(name)
        X = np.log2(problem.X) if name == "lung-5c-1543" and problem.real else problem.X
        y = np.unique(problem.y, return_inverse=True)[1]
        folds = random_folds(y, 10, np.random.default_rng(0))
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), X, y, folds)
            pairs = [
                (ours(X, y, folds, arguments.penalty), glmnet(Path(folder), arguments.penalty))
                for _ in range(arguments.repeats)
            ]
        mine, theirs = (min(side) for side in zip(*pairs, strict=True))
        same = "same" if np.allclose(mine[2:], theirs[2:], rtol=1e-4) else "differ"
        row = f"{name:<14}{mine[0]:>9.3f}{theirs[0]:>9.3f}{mine[0] / theirs[0]:>7.2f}"
        row += f"{mine[1]:>16.4f}{theirs[1]:>9.4f}  {same}"
        if arguments.sklearn:
            row += f"  scikit-learn {scikit_learn(X, y, arguments.penalty):.1f} s"
        print(row, flush=True)


if __name__ == "__main__":
    main()
