"""What goes wrong around the engine: no threads, no memory, Ctrl-C, the end of Python, bytes from anywhere."""

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from ispca.models.engine import load_engine

engine = load_engine()
STACK = 2**30
PROBLEM = """
import resource, sys, threading, time
import numpy as np
import ispca._engine as engine
rng = np.random.default_rng(0)
def allow(more):
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + int(more), resource.RLIM_INFINITY))
def sample(n, k, model="logistic", **settings):
    X = rng.normal(size=(n, k))
    y = X[:, 0] if model == "gaussian" else (X[:, 0] > 0).astype(float)
    return engine.sample(model, X, y, **{"tau0": 0.1, "seed": 1, **settings})
"""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory by /proc and RLIMIT_AS")


def run(code, **options):
    """Run code in a process whose threads ask for a stack of 1 GiB each: few of them fit below a limit."""

    def large_stacks():
        resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", PROBLEM + code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        **({"preexec_fn": large_stacks} | options),
    )


@linux
@pytest.mark.parametrize(("stacks", "threads"), [(0.25, 0), (1.25, 1), (2.25, 2)])
def test_fewer_threads_than_asked_for_give_the_same_draws(stacks, threads):
    code = f"""
expected = sample(50, 5, n_chains=4, n_threads=1)["coef"]
rng = np.random.default_rng(0)
allow({stacks * STACK})
started = []
try:
    while True:
        started.append(threading.Thread(target=time.sleep, args=(1,), daemon=True))
        started[-1].start()
except RuntimeError:
    print(len(started) - 1, "threads")
for thread in started[:-1]:
    thread.join()
print(np.array_equal(sample(50, 5, n_chains=4, n_threads=4)["coef"], expected))
"""
    result = run(code)
    assert result.stdout.split("\n")[:2] == [f"{threads} threads", "True"], result.stderr


@linux
def test_an_interrupt_is_heard_without_threads():
    code = f"""
import os, signal
allow({0.25 * STACK})
signal.setitimer(signal.ITIMER_REAL, 0.5)
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
try:
    sample(500, 50, n_draws=5000)
except KeyboardInterrupt:
    print("stopped")
"""
    assert run(code).stdout.strip() == "stopped"


@linux
@pytest.mark.parametrize(
    "call",
    [
        "sample(20, 3, n_draws=10**9)",
        "sample(20, 3000, 'gaussian', n_draws=1)",
        "sample(3001, 3000, 'gaussian', n_draws=1)",
        "sample(20, 3000, sampler='blocked', n_chains=2, n_threads=2, n_draws=1)",
        "engine.lasso_path('gaussian', np.ones((1, 9)), np.full(9, 1 / 9), X=np.ones((9, 9)), lambdas=[1.0] * 10**7)",
    ],
)
def test_too_little_memory_is_a_memory_error(call):
    # Threads fit; the arrays of the problem do not.
    prepare = "big = rng.normal\nallow(150e6)\n" if "lasso" in call else "allow(220e6)\n"
    result = run(f"{prepare}try:\n    {call}\nexcept MemoryError:\n    print('MemoryError')\n", preexec_fn=None)
    assert result.returncode == 0, result.stderr
    if "20, 3000, 'gaussian'" not in call:  # needs no matrix of 3000 x 3000 any more
        assert result.stdout.strip() == "MemoryError"


@pytest.mark.parametrize("n_draws", [2**61, 2**62, 2**63 - 1])
def test_sizes_that_overflow_are_a_memory_error(n_draws):
    with pytest.raises(MemoryError):
        engine.sample("logistic", np.eye(8), np.arange(8.0) % 2, tau0=0.1, n_warmup=0, n_draws=n_draws)


@pytest.mark.parametrize("n_draws", ["10**6", "1"])
def test_a_daemon_thread_does_not_break_the_end_of_python(n_draws):
    code = f"""
def work():
    while True:
        sample(500, 50, n_chains=1, n_warmup=1, n_draws={n_draws})
threading.Thread(target=work, daemon=True).start()
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)
sys.slow = Slow()
time.sleep(0.3)
"""
    result = run(code, preexec_fn=None)
    assert result.returncode == 0, result.stderr


SLOW = {
    "blocked": "sample(3100, 3000, 'gaussian', sampler='blocked', n_chains=1)",
    "wide": "sample(1500, 3000, 'gaussian', sampler='blocked', n_chains=1)",
    "gram": "sample(100_000, 2000, 'gaussian', n_chains=1)",
    "curvature": "sample(100_000, 1000, sampler='blocked', n_chains=1)",
    "nuts": "sample(100_000, 500, n_chains=1, max_treedepth=20)",
    "lasso": "engine.lasso_path('gaussian', rng.normal(size=(1, 2000)), np.full(2000, 1 / 2000), "
    "X=rng.normal(size=(6000, 2000)), lambdas=[1e-4])",
}
