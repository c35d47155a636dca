"""Permutations within groups of samples: only what is exchangeable is exchanged."""

import numpy as np
import pytest

from ispca import ISPCA, SPCA, score_test
from ispca.families.survival_target import survival_target
from ispca.reduction.permutation import (
    Exchange,
    Permutations,
    draw_permutations,
    exchange_of_similar,
    exchange_within_groups,
)


def test_samples_are_permuted_within_groups_if_the_target_varies_there():
    groups = np.array([0, 1, 0, 2, 1, 0, 1, 2, 0])
    exchange = exchange_within_groups(groups, np.arange(9))
    drawn = draw_permutations(3, 9, 0, 500, exchange)
    assert (np.sort(drawn, axis=1) == np.arange(9)).all()
    assert (groups[drawn] == groups).all()
    # Every order of the three samples of group 1 is equally likely.
    orders, counts = np.unique(drawn[:, groups == 1], axis=0, return_counts=True)
    assert len(orders) == 6
    assert counts.min() > 50


def test_whole_groups_of_equal_size_are_exchanged_if_the_target_is_constant_within_them():
    groups = np.array(["a", "b", "a", "c", "b", "d", "e", "e", "c", "d", "d"])
    target = np.array([0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0])
    drawn = draw_permutations(0, 11, 0, 400, exchange_within_groups(groups, target))
    assert (np.sort(drawn, axis=1) == np.arange(11)).all()
    # Group d has three samples and no partner.
    assert (drawn[:, groups == "d"] == np.flatnonzero(groups == "d")).all()
    for name in "abce":
        partners = groups[drawn[:, groups == name]]
        assert (partners[:, 0] == partners[:, 1]).all()
        assert set(partners[:, 0]) == set("abce")
        assert (np.diff(drawn[:, groups == name], axis=1) > 0).all()


def test_samples_of_similar_values_are_exchanged(rng):
    values = rng.normal(size=60)
    codes = exchange_of_similar(values).codes
    np.testing.assert_array_equal(codes, np.argsort(np.argsort(values)) // 20)
    assert exchange_of_similar(values[:39]).codes.max() == 0
    assert exchange_of_similar(np.arange(1000.0)).codes.max() == 4


def test_equal_values_are_exchanged_whatever_their_order_and_rounding(rng):
    batch = np.repeat([0.1, 0.2, 0.3], [5, 40, 15])
    codes = exchange_of_similar(batch * (1 + 1e-15 * rng.normal(size=60))).codes
    assert [len(set(codes[batch == value])) for value in (0.1, 0.2, 0.3)] == [1, 1, 1]
    order = rng.permutation(60)
    np.testing.assert_array_equal(exchange_of_similar(batch[order]).codes, codes[order])


@pytest.mark.parametrize("extra", ["adjust", "offset"])
def test_survival_times_are_exchanged_among_samples_of_similar_risk(extra, rng):
    """Residuals of high risk vary more: where those of features do too, exchanging all fires too often."""
    X, event = rng.normal(size=(60, 5)), rng.random(60) < 0.7
    y = survival_target((event, rng.exponential(np.exp(-3 * X[:, 0]))))
    given = {"adjust": [0]} if extra == "adjust" else {"offset": 3 * X[:, 0]}
    drawn = {}

    def draw(self, generator, number):
        drawn.update(codes=self.codes)
        return exchange(self, generator, number)

    exchange = Exchange.draw
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Exchange, "draw", draw)
        score_test(X, y, family="cox", n_permutations=9, **given)
    np.testing.assert_array_equal(drawn["codes"], np.argsort(np.argsort(X[:, 0])) // 20)


def test_permutations_do_not_depend_on_the_pieces():
    exchange = exchange_within_groups(np.arange(30) // 3, np.arange(30))
    small = Permutations(7, 30, 300, 2**14, exchange=exchange)
    large = Permutations(7, 30, 300, 2**24, exchange=exchange)
    assert small.pieces(1) != large.pieces(1)
    drawn = [np.concatenate([p.indices(*piece) for piece in p.pieces(1)]) for p in (small, large)]
    np.testing.assert_array_equal(*drawn)


def test_groups_that_leave_nothing_to_exchange_are_refused():
    groups = np.repeat([0, 1, 2], [1, 2, 3])
    X = np.random.default_rng(0).normal(size=(6, 4))
    message = "constant within every group and no two groups have the same number"
    with pytest.raises(ValueError, match=message):
        score_test(X, groups, family="gaussian", groups=groups)
    with pytest.raises(ValueError, match=message):
        ISPCA(2, family="gaussian").fit(X, groups, groups=groups)
    # Without a permutation test there is nothing to exchange.
    SPCA(2, family="gaussian", n_features=2).fit(X, groups, groups=groups)


def repeated_samples(rng, n_groups=16, size=4):
    """Return features that vary between patients, and a class of each patient that has nothing to do with them."""
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(n_groups, 20))[groups] + 0.3 * rng.normal(size=(len(groups), 20))
    return X, rng.permutation(np.arange(n_groups) % 2)[groups], groups


def test_repeated_samples_do_not_count_as_independent_ones():
    rng = np.random.default_rng(5)
    found = np.zeros((2, 60))
    for trial in range(60):
        X, y, groups = repeated_samples(rng)
        options = {"kind": "maximum", "n_permutations": 99, "random_state": trial}
        found[0, trial] = score_test(X, y, **options).p_value
        found[1, trial] = score_test(X, y, groups=groups, **options).p_value
    ignored, respected = (found < 0.05).mean(axis=1)
    assert ignored > 0.5
    assert respected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.parametrize(("kind", "alpha"), [(ISPCA, 0.05), (SPCA, 0.01)])
def test_a_fit_uses_the_groups(kind, alpha):
    X, y, groups = repeated_samples(np.random.default_rng(8))
    options = {"alpha": alpha, "n_permutations": 200, "random_state": 0}
    assert kind(**options).fit(X, y).n_supervised_ > 0
    with pytest.warns(UserWarning, match="No single feature"):
        assert kind(**options).fit(X, y, groups=groups).n_supervised_ == 0


def test_groups_of_survival_times():
    """Patients with two samples have the same time twice: whole patients are exchanged."""
    rng = np.random.default_rng(2)
    patients = np.repeat(np.arange(20), 2)
    X = rng.normal(size=(20, 10))[patients] + 0.2 * rng.normal(size=(40, 10))
    y = (np.ones(40, dtype=bool), rng.exponential(size=20)[patients])
    options = {"family": "cox", "kind": "maximum", "random_state": 0}
    assert score_test(X, y, groups=patients, **options).p_value > score_test(X, y, **options).p_value
