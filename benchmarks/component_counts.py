"""How many components for several classes, and whether the recommended ISPCA should shrink its scores.

    python -m benchmarks.component_counts --out DIR [--splits 4] [--sets NAME ...]

Fixed before the first run:

- Data: the class sets of benchmarks/predictions.py, 4 splits with a stratified fifth held out, the same for
  everything; 2 splits of the texts. The reduction is the stack's cross-fitted ISPCA with 50 components and
  shrunken scores; a model with fewer components learns from the first ones. The model is the horseshoe with 2
  chains of 300 warm-up and 300 posterior draws, whether or not they converge.
- Measure: mean log predictive density of the held-out samples, averaged over splits and then over sets.
- Rules for three or more classes, with n training samples: 20, the paper's; ``min(50, n // d)`` for d = 2, 3, 4
  and 5; ``min(50, max(20, n // d))`` for d = 2, 3, 4. For comparison only: 10, 30 and 50 components whatever n is.
- Decision: development sets are every second one with at least three classes in alphabetical order, from the
  first; the others confirm. The rule that is best on the development sets replaces 20 if it is at least 0.01
  better than 20 there and not worse on the confirmation sets.
- Shrunken scores are recommended if they are not worse on average over all sets, with 50 components for two
  classes and the number of the rule above for more.

Everything that was finished is read from DIR. About 3 minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from benchmarks.prediction_rules import SETS, TEXT
from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import load
from ispca.stacking.candidates import HONEST, MIXTURE_PERMUTATIONS

CHAINS: dict[str, Any] = {"n_chains": 2, "n_warmup": 300, "n_draws": 300, "retry": False, "n_jobs": 1}
MOST = 50
PAPER = "20"
# The number of components for n training samples.
RULES = {PAPER: lambda n: 20}
RULES |= {f"min(50, n // {d})": lambda n, d=d: min(MOST, n // d) for d in (2, 3, 4, 5)}
RULES |= {f"min(50, max(20, n // {d}))": lambda n, d=d: min(MOST, max(20, n // d)) for d in (2, 3, 4)}
CONSTANTS = {str(count): lambda n, count=count: count for count in (10, 30, 50)}
SMALLEST_GAIN = 0.01
SCORES = ("shrunken", "plain")

# Mean log density by scores and number of components, for each split; with the number of training samples.
Split = dict[str, Any]


def split_densities(X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray, seed: int) -> Split:
    """Return the mean log density for every number of components, with shrunken and with plain scores."""
    options = HONEST | {"n_permutations": MIXTURE_PERMUTATIONS, "shrink_scores": True}
    reduction = ISPCA(MOST, whiten=True, random_state=seed, **options)
    shrunken, new = reduction.fit_transform(X[train], y[train]), reduction.transform(X[test])
    scores = {"shrunken": shrunken, "plain": shrunken / reduction.score_shrinkage_}
    counts = {MOST}
    if len(np.unique(y)) > 2:
        counts = {rule(len(train)) for rule in (RULES | CONSTANTS).values()}
    found: Split = {"n": len(train)}
    for name, Z in scores.items():
        for count in sorted(counts):
            model = HorseshoeClassifier(**CHAINS, random_state=seed).fit(Z[:, :count], y[train])
            probabilities = model.predict_proba(new[:, :count])
            observed = np.searchsorted(model.classes_, y[test])
            found[f"{name} {count}"] = float(np.log(probabilities[np.arange(len(test)), observed]).mean())
    return found


def run_set(name: str, n_splits: int, out: Path) -> list[Split]:
    """Return the densities of all splits of a set; finished ones are read from their files."""
    data = load(name)
    X, y = data.data, np.asarray(data.target)
    splitter = StratifiedShuffleSplit(n_splits, test_size=0.2, random_state=1)
    found = []
    for number, (train, test) in enumerate(splitter.split(np.zeros(len(y)), y)):
        path = out / f"{name}-{number}.json"
        if not path.is_file():
            path.write_text(json.dumps(split_densities(X, y, train, test, number)))
            print(f"{path.stem} done", flush=True)
        found.append(json.loads(path.read_text()))
    return found


def mean_density(splits: list[Split], rule: Any, scores: str = "shrunken") -> float:
    """Return the mean over the splits with the numbers of components of a rule."""
    return float(np.mean([split[f"{scores} {rule(split['n'])}"] for split in splits]))


def rule_table(results: dict[str, list[Split]]) -> str:
    """Return a Markdown table of rules by sets, with means of both halves, and the decision."""
    halves = {"development": sorted(results)[::2], "confirmation": sorted(results)[1::2]}
    names = [*halves["development"], *halves["confirmation"]]
    lines = [f"| components | {' | '.join([*names, *halves])} |", "|---" * (len(names) + 3) + "|"]
    means: dict[str, dict[str, float]] = {}
    for name, rule in (RULES | CONSTANTS).items():
        values = {key: mean_density(results[key], rule) for key in names}
        means[name] = {half: float(np.mean([values[key] for key in of])) for half, of in halves.items()}
        cells = [*values.values(), *means[name].values()]
        lines.append(f"| {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")
    best = max((name for name in RULES if name != PAPER), key=lambda name: means[name]["development"])
    gains = {half: means[best][half] - means[PAPER][half] for half in halves}
    adopted = gains["development"] >= SMALLEST_GAIN and gains["confirmation"] >= 0
    words = ", ".join(f"{gain:+.4f} ({half})" for half, gain in gains.items())
    return "\n".join([*lines, "", f"Best rule: {best}, {words}: **{'adopted' if adopted else 'not adopted'}**"])


def shrinkage_table(results: dict[str, list[Split]], rule: Any) -> str:
    """Return a Markdown table of plain and shrunken scores by set; ``rule`` is that for three or more classes."""
    lines = ["| set | plain | shrunken | gain |", "|---" * 4 + "|"]
    rows = []
    for name, splits in results.items():
        of = rule if f"plain {RULES[PAPER](0)}" in splits[0] else CONSTANTS[str(MOST)]
        rows.append([mean_density(splits, of, scores) for scores in reversed(SCORES)])
        lines.append(f"| {name} | {rows[-1][0]:.3f} | {rows[-1][1]:.3f} | {rows[-1][1] - rows[-1][0]:+.3f} |")
    mean = np.mean(rows, axis=0)
    return "\n".join([*lines, f"| mean | {mean[0]:.3f} | {mean[1]:.3f} | {mean[1] - mean[0]:+.4f} |"])


def main() -> None:
    """Fit what is left to do, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the finished splits")
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="NAME")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    results = {}
    with threadpool_limits(1), joblib.parallel_config(backend="sequential"):
        for name in options.sets:
            results[name] = run_set(name, options.splits // 2 if name in TEXT else options.splits, options.out)
    many = {name: of for name, of in results.items() if f"plain {RULES[PAPER](0)}" in of[0]}
    print(rule_table(many), "\n")
    print(shrinkage_table(results, RULES[PAPER]))


if __name__ == "__main__":
    main()
