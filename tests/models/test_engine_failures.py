"""What goes wrong around the engine: no threads, no memory, Ctrl-C, the end of Python, bytes from anywhere."""

import os
import resource
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from ispca.foundation.extras import load_engine

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
        timeout=300,
        **({"preexec_fn": large_stacks} | options),
    )


@pytest.mark.grid(3)
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


@pytest.mark.slow
@pytest.mark.grid(3)
@linux
@pytest.mark.parametrize(
    "call",
    [
        "sample(20, 3, n_draws=10**7)",
        "sample(5001, 5000, 'gaussian', n_draws=1)",
        "sample(20, 4000, sampler='blocked', n_chains=2, n_threads=2, n_draws=1)",
        "engine.lasso_path('gaussian', np.ones((1, 9)), np.full(9, 1 / 9), X=np.eye(9), lambdas=[1.0] * 10**7)",
    ],
    ids=["draws", "gram", "thread", "lasso"],
)
def test_too_little_memory_is_a_memory_error(call):
    code = f"allow(350e6)\ntry:\n    {call}\nexcept MemoryError:\n    print('MemoryError')\n"
    result = run(code, preexec_fn=None)
    assert result.stdout.strip() == "MemoryError", result.stderr


@pytest.mark.parametrize("n_draws", [2**61, 2**62, 2**63 - 1])
def test_sizes_that_overflow_are_a_memory_error(n_draws):
    with pytest.raises(MemoryError):
        engine.sample("logistic", np.eye(8), np.arange(8.0) % 2, tau0=0.1, n_warmup=0, n_draws=n_draws)


@pytest.mark.slow
@pytest.mark.grid(3)
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


# Samples, features, and settings; one step of each takes 5 CPU seconds or far more.
SLOW = {
    "gram": (3100, 3000, "engine.sample('gaussian', X, X[:, 0].copy(), tau0=0.1, sampler='blocked', n_chains=1)"),
    "wide": (1000, 3000, "engine.sample('gaussian', X, X[:, 0].copy(), tau0=0.1, sampler='blocked', n_chains=1)"),
    "curvature": (20_000, 1500, "engine.sample('logistic', X, y, tau0=0.1, sampler='blocked', n_chains=1)"),
    "lasso": (
        4000,
        1500,
        "engine.lasso_path('binomial', y[None, :1500], np.ones(1500) / 1500, X=X, lambdas=[1e-4])",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k", "call"), SLOW.values(), ids=list(SLOW))
def test_an_interrupt_is_heard_within_an_iteration(n, k, call):
    # CPU time, so that a busy machine does not matter.
    code = f"""
import os, signal
X = rng.normal(size=({n}, {k})) + rng.normal(size={k})
y = (rng.normal(size={n}) > 0).astype(float)
sent = []
def interrupt():
    time.sleep(2)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print(time.process_time() - sent[0])
"""
    result = run(code, preexec_fn=None)
    assert float(result.stdout) < 2, result.stderr


def state_of(**settings):
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20.0) % 2
    options = {"tau0": 0.1, "n_chains": 1, "n_warmup": 20, "n_draws": 5, **settings}
    return lambda state=None: engine.sample("logistic", X, y, state=state, **options)


@pytest.mark.parametrize(
    ("shape", "settings", "message"),
    [
        ((0, 5), {}, "at least one"),
        ((5, 0), {}, "at least one"),
        ((5, 5), {"tolerance": np.nan}, "tolerance"),
        ((5, 5), {"tolerance": 0.0}, "tolerance"),
        ((5, 5), {"lambdas": [0.1, np.nan]}, "lambdas"),
        ((5, 5), {"lambdas": [-1.0]}, "lambdas"),
    ],
)
def test_a_lasso_without_data_or_with_odd_settings_is_refused(shape, settings, message):
    n = shape[1]
    with pytest.raises(ValueError, match=message):
        engine.lasso_path("gaussian", np.ones((1, n)), np.ones(n), X=np.ones(shape), **settings)


HEADER, RANDOM, STEP = 7, 4, 1


@pytest.mark.parametrize("sampler", ["nuts", "blocked"])
@pytest.mark.parametrize(
    ("where", "number"),
    [
        (slice(HEADER, HEADER + RANDOM), 0.0),  # a stream of zeros, in which a normal is never found
        (HEADER + RANDOM, np.inf),
        (HEADER + RANDOM + STEP, np.nan),
        (HEADER + RANDOM + STEP + 9, np.inf),  # inside the position, and after it the metric
        (-1, 0.0),
        (-1, -1.0),
        (-1, np.nan),
    ],
)
def test_a_state_that_no_chain_leaves_is_refused(sampler, where, number):
    sample = state_of(sampler=sampler)
    numbers = np.frombuffer(sample()["state"]).copy()
    numbers[where] = number
    with pytest.raises(ValueError, match="state holds"):
        sample(numbers.tobytes())


def test_a_state_that_claims_too_many_chains_is_refused():
    sample = state_of()
    for chains in (0, 2, 2**32, 2**61, 2**64 - 1):
        words = np.frombuffer(sample()["state"], dtype=np.uint64).copy()
        words[HEADER - 1] = chains
        with pytest.raises(ValueError, match="wrong length"):
            sample(words.tobytes())


@pytest.mark.slow
def test_the_reduction_works_without_the_engine():
    program = textwrap.dedent("""
        import sys

        class Refuse:
            def find_spec(self, name, path=None, target=None):
                if name == "ispca._engine":
                    raise ModuleNotFoundError("No module named 'ispca._engine'", name=name)

        sys.meta_path.insert(0, Refuse())
        import numpy as np
        from ispca import ISPCA, HorseshoeClassifier, HorseshoeRegressor, original_coefficients

        rng = np.random.default_rng(0)
        X = rng.normal(size=(30, 50)); y = (X[:, :5].sum(axis=1) > 0).astype(int)
        Z = ISPCA(3, random_state=0).fit_transform(X, y)
        assert Z.shape == (30, 3)
        for estimator in (HorseshoeClassifier(), HorseshoeRegressor()):
            try:
                estimator.fit(Z, y)
            except ImportError as error:
                print(error)
    """)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    messages = run.stdout.splitlines()
    assert len(messages) == 2
    for message in messages:
        assert "compiled engine" in message
        assert "compiler" in message
        assert "pip install" in message
