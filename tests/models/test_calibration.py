"""Simulation-based calibration, short: benchmarks/calibration.py is the long version (docs/calibration.md)."""

import numpy as np
import pytest

from rank_statistics import COMBINATIONS, N_KEPT, NUTS_ONLY, PRIORS, rank_one, simulate, uniformity

pytestmark = pytest.mark.slow

N_DATA_SETS = 80
N_BINS = 5
# Draws between kept ones: the kept ones must be nearly independent, or the ends of the histogram fill up.
THIN = {("softmax", "blocked"): 40, ("logistic", "blocked"): 30}
# The chance that an exact sampler fails is at most this for each quantity, for a fresh set of seeds.
SMALLEST_P = 1e-4


def all_ranks(model, sampler, wide=False, prior="horseshoe", **wrong):
    """Ranks of every quantity, one per simulated data set; the shares of low ESS and of divergences."""
    settings = {"n_warmup": 300, "thin": THIN.get((model, sampler), 10), **wrong}
    results = [rank_one(simulate(model, i, wide, prior), sampler, i, **settings) for i in range(N_DATA_SETS)]
    ranks = {name: np.array([one[name] for one, _, _ in results]) for name in results[0][0]}
    return ranks, [min(ess.values()) for _, ess, _ in results]


# Models without a blocked sampler share all of their code for the ridge prior with the others.
CASES = [
    (*pair, prior) for pair in COMBINATIONS for prior in PRIORS if prior == "horseshoe" or pair[0] not in NUTS_ONLY
]


@pytest.mark.parametrize(("model", "sampler", "prior"), CASES)
def test_ranks_are_uniform(model, sampler, prior):
    # The Gaussian model has a funnel where NUTS needs small steps.
    target = {"target_accept": 0.99} if (model, sampler) == ("gaussian", "nuts") else {}
    ranks, ess = all_ranks(model, sampler, prior=prior, **target)
    assert np.mean(np.array(ess) < N_KEPT) < 0.25, "the kept draws are not nearly independent"
    p = {name: uniformity(values, N_BINS)[1] for name, values in ranks.items()}
    assert min(p.values()) > SMALLEST_P, p


@pytest.mark.parametrize("prior", PRIORS)
def test_ranks_are_uniform_for_more_features_than_samples(prior):
    ranks, ess = all_ranks("gaussian", "blocked", wide=True, prior=prior, thin=40)
    assert np.mean(np.array(ess) < N_KEPT) < 0.25, "the kept draws are not nearly independent"
    p = {name: uniformity(values, N_BINS)[1] for name, values in ranks.items()}
    assert min(p.values()) > SMALLEST_P, p


@pytest.mark.parametrize(
    ("model", "sampler", "wrong", "quantity"),
    [
        ("logistic", "nuts", {"tau0": 5.0}, "log tau"),
        ("logistic", "nuts", {"slab_scale": 20.0}, "log c2"),
        ("logistic", "nuts", {"slab_df": 40.0}, "log c2"),
        ("logistic", "nuts", {"intercept_scale": 0.5}, "intercept"),
        ("gaussian", "blocked", {"tau0": 5.0}, "log tau"),
        ("ordinal", "nuts", {"intercept_scale": 0.2}, "threshold 3"),
    ],
)
def test_a_wrong_prior_would_be_noticed(model, sampler, wrong, quantity):
    """What the test above can see: the posterior under another prior than the one that was drawn from."""
    ranks, _ = all_ranks(model, sampler, **wrong)
    assert uniformity(ranks[quantity], N_BINS)[1] < SMALLEST_P


def test_a_wrong_ridge_prior_would_be_noticed():
    ranks, _ = all_ranks("logistic", "nuts", prior="ridge", tau0=20.0)
    assert uniformity(ranks["log tau"], N_BINS)[1] < SMALLEST_P


def test_uniformity_of_known_ranks():
    even = np.arange(N_KEPT + 1)
    counts, p = uniformity(even, 20)
    assert counts.tolist() == [5] * 20
    assert p == pytest.approx(1)
    assert uniformity(np.minimum(even, 49), 20)[1] < 1e-6
