"""Comparisons for survival times, counts and ordered classes, with methods of other packages and with weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ispca.families.survival_curves import SurvivalFunction, concordance_index
from ispca.targets.base_rates import BaseRateCounts, BaseRateSurvival
from ispca.validation import compare
from kinds import count_data, ordinal_data, survival_data


class Risk(BaseEstimator):
    """Predict the first feature as the risk, with survival curves that suit it."""

    def fit(self, X, y):
        self.rate_ = y["event"].sum() / y["time"].sum()
        return self

    def predict(self, X):
        return X[:, 0]


class Exponential(Risk):
    """Exponential survival times, with a density."""

    def predict_survival_function(self, X):
        curves = np.empty(len(X), dtype=object)
        curves[:] = [Curve(self.rate_ * np.exp(risk)) for risk in X[:, 0]]
        return curves

    def log_predictive_density(self, X, y):
        rate = self.rate_ * np.exp(X[:, 0])
        return y["event"] * np.log(rate) - rate * y["time"]


class Curve:
    def __init__(self, rate):
        self.x = np.linspace(0, 5, 500)
        self.y = np.exp(-rate * self.x)


class FailsOnce(Exponential):
    """Fail where the first feature of the first sample has a value."""

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        if X[0, 0] == self.value:
            raise ArithmeticError("cannot stand this sample")
        return super().fit(X, y)


class Impossible(Risk):
    """Survival curves that cannot be right."""

    def __init__(self, curve=(1.0, 0.5)):
        self.curve = curve

    def predict_survival_function(self, X):
        curves = np.empty(len(X), dtype=object)
        curves[:] = [SurvivalFunction(np.array([0.0, 0.5]), np.array(self.curve)) for _ in X]
        return curves


class Negative(RegressorMixin, BaseEstimator):
    """Predict a negative count."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), -1.0)


@pytest.fixture
def survival(rng):
    return survival_data(rng)


def test_survival(survival):
    X, y = survival
    result = compare({"exponential": Exponential(), "base rate": BaseRateSurvival()}, X, y, cv=6, n_jobs=1)
    assert list(result.scores) == ["concordance", "integrated_brier", "mlpd"]
    assert result.main_metric == "concordance"
    assert result.cv.endswith("stratified by event")
    means = {name: values.mean(axis=0) for name, values in result.scores.items()}
    assert means["concordance"][0] > 0.65
    assert means["concordance"][1] == 0.5
    assert means["integrated_brier"][0] < means["integrated_brier"][1]
    assert means["mlpd"][0] > means["mlpd"][1]
    test = result.splits[0].test
    expected = concordance_index(y["event"][test], y["time"][test], X[test, 0])
    assert result.scores["concordance"][0, 0] == expected
    assert result.table["method"].tolist() == ["exponential", "base rate"]


@pytest.mark.parametrize("form", ["tuple", "frame", "other names", "kind"])
def test_forms_of_survival_times(survival, form):
    X, y = survival
    forms = {
        "tuple": (y["event"].tolist(), y["time"].tolist()),
        "frame": pd.DataFrame({"time": y["time"], "event": y["event"].astype(int)}),
        "other names": y.astype([("dead", bool), ("days", float)]),
        "kind": y,
    }
    options = {"cv": 3, "n_jobs": 1} | ({"kind": "survival"} if form == "kind" else {})
    found, expected = (
        compare(Exponential(), X, forms[form], **options),
        compare(Exponential(), X, y, cv=3, n_jobs=1),
    )
    for name, values in expected.scores.items():
        np.testing.assert_array_equal(found.scores[name], values)


def test_splitters_stratify_by_event(survival):
    X, y = survival
    result = compare(Exponential(), X, y, cv=StratifiedKFold(4), n_jobs=1)
    fractions = [y["event"][split.test].mean() for split in result.splits]
    assert max(fractions) - min(fractions) < 0.06


def test_a_single_censored_sample_is_no_obstacle(survival):
    X, y = survival
    y["event"] = np.arange(len(y)) > 0
    assert "stratified" not in compare(Exponential(), X, y, cv=2, n_jobs=1).cv


def test_risks_without_curves(survival):
    X, y = survival
    result = compare({"risk": Risk(), "exponential": Exponential()}, X, y, cv=3, n_jobs=1)
    assert np.isnan(result.scores["integrated_brier"][:, 0]).all()
    assert not np.isnan(result.scores["concordance"]).any()
    assert "No integrated_brier for risk, which gives no survival curves." in str(result)
    assert result.plot("integrated_brier").get_xlabel().startswith("integrated Brier score (smaller is better)")


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        ((0.3, 0.5), "survival curve that increases"),
        ((1.2, 0.5), "1.2, which is not a probability"),
        ((0.5, -0.2), "-0.2, which is not a probability"),
        ((np.nan, 0.5), "NaN or infinite"),
    ],
)
def test_impossible_curves_are_failed_fits(survival, curve, words):
    with pytest.warns(UserWarning, match=words):
        result = compare({"bad": Impossible(curve), "good": Exponential()}, *survival, cv=2, n_jobs=1)
    assert result.n_failed("bad") == 2


def test_a_failed_fit_gets_the_kaplan_meier_curve(survival):
    X, y = survival
    splits = compare(Exponential(), X, y, cv=3, n_jobs=1).splits
    first = X[splits[1].train[0], 0]
    with pytest.warns(
        UserWarning, match="once could not be fitted in 1 of 3 splits, where it gets the scores of the base rate: "
    ):
        result = compare({"once": FailsOnce(first), "base": BaseRateSurvival()}, X, y, cv=3, n_jobs=1)
    for values in result.scores.values():
        assert values[1, 0] == values[1, 1]
        assert values[0, 0] != values[0, 1]


def test_scikit_survival(survival):
    linear = pytest.importorskip("sksurv.linear_model")
    forest = pytest.importorskip("sksurv.ensemble").RandomSurvivalForest(20)
    svm = pytest.importorskip("sksurv.svm").FastSurvivalSVM(rank_ratio=0.0, fit_intercept=True, random_state=0)
    methods = {
        "lasso": linear.CoxnetSurvivalAnalysis(l1_ratio=1.0, fit_baseline_model=True),
        "lasso, risks only": make_pipeline(StandardScaler(), linear.CoxnetSurvivalAnalysis(l1_ratio=1.0)),
        "forest": forest,
        "times": svm,
        "base rate": BaseRateSurvival(),
    }
    result = compare(methods, *survival, cv=4, n_jobs=1)
    assert not result.errors
    concordance = dict(zip(result.methods, result.scores["concordance"].mean(axis=0), strict=True))
    assert min(value for name, value in concordance.items() if name != "base rate") > 0.6
    brier = dict(zip(result.methods, result.scores["integrated_brier"].mean(axis=0), strict=True))
    assert brier["lasso"] < brier["base rate"]
    assert np.isnan([brier["lasso, risks only"], brier["times"]]).all()
    assert any("predicts no survival curves" in message for message in result.predictions[0][1].messages)
    assert np.isnan(result.scores["mlpd"][:, :4]).all()


def test_counts(rng):
    X, y = count_data(rng)
    methods = {
        "poisson": PoissonRegressor(),
        "boosting": HistGradientBoostingRegressor(loss="poisson", max_iter=20),
        "base rate": BaseRateCounts(),
    }
    result = compare(methods, X, y, kind="count", cv=5, n_jobs=1)
    assert list(result.scores) == ["mlpd", "poisson_deviance", "absolute_error", "coverage"]
    deviance = result.scores["poisson_deviance"].mean(axis=0)
    assert deviance[0] < deviance[2]
    assert np.isnan(result.scores["mlpd"][:, :2]).all()
    assert 0.8 < result.scores["coverage"][:, 2].mean() <= 1
    assert "No mlpd for poisson, boosting, which give no predictive density." in str(result)


def test_offsets_are_exposures(rng):
    X, y = count_data(rng)
    exposure = rng.uniform(0.1, 10, size=len(y))
    counts = rng.poisson(2 * exposure)
    options = {"kind": "count", "cv": 4, "n_jobs": 1}
    with_offset = compare(BaseRateCounts(), X, counts, offset=np.log(exposure), **options)
    without = compare(BaseRateCounts(), X, counts, **options)
    assert with_offset.scores["mlpd"].mean() > without.scores["mlpd"].mean() + 0.3
    with pytest.raises(ValueError, match=r"'poisson' cannot use offset, because PoissonRegressor.fit does not"):
        compare({"poisson": PoissonRegressor()}, X, y, offset=np.log(exposure), **options)
    with pytest.raises(ValueError, match="offset applies to counts only"):
        compare(LinearRegression(), X, y + 0.5, offset=np.log(exposure), cv=2, n_jobs=1)


def test_negative_counts_are_failed_fits(rng):
    with pytest.warns(UserWarning, match=r"negative expected count \(-1\)"):
        compare({"bad": Negative(), "good": BaseRateCounts()}, *count_data(rng), kind="count", cv=2, n_jobs=1)


def test_ordered_classes(rng):
    X, y = ordinal_data(rng)
    methods = {"logistic": LogisticRegression(), "machine": LinearSVC(), "base rate": DummyClassifier()}
    result = compare(methods, X, y, kind="ordinal", cv=5, n_jobs=1)
    assert list(result.scores) == ["mlpd", "ranked_probability", "accuracy", "absolute_error"]
    assert "accuracy" in str(result).splitlines()[1]
    score = result.scores["ranked_probability"].mean(axis=0)
    assert score[0] < score[2]
    assert np.isnan(score[1])
    assert result.scores["absolute_error"][:, 1].mean() < result.scores["absolute_error"][:, 2].mean()
    names = pd.Categorical.from_codes(y - 1, ["low", "medium", "high"], ordered=True)
    for form in (names, pd.Series(names)):
        found = compare(methods, X, form, cv=5, n_jobs=1)
        np.testing.assert_array_equal(found.scores["mlpd"], result.scores["mlpd"])


@pytest.mark.parametrize(
    ("kind", "y", "words"),
    [
        ("counts", [0, 1] * 10, "kind='counts' is unknown. Did you mean count"),
        ("count", [0, -1] * 10, "Counts"),
        ("count", [0, 0.5] * 10, "Counts"),
        ("ordinal", ["a", "b"] * 10, "order"),
        ("survival", [0, 1] * 10, "an event and a time"),
        ("regression", ["a", "b"] * 10, "kind='regression', but the methods are classifiers"),
        ("survival", ([False] * 20, [1.0] * 20), "No event was observed"),
    ],
)
def test_targets_that_do_not_suit(kind, y, words):
    with pytest.raises(ValueError, match=words):
        compare(DummyClassifier(), np.eye(20), y, kind=kind, cv=2, n_jobs=1)


def test_weights_two_and_zero_equal_duplicates_and_omission(rng):
    X, y = count_data(rng, 60)
    weight = np.tile([1.0, 2.0, 0.0], 20)
    copies = np.repeat(np.arange(60), weight.astype(int))
    train, test = np.arange(60) < 40, np.arange(60) >= 40
    methods = {"poisson": PoissonRegressor(), "base rate": BaseRateCounts()}
    options = {"kind": "count", "n_jobs": 1}
    weighted = compare(methods, X, y, sample_weight=weight, cv=[(train, test)], **options)
    pair = (train[copies], test[copies])
    repeated = compare(methods, X[copies], y[copies], cv=[pair], **options)
    for name, values in repeated.scores.items():
        np.testing.assert_allclose(weighted.scores[name], values, rtol=1e-6)
    plain = compare(methods, X, y, cv=[(train, test)], **options)
    equal = compare(methods, X, y, sample_weight=np.ones(60), cv=[(train, test)], **options)
    np.testing.assert_array_equal(equal.scores["mlpd"], plain.scores["mlpd"])


def test_weights_need_a_method_that_takes_them(rng):
    X, y = ordinal_data(rng)
    methods = {"logistic": LogisticRegression(), "nearest": make_pipeline(KNeighborsClassifier())}
    with pytest.raises(ValueError, match=r"'nearest' cannot use sample_weight, because KNeighborsClassifier.fit"):
        compare(methods, X, y, sample_weight=np.arange(80), cv=2, n_jobs=1)


def test_metadata_routing_of_pipelines(rng):
    X, y = count_data(rng)
    weight = np.tile([1.0, 3.0], 40)
    options = {"kind": "count", "cv": 2, "n_jobs": 1, "sample_weight": weight}
    plain = compare(make_pipeline(StandardScaler(), PoissonRegressor()), X, y, **options)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        model = PoissonRegressor().set_fit_request(sample_weight=True)
        routed = compare(make_pipeline(scaler, model), X, y, **options)
        with pytest.warns(
            UserWarning, match=r"could not be fitted in 2 of 2 splits, so it is not ranked: .*sample_weight"
        ):
            compare(make_pipeline(StandardScaler(), PoissonRegressor()), X, y, **options)
        with pytest.raises(ValueError, match=r"KNeighborsRegressor.fit does not take it"):
            compare(KNeighborsRegressor(), X, y, **options)
    np.testing.assert_array_equal(routed.scores["absolute_error"], plain.scores["absolute_error"])


def test_a_test_part_without_weight_has_no_scores(rng):
    X, y = count_data(rng, 40)
    weight = np.where(np.arange(40) < 30, 1.5, 0.0)
    splits = [(np.arange(20), np.arange(20, 40)), (np.arange(30), np.arange(30, 40))]
    result = compare(BaseRateCounts(), X, y, kind="count", sample_weight=weight, cv=splits, n_jobs=1)
    assert np.isnan(result.scores["mlpd"][:, 0]).tolist() == [False, True]


def test_resumed_fits_depend_on_kind_weights_and_offset(rng, tmp_path):
    X, y = count_data(rng)
    options = {"cv": 2, "n_jobs": 1, "resume": tmp_path}
    compare(BaseRateCounts(), X, y, kind="count", **options)
    for extra in ({"sample_weight": np.arange(80)}, {"offset": np.linspace(0, 1, 80)}):
        found = compare(BaseRateCounts(), X, y, kind="count", **options, **extra)
        fresh = compare(BaseRateCounts(), X, y, kind="count", cv=2, n_jobs=1, **extra)
        np.testing.assert_array_equal(found.scores["mlpd"], fresh.scores["mlpd"])
    assert "r2" in compare(BaseRateCounts(), X, y, **options).scores
    assert len(list(tmp_path.glob("*.json"))) == 8
