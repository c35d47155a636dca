"""Leaks: recoded targets and scores derived from them, but not merely strong genes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris

from ispca.data_checks.findings import as_classes
from ispca.data_checks.leak import find_leaks
from ispca.data_checks.odd_features import count_distinct
from ispca.datasets import make_expression

NAMES = [f"gene{j}" for j in range(400)]


@pytest.fixture
def data():
    found = make_expression(n_samples=80, n_features=400, n_modules=5, signal=1.0, random_state=3)
    return found.data.copy(), found.target


def leaks(X, y, kind="classification"):
    n_distinct = None if sp.issparse(X) else count_distinct(X)
    return find_leaks(X, y, as_classes(y, kind), n_distinct, NAMES)


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2])
def test_a_score_derived_from_the_classes(data, noise):
    X, y = data
    X[:, 7] = (y == y[0]) + noise * np.random.default_rng(0).normal(size=len(y))
    (finding,) = leaks(X, y)
    assert finding.columns == (7,)
    assert finding.sentence.startswith("Feature 'gene7' nearly determines the target (")
    assert leaks(sp.csr_array(X), y)[0].columns == (7,)


def test_several_leaks_are_named_together(data):
    X, y = data
    X[:, 7], X[:, 9] = y == y[0], 3.0 - (y == y[0])
    (finding,) = leaks(X, y)
    assert set(finding.columns) == {7, 9}
    assert "Features 'gene7' and 'gene9' each nearly determine the target (at least 100%" in finding.sentence


def test_a_recoding_with_a_few_errors_and_a_finer_coding(data):
    X, y = data
    codes = (y == y[0]).astype(float)
    finer = codes + 2 * np.random.default_rng(1).integers(0, 3, len(y))
    codes[:2] = 1 - codes[:2]
    for column in (codes, finer):
        changed = X.copy()
        changed[:, 11] = column
        assert leaks(changed, y)[0].columns == (11,)


@pytest.mark.parametrize("derive", [lambda y: 2 * y + 1, np.exp, lambda y: -np.cbrt(y), lambda y: y.round(1)])
def test_a_function_of_a_quantity(data, derive):
    X, _ = data
    y = X[:, :5].sum(axis=1) - X[:, :5].sum(axis=1).mean()
    X[:, 20] = derive(y)
    assert leaks(X, y, "regression")[0].columns == (20,)
    times = np.array([(True, time) for time in np.exp(y / 4)], dtype=[("event", bool), ("time", float)])
    assert leaks(X, times, "survival")[0].columns == (20,)


def expression(signal, seed):
    """Return genes, two classes as numbers, and the genes whose module depends on the class."""
    data = make_expression(n_samples=80, n_features=400, signal=signal, random_state=seed)
    return data.data.copy(), np.unique(data.target, return_inverse=True)[1], data.relevant


@pytest.mark.slow
@pytest.mark.parametrize(("signal", "noise"), [(1.5, 0.2), (0.7, 0.3)])
def test_a_noisy_score_among_strong_genes(signal, noise):
    """The strongest genes explain about 70% and 40%, the score 86% and 74%."""
    found, told = 0, ""
    for seed in range(20):
        X, y, _ = expression(signal, seed)
        X[:, 7] = y + noise * np.random.default_rng(seed).normal(size=len(y))
        findings = leaks(X, y)
        found += [finding.columns for finding in findings] == [(7,)]
        told += " ".join(finding.sentence for finding in findings)
    assert found >= 17
    if noise == 0.3:
        assert "Feature 'gene7' is associated with the target more strongly than all others (" in told
        assert "Apart from that, it varies independently of the other strong features" in told
    else:
        assert "Feature 'gene7' nearly determines the target (" in told


def test_a_noisy_copy_of_a_quantity_among_strong_genes():
    found = 0
    for seed in range(20):
        X, _, relevant = expression(0.0, seed)
        rng = np.random.default_rng(seed)
        y = (X[:, relevant] / X[:, relevant].std(axis=0))[:, :10].sum(axis=1)
        y += y.std() * rng.normal(size=len(y))
        X[:, ~relevant] = rng.normal(size=X[:, ~relevant].shape)
        X[:, np.flatnonzero(~relevant)[0]] = y + 0.5 * y.std() * rng.normal(size=len(y))
        found += [finding.columns for finding in leaks(X, y, "regression")] == [(np.flatnonzero(~relevant)[0],)]
    assert found >= 16


def test_a_gene_as_strong_as_a_noisy_score_is_not_a_leak():
    """It explains 74% like the score above, but within the classes it varies together with its module."""
    found = 0
    for seed in range(20):
        X, y, relevant = expression(0.7, seed)
        module = X[:, np.flatnonzero(relevant)[:15]]
        activity = np.linalg.svd(module - np.array([module[y == c].mean(axis=0) for c in (0, 1)])[y])[0][:, 0]
        X[:, 7] = y + 0.3 * activity / activity.std()
        found += len(leaks(X, y))
    assert found <= 1


@pytest.mark.parametrize("signal", [1.0, 3.0, 10.0])
def test_strong_genes_are_not_leaks(signal):
    for seed in range(5):
        data = make_expression(n_samples=60, n_features=400, signal=signal, random_state=seed)
        assert leaks(data.data, data.target) == []


def test_a_strong_gene_and_a_clinical_column_are_not_leaks(data):
    X, y = data
    rng = np.random.default_rng(2)
    X[:, 5] += 2 * X[:, 5].std() * (y == y[0])
    X[:, 6] = np.where(rng.random(len(y)) < 0.15, y != y[0], y == y[0])
    assert leaks(X, y) == []


def test_a_strong_feature_of_few_is_not_a_leak():
    """Petals nearly determine the species, and pixels the digit, but both vary together with others."""
    X, y = load_iris(return_X_y=True)
    assert leaks(X, y) == []
    images, digits = load_digits(return_X_y=True)
    pairs = [np.isin(digits, [first, second]) for first in range(10) for second in range(first)]
    assert sum(bool(leaks(images[rows], digits[rows])) for rows in pairs) <= 2


def test_few_samples_are_separated_by_chance():
    rng = np.random.default_rng(0)
    found = [leaks(rng.normal(size=(n, 400)), np.arange(n) % 2) for n in (4, 6, 8, 10, 12) for _ in range(20)]
    assert sum(map(len, found)) == 0
