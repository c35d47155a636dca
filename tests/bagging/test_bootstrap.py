"""Which samples the bags draw: whole units, enough of every class, and streams of their own."""

import numpy as np
import pytest

from ispca.bagging.bags import units_of
from ispca.bagging.bootstrap import draw_bags
from ispca.targets.samples import Samples

ALONE = np.arange(40)


def counts_of(split, n):
    counts = np.zeros(n)
    counts[split.train] = split.train_weight
    return counts


def test_a_bag_draws_as_many_units_as_there_are_and_leaves_out_the_others():
    bags = draw_bags(200, ALONE, None, None, 0)
    for split in bags:
        assert split.train_weight.sum() == 40
        assert split.train_weight.min() >= 1
        np.testing.assert_array_equal(np.sort(np.concatenate([split.train, split.test])), ALONE)
    assert np.mean([len(split.test) for split in bags]) / 40 == pytest.approx((1 - 1 / 40) ** 40, abs=0.02)
    np.testing.assert_allclose(np.mean([counts_of(split, 40) for split in bags], axis=0), 1, atol=0.35)


@pytest.mark.parametrize("sizes", [(37, 3), (38, 2), (39, 1), (20, 17, 2, 1)])
def test_every_class_has_two_distinct_units_where_there_are_as_many(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    for split in draw_bags(100, ALONE, labels, None, 1):
        present = np.bincount(labels[split.train], minlength=len(sizes))
        assert (present >= np.minimum(2, sizes)).all()


def test_missing_classes_are_added_where_drawing_again_does_not_help(monkeypatch):
    monkeypatch.setattr("ispca.bagging.bootstrap.DRAWS", 1)
    labels = np.repeat(np.arange(20), 2)
    for split in draw_bags(20, ALONE, labels, None, 1):
        assert (np.bincount(labels[split.train]) == 2).all()


def test_copies_are_not_two_units():
    labels = np.repeat([0, 1], [34, 6])
    # The six samples of class 1 are three samples twice.
    units = np.append(np.arange(34), [34, 34, 35, 35, 36, 36])
    for split in draw_bags(100, units, labels, None, 2):
        chosen = split.train[labels[split.train] == 1]
        assert len(np.unique(units[chosen])) >= 2


def test_units_are_drawn_whole():
    groups = np.array([f"patient{k}" for k in np.repeat(np.arange(10), 4)])
    for split in draw_bags(50, groups, None, groups, 0):
        assert not set(groups[split.train]) & set(groups[split.test])
        counts = counts_of(split, 40).reshape(10, 4)
        assert (counts == counts[:, :1]).all()
        np.testing.assert_array_equal(split.train_groups, groups[split.train])


def test_bags_do_not_depend_on_their_number():
    few, many = (draw_bags(number, ALONE, ALONE % 2, None, 7) for number in (5, 50))
    for a, b in zip(few, many[:5], strict=True):
        np.testing.assert_array_equal(a.train, b.train)
        np.testing.assert_array_equal(a.train_weight, b.train_weight)
    assert any(len(a.train) != len(b.train) for a, b in zip(few, draw_bags(5, ALONE, None, None, 8), strict=True))


def test_copies_of_a_sample_are_one_unit(rng):
    X = rng.normal(size=(30, 50))
    X[7] = X[3]
    units = units_of(Samples(X, np.zeros(30)))
    assert units[7] == units[3]
    assert len(np.unique(units)) == 29
    np.testing.assert_array_equal(units_of(Samples(X[:7], np.zeros(7))), np.arange(7))


def test_groups_take_the_place_of_copies(rng):
    X, groups = rng.normal(size=(30, 50)), np.arange(30) // 3
    np.testing.assert_array_equal(units_of(Samples(X, np.zeros(30), groups)), groups)
