"""Single cells: seconds and memory of a fit to a backed AnnData file, and the fraction of its bound.

    python -m benchmarks.cells [--folder DIR] [--fraction 0.05] [--memory 256]

The file has 100,000 cells (times the fraction) of 20,000 genes, 5% of them nonzero, in 10 cell types, as a CSR
matrix written in pieces. Each type has 200 markers, which are found in half of its cells and in 1% of the others.
The component of so many markers measures the type well, so that deflation leaves little of it in other genes. The
number of components is not limited. The bound is the permutation product alone: the bare kernel on all nonzeros
and permutations, with X in memory, on the same threads. The fit runs in a process of its own, whose peak memory is
measured. Without a folder, the number of components is counted for 10,000 cells of 2,000 genes, with more and with
fewer markers.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

CELLS, GENES, DENSITY, TYPES = 100_000, 20_000, 0.05, 10
MARKERS = 200  # of each type
IN_TYPE, ELSEWHERE = 0.5, 0.01  # fractions of the cells in which a marker is found
PIECE = 2_000
PERMUTATIONS = 1000


def make_piece(
    rng: np.random.Generator,
    types: np.ndarray,
    abundance: np.ndarray,
    markers: int = MARKERS,
    found: Any = IN_TYPE,
) -> sp.csr_matrix:
    """Return log counts of some cells: gene j is found in a cell with probability abundance_j, or as a marker."""
    n, genes = len(types), len(abundance)
    counts = rng.binomial(n, abundance)
    rows = np.concatenate([rng.choice(n, count, replace=False) for count in counts])
    columns = np.repeat(np.arange(genes), counts)
    others = columns // markers != types[rows]
    cells, own = np.nonzero(rng.uniform(size=(n, markers)) < found)
    rows = np.concatenate([rows[others], cells])
    columns = np.concatenate([columns[others], markers * types[cells] + own])
    values = np.log1p(1 + rng.poisson(1.0, len(rows))).astype(np.float32)
    return sp.csr_matrix((values, (rows, columns)), shape=(n, genes))


def draw_cells(rng: np.random.Generator, n_cells: int, n_genes: int, markers: int) -> tuple[Any, Any]:
    """Return the types of the cells, and the fraction of cells in which each gene is found."""
    types = rng.choice(TYPES, n_cells, p=np.arange(1, TYPES + 1) / (TYPES * (TYPES + 1) / 2))
    # A few genes are found in most cells, most genes in few.
    abundance = np.minimum(rng.gamma(0.5, 2 * DENSITY, n_genes), 0.95)
    abundance[: TYPES * markers] = ELSEWHERE
    return types, abundance


def count_components(markers: int, least: float, most: float) -> dict[str, Any]:
    """Fit 10,000 cells of 2,000 genes, whose markers are found in different fractions of the cells of their type.

    Return the number of components, and which fraction of their variance is between types.
    """
    from ispca import ISPCA

    rng = np.random.default_rng(0)
    types, abundance = draw_cells(rng, 10_000, 2_000, markers)
    X = make_piece(rng, types, abundance, markers, np.linspace(least, most, markers))
    cpu = time.process_time()
    model = ISPCA(None, n_permutations=PERMUTATIONS, random_state=0).fit(X, types.astype(str))
    seconds = time.process_time() - cpu
    scores = model.transform(X)
    means = np.array([scores[types == code].mean(axis=0) for code in range(TYPES)])[types]
    between = means.var(axis=0) / scores.var(axis=0)
    return {
        "markers": markers,
        "found": [least, most],
        "n_supervised": model.n_supervised_,
        "between": [round(float(fraction), 2) for fraction in between],
        "cpu_seconds": round(seconds, 1),
    }


def make_file(path: Path, n_cells: int, n_genes: int, seed: int = 0) -> np.ndarray:
    """Write an h5ad file piece by piece; return the cell types."""
    import anndata
    import h5py
    import pandas as pd

    rng = np.random.default_rng(seed)
    types, abundance = draw_cells(rng, n_cells, n_genes, MARKERS)
    obs = pd.DataFrame({"type": pd.Categorical([f"type {code}" for code in types])})
    obs.index = obs.index.astype(str)
    var = pd.DataFrame(index=[f"gene {j}" for j in range(n_genes)])
    anndata.AnnData(sp.csr_matrix((n_cells, n_genes), dtype=np.float32), obs=obs, var=var).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        group, attributes = file["X"], dict(file["X"].attrs)
        for name in ("data", "indices", "indptr"):
            del group[name]
        chunk = {"maxshape": (None,), "chunks": (2**18,)}
        data = group.create_dataset("data", (0,), np.float32, **chunk)
        indices = group.create_dataset("indices", (0,), np.int32, **chunk)
        ends = [np.zeros(1, np.int64)]
        for start in range(0, n_cells, PIECE):
            piece = make_piece(rng, types[start : start + PIECE], abundance)
            total = ends[-1][-1]
            for stored, values in ((data, piece.data), (indices, piece.indices)):
                stored.resize(total + piece.nnz, axis=0)
                stored[total:] = values
            ends.append(total + piece.indptr[1:].astype(np.int64))
        group.create_dataset("indptr", data=np.concatenate(ends))
        group.attrs.update(attributes)
    return types


def peak_bytes() -> int:
    """Return the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fit(path: str, memory: float, n_components: int | None) -> dict[str, Any]:
    """Fit the backed file; return times, memory and what was found."""
    import anndata

    from ispca import ISPCA

    adata = anndata.read_h5ad(path, backed="r")
    before = peak_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    model = ISPCA(n_components, n_permutations=PERMUTATIONS, memory_budget=memory, random_state=0, verbose=1)
    model.fit(adata, adata.obs["type"].to_numpy())
    return {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_bytes": peak_bytes(),
        "imports_bytes": before,
        "n_supervised": model.n_supervised_,
    }


def bare_product(path: str) -> dict[str, Any]:
    """Time the kernel alone: all nonzeros, all permutations, X in memory by gene."""
    import anndata

    from ispca.reduction.design.base import feature_blocks
    from ispca.reduction.design.permuted_classes import PermutedClasses, class_table
    from ispca.reduction.permutation import PIECE as TOGETHER
    from ispca.reduction.permutation import Permutations
    from ispca.reduction.threads import workers

    adata = anndata.read_h5ad(path, backed="r")
    X = adata.X.to_memory().tocsc()
    types = adata.obs["type"].cat.codes.to_numpy()
    columns = (types[:, None] == np.unique(types)) - np.bincount(types) / len(types)
    permutations = Permutations(0, len(types), PERMUTATIONS, 2**28)
    seconds = 0.0
    with workers() as threads:
        for start in range(0, PERMUTATIONS, TOGETHER):
            size = min(TOGETHER, PERMUTATIONS - start)
            orders = [permutations.indices(start, start + size)]
            classes = PermutedClasses.of(*class_table(columns, types), orders, size)  # type: ignore[misc]

            def multiply(block: slice, classes: PermutedClasses = classes) -> None:
                indptr = X.indptr[block.start : block.stop + 1]
                entries = slice(indptr[0], indptr[-1])
                shape = (len(indptr) - 1, classes.shape[1])
                out = threads.scratch("product", shape, np.dtype(np.float32))
                scale = np.ones(shape[0])
                classes.products(X.data[entries], X.indices[entries], indptr - indptr[0], scale, out)

            begun = time.perf_counter()
            threads.map(multiply, feature_blocks(X.shape[1]), float("inf"))
            seconds += time.perf_counter() - begun
    return {"seconds": seconds, "n_entries": int(X.nnz)}


def alone(function: Any, *args: Any) -> dict[str, Any]:
    """Return what a function gives in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result: dict[str, Any] = pool.apply(function, args)
    return result


def main() -> None:
    """Make the file, measure, and print a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where the file is made, and removed")
    parser.add_argument("--fraction", type=float, default=1.0, help="fraction of the cells")
    parser.add_argument("--memory", type=float, default=256, help="memory budget in MB")
    parser.add_argument("--n-components", type=int, help="number of components; supervised ones only by default")
    args = parser.parse_args()
    if args.folder is None:
        for case in ((100, 0.5, 0.5), (50, 0.5, 0.5), (20, 0.5, 0.5), (20, 0.1, 0.1), (50, 0.02, 0.1)):
            print(json.dumps(count_components(*case)), flush=True)
        return
    path = args.folder / "cells.h5ad"
    try:
        make_file(path, round(CELLS * args.fraction), GENES)
        found = alone(fit, str(path), args.memory * 2**20, args.n_components)
        bound = alone(bare_product, str(path))
    finally:
        path.unlink(missing_ok=True)
    found |= {"bound_seconds": bound["seconds"], "n_entries": bound["n_entries"]}
    print(json.dumps(found | {"fraction_of_bound": bound["seconds"] / found["seconds"]}))


if __name__ == "__main__":
    main()
