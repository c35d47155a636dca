"""Prediction sets and intervals from bags: exact cases, MAPIE, and coverage in simulations."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.conformal import class_trial, group_trial, means_without, quantity_trial
from ispca.bagging.conformal import class_p_values, jackknife_interval, prediction_sets

HERE = Path(__file__).parent
N, N_NEW, N_CLASSES = 30, 5, 3


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def classes(rng):
    """Probabilities of training and new samples, with ties and samples that no bag is without."""
    left_out = rng.dirichlet(np.ones(N_CLASSES), N).round(1)
    left_out[[3, 17]] = np.nan
    return left_out, rng.integers(N_CLASSES, size=N), rng.dirichlet(np.ones(N_CLASSES), (N_NEW, N)).round(1)


@pytest.fixture
def quantities(rng):
    left_out = rng.normal(size=N)
    left_out[[3, 17]] = np.nan
    return left_out, rng.normal(size=N), rng.normal(size=(N_NEW, N))


def kinds_of_votes(rng):
    """Yield groups and weights in all combinations, with a weight of zero."""
    groups, weights = rng.integers(12, size=N), rng.integers(0, 4, N) / 2
    return [(None, None), (groups, None), (None, weights), (groups, weights)]


def slow_votes(samples, groups, weights):
    """Return the weight of each sample and that of a new one, literally."""
    weights = np.ones(N) if weights is None else weights
    samples = [i for i in samples if weights[i] > 0]
    groups = np.arange(N) if groups is None else groups
    each = {i: weights[i] / sum(groups[i] == groups[j] for j in samples) for i in samples}
    heaviest = [sum(each[j] for j in samples if groups[i] == groups[j]) for i in samples]
    return each, max(heaviest, default=1.0)


@pytest.mark.parametrize("number", range(4))
def test_p_values_count_supporting_samples(classes, rng, number):
    groups, weights = kinds_of_votes(rng)[number]
    left_out, codes, new = classes
    found = class_p_values(*classes, groups=groups, weights=weights)
    for x, code in np.ndindex(N_NEW, N_CLASSES):
        samples = [i for i in range(N) if codes[i] == code and not np.isnan(left_out[i, 0])]
        each, own = slow_votes(samples, groups, weights)
        support = sum(vote for i, vote in each.items() if 1 - left_out[i, code] >= 1 - new[x, i, code] - 1e-9)
        assert found[x, code] == pytest.approx((own + support) / (own + sum(each.values())))


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("number", range(4))
def test_ends_are_weighted_order_statistics(quantities, rng, number, level):
    groups, weights = kinds_of_votes(rng)[number]
    left_out, y, new = quantities
    found = jackknife_interval(*quantities, level, groups=groups, weights=weights)
    each, own = slow_votes([i for i in range(N) if not np.isnan(left_out[i])], groups, weights)
    needed = level * (own + sum(each.values())) - 1e-9
    for x in range(N_NEW):
        high = sorted((new[x, i] + abs(y[i] - left_out[i]), vote) for i, vote in each.items())
        low = sorted((abs(y[i] - left_out[i]) - new[x, i], vote) for i, vote in each.items())
        for end, values, sign in zip(found[x], (low, high), (-1, 1), strict=True):
            reached = np.cumsum([vote for _, vote in values]) >= needed
            assert end == sign * (values[reached.argmax()][0] if reached.any() else np.inf)


@pytest.mark.parametrize("name", ["mapie-30-bags", "mapie-5-bags"])
def test_intervals_agree_with_mapie(name):
    with np.load(HERE / "reference" / f"{name}.npz") as file:
        reference = dict(file)
    n = len(reference["y"])
    means = means_without(reference["left_out"], reference["predictions"])
    left_out = means[np.arange(n), np.arange(n)]
    assert np.isnan(left_out).sum() == (5 if name == "mapie-5-bags" else 0)
    for level, ends in zip(reference["levels"], np.moveaxis(reference["ends"], 2, 0), strict=True):
        np.testing.assert_allclose(
            jackknife_interval(left_out, reference["y"], means[n:], level), ends, rtol=1e-12
        )


def test_rounding_does_not_break_ties(classes):
    left_out, codes, new = classes
    np.testing.assert_array_equal(class_p_values(left_out, codes, new - 1e-14), class_p_values(*classes))


def test_samples_in_all_bags_count_as_absent(classes, quantities):
    left_out, codes, new = classes
    kept = ~np.isnan(left_out[:, 0])
    np.testing.assert_array_equal(
        class_p_values(*classes), class_p_values(left_out[kept], codes[kept], new[:, kept])
    )
    left_out, y, new = quantities
    np.testing.assert_array_equal(
        jackknife_interval(*quantities, 0.8), jackknife_interval(left_out[kept], y[kept], new[:, kept], 0.8)
    )


@pytest.mark.parametrize(("n", "always"), [(0, True), (3, True), (8, True), (9, False)])
def test_a_tiny_class_is_in_every_set_and_few_samples_have_infinite_intervals(n, always):
    """Ten samples of a class, with the new one, are needed for a level of 90%."""
    sure, unlike = np.tile([0.0, 1.0], (n, 1)), np.tile([1.0, 0.0], (1, n, 1))
    sets = prediction_sets(class_p_values(sure, np.ones(n, int), unlike), 0.9)
    assert sets.tolist() == [[True, always]]
    ends = jackknife_interval(np.zeros(n), np.zeros(n), np.ones((1, n)), 0.9)
    assert ends.tolist() == [[-np.inf, np.inf] if always else [1.0, 1.0]]


def test_sets_and_intervals_grow_with_the_level(classes, quantities):
    p_values = class_p_values(*classes)
    sets = np.array([prediction_sets(p_values, level) for level in np.linspace(0.5, 0.99, 30)])
    assert (sets[1:] >= sets[:-1]).all()
    assert sets[-1].all()
    assert not sets[0].all()
    ends = np.array([jackknife_interval(*quantities, level) for level in np.linspace(0.5, 0.99, 30)])
    assert (ends[1:, :, 0] <= ends[:-1, :, 0]).all()
    assert (ends[1:, :, 1] >= ends[:-1, :, 1]).all()


def test_blocks_of_new_samples_give_the_same_rows(classes, quantities):
    left_out, codes, new = classes
    blocks = [class_p_values(left_out, codes, new[part]) for part in (slice(0, 2), slice(2, None))]
    np.testing.assert_array_equal(np.vstack(blocks), class_p_values(*classes))
    left_out, y, new = quantities
    blocks = [jackknife_interval(left_out, y, new[part], 0.8) for part in (slice(0, 2), slice(2, None))]
    np.testing.assert_array_equal(np.vstack(blocks), jackknife_interval(*quantities, 0.8))


def test_the_scale_of_weights_and_copies_inside_groups_do_not_matter(classes, rng):
    left_out, codes, new = classes
    np.testing.assert_allclose(class_p_values(*classes, weights=np.full(N, 7.0)), class_p_values(*classes))
    twice = np.repeat(np.arange(N), 2)
    np.testing.assert_allclose(
        class_p_values(left_out[twice], codes[twice], new[:, twice], groups=twice), class_p_values(*classes)
    )


def test_scales_carry_residuals_to_larger_counts():
    left_out, y, new = np.full(9, 4.0), np.full(9, 6.0), np.full((2, 9), [[4.0], [16.0]])
    ends = jackknife_interval(left_out, y, new, 0.9, scales=(np.sqrt(left_out), np.sqrt(new)))
    np.testing.assert_allclose(ends, [[2.0, 6.0], [12.0, 20.0]])


def test_one_scale_for_all_changes_nothing(quantities):
    scales = np.full(N, 3.0), np.full((N_NEW, N), 3.0)
    np.testing.assert_allclose(jackknife_interval(*quantities, 0.8, scales), jackknife_interval(*quantities, 0.8))


def assert_covers(rates, level):
    """Coverage, the mean over data sets, is not below the level by more than three standard errors."""
    assert rates.mean() >= level - 3 * rates.std(ddof=1) / np.sqrt(len(rates))


@pytest.mark.parametrize("signal", [0.0, 1.0])
def test_intervals_contain_new_values_as_often_as_promised(signal):
    found = np.array([quantity_trial(40, signal, np.random.default_rng(seed))[:, 0] for seed in range(12)])
    assert_covers(found[:, 0], 0.8)
    assert_covers(found[:, 1], 0.9)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "signal"), [([20, 20], 1.0), ([15, 15, 15], 0.0), ([40, 12, 6], 1.0)])
def test_sets_contain_every_class_as_often_as_promised(sizes, signal):
    found = np.array([class_trial(sizes, signal, np.random.default_rng(seed))[:2] for seed in range(40)])
    for code in range(len(sizes)):
        assert_covers(found[:, 0, code], 0.8)
        assert_covers(found[:, 1, code], 0.9)
    # Without signal, each class is as likely to be in a set as the true one; with signal, sets are smaller.
    needless = found[:, 1, -1].mean() - 0.9 * len(sizes)
    assert needless >= -0.1 if signal == 0 else needless < -0.3


@pytest.mark.slow
def test_intervals_of_new_groups_need_the_groups():
    """A few large groups that are alike would set the width for all others."""
    found = np.array([group_trial(30, 1, 20, np.random.default_rng(seed))[:, 0] for seed in range(40)])
    assert found[:, 0].mean() < 0.85
    assert_covers(found[:, 1], 0.9)


def test_ends_do_not_cross_at_low_levels(rng):
    y, new = rng.normal(size=30), rng.normal(size=(200, 30))
    low, high = jackknife_interval(0.99 * y, y, new, 0.1).T
    assert (low < high).all()
