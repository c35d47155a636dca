"""compare: any methods, any splits, honest numbers."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ispca import ISPCA, SPCA, HorseshoeClassifier
from ispca.report.prediction import prediction_section
from ispca.report.report_inputs import Context
from ispca.targets.intervals import split_interval
from ispca.validation import compare
from odd_methods import GroupsNoted

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False}
SMALL = {"lasso": LogisticRegression(), "chance": DummyClassifier()}


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 8))
    return X, np.where(X[:, 1] + 0.7 * rng.normal(size=60) > 0, "sick", "healthy")


@pytest.fixture
def values(data, rng):
    return data[0], data[0][:, 0] + 0.5 * rng.normal(size=60)


def test_scores_are_those_of_scikit_learn(data):
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    names = {"mlpd": "neg_log_loss", "accuracy": "accuracy", "balanced_accuracy": "balanced_accuracy"}
    names |= {"auc": "roc_auc", "brier": "neg_brier_score"}
    data = data[0], (data[1] == "sick").astype(int)
    expected = cross_validate(pipeline, *data, cv=cv, scoring=names)
    scores = compare(pipeline, *data, cv=cv, n_jobs=1).scores
    for name in ("mlpd", "accuracy", "balanced_accuracy", "auc"):
        np.testing.assert_allclose(scores[name][:, 0], expected[f"test_{name}"], rtol=1e-12)
    np.testing.assert_allclose(scores["brier"][:, 0], -expected["test_brier"], rtol=1e-12)


def test_scores_of_values_are_those_of_scikit_learn(values):
    expected = cross_validate(BayesianRidge(), *values, cv=KFold(4), scoring=["r2", "neg_root_mean_squared_error"])
    scores = compare(BayesianRidge(), *values, cv=KFold(4), n_jobs=1).scores
    np.testing.assert_allclose(scores["r2"][:, 0], expected["test_r2"])
    np.testing.assert_allclose(scores["rmse"][:, 0], -expected["test_neg_root_mean_squared_error"])
    assert np.mean(scores["coverage"]) == pytest.approx(0.9, abs=0.1)


def test_any_kind_of_method(data):
    named = {
        "forest": RandomForestClassifier(5),
        "search": GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
        "svm": LinearSVC(),
        "ridge": RidgeClassifier(),
        "ispca": make_pipeline(StandardScaler(), ISPCA(50, n_permutations=100), LogisticRegression()),
        "chance": DummyClassifier(),
    }
    result = compare(list(named.items()), *data, cv=3, n_jobs=1, baseline="chance")
    assert not result.errors
    assert np.isfinite(result.scores["accuracy"]).all()
    assert np.isfinite(result.scores["auc"]).all()
    for name in ("mlpd", "brier", "calibration_error"):
        # Without probabilities these do not apply.
        missing = np.isnan(result.scores[name]).all(axis=0)
        np.testing.assert_array_equal(missing, [False, False, True, True, False, False])
    rows = {row["method"]: row for row in result.table}
    assert np.isnan(rows["svm"]["mlpd"])
    assert np.isfinite(rows["svm"]["accuracy_difference_low"])
    # They are listed last by a measure they do not have.
    assert set(result.table["method"][-2:]) == {"svm", "ridge"}


def test_many_classes_and_unlike_labels(rng):
    X = rng.normal(size=(60, 4))
    X[:, 0] += 3 * np.tile(np.arange(3), 20)
    numbered = compare(SMALL, X, np.tile([10, 20, 30], 20), cv=4, n_jobs=1)
    named = compare(SMALL, X, np.tile(["a", "b", "c"], 20), cv=4, n_jobs=1)
    frame = compare(SMALL, X, pd.Series(np.tile([1, 2, 3], 20), dtype="Int64"), cv=4, n_jobs=1)
    for name, scores in numbered.scores.items():
        assert np.isfinite(scores).all()
        np.testing.assert_array_equal(scores, named.scores[name])
        np.testing.assert_array_equal(scores, frame.scores[name])
    assert numbered.table["method"][0] == "lasso"


@pytest.mark.parametrize("container", [sp.csr_array, sp.coo_matrix, pd.DataFrame, pl.DataFrame, np.ndarray.tolist])
def test_any_container(data, container):
    X, y = data
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    if container is pl.DataFrame:
        container = lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])])  # noqa: E731
    methods = {"ISPCA": make_pipeline(ISPCA(2, n_permutations=50), LogisticRegression())}
    expected = compare(methods, X, y, cv=2, n_jobs=1)
    result = compare(methods, container(X), y, cv=2, n_jobs=1)
    np.testing.assert_allclose(result.scores["mlpd"], expected.scores["mlpd"], rtol=1e-6)


def test_groups_and_own_folds(data, rng):
    groups = np.arange(60) // 3
    result = compare(SMALL, *data, cv=GroupKFold(5), groups=groups, n_jobs=1)
    assert len(result.splits) == 5
    own = compare(SMALL, *data, cv=[(split.train, split.test) for split in result.splits], n_jobs=1)
    np.testing.assert_array_equal(result.scores["mlpd"], own.scores["mlpd"])
    for split in compare(SMALL, *data, cv=6, groups=groups, n_jobs=1).splits:
        assert not set(groups[split.train]) & set(groups[split.test])


@pytest.mark.parametrize("groups", [None, np.arange(60) // 3])
def test_methods_with_folds_of_their_own_get_the_groups(data, tmp_path, groups):
    bare, last = GroupsNoted(str(tmp_path / "bare")), GroupsNoted(str(tmp_path / "last"))
    methods = {"bare": bare, "last step": make_pipeline(StandardScaler(), last), "other": GaussianNB()}
    result = compare(methods, *data, cv=2, groups=groups, n_jobs=1)
    parts = ["none" if groups is None else " ".join(map(str, groups[split.train])) for split in result.splits]
    assert (tmp_path / "bare").read_text().splitlines() == parts
    assert (tmp_path / "last").read_text().splitlines() == parts


def test_other_groups_are_other_fits(data, tmp_path):
    """The samples are the same, but the folds inside a method are not."""
    methods = {"noted": GroupsNoted(str(tmp_path / "seen"))}
    for groups in (np.arange(60) // 3, np.arange(60) // 3, np.arange(60) // 6):
        compare(methods, *data, cv=[(range(30), range(30, 60))], groups=groups, resume=tmp_path / "fits", n_jobs=1)
    assert len((tmp_path / "seen").read_text().splitlines()) == 2


def test_the_table_by_hand(data):
    result = compare(SMALL, *data, cv=6, n_jobs=1, metrics=["accuracy", "mlpd"])
    row = result.table[list(result.table["method"]).index("chance")]
    accuracy = result.scores["accuracy"]
    paired = accuracy[:, 1] - accuracy[:, 0]
    # 12 of 60 held out in each of 6 splits; 2.570582 is the 97.5 % quantile of t with 5 degrees.
    reach = 2.5705818 * np.sqrt((1 / 6 + 12 / 48) * paired.var(ddof=1))
    assert row["accuracy"] == pytest.approx(accuracy[:, 1].mean())
    assert row["accuracy_difference"] == pytest.approx(paired.mean())
    assert row["accuracy_difference_low"] == pytest.approx(paired.mean() - reach)
    assert row["accuracy_difference_high"] == pytest.approx(paired.mean() + reach)
    assert row["accuracy_low"] == pytest.approx(split_interval(accuracy[:, 1], 0.25)[1])
    base = result.table[list(result.table["method"]).index("lasso")]
    assert (base["mlpd_difference"], base["mlpd_difference_low"]) == (0, 0)
    frame = pd.DataFrame(result.table)
    assert list(frame.columns[:4]) == ["method", "accuracy", "accuracy_low", "accuracy_high"]
    assert (frame["seconds_model"] > 0).all()


@pytest.mark.parametrize("metric", ["mlpd", "brier"])
def test_best_first(data, metric):
    """Also where smaller is better."""
    methods = {"bad": DummyClassifier(strategy="constant", constant="sick"), **SMALL}
    table = compare(methods, *data, cv=6, n_jobs=1, metrics=metric).table
    assert list(table["method"]) == ["lasso", "chance", "bad"]


def test_posteriors_that_have_not_converged_are_counted(data):
    model = HorseshoeClassifier(n_chains=2, n_warmup=5, n_draws=10, retry=False)
    result = compare({"short": model, **SMALL}, *data, cv=3, n_jobs=1)
    counts = dict(zip(result.table["method"], result.table["n_unconverged"], strict=True))
    assert counts == {"short": 3, "lasso": 0, "chance": 0}
    assert "3 posteriors did not converge" in str(result)


def test_as_text(data):
    text = str(compare({"svm": LinearSVC(), **SMALL}, *data, cv=4, n_jobs=1))
    lines = text.splitlines()
    assert lines[0].endswith("stratified by class (seed 0)")
    assert "difference from lasso" in lines[1]
    assert [line.split()[0] for line in lines[2:5]] == ["lasso", "chance", "svm"]
    assert lines[5].startswith("Best of 2 methods over all held-out samples: lasso, mean log density -0.")
    assert lines[6:] == ["No mlpd for svm, which gives no predictive density."]
    assert "nan" not in text


def test_one_split_has_no_intervals_and_long_names_are_short(data):
    name = "a method whose name is longer than any column of a table in a terminal should be"
    result = compare({**SMALL, name: GaussianNB()}, *data, cv=1, n_jobs=1)
    text = str(result)
    assert "nan" not in text
    assert "interval" not in text.splitlines()[1]
    assert name not in text
    assert "\na method whose name... terminal should be  " in text
    assert name in result.table["method"]


def test_splitter_and_seed_are_recorded(data):
    result = compare(SMALL, *data, cv=StratifiedKFold(3, shuffle=True), n_jobs=1, random_state=None)
    assert result.cv == "3 splits of StratifiedKFold(n_splits=3, random_state=None, shuffle=True)"
    assert str(result).startswith(f"{result.cv} (seed {result.seed})\n")
    again = compare(SMALL, *data, cv=StratifiedKFold(3, shuffle=True), n_jobs=1, random_state=result.seed)
    np.testing.assert_array_equal(again.scores["mlpd"], result.scores["mlpd"])


def test_the_baseline(data):
    assert compare(SMALL, *data, cv=2, n_jobs=1).baseline == "lasso"
    assert compare({"b": DummyClassifier(), "a": GaussianNB()}, *data, cv=2, n_jobs=1).baseline == "b"
    assert compare(SMALL, *data, cv=2, n_jobs=1, baseline="chance").baseline == "chance"


def test_the_seed_decides(data):
    named = {"forest": RandomForestClassifier(3)}
    first, again, other = (compare(named, *data, cv=3, n_jobs=1, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.scores["mlpd"], again.scores["mlpd"])
    assert not np.array_equal(first.scores["mlpd"], other.scores["mlpd"])


def test_no_leak():
    """On pure noise every method is at chance, unless features are screened before the split."""
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 5000)), np.tile([0, 1], 30)
    model = HorseshoeClassifier(**SHORT)
    named = {
        "PCA": make_pipeline(ISPCA(5, n_supervised=0, whiten=True), model),
        "SPCA": make_pipeline(SPCA(5, n_features=20, whiten=True), model),
        "ISPCA": make_pipeline(ISPCA(5, n_permutations=100, whiten=True), model),
        "ISPCA-naive": make_pipeline(ISPCA(3, alpha=None, whiten=True), model),
        "screened": make_pipeline(SelectKBest(k=20), LogisticRegression()),
    }
    inside = compare(named, X, y, cv=20, n_jobs=1, metrics="accuracy").table
    assert inside.n_failed.sum() == 0
    assert np.abs(inside.accuracy - 0.5).max() < 0.16
    leaked = SelectKBest(k=20).fit_transform(X, y)
    outside = compare(LogisticRegression(), leaked, y, cv=20, n_jobs=1, metrics="accuracy").table
    assert outside.accuracy[0] > 0.85


# Intervals


def check_ranges(result):
    """Return by how much the unclipped intervals would leave the range of their measure."""
    table, ratio, excess = result.table, result.test_to_train, {}
    for name, scores in result.scores.items():
        low, high = result.limits[name]
        assert (table[f"{name}_low"] >= low).all()
        assert (table[f"{name}_high"] <= high).all()
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()
        assert (np.abs(table[f"{name}_difference_low"]) <= high - low).all()
        assert (np.abs(table[f"{name}_difference_high"]) <= high - low).all()
        plain = np.array([split_interval(column, ratio) for column in scores.T])
        excess[name] = max(np.nanmax(low - plain[:, 1]), np.nanmax(plain[:, 2] - high))
    return excess


def test_intervals_stay_in_the_range_of_their_measure(rng):
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=30) > 0).astype(int)
    result = compare({"lasso": LogisticRegression(C=1e3), "chance": DummyClassifier()}, X, y, cv=4, n_jobs=1)
    excess = check_ranges(result)
    assert all(excess[name] > 0 for name in ("mlpd", "accuracy", "auc", "brier")), excess
    inputs = SimpleNamespace(comparison=result, verdict={}, reduction=None, context=Context())
    rows = prediction_section(inputs)["tables"][1]["rows"]
    assert all(0 <= row[3] < row[2] < row[4] <= 1 for row in rows if row[:2] == ["Accuracy", "lasso"])
    assert "to 0.000" in str(result)


def test_intervals_of_regressions_stay_in_range(rng):
    X = rng.normal(size=(24, 2))
    y = X[:, 0] + 0.01 * rng.normal(size=24) * (rng.random(24) < 0.1)
    excess = check_ranges(compare(BayesianRidge(), X, y, cv=3, n_jobs=1))
    assert any(excess[name] > 0 for name in ("r2", "rmse", "coverage"))


def test_differences_stay_in_range(data):
    """Two rules that are each right in one of two splits differ by 1 at the most."""
    X = np.arange(8.0)[:, None]
    y = np.tile([0, 1], 4)
    folds = [(range(4, 8), [0, 2]), (range(4), [5, 7])]
    named = {str(k): DummyClassifier(strategy="constant", constant=k) for k in (0, 1)}
    row = compare(named, X, y, cv=folds, n_jobs=1, metrics="accuracy", baseline="0").table
    assert row["accuracy_difference_low"].min() == -1
    assert row["accuracy_difference_high"].max() == 1


def test_a_density_of_minus_infinity_has_no_interval(values):
    class Certain(LinearRegression):
        def predict(self, X, return_std=False):
            mean = super().predict(X)
            return (mean, np.full(len(X), 1e-300)) if return_std else mean

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "Certain", Certain)
        Certain.__qualname__ = "Certain"
        table = compare({"certain": Certain(), "lasso": BayesianRidge()}, *values, cv=3, n_jobs=1).table
    assert list(table["method"]) == ["lasso", "certain"]
    assert table["mlpd"][1] == -np.inf
    assert np.isnan(table["mlpd_low"][1])
