"""The permutation test with covariates, weights and offsets: what it exchanges, and that it keeps its level."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.level import Design, p_values
from family_targets import COVARIATES, N_FEATURES, N_SAMPLES, make_targets
from ispca import ISPCA, score_test
from ispca.reduction.permutation import Exchange, draw_permutations
from ispca.reduction.response import make_response

pytestmark = pytest.mark.slow

X, TARGETS = make_targets(4)
# No feature may be related to the target clearly: all p-values would be 0.
X[:, :N_FEATURES] = np.random.default_rng(0).permutation(X[:, :N_FEATURES])
RNG = np.random.default_rng(1)
WEIGHTS, OFFSET = RNG.gamma(2, 0.5, N_SAMPLES) + 0.2, RNG.normal(size=N_SAMPLES)
N_PERMUTATIONS, N_SETS = 200, 400
COUNTS = ("poisson", "negative-binomial")


def projected(basis, vectors):
    return vectors - basis @ (basis.T @ vectors)


def naive_p_value(family, covariates, weights, offset):
    """Permute ``w e`` against adjusted features; for counts ``w e / sqrt(V)`` against rows times ``sqrt(V)``."""
    options = {"covariates": covariates, "offset": offset, "sample_weight": weights}
    null = make_response(TARGETS[family], family, **options).target.null_model()
    roots = np.sqrt(null.weights) if family in COUNTS else np.ones(N_SAMPLES)
    contributions = (np.ones(N_SAMPLES) if weights is None else weights)[:, None] * null.residuals / roots[:, None]
    known = np.ones((N_SAMPLES, 1)) if covariates is None else np.column_stack([np.ones(N_SAMPLES), covariates])
    basis = np.linalg.qr(roots[:, None] * known)[0]
    features = projected(basis, roots[:, None] * X[:, :N_FEATURES])
    features /= np.linalg.norm(features, axis=0)

    def largest(contributions):
        return np.abs(features.T @ (contributions / np.linalg.norm(contributions, axis=0))).max()

    exchange = None
    if null.risk is not None:
        # Survival times: two strata of 20 samples each.
        exchange = Exchange(np.argsort(np.argsort(null.risk)) // 20)
    orders = draw_permutations(5, N_SAMPLES, 0, N_PERMUTATIONS, exchange)
    permuted = [largest(projected(basis, contributions[order])) for order in orders]
    return np.mean(np.array(permuted) >= largest(contributions) - 1e-10)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("extras", ["adjust", "weights", "offset", "all"])
@pytest.mark.parametrize("family", TARGETS)
def test_contributions_to_the_score_are_exchanged(family, extras, container):
    adjust = COVARIATES if extras in ("adjust", "all") else None
    used = X if adjust else X[:, :N_FEATURES]
    samples = {
        "sample_weight": WEIGHTS if extras in ("weights", "all") else None,
        "offset": OFFSET if extras in ("offset", "all") else None,
    }
    expected = naive_p_value(family, X[:, COVARIATES] if adjust else None, *samples.values())
    options = {"family": family, "adjust": adjust, "n_permutations": N_PERMUTATIONS, "random_state": 5}
    y = TARGETS[family]
    assert score_test(container(used), y, kind="maximum", **options, **samples).p_value == expected
    for test in ("paper", "residual"):
        fitted = ISPCA(n_supervised=1, alpha=0.9999, test=test, **options).fit(container(used), y, **samples)
        assert fitted.steps_[0].p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "design",
    [
        Design("gaussian", weights="precision", n_features=60),
        Design("binomial", covariates="age and batch", n_samples=30, n_features=60),
    ],
    ids=str,
)
def test_a_noise_component_is_found_as_often_as_alpha_says(design, monkeypatch):
    """Permuted Pearson residuals, times the roots of the weights, found one in 1% and 13%."""
    monkeypatch.setattr("benchmarks.level.DESIGNS", [design])
    found = np.mean(p_values(0, False, N_SETS, seed=11) < 0.05)
    assert abs(found - 0.05) < 3 * np.sqrt(0.05 * 0.95 / N_SETS)
