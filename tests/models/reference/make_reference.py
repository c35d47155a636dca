"""Make the reference posteriors beside this file with long runs of Stan: ``python make_reference.py [name ...]``.

Needs pystan and arviz-stats, and for the real data ISPCA_DATA. CI reads the results and needs neither. Each file
holds for every name in ``names`` its mean, sd and quantiles, the Monte-Carlo standard errors of these
(``mcse_...``), the rank-normalized bulk ESS and R-hat; then the number of divergences, the settings (``about``,
JSON), and a fingerprint of the inputs.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from pathlib import Path

import arviz_stats
import numpy as np
import stan
from arviz_stats.base import array_stats
from quantities import quantities
from run_stan import run_stan

from problems import fingerprint, problem, tau0

HERE = Path(__file__).parent
PROBS = (0.05, 0.5, 0.95)
USUAL = {"n_chains": 4, "n_warmup": 2000, "n_draws": 30000, "delta": 0.95, "seed": 2}
COUNTS = USUAL | {"n_warmup": 1000, "n_draws": 3000, "delta": 0.99}  # deep funnels
SETTINGS = {
    "sim-logistic": USUAL,
    "sim-softmax": USUAL,
    "sim-gaussian": USUAL | {"delta": 0.99},  # divergences at 0.95
    "leukemia": USUAL,
    "prostate": USUAL,
    "glioma-4c": USUAL | {"n_draws": 10000, "delta": 0.99, "seed": 1},
    "pcmac": USUAL | {"n_warmup": 1000, "n_draws": 5000, "delta": 0.9, "seed": 1},  # slow: n = 1943
    "sim-poisson": USUAL | {"n_draws": 10000, "delta": 0.99},
    "blog-poisson": COUNTS | {"n_draws": 1000},  # slow: trees of the greatest depth
    "sim-negative-binomial": COUNTS,
    "blog-negative-binomial": COUNTS,
    "sim-cox": USUAL | {"n_draws": 10000, "delta": 0.99},
    "beer-cox": USUAL | {"n_draws": 10000, "delta": 0.99},
    "sim-ordinal": USUAL | {"n_warmup": 1000, "n_draws": 5000},
    "riboflavin-ordinal": USUAL | {"n_warmup": 1000, "n_draws": 5000},
}


def summarize(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the summaries of all quantities, one array each."""
    rows = []
    for values in found.values():
        row = {
            "mean": values.mean(),
            "sd": values.std(ddof=1),
            "mcse_mean": array_stats.mcse(values, method="mean"),
            "mcse_sd": array_stats.mcse(values, method="sd"),
            "ess_bulk": array_stats.ess(values, method="bulk"),
            "ess_tail": array_stats.ess(values, method="tail", prob=(0.05, 0.95)),
            "rhat": array_stats.rhat(values),
        }
        for prob in PROBS:
            row[f"q{100 * prob:02.0f}"] = np.quantile(values, prob)
            row[f"mcse_q{100 * prob:02.0f}"] = array_stats.mcse(values, method="quantile", prob=prob)
        rows.append(row)
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def make(name: str) -> None:
    """Run Stan on one problem and write its file."""
    given = problem(name)
    settings = SETTINGS[name]
    started = time.perf_counter()
    draws, report = run_stan(given, **settings)
    found = quantities(draws, given)
    summaries = summarize(found)
    versions = {"stan": "2.35.0", "pystan": stan.__version__, "arviz-stats": arviz_stats.__version__}
    about = {
        "model": given.model,
        "tau0": tau0(given),
        **settings,
        **report,
        "numpy": np.__version__,
        "python": platform.python_version(),
        **versions,
    }
    np.savez_compressed(
        HERE / f"{name}.npz",
        names=np.array(list(found)),
        **summaries,
        divergences=report["divergences"],
        fingerprint=fingerprint(given.Z),
        about=json.dumps(about),
    )
    rhat, ess, tail = summaries["rhat"], summaries["ess_bulk"], summaries["ess_tail"]
    low = np.argsort(ess)[:3]
    print(
        f"{name}: {report['cpu_seconds']:.0f} s CPU, {time.perf_counter() - started:.0f} s in all, "
        f"R-hat at most {rhat.max():.4f}, bulk ESS {ess.min():.0f} to {ess.max():.0f} (least: "
        f"{', '.join(f'{list(found)[i]} {ess[i]:.0f}' for i in low)}), tail ESS from {tail.min():.0f}, "
        f"{report['divergences']} divergences, {report['deepest_trees']} trees at the limit, "
        f"{report['gradients']} gradients",
        flush=True,
    )


if __name__ == "__main__":
    for requested in sys.argv[1:] or SETTINGS:
        make(requested)
