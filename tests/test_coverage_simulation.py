"""The truths behind benchmarks/coverage.py against large samples, and a run with tiny settings."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from benchmarks import coverage, factor_data
from benchmarks.coverage import COVERED, DESIGNS, FRESH, PAPER, TRUTH, interval_scores, methods_for
from benchmarks.factor_data import Design, make_truth, shrinkage
from ispca import ISPCA

pytestmark = pytest.mark.slow

STRONG = {design.classes: design for design in DESIGNS if "strong" in design.name}


@pytest.fixture
def tiny(monkeypatch):
    for name, value in {"N_FEATURES": 60, "N_FACTORS": 4, "FACTOR_SIZE": 10}.items():
        monkeypatch.setattr(factor_data, name, value)
    chains = coverage.CHAINS | {"n_warmup": 100, "n_draws": 50}
    for name, value in {"N_SAMPLES": 40, "N_COMPONENTS": 5, "CHAINS": chains}.items():
        monkeypatch.setattr(coverage, name, value)


@pytest.mark.parametrize("classes", [False, True])
def test_the_best_model_of_the_components_is_that_of_a_large_sample(tiny, classes):
    rng = np.random.default_rng(1)
    truth = make_truth(STRONG[classes], rng)
    reduction = ISPCA(3, whiten=True, random_state=0).fit(*truth.draw(rng, 40))
    best, intercept, kept = truth.best(reduction)
    X, y = truth.draw(rng, 100_000)
    Z = reduction.transform(X)
    model = LogisticRegression(C=1e9) if classes else LinearRegression()
    model.fit(Z, y)
    np.testing.assert_allclose(np.ravel(model.coef_), best, atol=0.05 * np.abs(best).max())
    assert np.ravel(model.intercept_)[0] == pytest.approx(intercept, abs=0.05)
    assert LinearRegression().fit(Z, X @ truth.coef).score(Z, X @ truth.coef) == pytest.approx(kept, abs=0.01)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_the_true_predictor_has_the_spread_of_the_design(design):
    rng = np.random.default_rng(2)
    truth = make_truth(design, rng)
    X, y = truth.draw(rng, 4000)
    assert (X @ truth.coef).std() == pytest.approx(design.signal, rel=0.05)
    assert np.count_nonzero(truth.coef) in (0, factor_data.N_RELEVANT * factor_data.FACTOR_SIZE)
    if not design.classes:
        assert y.std() == pytest.approx(1, rel=0.05)


def test_scores_of_new_samples_vary_less_than_training_scores():
    """The explanation of docs/coverage.md: 0.4 on unsupervised components and 0.7 on supervised ones, not 1."""
    supervised, unsupervised = [], []
    for seed in range(10):
        _, train, (X, _), _ = coverage.simulate(STRONG[False], (0, seed))
        reduction = ISPCA(coverage.N_COMPONENTS, whiten=True, random_state=seed).fit(*train)
        spreads = reduction.transform(X).std(axis=0)
        supervised += list(spreads[: reduction.n_supervised_])
        unsupervised += list(spreads[reduction.n_supervised_ :])
    assert np.mean(supervised) == pytest.approx(0.7, abs=0.05)
    assert np.mean(unsupervised) == pytest.approx(0.4, abs=0.05)


def test_shrinkage_grows_with_what_is_missed():
    factors = [shrinkage(kept, 2.0) for kept in (2.0, 1.5, 0.5)]
    assert factors[0] == pytest.approx(1)
    assert 1 > factors[1] > factors[2] > 0


def test_coverage_and_width_of_intervals():
    ends = np.array([[0.0, 0.0, -1.0], [1.0, 2.0, 1.0]])
    assert interval_scores("x", ends, np.array([0.5, 3.0, -1.0])) == {
        "x_covered": pytest.approx(2 / 3),
        "x_width": pytest.approx(5 / 3),
    }
    assert interval_scores("x", ends, np.zeros(3), np.exp)["x_covered"] == 1


def test_a_tiny_run_fills_the_tables_and_continues(tiny, tmp_path, monkeypatch):
    designs = [STRONG[False], Design("classes, noise, forced", True, 0.0, forced=True)]
    monkeypatch.setattr(coverage, "DESIGNS", designs)
    monkeypatch.setattr(coverage, "BATCH", 2)
    results = coverage.run_all(designs, 4, 1, tmp_path)
    for design in designs:
        found = results[design.name]
        assert len(found[FRESH]["mlpd"]) == 4
        assert list(found) == [TRUTH, *methods_for(design), FRESH]
        for name in COVERED:
            covered = found[PAPER][f"{name}_covered"]
            assert ((covered >= 0) & (covered <= 1) | np.isnan(covered)).all()
    forced = results[designs[1].name]
    assert (forced["cross-fitted"]["n_supervised"] == 1).all()
    # The same components; only the scores that the model learns from differ.
    assert (forced["cross-fitted"]["supervised_width"] < forced[PAPER]["supervised_width"]).all()
    assert coverage.coverage_table(results).count("\n") == 1 + 4 + 3
    assert coverage.prediction_table(results).count("\n") == 1 + 5 + 4
    monkeypatch.setattr(coverage, "quietly", None)
    again = coverage.run_all(designs, 4, 1, tmp_path)
    assert coverage.coverage_table(again) == coverage.coverage_table(results)
