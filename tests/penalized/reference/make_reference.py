"""Write the reference values with R's glmnet (apt install r-cran-glmnet): python make_reference.py [name ...]."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from glmnet_problems import PATH_ONLY, REAL, SIMULATED, family_of, folds_of, simulate

HERE = Path(__file__).parent


def real(name):
    """Return X, y and the folds of a real problem."""
    with np.load(Path(os.environ["ISPCA_DATA"]) / f"{name}.npz", allow_pickle=False) as file:
        y = np.unique(file["y"], return_inverse=True)[1]
        if "indptr" in file:
            parts = (file["data"].astype(float), file["indices"], file["indptr"])
            X = sp.csr_array(parts, shape=tuple(file["shape"]))
        else:
            X = file["X"].astype(float)
    return X, y, folds_of(y, len(y))


def solve(X, y, folds, family, penalty):
    """Return glmnet's numbers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.array(X.shape, dtype=np.int32).tofile(folder / "size")
        if sp.issparse(X):
            columns = sp.csc_array(X)
            columns.data.astype(float).tofile(folder / "x")
            columns.indices.astype(np.int32).tofile(folder / "indices")
            columns.indptr.astype(np.int32).tofile(folder / "indptr")
        else:
            np.ascontiguousarray(X.T, dtype=float).tofile(folder / "x")
        if family == "cox":
            y["event"].astype(float).tofile(folder / "event")
            y = y["time"]
        np.asarray(y, dtype=float).tofile(folder / "y")
        folds.astype(np.int32).tofile(folder / "folds")
        alpha = "1" if penalty == "lasso" else "0"
        subprocess.run(["Rscript", HERE / "reference.R", folder, family, alpha], check=True)
        names = ["lambdas", "mean", "error", "explained", "choices", "positions", "coef", "intercept"]
        numbers = {name: np.fromfile(folder / name) for name in names if (folder / name).exists()}
    positions = len(numbers["positions"])
    numbers["coef"] = (
        numbers["coef"].reshape(-1, positions, X.shape[1]).swapaxes(0, 1)
    )  # position, output, feature
    if "intercept" in numbers:
        numbers["intercept"] = numbers["intercept"].reshape(-1, positions).T
    return numbers


def main():
    """Write all files, or those named."""
    for name in sys.argv[1:] or [*SIMULATED, *PATH_ONLY, *REAL]:
        for penalty in REAL.get(name, ["lasso", "ridge"]):
            problem = real(name) if name in REAL else simulate(name)
            np.savez_compressed(HERE / f"{name}-{penalty}.npz", **solve(*problem, family_of(name), penalty))
            print(name, penalty, flush=True)


if __name__ == "__main__":
    main()
