"""Short runs of benchmarks/selection_simulation.py: panels find the relevant blocks, and nothing in noise."""

import numpy as np
import pytest

from benchmarks.selection_simulation import (
    BLOCK_SIZE,
    block_data,
    false_fraction,
    lasso_points,
    noise_data,
    references,
)
from ispca.selection import ProjectionSelector

pytestmark = pytest.mark.slow

SEEDS = range(3)
N_BLOCKS = 40


def select(kind, X, y, max_features):
    options = {"max_features": max_features, "cv": 5, "n_draws": 100, "n_jobs": 1, "random_state": 0}
    return ProjectionSelector(references(kind)["lasso"], **options).fit(X, y)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_the_relevant_blocks_are_found(kind, seed):
    data = block_data(kind, seed, n_samples=300, n_blocks=N_BLOCKS)
    selector = select(kind, data.X, data.y, 8)
    panel = selector.panels_[selector.n_features_]
    assert selector.n_features_ == len(data.relevant)
    assert set((panel // BLOCK_SIZE).tolist()) == data.relevant
    _, false, chosen = lasso_points(data, kind)
    assert false[chosen["best"]] > 0  # which the lasso does not achieve


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_nothing_is_suggested_for_noise(kind, seed):
    selector = select(kind, *noise_data(kind, seed), 3)
    assert selector.validated_
    assert selector.n_features_ == 0
    assert "significantly better" in selector.message_


def test_false_blocks_are_counted_once():
    features = np.array([0, 1, 25, 27, 90])  # blocks 0, 2 and 9
    assert false_fraction(features, {0, 3}) == pytest.approx(2 / 3)
    assert false_fraction(np.array([], dtype=int), {0, 3}) == 0
