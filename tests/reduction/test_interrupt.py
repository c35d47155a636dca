"""Ctrl-C stops a long fit within a second."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.slow

LONG_FITS = {
    "the paper's test": "ISPCA(n_permutations=10**6, alpha=1.0, random_state=0).fit(X, y)",
    "the residual test": "ISPCA(n_permutations=10**6, alpha=1.0, test='residual', random_state=0).fit(X, y)",
    "SPCA": "SPCA(n_permutations=10**6, alpha=1.0, random_state=0).fit(X, y)",
    "score_test": "score_test(X, y, n_permutations=10**6, statistic='kendall', random_state=0)",
    "sparse": "ISPCA(n_permutations=10**6, alpha=1.0, random_state=0).fit(sp.csr_array(X * (X > 1)), y)",
}


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to another process on Windows")
@pytest.mark.parametrize("call", LONG_FITS.values(), ids=LONG_FITS.keys())
def test_ctrl_c_stops_within_a_second(call):
    program = textwrap.dedent(f"""
        import time
        import numpy as np, scipy.sparse as sp
        from ispca import ISPCA, SPCA, score_test
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(300, 20000)), np.arange(300) % 2
        X[:, 0] += 3 * y
        print("begun", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            print("stopped", flush=True)
        else:
            print("finished", flush=True)
    """)
    # A busy machine may delay any one signal: the best of three tries counts.
    assert any(_seconds_to_stop(program) < 1.0 for _ in range(3))


def _seconds_to_stop(program):
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            sent = time.perf_counter()
            assert process.stdout.readline() == "stopped\n"
            seconds = time.perf_counter() - sent
            # Nor does a thread go on working.
            process.wait(timeout=20)
            return seconds
        finally:
            process.kill()
