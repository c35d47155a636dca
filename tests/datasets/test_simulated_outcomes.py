"""Simulated survival times and counts: the effects they promise."""

import numpy as np
import pytest

from ispca import ISPCA
from ispca.datasets import make_counts, make_survival


def test_survival():
    data = make_survival(200, 300, signal=1.5, censored=0.3, random_state=1)
    assert data.data.shape == (200, 300)
    assert np.mean(~data.target["event"]) == pytest.approx(0.3)
    assert (data.target["time"] > 0).all()
    assert set(data.covariates) == {"age", "sex", "batch"}
    activity = data.data[:, data.relevant].mean(axis=1)
    assert np.corrcoef(activity, np.log(data.target["time"]))[0, 1] < -0.3
    found = ISPCA(random_state=0).fit(data.data, data.target)
    assert found.n_supervised_ >= 1
    assert data.relevant[found.steps_[0].features[:10]].all()


def test_counts():
    data = make_counts(400, 100, random_state=1)
    rate = data.target / np.exp(data.offset)
    activity = data.data[:, data.relevant].mean(axis=1)
    assert np.corrcoef(activity, np.log(rate + 0.5))[0, 1] > 0.4
    assert np.corrcoef(data.covariates["age"], np.log(rate + 0.5))[0, 1] > 0.15
    assert data.target.var() > 1.5 * data.target.mean()


def test_the_same_seed_gives_the_same_and_bad_sizes_are_refused():
    one, same = (make_survival(30, 50, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.data, same.data)
    np.testing.assert_array_equal(one.target, same.target)
    with pytest.raises(ValueError, match="n_relevant must be between 0 and 10"):
        make_counts(n_relevant=11)
    with pytest.raises(ValueError, match="censored must be at least 0 and below 1"):
        make_survival(censored=1.0)
    with pytest.raises(ValueError, match="n_features at least 10"):
        make_counts(50, 5)
