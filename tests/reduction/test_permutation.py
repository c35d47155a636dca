"""Item 3: the fast permutation tests decide as the brute-force ones do on the same permutations."""

import warnings

import numpy as np
import pytest
from scipy.stats import chisquare, kendalltau, rankdata

from ispca import ISPCA, SPCA, score_test
from ispca.reduction.permutation import draw_permutations
from naive import drop_vanished, permutation_exceedances, standardise, target_columns

ALPHAS = (0.01, 0.05, 0.2, 0.5, 1.0)
TARGETS = ("two classes", "four classes", "numbers")


def random_case(seed, target, *, ties):
    """Return X and y with a random amount of signal; ``ties`` gives tiny n and small integers."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12)) if ties else int(rng.integers(12, 40))
    D = int(rng.integers(2, 60))
    factors = rng.normal(size=(n, 2))
    X = rng.normal(size=(n, D)) + rng.choice([0.0, 1.0, 3.0], D) * factors[:, rng.integers(0, 2, D)]
    signal = factors @ [1.0, 0.5] * rng.choice([0.0, 1.0, 3.0]) + rng.normal(size=n)
    if ties:
        X = np.round(X)
        X[0], X[1] = 0.0, 1.0  # no data set without a column that varies
        signal = np.round(signal)
    if target == "numbers":
        y = signal + 0.5 * np.arange(n) * (np.ptp(signal) == 0)
        y[0] += 0.25  # whole numbers alone would be labels
        return X, y
    classes = 2 if target == "two classes" else 4
    order = np.argsort(signal, kind="stable")
    y = np.empty(n, dtype=int)
    y[order] = np.arange(n) * classes // n
    return X, y


def assert_decisions_equal_brute_force(X, y, *, seed, alpha, R, test, n_supervised=4):
    """Replay every test of a fit by brute force, on the components the fit itself has found."""
    estimator = ISPCA(
        n_supervised=n_supervised, alpha=alpha, n_permutations=R, test=test, random_state=seed, n_thresholds=3
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            Z = estimator.fit_transform(X, y)[:, : estimator.n_supervised_]
    except ValueError as error:
        # Every column may be degenerate in tiny integer data: that is an error of its own.
        if "No feature is left" in str(error) and not standardise(X).any():
            return 0
        raise
    permutations = draw_permutations(seed, len(X), 0, R)
    targets, deflated = target_columns(y), standardise(X)
    for k, step in enumerate(estimator.steps_):
        exceeds = permutation_exceedances(deflated, targets, Z[:, :k].T, permutations, test)
        if step.score > 0:
            done = step.n_permutations
            assert step.accepted == (exceeds.mean() < alpha), f"step {k}: p = {exceeds.mean()}"
            assert round(step.p_value * done) == exceeds[:done].sum(), f"step {k}"
            assert step.stopped_early == (done < R)
            # Stopped at the very permutation that settled it, and only then.
            assert done == R or (exceeds[:done].sum() >= alpha * R and exceeds[done - 1])
        if step.accepted:
            z = Z[:, k]
            deflated = drop_vanished(deflated - np.outer(z, deflated.T @ z / (z @ z)))
    return len(estimator.steps_)


@pytest.mark.grid(5)
@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("test", ["paper", "residual"])
@pytest.mark.parametrize("target", TARGETS)
def test_early_stopped_decisions_equal_brute_force(target, test, ties):
    later = 0
    for seed in range(40):
        X, y = random_case(seed, target, ties=ties)
        alpha = ALPHAS[seed % len(ALPHAS)]
        R = (20, 60, 150)[seed % 3]
        later += assert_decisions_equal_brute_force(X, y, seed=seed, alpha=alpha, R=R, test=test) > 1
    assert later >= 10, "too few cases got to a second component to mean anything"


@pytest.mark.parametrize("test", ["paper", "residual"])
def test_decisions_stay_equal_over_many_components_and_batches(test):
    rng = np.random.default_rng(7)
    n, D = 60, 80
    factors = rng.normal(size=(n, 5))
    X = np.repeat(factors, D // 5, axis=1) + 0.3 * rng.normal(size=(n, D))
    y = factors @ [3.0, 2.5, 2.0, 1.5, 1.0] + 0.1 * rng.normal(size=n)
    steps = assert_decisions_equal_brute_force(X, y, seed=3, alpha=0.5, R=1500, test=test, n_supervised=8)
    assert steps >= 3


def test_a_column_that_almost_vanishes_is_judged_in_double_precision():
    # After the first component, the second column keeps a millionth of its variance, all of it signal.
    rng = np.random.default_rng(0)
    base, rest = rng.normal(size=(2, 50))
    X = np.column_stack([base, base + 1e-3 * rest, rng.normal(size=(50, 5))])
    assert assert_decisions_equal_brute_force(X, base + 0.5 * rest, seed=1, alpha=0.3, R=400, test="paper") >= 2


@pytest.mark.parametrize("test", ["paper", "residual"])
def test_permutations_that_reproduce_the_target_count(test):
    # With two members of three samples' labels moved at all, a third of the permutations give y back.
    X = np.array([[0.0, 1, 5], [0, 2, 4], [1, 3, 1], [1, 4, 2]])
    y = np.array(["a", "a", "b", "b"])
    permutations = draw_permutations(5, 4, 0, 600)
    same_split = np.array([set(y[p[:2]]) == {"a"} or set(y[p[:2]]) == {"b"} for p in permutations])
    estimator = ISPCA(n_supervised=1, alpha=1.0, n_permutations=600, random_state=5, test=test).fit(X, y)
    assert estimator.steps_[0].score == pytest.approx(1.0)
    assert estimator.steps_[0].p_value == same_split.mean()
    assert 0.25 < same_split.mean() < 0.42


# Per-feature p-values and SPCA's elimination.


def feature_score_of_columns(X, column, score):
    if score == "kendall":
        return np.array([abs(kendalltau(x, column).statistic) if np.ptp(x) > 0 else 0.0 for x in X.T])
    if score == "spearman":
        X, column = rankdata(X, axis=0), rankdata(column)
    X, column = X - X.mean(axis=0), column - column.mean()
    lengths = np.linalg.norm(X, axis=0)
    return np.abs(X.T @ column) / np.where(lengths > 1e-9, lengths, np.inf) / np.linalg.norm(column)


def brute_force_p_values(X, y, permutations, statistic="pearson"):
    columns = target_columns(y)
    observed = np.max([feature_score_of_columns(X, t, statistic) for t in columns.T], axis=0)
    counts = np.zeros(X.shape[1], dtype=int)
    for order in permutations:
        permuted = np.max([feature_score_of_columns(X, t[order], statistic) for t in columns.T], axis=0)
        counts += permuted >= observed - 1e-10
    return observed, counts / len(permutations)


@pytest.mark.grid(5)
@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("target", TARGETS)
def test_spca_keeps_exactly_the_features_of_brute_force(target, ties):
    kept = 0
    for seed in range(30):
        X, y = random_case(1000 + seed, target, ties=ties)
        alpha, R = ALPHAS[seed % 4], (100, 250, 400)[seed % 3]
        observed, p = brute_force_p_values(X, y, draw_permutations(seed, len(X), 0, R))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            estimator = SPCA(alpha=alpha, n_permutations=R, random_state=seed).fit(X, y)
        expected = np.flatnonzero((p < alpha) & (observed > 0))
        np.testing.assert_array_equal(estimator.selected_, expected)
        np.testing.assert_array_equal(score_test(X, y, n_permutations=R, random_state=seed).p_values, p)
        kept += len(expected)
    assert kept > 30


@pytest.mark.grid(5)
@pytest.mark.parametrize("statistic", ["spearman", "kendall"])
@pytest.mark.parametrize("target", TARGETS)
def test_rank_scores_keep_exactly_the_features_of_brute_force(target, statistic):
    for seed in range(3):
        X, y = random_case(2000 + seed, target, ties=seed == 1)
        X = X[:, :12]
        observed, p = brute_force_p_values(X, y, draw_permutations(seed, len(X), 0, 60), statistic)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            estimator = SPCA(alpha=0.2, n_permutations=60, random_state=seed, statistic=statistic).fit(X, y)
        np.testing.assert_array_equal(estimator.selected_, np.flatnonzero((p < 0.2) & (observed > 0)))


# The permutations themselves.


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 65, 1000])
def test_every_row_is_a_permutation(n):
    drawn = draw_permutations(3, n, 0, 20)
    np.testing.assert_array_equal(np.sort(drawn, axis=1), np.tile(np.arange(n), (20, 1)))


@pytest.mark.parametrize("n", [3, 4, 5])
def test_all_permutations_of_few_samples_are_equally_likely(n):
    drawn = draw_permutations(11, n, 0, 24_000)
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == np.prod(np.arange(1, n + 1))
    assert chisquare(counts).pvalue > 1e-3


def test_every_sample_goes_to_every_place_equally_often():
    n, R = 30, 20_000
    drawn = draw_permutations(12, n, 0, R)
    counts = np.array([np.bincount(drawn[:, place], minlength=n) for place in range(n)])
    assert counts.shape == (n, n)
    assert chisquare(counts.ravel(), ddof=2 * n - 2).pvalue > 1e-3


def test_the_permutations_do_not_depend_on_the_batches():
    whole = draw_permutations(4, 23, 0, 100)
    for size in (1, 7, 64, 100):
        parts = [draw_permutations(4, 23, start, min(start + size, 100)) for start in range(0, 100, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_another_seed_gives_other_permutations():
    assert not np.array_equal(draw_permutations(1, 30, 0, 5), draw_permutations(2, 30, 0, 5))
