"""Run a fuzzing campaign: ``python -m fuzz --seconds 60 --seed 0``."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from .campaign import Limits, Outcome, Plan, run_campaign
from .cases import KINDS, Case, make_case
from .examine import examine, is_documented, summary
from .seeds import Seed, make_seeds


def main() -> int:
    """Run the campaign, or one case of it; return 1 if a file failed."""
    args = _arguments()
    # Python warns about forking with threads; the threads that libraries start here are idle.
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
    seeds = _seeds_from_a_child(args.kinds)
    plan = Plan(
        lambda number: make_case(args.seed, number, seeds, args.kinds),
        examine,
        is_documented,
        summary,
        _warm_up(seeds),
    )
    if args.only is not None:
        return _run_one(plan, args.only)
    limits = Limits(args.seconds, args.files)
    began = time.monotonic()
    outcome = run_campaign(plan, limits, args.jobs, args.keep)
    return _report(outcome, time.monotonic() - began, args)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="duration of the campaign (default: 60)")
    parser.add_argument("--files", type=int, help="stop after this many files (default: when time is up)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sequence of files (default: 0)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="kinds of files")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="run only this file, in this process")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of parallel child processes")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz-files"), help="folder for failing files")
    return parser.parse_args()


def _seeds_from_a_child(kinds: list[str]) -> dict[str, list[Seed]]:
    """Create the seeds in a separate process, so that no library starts threads in the parent."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(make_seeds(kinds), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    os.waitpid(pid, 0)
    seeds: dict[str, list[Seed]] = pickle.loads(content)
    return seeds


def _warm_up(seeds: dict[str, list[Seed]]) -> Callable[[Path], None]:
    """Return a function that reads a valid file of every kind, which loads all modules in a child."""

    def warm_up(folder: Path) -> None:
        for kind, some in seeds.items():
            path = folder / f"seed{some[0].suffix}"
            path.write_bytes(some[0].content)
            examine(path, Case(-1, kind, some[0].suffix, some[0].content, some[0].options))
            path.unlink()

    return warm_up


def _run_one(plan: Plan, number: int) -> int:
    case = plan.make(number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{number}{case.suffix}"
        path.write_bytes(case.content)
        print(f"{path.name}: {len(case.content)} bytes, options {case.options}", flush=True)
        try:
            plan.examine(path, case)
        except BaseException as error:
            if not plan.documented(error):
                raise
            print(f"refused as documented: {error}")
        else:
            print("accepted")
    return 0


def _report(outcome: Outcome, seconds: float, args: argparse.Namespace) -> int:
    rate = 60 * outcome.n_files / max(seconds, 1e-9)
    print(
        f"{outcome.n_files} files in {seconds:.0f} s ({rate:.0f} per minute), {outcome.failures.total()} failed."
    )
    kinds = "" if args.kinds == list(KINDS) else " --kinds " + " ".join(args.kinds)
    for line, often in outcome.failures.most_common():
        print(f"\n{often} x {line}")
        for _, number, path in [kept for kept in outcome.kept if kept[0] == line]:
            print(f"  {path}\n    python -m fuzz --seed {args.seed}{kinds} --only {number}")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
