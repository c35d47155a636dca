"""Simulation-based calibration of the samplers: ``python -m benchmarks.calibration`` (an hour, one core).

``--write docs/calibration.md`` turns the table into a page; ``--count 100`` makes it short.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy

import ispca
from ispca.foundation.extras import load_engine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from rank_statistics import N_CHAINS, N_KEPT, rank_one, simulate, uniformity

N_BINS = 20
N_WARMUP = 1000
# Of about 100 histograms of an exact sampler, one in ten tables holds one below this.
SMALLEST_P = 0.001


@dataclass(frozen=True)
class Setting:
    """One row of the table: thinned so that the kept draws are nearly independent."""

    model: str
    sampler: str
    target_accept: float
    thin: int
    wide: bool = False
    prior: str = "horseshoe"

    @property
    def label(self) -> str:
        name = self.model if self.prior == "horseshoe" else f"{self.model}, {self.prior}"
        return f"{name}, K > n" if self.wide else name


SETTINGS = [
    Setting("logistic", "nuts", 0.9, 40),
    Setting("logistic", "blocked", 0.9, 120),
    Setting("softmax", "nuts", 0.9, 40),
    Setting("softmax", "blocked", 0.9, 240),
    Setting("gaussian", "nuts", 0.9, 40),
    Setting("gaussian", "nuts", 0.99, 40),
    Setting("gaussian", "blocked", 0.9, 40),
    Setting("gaussian", "blocked", 0.9, 120, wide=True),
    Setting("poisson", "nuts", 0.9, 40),
    Setting("poisson", "nuts", 0.99, 40),
    Setting("poisson", "blocked", 0.9, 120),
    Setting("negative_binomial", "nuts", 0.9, 40),
    Setting("cox", "nuts", 0.9, 40),
    Setting("ordinal", "nuts", 0.9, 40),
    Setting("logistic", "nuts", 0.9, 40, prior="ridge"),
    Setting("logistic", "blocked", 0.9, 120, prior="ridge"),
    Setting("softmax", "nuts", 0.9, 40, prior="ridge"),
    Setting("softmax", "blocked", 0.9, 240, prior="ridge"),
    Setting("gaussian", "nuts", 0.9, 40, prior="ridge"),
    Setting("gaussian", "blocked", 0.9, 40, prior="ridge"),
    Setting("gaussian", "blocked", 0.9, 120, wide=True, prior="ridge"),
]


@dataclass(frozen=True)
class Outcome:
    """Ranks of all quantities over the data sets, and how well the chains mixed."""

    setting: Setting
    ranks: dict[str, np.ndarray]
    correlated: float
    divergent: float
    troubled: float
    seconds: float

    def p_values(self) -> dict[str, float]:
        return {name: float(uniformity(ranks, N_BINS)[1]) for name, ranks in self.ranks.items()}

    def passes(self) -> bool:
        return min(self.p_values().values()) >= SMALLEST_P


def measure(setting: Setting, count: int) -> Outcome:
    start = time.perf_counter()
    ranks: dict[str, list[int]] = {}
    smallest, divergent = [], []
    for index in range(count):
        one, ess, share = rank_one(
            simulate(setting.model, index, setting.wide, setting.prior),
            setting.sampler,
            index,
            n_warmup=N_WARMUP,
            thin=setting.thin,
            target_accept=setting.target_accept,
        )
        for name, value in one.items():
            ranks.setdefault(name, []).append(value)
        smallest.append(min(ess.values()))
        divergent.append(share)
    return Outcome(
        setting,
        {name: np.array(values) for name, values in ranks.items()},
        float(np.mean(np.array(smallest) < N_KEPT)),
        float(np.mean(divergent)),
        float(np.mean(np.array(divergent) > 0.005)),
        time.perf_counter() - start,
    )


def sparkline(counts: np.ndarray) -> str:
    """Draw a histogram in text: a block of half height is what uniform ranks give."""
    blocks = "▁▂▃▄▅▆▇█"
    return "".join(blocks[min(7, int(4 * count / counts.mean()))] for count in counts)


def summary_table(outcomes: list[Outcome]) -> str:
    rows = [
        "| model | sampler | target | thin | smallest p (quantity) | divergent | data sets > 0.5% divergent "
        "| data sets with ESS < 99 | seconds | uniform |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        s, p = outcome.setting, outcome.p_values()
        worst = min(p, key=lambda name: p[name])
        rows.append(
            f"| {s.label} | {s.sampler} | {s.target_accept} | {s.thin} | {p[worst]:.4f} ({worst}) "
            f"| {outcome.divergent:.3%} | {outcome.troubled:.1%} | {outcome.correlated:.1%} "
            f"| {outcome.seconds:.0f} | {'yes' if outcome.passes() else '**no**'} |"
        )
    return "\n".join(rows)


def histogram_table(outcomes: list[Outcome]) -> str:
    rows = ["| model | sampler | target | quantity | p | ranks, 20 bins |", "|---|---|---|---|---|---|"]
    for outcome in outcomes:
        s = outcome.setting
        for name, ranks in outcome.ranks.items():
            counts, p = uniformity(ranks, N_BINS)
            rows.append(
                f"| {s.label} | {s.sampler} | {s.target_accept} | {name} | {p:.4f} | `{sparkline(counts)}` |"
            )
    return "\n".join(rows)


def page(outcomes: list[Outcome], count: int) -> str:
    p = np.concatenate([list(outcome.p_values().values()) for outcome in outcomes])
    failed = [f"{o.setting.label}/{o.setting.sampler}" for o in outcomes if not o.passes()]
    verdict = f"**Not uniform: {', '.join(failed)}.**" if failed else "**All rank histograms are uniform.**"
    return f"""# Calibration of the samplers

This page reports the simulation-based calibration of the posterior samplers. If a sampler is correct, and parameters are
drawn from the prior and data simulated from them, then the rank of each parameter among independent posterior draws is
uniformly distributed. The ranks come from {count} simulated data sets per model
(`python -m benchmarks.calibration --write docs/calibration.md`). A short version runs with the tests.

{verdict} Over all {len(p)} histograms, the smallest p is {p.min():.4f}; {np.mean(p < 0.05):.0%} are below 0.05 and
{np.mean(p < 0.5):.0%} are below 0.5.

{summary_table(outcomes)}

## How it was measured

- **Data**: 15 to 30 samples of 2 to 4 standard normal features (K > n: 4 to 8 samples of 9 to 12 features), with 2 classes
  (logistic) or 3 classes (softmax). The
  parameters are drawn from the prior: half-Cauchy tau and, under the horseshoe, half-Cauchy lambda and inverse-gamma slab
  (4 degrees of freedom, scale 5), and normal intercept (scale 10 in half of the data sets; scale 1.5 in the others, so that both classes are common). For the
  Gaussian model, sigma is half-Student-t with 3 degrees of freedom and scale 1.
- **Counts, survival times, ordered classes**: Poisson and negative-binomial counts use slab scale 0.5 and intercept scale 1,
  and the log dispersion is normal with scale 2; data with a count above 10,000 are replaced. The order of survival times
  follows the hazards, and after each event a random sample is censored with probability 0.3; there are no ties, for which
  Efron's likelihood is an approximation. The 3 thresholds between 4 ordered classes are normal with scale 2, in increasing
  order; data that lack a class are replaced. Replacement depends on the data alone, so the ranks remain uniform. No other
  data set is excluded, however extreme.
- **Sampling**: {N_CHAINS} chains with {N_WARMUP} warm-up draws each, thinned by the factor in the column "thin" to {N_KEPT} draws in total.
- **Test**: chi-square test of uniformity on rank histograms with {N_BINS} bins. A histogram counts as uniform if
  p >= {SMALLEST_P}. With an exact sampler and {len(p)} independent histograms, all would pass in about 9 of 10 such tables; the
  histograms of one model share their data sets.
- **ESS < 99**: percentage of data sets in which the bulk effective sample size of some quantity, over all draws, is smaller
  than the number of draws used. The estimators rerun data sets with more than 0.5% divergent draws at acceptance target
  0.99.
- **Versions**: {datetime.date.today()}, ispca {ispca.__version__}, Python {platform.python_version()}, NumPy {np.__version__},
  SciPy {scipy.__version__}, {load_engine().simd()} kernels, one core shared with other processes.

## Histograms

A bar of half height corresponds to the expected count of {count / N_BINS:g}.

{histogram_table(outcomes)}
"""  # noqa: E501


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="simulated data sets for each row")
    parser.add_argument("--model", choices=sorted({s.label for s in SETTINGS}), help="only the rows of this model")
    parser.add_argument("--write", type=Path, help="file for the page")
    arguments = parser.parse_args()
    outcomes = []
    for setting in SETTINGS:
        if arguments.model not in (None, setting.label):
            continue
        outcomes.append(measure(setting, arguments.count))
        print(summary_table(outcomes[-1:]).splitlines()[-1], flush=True)
    text = page(outcomes, arguments.count)
    print(text)
    if arguments.write:
        arguments.write.parent.mkdir(exist_ok=True)
        arguments.write.write_text(text)


if __name__ == "__main__":
    main()
