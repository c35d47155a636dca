"""Write the reference values with R's projpred (apt install r-cran-projpred): python make_reference.py."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from projection_problems import SIZES, problem

HERE = Path(__file__).parent


def solve(family):
    """Return projpred's coefficients, intercept first, and sigma of each draw, by size."""
    X, y, predictor, sigma = problem(family)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.array([*X.shape, predictor.shape[1]], dtype=np.int32).tofile(folder / "size")
        np.ascontiguousarray(X.T).tofile(folder / "x")
        np.ascontiguousarray(predictor.T).tofile(folder / "predictor")
        y.tofile(folder / "y")
        if sigma is not None:
            sigma.tofile(folder / "sigma")
        subprocess.run(["Rscript", HERE / "reference.R", folder, family], check=True)
        numbers = {}
        for size in SIZES:
            numbers[f"coef{size}"] = np.fromfile(folder / f"coef{size}").reshape(-1, size + 1)
            if sigma is not None:
                numbers[f"sigma{size}"] = np.fromfile(folder / f"sigma{size}")
    given = {"X": X, "y": y, "predictor": predictor} | ({} if sigma is None else {"sigma": sigma})
    return given | numbers


def main():
    """Write both files."""
    for family in ("gaussian", "binomial"):
        np.savez_compressed(HERE / f"projpred-{family}.npz", **solve(family))


if __name__ == "__main__":
    main()
