"""Panels on real data: size, held-out density and seconds of the selection and of other ways to a panel.

    python -m benchmarks.selection [--projpred forward 10] [--page docs/panel-results.md] [NAME ...]

All methods are evaluated on the same ten folds, in which everything is refitted: the reference, the search, the
lasso with its own folds, the subsamples. The suggested size comes from the same held-out densities. Finished
methods are kept in --store. --projpred needs Rscript with projpred (apt install r-cran-projpred). Seconds are CPU
seconds of one run; those of projpred leave out the reference, so "search" is what to compare them with.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.base import clone

from ispca.selection import ProjectionSelector
from ispca.selection.search import SearchSettings
from ispca.selection.validated_path import Searcher, submodel_prediction
from ispca.targets import find_target
from ispca.targets.samples import Samples

from .selection_data import SETS, PanelData, panel_data, reference_for
from .selection_peers import export, lasso_peer, projpred, stability_peer

LARGEST = 20


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its finished workers."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def reference_seconds(data: PanelData) -> float:
    """Return the CPU seconds of the reference fits alone: all samples, and every fold."""
    started = time.process_time()
    for train in [np.arange(len(data.y)), *(train for train, _ in data.folds)]:
        clone(reference_for(data.kind)).fit(data.X[train], data.y[train])
    return time.process_time() - started


def search_seconds(data: PanelData, largest: int) -> float:
    """Return the CPU seconds of search and validation alone, without the reference fits."""
    none, target = np.array([], dtype=np.intp), find_target(data.kind, None)
    if data.kind == "classification":
        target = find_target(data.kind, np.unique(data.y))
    searcher = Searcher(SearchSettings(largest, none, none), n_draws=400, n_clusters=20, seed=0)
    seconds = 0.0
    for train, test in [(np.arange(len(data.y)), none), *data.folds]:
        fitted = clone(reference_for(data.kind)).fit(data.X[train], data.y[train])
        samples, others = Samples(data.X[train], data.y[train]), Samples(data.X[test], data.y[test])
        started = time.process_time()
        found = searcher.search(fitted, samples, target)
        for chosen in found.path.sets if len(test) else ():
            parts = samples.X[:, chosen], others.X[:, chosen]
            submodel_prediction(parts, found.draws, others, target, target.classes)
        seconds += time.process_time() - started
    return seconds


def selection(data: PanelData, largest: int = LARGEST, n_jobs: int = 1) -> dict[str, Any]:
    """Select a panel with the reference of the benchmark."""
    used, started = cpu_seconds(), time.perf_counter()
    selector = ProjectionSelector(
        reference_for(data.kind), max_features=largest, cv=data.folds, n_jobs=n_jobs, random_state=0
    ).fit(data.X, data.y)
    seconds, elapsed = cpu_seconds() - used, time.perf_counter() - started
    path, size = selector.path_, int(selector.n_features_)
    return {
        "size": size,
        "density": float(path.density[size]),
        "reference_density": float(selector.reference_density_),
        "difference": float(path.difference[size]),
        "difference_error": float(path.difference_error[size]),
        "path": path.density.tolist(),
        "message": selector.message_,
        "seconds": seconds,
        "elapsed": elapsed,
    }


def find_or_compute(file: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a stored result, or compute and store it."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(compute()))
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def compare_methods(name: str, store: Path, peer: tuple[str, int] | None) -> dict[str, dict[str, Any]]:
    """Return the results of all methods on one data set."""
    data, folder = panel_data(name), store / name
    found = {"panel": find_or_compute(folder / "panel.json", lambda: selection(data))}
    references = find_or_compute(folder / "reference.json", lambda: {"seconds": reference_seconds(data)})
    found["reference"] = references | {"size": data.X.shape[1], "density": found["panel"]["reference_density"]}
    for choice in ("best", "one_standard_error"):
        found[f"lasso {choice}"] = find_or_compute(
            folder / f"lasso-{choice}.json", partial_peer(lasso_peer, data, choice)
        )
    size = found["panel"]["size"]
    found["stability"] = find_or_compute(
        folder / f"stability-{size}.json", partial_peer(stability_peer, data, size)
    )
    if peer is not None:
        method, largest = peer
        if not (folder / "projpred" / "size").exists():
            export(folder / "projpred", data)
        found["projpred"] = projpred(folder / "projpred", method, largest)
        found["same"] = find_or_compute(
            folder / f"search-{largest}.json", lambda: {"seconds": search_seconds(data, largest)}
        )
    return found


def partial_peer(peer: Callable[..., Any], *args: Any) -> Callable[[], dict[str, Any]]:
    """Return a function that runs a peer and summarizes its held-out densities."""

    def run() -> dict[str, Any]:
        found = peer(*args)
        return {"size": found.size, "density": float(np.mean(found.density)), "seconds": found.seconds}

    return run


LABELS = {
    "reference": "reference (all features)",
    "panel": "**panel**",
    "lasso best": "lasso, best",
    "lasso one_standard_error": "lasso, 1 SE",
    "stability": "stability selection",
    "projpred": "projpred",
}


def table(found: dict[str, dict[str, Any]]) -> list[str]:
    """Return the rows of one data set."""
    rows = ["| method | features | log density | CPU s |", "|---|---|---|---|"]
    for method, label in LABELS.items():
        if method in found:
            result = found[method]
            rows.append(f"| {label} | {result['size']:,} | {result['density']:.3f} | {result['seconds']:.1f} |")
    return rows


def verdict(found: dict[str, dict[str, Any]]) -> str:
    """Return the comparison of the seconds in words."""
    panel, reference = found["panel"], found["reference"]
    difference = f"{panel['difference']:+.3f} (standard error {panel['difference_error']:.3f})"
    text = f"The log density of the panel differs from that of the reference by {difference}. Of its "
    text += f"{panel['seconds']:.1f} CPU seconds, the reference fits take {reference['seconds']:.1f}."
    if "projpred" in found:
        search, theirs = found["same"]["seconds"], found["projpred"]["seconds"]
        text += (
            f" Search and validation of the same sizes take {search:.1f} without the reference fits, "
            f"{theirs / search:.0f} times less than projpred's."
        )
    return text


def update_page(page: Path, name: str, lines: list[str]) -> None:
    """Replace the part of a page between the marks of a data set."""
    marks = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    text = page.read_text()
    pattern = re.compile(re.escape(marks[0]) + ".*?" + re.escape(marks[1]), re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"{page} has no {marks[0]}")
    body = "\n".join([marks[0], *lines, marks[1]])
    page.write_text(pattern.sub(lambda _: body, text))


def main() -> None:
    """Print, and with --page write, the table of each data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=SETS, metavar="NAME")
    parser.add_argument("--store", type=Path, default=Path("build/selection"), help="finished methods")
    parser.add_argument("--projpred", nargs=2, metavar=("METHOD", "SIZE"), help="run projpred, too")
    parser.add_argument("--page", type=Path, help="page whose tables are replaced")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    peer = (args.projpred[0], int(args.projpred[1])) if args.projpred else None
    for name in args.names:
        found = compare_methods(name, args.store, peer)
        lines = [*table(found), "", verdict(found)]
        print(f"\n{name}\n" + "\n".join(lines), flush=True)
        if args.page:
            update_page(args.page, name, lines)


if __name__ == "__main__":
    main()
