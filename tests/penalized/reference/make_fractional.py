"""Write the reference values for fractional targets with R's glmnet: python make_fractional.py."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from fractional_problems import N_LAMBDAS, NAMES, RATIO, simulate

HERE = Path(__file__).parent


def solve(name):
    """Return glmnet's numbers; its penalties, for factors with a mean of 1, are converted to ours."""
    X, outputs, offset, factors = simulate(name)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        np.array([*X.shape, len(outputs)], dtype=np.int32).tofile(folder / "size")
        np.ascontiguousarray(X.T).tofile(folder / "x")
        outputs.tofile(folder / "y")
        factors.tofile(folder / "factors")
        if offset is not None:
            offset.tofile(folder / "offset")
        subprocess.run(["Rscript", HERE / "fractional.R", folder, name, str(N_LAMBDAS), str(RATIO)], check=True)
        numbers = {part: np.fromfile(folder / part) for part in ("lambdas", "positions", "coef", "intercept")}
    n_positions = len(numbers["positions"])
    numbers["lambdas"] /= factors.mean()
    numbers["coef"] = numbers["coef"].reshape(-1, n_positions, X.shape[1]).swapaxes(0, 1)
    numbers["intercept"] = numbers["intercept"].reshape(-1, n_positions).T
    return numbers


if __name__ == "__main__":
    for name in NAMES:
        np.savez_compressed(HERE / f"fractional-{name}.npz", **solve(name))
