"""Stability: a strong module comes up again and again, noise does not; chance levels and error rates are right."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from ispca import ISPCA, SPCA
from ispca.bagging.bootstrap import draw_bags
from ispca.bagging.stability import _random_overlap, error_rates
from ispca.validation import stability
from kinds import count_data, ordinal_data, survival_data

OPTIONS = {"n_bags": 8, "n_jobs": 1}


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
    assert result.table.frequency[:10].min() > 0.5
    assert result.table.frequency[10:].mean() < 0.4
    component = result.components[0]
    assert component.found == 8
    assert component.similarity > 0.9
    rates = result.table.error_rate
    assert np.isnan(rates).all() if isinstance(reduction, SPCA) else rates[:10].max() < 0.3
    assert component.overlap > component.chance_overlap + 0.1


def test_pure_noise(rng):
    X, y = rng.normal(size=(60, 200)), np.tile([0, 1], 30)
    tested = stability(ISPCA(n_permutations=200), X, y, n_components=1, **OPTIONS)
    assert tested.components.found[0] <= 2
    assert tested.table.frequency.max() < 0.5
    assert tested.table.error_rate.min() > 0.3
    forced = stability(ISPCA(alpha=None, n_components=1, n_supervised=1), X, y, n_components=1, **OPTIONS)
    assert forced.components.found[0] == 8
    assert forced.table.error_rate.min() > 0.3
    kept = stability(SPCA(n_features=10), X, y, n_components=1, **OPTIONS).components[0]
    # The target is the same in all bags, so they agree more than those of a permuted one; a module would far more.
    assert kept.similarity < 0.9
    assert kept.overlap < 0.6


@pytest.mark.parametrize("given", ["groups", "copies"])
def test_samples_that_are_alike_do_not_make_lists_look_better(given):
    rng = np.random.default_rng(1)
    unit = np.repeat(np.arange(24), 4)
    X = 2 * rng.normal(size=(24, 300))[unit] + (given == "groups") * rng.normal(size=(96, 300))
    groups = unit if given == "groups" else None
    forced = ISPCA(alpha=None, n_components=1, n_supervised=1)
    found = stability(forced, X, unit % 2, groups=groups, n_components=1, **OPTIONS)
    assert found.table.frequency.max() > 0.5
    # Nothing is there, and decoys with 96 independent samples would be chosen far less often.
    assert found.table.error_rate.min() > 0.2


def test_frequencies_by_hand(module):
    X, y, _ = module
    result = stability(SPCA(n_features=15), X, y, n_components=1, n_bags=4, n_jobs=1, random_state=3)
    Z, masks, scores = X / X.std(axis=0), [], []
    for split in draw_bags(4, np.arange(60), y, None, 3):
        fitted = SPCA(n_features=15, scale=False).fit(
            Z[split.train], y[split.train], sample_weight=split.train_weight
        )
        masks.append(fitted.directions_[0] != 0)
        scores.append(fitted.transform(Z)[:, 0])
    masks, order = np.array(masks), result.table.feature.astype(int)
    np.testing.assert_array_equal(result.table.frequency, masks.mean(axis=0)[order])
    np.testing.assert_array_equal(result.table.supervised_1, result.table.frequency)
    assert (np.diff(result.table.frequency) <= 0).all()
    assert result.chance_frequency == pytest.approx(15 / 200)
    pairs = [(i, j) for i in range(4) for j in range(i)]
    jaccard = [(masks[i] & masks[j]).sum() / (masks[i] | masks[j]).sum() for i, j in pairs]
    assert result.components.overlap[0] == pytest.approx(np.mean(jaccard))
    similar = [abs(np.corrcoef(scores[i], scores[j])[0, 1]) for i, j in pairs]
    assert result.components.similarity[0] == pytest.approx(np.mean(similar))
    assert result.components.features[0] == 15
    assert result.n_bags == 4


def test_error_rates_by_hand():
    frequency = np.array([0.2, 1.0, 1.0, 0.6, 0.6, 0.6, 0.2, 0.0])
    decoys = np.array([0.6, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    # 1 of 2 at 1.0, 2 of 5 at 0.6, 3 of 7 at 0.2, and at least 1 at 0; never more than at a lower frequency.
    expected = [3 / 7, 2 / 5, 2 / 5, 2 / 5, 2 / 5, 2 / 5, 3 / 7, 1.0]
    np.testing.assert_allclose(error_rates(frequency, decoys), expected)
    assert np.isnan(error_rates(frequency, None)).all()
    assert (error_rates(np.zeros(5), np.zeros(5)) == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("correlated", [False, True])
def test_lists_have_the_error_rate_that_they_state(correlated):
    false, listed = [], 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 29])
        factors = np.repeat(rng.normal(size=(60, 50)), 20, axis=1)
        X = rng.normal(size=(60, 1000))
        if correlated:
            X, y = X + factors, factors[:, 0] + 0.3 * rng.normal(size=60)
        else:
            y = np.tile([0, 1], 30)
            X[:, :20] += 1.6 * y[:, None]
        table = stability(ISPCA(n_permutations=200), X, y, n_jobs=1, random_state=seed).table
        chosen = table.feature[table.error_rate <= 0.2].astype(int)
        listed += (chosen < 20).sum()
        false.append(np.mean(chosen >= 20) if len(chosen) else 0.0)
    assert np.mean(false) < 0.28
    assert listed / 20 > 15


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
    parallel = stability(ISPCA(n_permutations=100), X, y, n_bags=8, n_jobs=2)
    for other in (named, sparse, parallel):
        np.testing.assert_array_equal(other.table.frequency, plain.table.frequency)
        np.testing.assert_array_equal(other.table.error_rate, plain.table.error_rate)
        np.testing.assert_allclose(other.components.similarity, plain.components.similarity)


@pytest.mark.parametrize("kind", [ISPCA, SPCA])
def test_nothing_is_cross_fitted(module, kind, monkeypatch):
    X, y, _ = module
    monkeypatch.setattr(kind, "_cross_fit", None)
    plain, crossed = (
        stability(kind(n_permutations=50, cross_fit=cross_fit), X, y, n_bags=2, n_jobs=1)
        for cross_fit in (None, 4)
    )
    pd.testing.assert_frame_equal(plain.table.to_frame(), crossed.table.to_frame())
    np.testing.assert_array_equal(plain.components, crossed.components)


def test_noise_warns_not(rng, recwarn):
    stability(ISPCA(n_permutations=50), rng.normal(size=(40, 20)), np.tile([0, 1], 20), **OPTIONS)
    assert not [warning for warning in recwarn if "No single feature" in str(warning.message)]


def test_groups(module):
    X, y, _ = module
    whole = stability(SPCA(n_features=5), X, y, n_bags=3, groups=np.arange(60) // 3, n_jobs=1)
    single = stability(SPCA(n_features=5), X, y, n_bags=3, n_jobs=1)
    assert not np.array_equal(whole.table, single.table)
    with pytest.raises(ValueError, match="groups has 5 entries"):
        stability(SPCA(n_features=5), X, y, n_bags=3, groups=np.arange(5))


@pytest.mark.parametrize(
    ("reduction", "options", "words"),
    [
        (ISPCA(), {"n_components": 0}, "n_components must be at least 1, got 0"),
        (ISPCA(), {"n_components": -1}, "n_components must be at least 1, got -1"),
        (ISPCA(), {"n_bags": 1}, "n_bags must be at least 2, got 1"),
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
        result = stability(ISPCA(family=family), X, form, n_components=1, n_bags=6, n_jobs=1)
        assert result.table["feature"][0] == "0"
        assert result.components["similarity"][0] > 0.8
