"""Stability: a strong module comes up again and again, noise does not, and the chance levels are right."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold

from ispca import ISPCA, SPCA
from ispca.validation import stability
from ispca.validation.stability import _random_overlap
from kinds import count_data, ordinal_data, survival_data

OPTIONS = {"cv": 8, "n_jobs": 1}


@pytest.fixture(scope="module")
def module():
    """Sixty samples; features 0 to 9 of 200 follow the target."""
    rng = np.random.default_rng(3)
    factor = rng.normal(size=60)
    X = rng.normal(size=(60, 200))
    X[:, :10] += 2 * factor[:, None]
    return X, np.where(factor + 0.2 * rng.normal(size=60) > 0, "b", "a"), factor


@pytest.mark.parametrize(
    "reduction",
    [ISPCA(n_permutations=200), SPCA(n_features=10), SPCA(n_permutations=200)],
    ids=["ISPCA", "SPCA", "p"],
)
@pytest.mark.parametrize("target", [1, 2], ids=["classes", "values"])
def test_a_strong_module(module, reduction, target):
    result = stability(reduction, module[0], module[target], n_components=1, **OPTIONS)
    assert set(result.table.feature[:10]) == {str(j) for j in range(10)}
    assert result.table.frequency[:10].min() == 1
    assert result.table.frequency[10:].mean() < 0.4
    component = result.components[0]
    assert component.found == 8
    assert component.similarity > 0.95
    assert component.similarity > component.chance_similarity + 0.3
    assert component.overlap > component.chance_overlap + 0.25


def test_pure_noise(rng):
    X, y = rng.normal(size=(60, 200)), np.tile([0, 1], 30)
    tested = stability(ISPCA(n_permutations=200), X, y, n_components=1, **OPTIONS)
    assert tested.components.found[0] <= 2
    assert tested.table.frequency.max() < 0.5
    kept = stability(SPCA(n_features=10), X, y, n_components=1, **OPTIONS).components[0]
    # The target is the same in all splits, so real splits agree more than permuted ones; a module would far more.
    assert kept.similarity < 0.9
    assert kept.chance_similarity < 0.5
    assert kept.overlap < 0.6


def test_frequencies_by_hand(module):
    X, y, _ = module
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    result = stability(SPCA(n_features=15), X, y, n_components=1, cv=folds, n_jobs=1)
    masks = np.array([SPCA(n_features=15).fit(X[train], y[train]).directions_[0] != 0 for train, _ in folds])
    order = result.table.feature.astype(int)
    np.testing.assert_array_equal(result.table.frequency, masks.mean(axis=0)[order])
    np.testing.assert_array_equal(result.table.supervised_1, result.table.frequency)
    assert (np.diff(result.table.frequency) <= 0).all()
    assert result.chance_frequency == pytest.approx(15 / 200)
    pairs = [(i, j) for i in range(4) for j in range(i)]
    jaccard = [(masks[i] & masks[j]).sum() / (masks[i] | masks[j]).sum() for i, j in pairs]
    assert result.components.overlap[0] == pytest.approx(np.mean(jaccard))
    assert result.components.features[0] == 15
    assert result.n_splits == 4


@pytest.mark.parametrize(("a", "b", "D"), [(1, 1, 10), (3, 5, 20), (30, 10, 50), (10, 10, 10), (2, 40, 300)])
def test_overlap_of_random_sets(rng, a, b, D):
    first = rng.random((5_000, D)).argsort(axis=1)[:, :a]
    common = (first < b).sum(axis=1)
    simulated = np.mean(common / (a + b - common))
    smaller, larger = sorted((a, b))
    assert _random_overlap(smaller, larger, D) == pytest.approx(simulated, rel=0.15)


def test_several_components(rng):
    first, second = rng.normal(size=(2, 60))
    X = rng.normal(size=(60, 100))
    X[:, :10] += 2 * first[:, None]
    X[:, 10:20] += 2 * second[:, None]
    result = stability(ISPCA(n_permutations=200), X, first + 0.8 * second, n_components=3, **OPTIONS)
    assert list(result.components.component) == list(range(1, len(result.components) + 1))
    assert result.components.found[0] == 8
    assert len(result.components) >= 2
    assert (result.table.frequency >= result.table.supervised_1).all()
    assert (result.table.frequency >= result.table.supervised_2).all()


def test_names_sparse_and_workers(module):
    X, y, _ = module
    X = np.where(np.abs(X) > 1, X, 0.0)
    plain = stability(ISPCA(n_permutations=100), X, y, **OPTIONS)
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(200)])
    named = stability(ISPCA(n_permutations=100), frame, y, **OPTIONS)
    assert named.table.feature[0] == f"gene{plain.table.feature[0]}"
    sparse = stability(ISPCA(n_permutations=100), sp.csr_array(X), y, **OPTIONS)
    parallel = stability(ISPCA(n_permutations=100), X, y, cv=8, n_jobs=2)
    for other in (named, sparse, parallel):
        np.testing.assert_array_equal(other.table.frequency, plain.table.frequency)
        np.testing.assert_allclose(other.components.similarity, plain.components.similarity)


@pytest.mark.parametrize("kind", [ISPCA, SPCA])
def test_nothing_is_cross_fitted(module, kind, monkeypatch):
    X, y, _ = module
    monkeypatch.setattr(kind, "_cross_fit", None)
    plain, crossed = (
        stability(kind(n_permutations=50, cross_fit=cross_fit), X, y, cv=2, n_jobs=1) for cross_fit in (None, 4)
    )
    np.testing.assert_array_equal(plain.table, crossed.table)
    np.testing.assert_array_equal(plain.components, crossed.components)


def test_noise_warns_not(rng, recwarn):
    stability(ISPCA(n_permutations=50), rng.normal(size=(40, 20)), np.tile([0, 1], 20), **OPTIONS)
    assert not [warning for warning in recwarn if "No single feature" in str(warning.message)]


def test_groups(module):
    X, y, _ = module
    stability(SPCA(n_features=5), X, y, cv=3, groups=np.arange(60) // 3, n_jobs=1)
    with pytest.raises(ValueError, match="groups has 5 entries"):
        stability(SPCA(n_features=5), X, y, cv=3, groups=np.arange(5))


@pytest.mark.parametrize(
    ("reduction", "options", "words"),
    [
        (ISPCA(), {"n_components": 0}, "n_components must be at least 1, got 0"),
        (ISPCA(), {"n_components": -1}, "n_components must be at least 1, got -1"),
        (ISPCA(), {"cv": 0}, "cv=0"),
        (ISPCA, {}, r"must be ISPCA\(...\)"),
        (PCA(), {}, r"must be ISPCA\(...\)"),
    ],
)
def test_refused(module, reduction, options, words):
    with pytest.raises(ValueError, match=words):
        stability(reduction, *module[:2], **options)


def test_bad_targets(module):
    with pytest.raises(ValueError, match="do not match"):
        stability(ISPCA(), module[0], module[1][:50])
    with pytest.raises(ValueError, match="missing"):
        stability(ISPCA(), module[0], np.where(module[2] > 0, np.nan, module[2]))


@pytest.mark.parametrize("family", ["cox", "poisson", "ordinal"])
def test_other_targets(rng, family):
    X, y = {"cox": survival_data, "poisson": count_data, "ordinal": ordinal_data}[family](rng)
    forms = [y]
    if family == "cox":
        forms.append((y["event"], y["time"]))
    if family == "ordinal":
        forms.append(pd.Categorical.from_codes(y - 1, ["low", "medium", "high"], ordered=True))
    for form in forms:
        result = stability(ISPCA(family=family), X, form, n_components=1, cv=4, n_jobs=1)
        assert result.table["feature"][0] == "0"
        assert result.components["similarity"][0] > 0.8
