"""Splits: numbers, splitters, groups and own folds, checked before any fit."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit

from ispca.foundation.splits import describe_splits, make_fold_splits, make_splits


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3))


@pytest.fixture
def y():
    return np.repeat(["a", "b", "c"], [20, 16, 4])


def splits(cv, X, y, groups=None, classification=True, seed=0):
    return make_splits(cv, X, y, groups, classification, seed)


def test_a_number_makes_stratified_random_splits(X, y):
    made = splits(12, X, y)
    assert len(made) == 12
    for split in made:
        assert len(split.test) == 8
        assert sorted([*split.train, *split.test]) == list(range(40))
        # Each class keeps its share: 20, 16 and 4 of 40 in a test part of 8, up to rounding.
        assert np.abs(np.unique(y[split.test], return_counts=True)[1] - [4, 3.2, 0.8]).max() < 1
    assert len({tuple(split.test) for split in made}) == 12


@pytest.mark.parametrize(
    ("cv", "groups", "strata", "words"),
    [
        (4, None, "event", "4 random splits with 20% of the samples held out, stratified by event"),
        (4, None, "class", "4 random splits with 20% of the samples held out, stratified by class"),
        (4, None, None, "4 random splits with 20% of the samples held out"),
        (4, np.arange(40), "class", "4 random splits with 20% of the groups held out"),
        (KFold(4), None, "class", "4 splits of KFold(n_splits=4, random_state=None, shuffle=False)"),
        ([([0, 1], [2])] * 4, None, "class", "4 splits given as indices"),
    ],
)
def test_splits_in_words(cv, groups, strata, words):
    assert describe_splits(cv, 4, groups, strata) == words


def test_few_samples_of_many_classes(X):
    y = np.tile(np.arange(10), 2)
    for split in splits(3, X[:20], y):
        assert set(y[split.test]) == set(y[split.train]) == set(range(10))


def test_values_are_split_at_random(X, rng):
    made = splits(5, X, rng.normal(size=40), classification=False)
    assert [len(split.test) for split in made] == [8] * 5


def test_groups_stay_together(X, y, rng):
    groups = rng.permutation(np.repeat(np.arange(10), 4))
    for split in splits(20, X, y, groups):
        assert not set(groups[split.train]) & set(groups[split.test])


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut(), RepeatedStratifiedKFold(n_splits=2, random_state=1)])
def test_a_splitter_is_taken_as_it_is(X, y, cv):
    for split, (train, test) in zip(splits(cv, X, y), cv.split(X, y), strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


def test_own_folds_as_indices_or_masks(X, y):
    mask = np.arange(40) < 30
    by_mask, by_index = splits([(mask, ~mask), (list(range(30)), range(30, 40))], X, y)
    np.testing.assert_array_equal(by_mask.train, by_index.train)
    np.testing.assert_array_equal(by_mask.test, by_index.test)


@pytest.mark.parametrize("cv", [6, ShuffleSplit(6), KFold(6, shuffle=True)])
def test_the_seed_decides(X, y, cv):
    """A splitter with an open seed too: otherwise a killed comparison would not find its splits again."""
    first, again, other = (splits(cv, X, y, seed=seed) for seed in (5, 5, 6))
    assert [split.test.tolist() for split in first] == [split.test.tolist() for split in again]
    assert [split.test.tolist() for split in first] != [split.test.tolist() for split in other]


def test_a_splitter_is_not_changed(X, y):
    cv = ShuffleSplit(3)
    splits(cv, X, y)
    assert cv.random_state is None


@pytest.mark.parametrize("cv", [0, -3, True, "abc", None, 2.5, []])
def test_no_way_to_split(X, y, cv):
    with pytest.raises(ValueError, match="cv"):
        splits(cv, X, y)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (([0, 1, 2], [2, 3]), "1 sample in both parts .for example 2"),
        (([], [2, 3]), "empty"),
        (([0, 1], []), "empty"),
        (([0, 1], [40]), "from 0 to 39: index 40"),
        (([0, 1], [-1]), "index -1"),
        (([0.5, 1], [3]), "list of integers"),
        (([0, 1], [2], [3]), "not a pair"),
        (7, "not a pair"),
    ],
)
def test_bad_pairs(X, y, pair, words):
    with pytest.raises(ValueError, match=f"Split 1 of cv.*{words}"):
        splits([([0], [1]), pair], X, y)


def test_a_class_of_one(X, y):
    y[-3:] = "b"
    with pytest.raises(ValueError, match=r"Class c has a single sample.*Drop it, merge"):
        splits(5, X, y)


def test_groups_of_the_wrong_length(X, y):
    with pytest.raises(ValueError, match="groups has 39 entries, but there are 40 samples"):
        splits(5, X, y, np.zeros(39))


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize("cv", [KFold(5, shuffle=True, random_state=0), [(range(30), range(30, 40))]])
def test_groups_that_the_splitter_divides(X, y, cv):
    with pytest.raises(ValueError, match=r"divides .* group.*GroupKFold"):
        splits(cv, X, y, np.arange(40) // 4)


def test_a_splitter_for_groups(X, y):
    assert len(splits(GroupKFold(5), X, y, np.arange(40) // 4)) == 5


@pytest.mark.parametrize("classification", [True, False])
@pytest.mark.parametrize("n_folds", [2, 5, 50])
def test_folds_never_divide_a_group(X, y, rng, classification, n_folds):
    groups = rng.permutation(np.repeat(["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"], 5))
    made = make_fold_splits(n_folds, X, y, groups, classification, 0)
    assert len(made) == min(n_folds, 8)
    assert sorted(np.concatenate([split.test for split in made])) == list(range(40))
    for split in made:
        assert not set(groups[split.train]) & set(groups[split.test])
        np.testing.assert_array_equal(split.train_groups, groups[split.train])


def test_folds_without_groups(X, y):
    for split in make_fold_splits(4, X, y, None, True, 0):
        assert [np.count_nonzero(y[split.test] == label) for label in "abc"] == [5, 4, 1]
    assert [len(split.test) for split in make_fold_splits(50, X, np.arange(40.0), None, False, 0)] == [1] * 40


def test_a_single_group_cannot_be_held_out(X, y):
    with pytest.raises(ValueError, match="single group"):
        make_fold_splits(5, X, y, np.zeros(40), True, 0)


def test_folds_that_stratification_leaves_empty_are_dropped(X):
    groups = np.repeat([0, 1, 2, 3], [11, 7, 8, 14])
    made = make_fold_splits(4, X, groups % 2, groups, True, 0)
    assert sorted(len(split.test) for split in made) == [7, 8, 25]


def test_no_more_stratified_folds_than_samples_of_a_class(X):
    y, groups = np.arange(8) % 2, np.arange(8)
    assert len(make_fold_splits(5, X[:8], y, groups, True, 0)) == 4
    assert len(make_fold_splits(5, X[:8], y, None, True, 0)) == 4
