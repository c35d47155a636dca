"""``ispca fit`` and ``predict`` on files with 20,000 features: seconds and peak memory of the whole process.

``python -m benchmarks.commandline [--repeats N] [--case NAME]``. The cases are ``two-files`` (a matrix of 100
samples, with features in rows, and a sample sheet; the aim is 10 s on two quiet cores) and ``one-file`` (500
samples with all digits; the aim is 10 s and 1 GB). Times are also given as ratios to a floor measured in the same
run: a process that imports scikit-learn and reads the same numbers with pandas.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FEATURES = 20_000
FLOOR = """
import sys, pandas, sklearn.linear_model, sklearn.model_selection
pandas.read_csv(sys.argv[1], index_col=0)
"""
ISPCA = [sys.executable, "-m", "ispca"]


def write_one_file(folder: Path) -> list[str]:
    """Write all digits, the slowest kind to read, with sixty features that follow a factor; return arguments."""
    rng, n_samples = np.random.default_rng(0), 500
    factor = rng.normal(size=n_samples)
    diagnosis = np.where(factor + 0.3 * rng.normal(size=n_samples) > 0, "ill", "well")
    with open(folder / "data.csv", "w") as file:
        file.write(",".join(["sample", "diagnosis", *(f"gene{j}" for j in range(FEATURES))]) + "\n")
        for i in range(n_samples):
            values = rng.normal(8, 2, FEATURES)
            values[:60] += 2 * factor[i]
            file.write(f"s{i},{diagnosis[i]}," + ",".join(map(repr, values.tolist())) + "\n")
    return [str(folder / "data.csv"), "--target", "diagnosis"]


def write_two_files(folder: Path) -> list[str]:
    """Write four digits, a factor that differs between the classes and one that does not; return the arguments."""
    rng, n_samples = np.random.default_rng(0), 100
    tissue = np.repeat(["normal", "tumour"], n_samples // 2)
    factors = rng.normal(size=(n_samples, 2))
    factors[:, 0] += 1.5 * (tissue == "tumour")
    values = rng.normal(8, 1, (FEATURES, n_samples))
    values[:200] += rng.normal(size=(200, 1)) * factors[:, 0]
    values[200:800] += rng.normal(size=(600, 1)) * factors[:, 1]
    names = [f"GSM{1000 + i}" for i in range(n_samples)]
    with open(folder / "data.csv", "w") as file:
        file.write(",".join(["gene", *names]) + "\n")
        for j, row in enumerate(values):
            file.write(f"g{j}," + ",".join(f"{value:.4f}" for value in row) + "\n")
    with open(folder / "samples.csv", "w") as file:
        file.write("sample,tissue,age\n")
        for i in rng.permutation(n_samples):
            file.write(f"{names[i]},{tissue[i]},{rng.integers(30, 80)}\n")
    return [str(folder / "data.csv"), "--samples", str(folder / "samples.csv"), "--target", "tissue"]


CASES = {"two-files": write_two_files, "one-file": write_one_file}


def measure(command: list[str]) -> tuple[float, float, float]:
    """Return wall-clock seconds, processor seconds, and the peak of resident memory in MB of a child process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed with status {status}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def report(case: str, folder: Path, repeats: int) -> None:
    """Print a line per command: the best of several runs, by turns."""
    arguments, out = CASES[case](folder), folder / "out"
    data = Path(arguments[0])
    commands = {
        "floor": [sys.executable, "-c", FLOOR, str(data)],
        "import": [sys.executable, "-c", "import ispca.cli"],
        "fit": [*ISPCA, "fit", *arguments, "--out", str(out), "--force"],
    }
    if case == "one-file":
        commands["predict"] = [*ISPCA, "predict", str(out / "model.ispca"), str(data)]
    runs = [{label: measure(command) for label, command in commands.items()} for _ in range(repeats)]
    best = {label: tuple(map(min, zip(*(run[label] for run in runs), strict=True))) for label in commands}
    for label, (wall, processor, memory) in best.items():
        ratios = f"{wall / best['floor'][0]:5.1f} x and {processor / best['floor'][1]:5.1f} x the floor"
        print(f"{label:<8} {wall:6.1f} s wall, {processor:6.1f} s processor ({ratios}), {memory:6.0f} MB peak")
    model = (out / "model.ispca").stat().st_size
    print(f"file {data.stat().st_size / 1e6:.0f} MB, model {model / 1e6:.1f} MB\n", flush=True)


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--case", choices=tuple(CASES), action="append", help="default: all")
    args = parser.parse_args()
    for case in args.case or CASES:
        load = re.match(r"\S+", Path("/proc/loadavg").read_text())
        print(f"{case}: {os.cpu_count()} cores, load {load[0] if load else '?'}")
        with tempfile.TemporaryDirectory(prefix="ispca-bench-") as name:
            report(case, Path(name), args.repeats)


if __name__ == "__main__":
    main()
