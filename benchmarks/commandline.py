"""``ispca fit`` on a CSV file of 500 samples and 20,000 features: seconds and peak memory of the whole process.

``python -m benchmarks.commandline [repeats]``; the aim is 10 s and 1 GB on two cores.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SAMPLES, FEATURES = 500, 20_000


def write_data(path: Path) -> None:
    """Write a file with all digits, the slowest kind to read, and sixty features that follow a factor."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=SAMPLES)
    diagnosis = np.where(factor + 0.3 * rng.normal(size=SAMPLES) > 0, "ill", "well")
    with open(path, "w") as file:
        file.write(",".join(["sample", "diagnosis", *(f"gene{j}" for j in range(FEATURES))]) + "\n")
        for i in range(SAMPLES):
            values = rng.normal(8, 2, FEATURES)
            values[:60] += 2 * factor[i]
            file.write(f"s{i},{diagnosis[i]}," + ",".join(map(repr, values.tolist())) + "\n")


def measure(command: list[str]) -> tuple[float, float, float]:
    """Return wall-clock seconds, processor seconds, and the peak of resident memory in MB of a child process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed with status {status}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Print a line per command."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    load = re.match(r"\S+", Path("/proc/loadavg").read_text())
    print(f"{os.cpu_count()} cores, load {load[0] if load else '?'}; {SAMPLES} x {FEATURES} with all digits")
    with tempfile.TemporaryDirectory(prefix="ispca-bench-") as name:
        folder = Path(name)
        write_data(folder / "data.csv")
        size = (folder / "data.csv").stat().st_size / 1e6
        ispca = [sys.executable, "-m", "ispca"]
        fit = [
            *ispca,
            "fit",
            str(folder / "data.csv"),
            "--target",
            "diagnosis",
            "--out",
            str(folder / "out"),
            "--force",
        ]
        predict = [*ispca, "predict", str(folder / "out" / "model.ispca"), str(folder / "data.csv")]
        for label, command in {
            "import": [sys.executable, "-c", "import ispca"],
            "fit": fit,
            "predict": predict,
        }.items():
            wall, processor, memory = map(min, zip(*(measure(command) for _ in range(repeats)), strict=True))
            print(
                f"{label:<8} {wall:6.1f} s wall, {processor:6.1f} s processor, {memory:6.0f} MB peak", flush=True
            )
        print(f"file {size:.0f} MB, model {(folder / 'out' / 'model.ispca').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
