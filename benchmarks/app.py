"""``ispca app``: seconds until it is up, of the first page, of the preview of 50 MB, and the rate of uploads.

``python -m benchmarks.app``. The aims on two quiet cores: up in 2 s, the first page in 0.3 s after that, the
preview in 5 s. Start and first page are the median of five servers.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from app_server import Server

SAMPLES, FEATURES, STARTS = 200, 33_000, 5


def measure_time(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def start(folder: Path) -> tuple[float, float]:
    """Return the seconds until the address is printed, and then of the first page."""
    up, server = measure_time(lambda: Server(folder))
    with server:
        first, answer = measure_time(lambda: server.request("GET", "/"))
    assert answer[0] == 200
    return up, first


def write_table(path: Path) -> float:
    """Write a table of about 50 MB; return its megabytes."""
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        file.write(",".join(["sample", "diagnosis", *(f"gene{j}" for j in range(FEATURES))]) + "\n")
        for i in range(SAMPLES):
            values = ",".join(f"{value:.4f}" for value in rng.normal(8, 2, FEATURES).tolist())
            file.write(f"s{i},{'ill' if i % 2 else 'well'},{values}\n")
    return path.stat().st_size / 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starts = [start(folder / "app") for _ in range(STARTS)]
        print(f"up                {statistics.median(up for up, _ in starts):6.2f} s")
        print(f"first page        {statistics.median(first for _, first in starts):6.3f} s")
        size = write_table(folder / "table.csv")
        with Server(folder / "app") as server:
            seconds, matrix = measure_time(lambda: server.upload((folder / "table.csv").read_bytes(), "table.csv"))
            print(f"upload            {size / seconds:6.0f} MB/s ({size:.0f} MB)")
            # The worker that waits in advance has been started by now.
            time.sleep(3)
            for options in ({}, {"target": "diagnosis"}):
                seconds, (status, found) = measure_time(
                    lambda chosen=options: server.api("POST", "/preview", {"matrix": matrix, "options": chosen})
                )
                assert status == 200, found
                print(f"preview{', target' if options else '':<9}  {seconds:6.2f} s")


if __name__ == "__main__":
    main()
