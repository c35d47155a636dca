"""Models fitted with each set of kernels: the answers agree up to rounding and Monte Carlo error."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ispca.foundation.extras import load_engine

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import numpy as np
from ispca.foundation.extras import load_engine
from ispca.models import HorseshoeClassifier
from ispca.penalized import PenalizedClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
sampled = HorseshoeClassifier(random_state=0).fit(X, y)
lasso = PenalizedClassifier(random_state=0).fit(X, y)
answers = {"kernels": load_engine().simd(), "sampled": sampled.predict_proba(X), "lasso": lasso.predict_proba(X)}
print(json.dumps(answers, default=np.ndarray.tolist))
"""


def answers_with(kernels):
    command = [sys.executable, "-c", PROGRAM]
    environment = {**os.environ, "ISPCA_SIMD": kernels}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_old_and_new_processors_give_the_same_answers():
    *others, newest = load_engine().simd_available()
    if not others:
        pytest.skip("this machine has only the baseline kernels")
    baseline, vectorized = answers_with("baseline"), answers_with(newest)
    assert (baseline["kernels"], vectorized["kernels"]) == ("baseline", newest)
    np.testing.assert_allclose(baseline["lasso"], vectorized["lasso"], rtol=1e-9)
    np.testing.assert_allclose(baseline["sampled"], vectorized["sampled"], atol=0.02)
