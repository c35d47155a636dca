"""Run Stan (PyPI: pystan) on one core, with its CPU time measured."""

from __future__ import annotations

import concurrent.futures
import contextlib
import io
import multiprocessing
import time
from pathlib import Path

import httpstan.services_stub
import numpy as np
import stan
from quantities import EXTRA, WITH_INTERCEPT

from problems import Problem, tau0

HERE = Path(__file__).parent
# pystan hands its chains to this pool. One worker runs them one after another and can tell its CPU time.
WORKER = concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork"))
httpstan.services_stub.executor = WORKER


def run_stan(
    problem: Problem,
    *,
    seed: int,
    n_chains: int = 4,
    n_warmup: int = 1000,
    n_draws: int = 1000,
    delta: float = 0.8,
    max_depth: int = 10,
) -> tuple[dict, dict]:
    """Return the draws (see ``quantities``) and a report: CPU seconds, those of compiling, divergences."""
    program = (HERE / f"{problem.model}.stan").read_text()
    started = time.perf_counter()
    build(program, stan_data(problem), seed)
    report = {"compile_seconds": time.perf_counter() - started}
    before = WORKER.submit(time.process_time).result()
    chains = []
    for chain in range(n_chains):
        model = build(program, stan_data(problem), 1000 * seed + chain + 1)
        with contextlib.redirect_stderr(io.StringIO()):
            fit = model.sample(
                num_chains=1, num_warmup=n_warmup, num_samples=n_draws, delta=delta, max_depth=max_depth
            )
        chains.append(read_chain(fit, problem.model))
    report["cpu_seconds"] = WORKER.submit(time.process_time).result() - before
    draws = {name: np.stack([chain[name] for chain in chains]) for name in chains[0]}
    report["divergences"] = int(draws.pop("divergent").sum())
    report["deepest_trees"] = int((draws.pop("depth") >= max_depth).sum())
    report["gradients"] = int(draws.pop("leapfrogs").sum())
    return draws, report


def build(program: str, data: dict, seed: int):
    """Compile the program (once: pystan keeps it) and bind data to it, without the messages."""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        return stan.build(program, data=data, random_seed=seed)


def stan_data(problem: Problem) -> dict:
    """Return the data block: the paper's prior, and a number to keep pystan from giving an earlier fit."""
    n, K = problem.Z.shape
    prior = {"tau0": tau0(problem), "slab_df": 4, "slab_scale": 5, "intercept_scale": 10}
    data = {"n": n, "K": K, "Z": problem.Z, "y": problem.y, **prior, "unused": time.time_ns() % 2**31}
    for name, given, usual in (
        ("weight", problem.weights, np.ones(n)),
        ("shift", problem.offset, np.zeros(n)),
        ("fixed_scale", problem.fixed_scale, np.zeros(K)),
    ):
        data[name] = usual if given is None else given
    if problem.model == "cox":
        return data | survival_data(problem, data["shift"])
    return data | {"H": problem.n_classes, "y": problem.y + 1} if problem.n_classes > 2 else data


def survival_data(problem: Problem, shift: np.ndarray) -> dict:
    """Return the data sorted by falling time, events last among equal times, and the groups of tied events."""
    event, time_ = problem.y["event"], problem.y["time"]
    order = np.lexsort((event, -time_))
    event, time_ = event[order], time_[order]
    times = -np.unique(-time_[event])  # from the latest to the first
    return {
        "Z": problem.Z[order],
        "shift": shift[order],
        "y": event.astype(int),
        "G": len(times),
        "last": [int(np.flatnonzero(time_ >= when)[-1]) + 1 for when in times],
        "deaths": [int(np.sum(event & (time_ == when))) for when in times],
    }


def read_chain(fit, model: str) -> dict[str, np.ndarray]:
    """Return one chain in the common form."""
    coef = fit["coef"].T  # draws x (H x) K
    found = {
        "coef": coef.reshape(len(coef), -1, coef.shape[-1]),
        "log_tau": np.log(fit["tau"][0]),
        "log_c2": np.log(fit["c2"][0]),
        "divergent": fit["divergent__"][0],
        "depth": fit["treedepth__"][0],
        "leapfrogs": fit["n_leapfrog__"][0],
    }
    if model in WITH_INTERCEPT:
        found["intercept"] = fit["intercept"].T.reshape(len(coef), -1)
    if model in EXTRA:
        extra = fit[EXTRA[model]].T
        found[EXTRA[model]] = extra if model == "ordinal" else extra[:, 0]
    return found
