"""Clinical columns in an expression matrix, and matrices that only look varied."""

import numpy as np
import pytest

from ispca.data_checks.odd_features import count_distinct, find_odd_features
from ispca.datasets import make_expression

NAMES = [f"gene{j}" for j in range(998)] + ["clin1", "clin2"]


@pytest.fixture
def X():
    return make_expression(n_samples=80, n_features=1000, random_state=3).data.copy()


def odd(X):
    return find_odd_features(X, count_distinct(X), NAMES)


RNG = np.random.default_rng(0)
CLINICAL = {
    "sex": (RNG.integers(0, 2, 80), "integer values"),
    "age": (RNG.integers(30, 80, 80), "integer values"),
    "weight": (RNG.normal(75, 9, 80), "another magnitude"),
    "change": (RNG.normal(8, 30, 80), "vary far more"),
    "standardized sex": (RNG.choice([-0.93, 1.07], 80), "different values"),
}


@pytest.mark.parametrize("name", CLINICAL)
def test_clinical_columns_are_found(X, name):
    column, how = CLINICAL[name]
    X[:, -1] = column
    (finding,) = odd(X)
    assert finding.columns == (999,)
    assert finding.sentence.startswith("Feature 'clin2' ")
    assert how.split()[-1] in finding.sentence


def correlated(n=80, n_factors=8, seed=0):
    """Features that all vary together, as in a spectrum."""
    rng = np.random.default_rng(seed)
    return 5 + rng.normal(size=(n, n_factors)) @ rng.normal(size=(n_factors, 1000)) + rng.normal(size=(n, 1000))


@pytest.mark.slow
def test_a_column_without_correlations_is_found():
    found = []
    for seed in range(20):
        X = correlated(seed=seed)
        assert odd(X) == []
        X[:, -1] = 5 + 3 * np.random.default_rng(seed).normal(size=80)
        found += odd(X)
    # Chance correlates one column in 20.
    assert len(found) >= 17
    assert {finding.columns for finding in found} == {(999,)}
    assert "Feature 'clin2' is not correlated with the others, unlike nearly all features." in found[0].sentence


def test_uncorrelated_columns_are_odd_only_among_correlated_ones(X):
    rng = np.random.default_rng(0)
    X[:, -1] = X.mean() + X.std() * rng.normal(size=80)
    assert odd(X) == []  # most genes are noise
    for n_samples, columns in ((80, slice(0, 1000, 50)), (15, slice(999, None))):
        changed = correlated(n_samples)
        changed[:, columns] = 5 + rng.normal(size=changed[:, columns].shape)
        assert odd(changed) == []  # many, and few samples


def test_two_columns_of_one_sort_share_a_sentence(X):
    X[:, -2], X[:, -1] = CLINICAL["sex"][0], CLINICAL["age"][0]
    (finding,) = odd(X)
    assert finding.columns == (998, 999)
    assert finding.sentence.startswith("Features 'clin1' and 'clin2' take only integer values")
    assert find_odd_features(X, count_distinct(X), NAMES, known={998, 999}) == []


def test_ordinary_matrices_have_no_odd_features(X):
    rng = np.random.default_rng(1)
    assert odd(X) == []
    assert odd(np.floor(100 * X)) == []  # all integers
    assert odd(np.maximum(X, np.quantile(X, 0.7))) == []  # floored, so many features have few values
    assert odd(rng.integers(0, 3, X.shape).astype(float)) == []  # genotypes
    mixed = X.copy()
    mixed[:, ::3] = rng.integers(0, 2, mixed[:, ::3].shape)
    assert odd(mixed) == []  # clinical columns everywhere
    assert odd(X[:, :20]) == []
