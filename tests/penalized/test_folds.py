"""Folds of the penalized models: even, stratified, by groups, or from a splitter that partitions the samples."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit

from ispca.penalized import PenalizedClassifier, PenalizedRegressor, base
from ispca.penalized.cross_validation import make_folds, random_folds


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 8))


@pytest.fixture
def patients(rng):
    """Five samples of each of twelve patients, in random order."""
    return rng.permutation(np.repeat([f"patient {number}" for number in range(12)], 5))


@pytest.fixture
def used(monkeypatch):
    """Collect the folds that the estimators use."""
    seen = []
    original = base.cross_validated_path

    def path(problem, penalty, folds):
        seen.append(folds)
        return original(problem, penalty, folds)

    monkeypatch.setattr(base, "cross_validated_path", path)
    return seen


OPTIONS = {"n_lambdas": 5, "random_state": 0}


def test_folds_are_even(rng):
    strata = np.repeat([0, 1, 2], [25, 13, 4])
    folds = random_folds(strata, 10, rng)
    assert np.ptp(np.bincount(folds, minlength=10)) <= 1
    for stratum in range(3):
        assert np.ptp(np.bincount(folds[strata == stratum], minlength=10)) <= 1


@pytest.mark.parametrize("cv", [3, 10, 100, GroupKFold(4)])
@pytest.mark.parametrize("penalty", ["lasso", "ridge"])
def test_the_samples_of_a_patient_stay_in_one_fold(X, patients, used, cv, penalty):
    y = np.arange(60) % 2
    PenalizedClassifier(penalty=penalty, cv=cv, **OPTIONS).fit(X, y, groups=patients)
    PenalizedRegressor(penalty=penalty, cv=cv, **OPTIONS).fit(X, X[:, 0], groups=patients)
    for folds in used:
        assert all(len(set(folds[patients == patient])) == 1 for patient in set(patients))
        assert len(set(folds)) == min(getattr(cv, "n_splits", cv), 12)


def test_without_groups_patients_are_divided(X, patients, used):
    PenalizedRegressor(**OPTIONS).fit(X, X[:, 0])
    assert any(len(set(used[0][patients == patient])) > 1 for patient in set(patients))


def test_an_integer_gives_stratified_random_folds(X, used):
    y = np.arange(60) % 3
    PenalizedClassifier(cv=7, **OPTIONS).fit(X, y)
    np.testing.assert_array_equal(used[0], random_folds(y, 7, np.random.default_rng(0)))


def test_a_splitter_and_its_list_give_the_same_fit(X, used):
    y = np.arange(60) % 2
    splitter = StratifiedKFold(4, shuffle=True, random_state=3)
    by_splitter = PenalizedClassifier(cv=splitter, **OPTIONS).fit(X, y)
    by_list = PenalizedClassifier(cv=list(splitter.split(X, y)), **OPTIONS).fit(X, y)
    for number, (_, test) in enumerate(splitter.split(X, y)):
        assert set(used[0][test]) == {number}
    np.testing.assert_array_equal(by_splitter.coef_, by_list.coef_)
    np.testing.assert_array_equal(by_splitter.cv_deviance_, by_list.cv_deviance_)


@pytest.mark.parametrize("cv", [ShuffleSplit(5, random_state=0), TimeSeriesSplit(4), [(range(50), range(50, 60))]])
def test_splits_that_do_not_partition_the_samples(X, cv):
    with pytest.raises(ValueError, match="hold out every sample exactly once"):
        PenalizedRegressor(cv=cv).fit(X, X[:, 0])


def test_training_parts_smaller_than_the_rest_are_refused(X):
    pairs = [(train[:20], test) for train, test in KFold(2).split(X)]
    with pytest.raises(ValueError, match="train on all others"):
        make_folds(pairs, X, X[:, 0], None, False, 0)


def test_a_class_that_lies_in_one_fold(X):
    y = np.repeat([0, 1], 30)
    with pytest.raises(ValueError, match="Fold 0 contains all samples of a class"):
        PenalizedClassifier(cv=KFold(2)).fit(X, y)


@pytest.mark.parametrize(("groups", "words"), [(np.zeros(60), "single group"), (np.zeros(59), "59 entries")])
def test_bad_groups(X, groups, words):
    with pytest.raises(ValueError, match=words):
        PenalizedRegressor().fit(X, X[:, 0], groups=groups)
