"""Outlying and duplicated samples."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.data_checks.copies_outliers_and_drift import find_duplicates, find_outliers, inner_products
from ispca.data_checks.odd_features import log_if_raw
from ispca.datasets import make_expression

IDS = [f"p{i}" for i in range(60)]


@pytest.fixture
def X():
    return make_expression(n_samples=60, n_features=1000, random_state=4).data.copy()


def outliers(X, classes=None):
    return find_outliers(inner_products(log_if_raw(X)), classes, IDS)


def duplicates(X, classes=None, groups=None):
    return find_duplicates(X, inner_products(X), classes, groups, IDS)


def test_a_failed_measurement_is_outlying(X):
    X[5] = X[5].mean() + 4 * (X[5] - X[5].mean())
    (finding,) = outliers(X)
    assert finding.rows == (5,)
    assert finding.sentence.startswith("Sample 'p5' is far from all others in the leading components")


def test_a_cluster_and_a_rare_class_are_not_outlying(X):
    assert outliers(X) == []
    shifted = X.copy()
    shifted[:5] += np.random.default_rng(0).normal(0, 5, 1000)
    assert outliers(shifted) == []
    shifted = X.copy()
    shifted[:2] += np.random.default_rng(0).normal(0, 5, 1000)
    assert set(outliers(shifted)[0].rows) == {0, 1}
    assert outliers(shifted, (np.arange(60) < 2).astype(np.intp)) == []


def test_long_tails_are_not_outlying():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.exp(3 + rng.normal(size=(60, 3)) @ rng.normal(size=(3, 300)) + rng.normal(0, 2, 300))
        assert outliers(X) == []
        assert outliers(rng.poisson(np.minimum(X, 1e6)).astype(float)) == []


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_copies_are_found_and_contradictions_named(X, noise):
    X[9] = X[3] + noise * X.std(axis=0) * np.random.default_rng(0).normal(size=1000)
    classes = np.arange(60) % 2
    (finding,) = duplicates(X, classes)
    assert finding.rows == (3, 9)
    assert "'p3' = 'p9'." in finding.sentence
    assert "different classes" not in finding.sentence
    classes[9] = 0
    assert "1 set of copies belongs to different classes" in duplicates(X, classes)[0].sentence


def test_copies_in_one_group_do_no_harm(X):
    X[9], X[20] = X[3], X[3]
    groups = np.arange(60)
    assert duplicates(X, groups=groups)[0].rows == (3, 9, 20)
    groups[[9, 20]] = 3
    assert duplicates(X, groups=groups) == []


def test_all_samples_measured_twice(X):
    X[30:] = X[:30] + 0.02 * X.std(axis=0) * np.random.default_rng(0).normal(size=(30, 1000))
    assert len(duplicates(X)[0].rows) == 60


def test_sparse_rows():
    X = sp.csr_array(sp.random(60, 500, density=0.1, random_state=0))
    assert find_duplicates(X) == []
    rows = np.arange(60)
    rows[7] = 2
    assert find_duplicates(X[rows])[0].rows == (2, 7)


def test_rows_that_are_alike_by_chance(X):
    rng = np.random.default_rng(1)
    assert duplicates(X) == []
    assert duplicates(rng.integers(0, 2, (60, 4)).astype(float)) == []
    for columns in (1, 2, 3, 10):
        assert duplicates(rng.normal(size=(60, columns))) == []
    assert duplicates(rng.normal(size=(60, 2)) @ rng.normal(size=(2, 1000))) == []
    assert find_duplicates(sp.csr_array(np.eye(3)[np.arange(60) % 3])) == []
