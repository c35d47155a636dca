"""Training samples among new ones are recognized by hashes of names and values; others are not."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.data_checks.training_copies import MOST_SAMPLES, hashed_samples, recognize

IDS = [f"s{i}" for i in range(12)]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(12, 200)) * (np.arange(200) % 3 > 0)


def places(training, ids, X, **options):
    return recognize(training, ids, X, **options).places.tolist()


@pytest.mark.parametrize("new", [np.array, sp.csr_array, sp.csc_array, np.float32])
def test_values_decide_in_any_format_and_under_any_name(X, new):
    training = hashed_samples(IDS, sp.csr_array(X))
    found = recognize(training, ["s3", "x", "s1"], new(np.stack([X[3], X[5], X[0] + 0.01])))
    assert found.places.tolist() == [3, 5, -1]
    assert found.renamed.tolist() == [False, True, False]
    # The name of a training sample with other values.
    assert found.namesakes.tolist() == [False, False, True]


def test_a_few_corrected_values_do_not_matter(X):
    changed = X.copy()
    changed[:, 7] += 1
    assert places(hashed_samples(IDS, X), ["a"] * 12, changed) == list(range(12))
    changed[:, :40] += 1
    assert places(hashed_samples(IDS, X), IDS, changed) == [-1] * 12


def correlated(rng, n_samples, n_features):
    return rng.normal(size=(n_samples, 2)) @ shared(n_features) + 0.3 * rng.normal(size=(n_samples, n_features))


def shared(n_features):
    return np.random.default_rng(5).normal(size=(2, n_features))


@pytest.mark.parametrize("decimals", [2, 3])
@pytest.mark.parametrize("n_features", [200, 2000])
def test_rounded_copies_are_recognized(decimals, n_features):
    rng = np.random.default_rng(0)
    X = correlated(rng, 100, n_features)
    training = hashed_samples([f"s{i}" for i in range(100)], X)
    new = np.round(np.concatenate([X[:30], correlated(rng, 200, n_features)]), decimals)
    for given in (new, sp.csr_array(new)):
        found = recognize(training, [f"x{i}" for i in range(230)], given)
        assert found.places.tolist() == [*range(30), *[-1] * 200]
    # Models written before have no such sums.
    del training["sums"]
    assert (recognize(training, [f"x{i}" for i in range(230)], new).places == -1).all()


def test_new_samples_are_not_taken_for_rounded_copies():
    rng = np.random.default_rng(1)
    for make in (
        lambda n: correlated(rng, n, 50),
        lambda n: rng.normal(size=(n, 1)) + 1e-3 * rng.normal(size=(n, 300)),
        lambda n: rng.poisson(1.0, size=(n, 400)) * 1.0,
        lambda n: np.exp(2 * rng.normal(size=(n, 1)) + rng.normal(size=(n, 500))),
        lambda n: rng.normal(size=(n, 8)),
    ):
        training = hashed_samples([f"s{i}" for i in range(100)], make(100))
        assert (recognize(training, [f"x{i}" for i in range(200)], make(200)).places == -1).all()


def test_rows_that_are_equal_by_chance_need_the_same_name():
    X = np.repeat(np.eye(4)[:, [0, 1]], 3, axis=0)
    X[:, 1] += np.arange(12) % 3
    training = hashed_samples(IDS, X)
    new = np.concatenate([X[:1], np.arange(40.0).reshape(20, 2) + 9])
    assert places(training, ["other"] * 21, new) == [-1] * 21
    assert places(training, ["s0", *["other"] * 20], new)[0] == 0
    # The same file without names.
    assert min(places(hashed_samples(range(1, 13), X), range(1, 13), X)) >= 0


def test_other_covariates_or_another_offset_make_another_sample(X):
    covariates, offset = np.arange(200) == 199, np.linspace(0, 1, 12)
    training = hashed_samples(IDS, X, covariates, offset)
    assert places(training, IDS, X, covariates=covariates, offset=offset) == list(range(12))
    assert places(training, IDS, X, covariates=covariates, offset=offset + 1) == [-1] * 12
    older = X + 30 * covariates
    assert places(training, IDS, older, covariates=covariates, offset=offset) == [-1] * 12


def test_the_record_is_small_and_contains_no_data(X):
    training = hashed_samples(IDS, X)
    assert {len(text) for text in training["values"]} == {64}
    assert {len(text) for text in training["names"]} == {8}
    # Names that only count the samples tell nothing, and a hash of a single value would reveal it.
    assert set(hashed_samples(range(1, 13), X)["names"]) == {""}
    assert {len(text) for text in hashed_samples(IDS, X[:, :5])["values"]} == {8}
    assert hashed_samples(range(MOST_SAMPLES + 1), np.zeros((MOST_SAMPLES + 1, 1))) is None
