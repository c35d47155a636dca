"""The harness that reads mutated files finds every kind of failure, and a seed always makes the same files."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# The harness runs in processes of its own: it limits threads and memory for the whole process.
ROOT = Path(__file__).parents[1]
# A campaign of 40 files in two children; the planted fault shows itself at file 7 only.
SCRIPT = """
import os, sys, time, ctypes
from pathlib import Path
from fuzz.campaign import Limits, Plan, run_campaign
from fuzz.cases import Case

class Documented(Exception):
    pass

def crash():
    ctypes.string_at(0)

def abort():
    os.abort()

def leave():
    os._exit(9)

def hog():
    bytearray(3 * 10**9)

def hidden_hog():
    try:
        bytearray(3 * 10**9)
    except MemoryError:
        raise Documented from None

def wrong_error():
    raise KeyError("x")

def panic():
    raise BaseException("as polars does")

def busy():
    while True:
        pass

def wait():
    time.sleep(1000)

def fine():
    raise Documented

def examine(path, case):
    assert path.read_bytes() == b"content"
    if case.number == 7:
        globals()[sys.argv[1]]()

def documented(error):
    from fuzz.examine import lacks_memory
    return isinstance(error, Documented) and not lacks_memory(error)

def summarize(error):
    from fuzz.examine import summary
    return summary(error)

plan = Plan(lambda number: Case(number, "planted", ".csv", b"content"), examine, documented, summarize)
limits = Limits(seconds=60, files=40, memory=10**9, seconds_per_file=1)
outcome = run_campaign(plan, limits, 2, Path(sys.argv[2]))
print(outcome.n_files, dict(outcome.failures), [(number, path.name) for _, number, path in outcome.kept])
"""
FAULTS = {
    "crash": "killed by signal 11 (SIGSEGV)",
    "abort": "killed by signal 6 (SIGABRT)",
    "leave": "exited with code 9",
    "hog": "MemoryError",
    "hidden_hog": "Documented after MemoryError",
    "wrong_error": "KeyError at",
    "panic": "BaseException at",
    "busy": "took too long",
    "wait": "took too long",
}


def run(*arguments, **options):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, **options
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_and_its_file_kept(fault, tmp_path):
    code, text = run("-c", SCRIPT, fault, str(tmp_path / "kept"))
    assert code == 0, text
    # The file that failed is counted, and the others are read all the same.
    assert text.startswith("40 {"), text
    assert FAULTS[fault] in text
    assert "[(7, '7.csv')]" in text
    assert (tmp_path / "kept" / "7.csv").read_bytes() == b"content"
    assert FAULTS[fault] in (tmp_path / "kept" / "7.csv.log").read_text()


def test_documented_errors_are_no_failures(tmp_path):
    assert run("-c", SCRIPT, "fine", str(tmp_path / "kept")) == (0, "40 {} []\n")
    assert not (tmp_path / "kept").exists()


def test_the_same_seed_makes_the_same_files():
    script = """
import hashlib
from fuzz.cases import KINDS, make_case
from fuzz.seeds import make_seeds
seeds = make_seeds(KINDS)
for seed in (5, 6):
    digest = hashlib.sha256()
    for number in range(200):
        case = make_case(seed, number, seeds, KINDS)
        digest.update(f"{case.kind} {case.options}".encode() + case.content)
    print(digest.hexdigest())
"""
    (code, first), again = run("-c", script), run("-c", script)
    assert (code, first) == again
    assert code == 0
    assert len(set(first.split())) == 2


def test_every_kind_of_file_is_made_and_every_valid_one_accepted(tmp_path):
    script = """
import sys
from pathlib import Path
from ispca.foundation.data_files import READABLE
from fuzz.cases import KINDS, Case
from fuzz.examine import examine
from fuzz.seeds import make_seeds
seeds = make_seeds(KINDS)
assert {seed.suffix for some in seeds.values() for seed in some} >= {*READABLE, ".csv.gz", ".ispca"}
for kind, some in seeds.items():
    for seed in some:
        # The one Parquet file that must not be read is the large one.
        if kind == "parquet" and "target" not in seed.options:
            continue
        path = Path(sys.argv[1], "file" + seed.suffix)
        path.write_bytes(seed.content)
        options = seed.options if kind == "model" else seed.options | {"missing": "mean"}
        examine(path, Case(0, kind, seed.suffix, seed.content, options))
print("all accepted")
"""
    assert run("-c", script, str(tmp_path)) == (0, "all accepted\n")


def test_the_command_tells_how_to_repeat_a_failure(tmp_path):
    planted = """
import sys
from fuzz import __main__, examine
def fail(path, case):
    if case.number in (4, 9):
        raise KeyError("planted")
__main__.examine = fail
sys.exit(__main__.main())
"""
    arguments = ["--kinds", "csv", "--files", "20", "--seed", "3", "--keep", str(tmp_path / "kept")]
    code, text = run("-c", planted, *arguments)
    assert code == 1, text
    assert "20 files in" in text
    assert "2 x csv: KeyError at" in text
    assert "python -m fuzz --seed 3 --kinds csv --only 4" in text
    code, text = run("-c", planted, "--seed", "3", "--kinds", "csv", "--only", "4")
    assert code == 1
    assert "KeyError: 'planted'" in text
    assert f"{(tmp_path / 'kept' / '4.csv').stat().st_size} bytes" in text
