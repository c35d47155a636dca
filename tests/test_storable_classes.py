"""Every estimator of the package in a model file, alone, stacked and after preprocessing."""

import copy
import inspect
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import ispca
from forged_models import forge, put
from ispca import (
    ISPCA,
    SPCA,
    HorseshoeClassifier,
    HorseshoeRegressor,
    PenalizedClassifier,
    PenalizedRegressor,
    StackedClassifier,
    StackedRegressor,
)
from ispca.analysis.model_loading import load_predictor
from ispca.analysis.predictions import predictions
from ispca.models.coefficients import coefficients_by_column
from ispca.persistence import ModelFileError, load_model, save_model
from ispca.persistence.storable import estimators
from ispca.targets.base_rates import BaseRateCounts, BaseRateRegressor, BaseRateSurvival
from ispca.validation import StackedCounts, StackedOrdinal, StackedSurvival
from kinds import count_data, ordinal_data, survival_data

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"n_draws": 20, "n_warmup": 40, "n_chains": 2, "retry": False, "random_state": 0}
REDUCTION = {"n_components": 2, "n_permutations": 50, "whiten": True, "random_state": 0}
STEPS = [
    StandardScaler(),
    MinMaxScaler((-1, 2), clip=True),
    MaxAbsScaler(),
    RobustScaler(with_centering=False),
    SimpleImputer(),
    VarianceThreshold(0.5),
    SelectKBest(f_regression, k=5),
    FunctionTransformer(None),
    "passthrough",
]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 8)) * [1, 2, 3, 1, 1, 1, 0.5, 1]
    return pd.DataFrame(X, columns=[f"g{j}" for j in range(8)]), X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=40)


def candidates(regression):
    model = HorseshoeRegressor(**SHORT) if regression else HorseshoeClassifier(**SHORT)
    lasso = PenalizedRegressor(random_state=0) if regression else PenalizedClassifier(random_state=0)
    return {
        "ISPCA": make_pipeline(StandardScaler(), ISPCA(**REDUCTION), model),
        "lasso": lasso,
        "base rate": BaseRateRegressor() if regression else DummyClassifier(),
    }


@pytest.fixture(scope="module")
def stack(problem, tmp_path_factory):
    """Return the fitted stack of a class."""

    @cache
    def fit(kind):
        X, y = problem
        options = {"cv": 2, "n_jobs": 1, "random_state": 0, "resume": tmp_path_factory.mktemp("fits")}
        regression = kind is StackedRegressor
        return kind(candidates(regression), **options).fit(X, y if regression else np.where(y > 0, "high", "low"))

    return fit


@pytest.fixture(scope="module")
def model_behind(problem):
    """Return components and a model that were fitted to what a step makes of X, once for each kind of output."""
    _, y = problem
    fits = {}

    def fit(Z):
        if (type(Z), Z.shape) not in fits:
            fits[type(Z), Z.shape] = make_pipeline(ISPCA(**REDUCTION), HorseshoeRegressor(**SHORT)).fit(Z, y)
        return fits[type(Z), Z.shape]

    return fit


def reloaded(model, tmp_path):
    save_model(model, tmp_path / "model")
    return load_model(tmp_path / "model")


def test_the_list_is_complete():
    exported = [getattr(ispca, name) for name in ispca.__all__]
    ours = {kind for kind in exported if inspect.isclass(kind) and issubclass(kind, BaseEstimator)}
    # Its file contains its pipeline.
    ours.remove(ispca.BaggedPosterior)
    assert len(ours) >= 8
    assert ours <= set(estimators().values())
    assert {type(step) for step in STEPS if not isinstance(step, str)} <= set(estimators().values())


@pytest.mark.grid(4)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("penalty", ["lasso", "ridge"])
@pytest.mark.parametrize("choice", ["one_standard_error", "average"])
def test_penalized_models(problem, tmp_path, n_classes, penalty, choice):
    X, y = problem
    kind = PenalizedClassifier if n_classes else PenalizedRegressor
    target = np.digitize(y, [0] if n_classes == 2 else [-1, 1]) if n_classes else y
    model = kind(penalty=penalty, choice=choice, random_state=0).fit(X, target)
    loaded = reloaded(model, tmp_path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.log_predictive_density(X, target), model.log_predictive_density(X, target))
    assert np.array_equal(coefficients_by_column(loaded)["mean"], coefficients_by_column(model)["mean"])
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.weights_, model.weights_)


@pytest.mark.parametrize("name", ["averaged_coef_", "averaged_intercept_"])
def test_an_average_without_all_its_parts_is_refused(problem, tmp_path, name):
    X, y = problem
    model = PenalizedRegressor(penalty="ridge", choice="average", random_state=0).fit(X, y)
    setattr(model, name, None)
    with pytest.raises(ValueError, match="cannot be stored: its PenalizedRegressor does not work"):
        save_model(model, tmp_path / "model")


@pytest.mark.parametrize("kind", ["survival", "count", "ordinal"])
def test_stacks_of_other_targets(tmp_path, kind):
    make, candidate, (X, y) = {
        "survival": (StackedSurvival, BaseRateSurvival(), survival_data(np.random.default_rng(0))),
        "count": (StackedCounts, BaseRateCounts(), count_data(np.random.default_rng(0))),
        "ordinal": (StackedOrdinal, DummyClassifier(), ordinal_data(np.random.default_rng(0))),
    }[kind]
    if kind == "ordinal":
        y = pd.Categorical.from_codes(y - 1, ["low", "medium", "high"], ordered=True)
    model = make({"base rate": candidate}, cv=2, n_jobs=1, random_state=0).fit(X, y)
    loaded = reloaded(model, tmp_path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.log_predictive_density(X, y), model.log_predictive_density(X, y))
    assert loaded.get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("kind", [StackedClassifier, StackedRegressor])
def test_stacks_with_all_their_candidates(problem, stack, tmp_path, kind):
    X, _ = problem
    model = stack(kind)
    loaded = reloaded(model, tmp_path)
    method = "predict_proba" if kind is StackedClassifier else "predict_interval"
    assert np.array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.cv_table_, model.cv_table_)
    assert list(loaded.estimators_) == list(model.estimators_)
    assert loaded.resume is None
    assert repr(loaded.estimators) == repr(model.estimators)
    assert not hasattr(loaded.estimators["lasso"], "coef_")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step if isinstance(step, str) else type(step).__name__)
def test_preprocessing(problem, model_behind, tmp_path, step):
    X, y = problem
    first = make_pipeline(copy.deepcopy(step))
    model = make_pipeline(first[0], *model_behind(first.fit_transform(X, y)))
    loaded = reloaded(model, tmp_path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(coefficients_by_column(loaded), coefficients_by_column(model))
    values = predictions(load_predictor(tmp_path / "model"), X.to_numpy())
    assert np.array_equal(values["mean"], model.predict(X))


def test_nested_pipelines(problem, tmp_path):
    X, y = problem
    prepared = make_pipeline(StandardScaler(), make_pipeline("passthrough", SelectKBest(f_regression, k=5)))
    model = make_pipeline(prepared, make_pipeline(ISPCA(**REDUCTION), HorseshoeRegressor(**SHORT))).fit(X, y)
    loaded = reloaded(model, tmp_path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(coefficients_by_column(loaded), coefficients_by_column(model))
    assert str(loaded) == str(model)

    def fewer_features(description, arrays):
        description["pipeline"][0][1]["pipeline"][1][1]["pipeline"][1][1]["parameters"].update(k=4)

    with pytest.raises(ModelFileError, match="do not fit together"):
        load_model(forge(tmp_path / "model", fewer_features))


def test_a_model_that_is_not_fitted_is_refused(problem, tmp_path):
    X, y = problem
    save_model(make_pipeline(make_pipeline(PenalizedRegressor()).fit(X, y)), tmp_path / "model")

    def forget(description, arrays):
        entry = description["pipeline"][0][1]["pipeline"][0]
        entry[1] = {"blank": entry[1]["estimator"], "parameters": entry[1]["parameters"]}

    with pytest.raises(ModelFileError, match="not fitted"):
        load_model(forge(tmp_path / "model", forget))


@pytest.mark.filterwarnings("ignore:.*empty")
def test_missing_values_are_imputed_by_a_loaded_model(problem, tmp_path):
    X, y = problem
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    X["empty"] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), PenalizedRegressor(random_state=0))
    model.fit(X, y)
    assert np.array_equal(reloaded(model, tmp_path).predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (FunctionTransformer(np.log1p), "its func is not None"),
        (SimpleImputer(add_indicator=True), "add_indicator"),
        (SelectKBest(lambda X, y: np.arange(8.0), k=3), "cannot be stored"),
        (DummyClassifier(strategy="uniform"), "strategy"),
        (LogisticRegression(), "LogisticRegression"),
    ],
)
def test_what_cannot_be_stored(problem, tmp_path, step, message):
    X, y = problem
    with pytest.raises(ValueError, match=message):
        save_model(make_pipeline(step).fit(X.abs(), y > 0), tmp_path / "model")
    assert not (tmp_path / "model").exists()


STACK_FORGERIES = {
    "no candidates": (lambda m, a: m["fitted"].update(estimators_={"dict": {}}), "not 1 to 1000 named candidates"),
    "candidates are a list": (lambda m, a: m["fitted"].update(estimators_={"list": []}), "not 1 to 1000 named"),
    "candidate is a number": (lambda m, a: m["fitted"]["estimators_"]["dict"].update(lasso=1), "not an estimator"),
    "weights": (lambda m, a: put(a, m["fitted"]["weights_"], [0.5, 0.5, 0.5]), "add up to one"),
    "too few weights": (lambda m, a: put(a, m["fitted"]["weights_"], [0.5, 0.5]), "does not work"),
    "another width": (
        lambda m, a: (m["fitted"].pop("feature_names_in_"), m["fitted"].update(n_features_in_=3)),
        "features",
    ),
    "names are nothing": (lambda m, a: m["fitted"].update(feature_names_in_=None), "feature_names_in_ is not"),
    "other classes": (lambda m, a: put(a, m["fitted"]["classes_"], ["a", "b"]), "other classes"),
    "a candidate in itself": (
        lambda m, a: m["fitted"]["estimators_"]["dict"].update(lasso=copy.deepcopy(m)),
        "twice to one",
    ),
    "parameter is a number": (
        lambda m, a: m["parameters"]["estimators"]["dict"].update(lasso=1),
        "not an estimator",
    ),
    "foreign blank": (
        lambda m, a: m["parameters"]["estimators"]["dict"].update(lasso={"blank": "Popen", "parameters": {}}),
        "not allowed",
    ),
    "blank step": (
        lambda m, a: m["parameters"]["estimators"]["dict"].update(lasso={"blank pipeline": [["x", 1]]}),
        "not a step",
    ),
    "table of nothing": (lambda m, a: m["fitted"].update(cv_table_={"table": {}}), "table without columns"),
    "table is a number": (lambda m, a: m["fitted"].update(cv_table_=1), "cv_table_ is not a table"),
    "prior": (
        lambda m, a: put(
            a, m["fitted"]["estimators_"]["dict"]["base rate"]["fitted"]["class_prior_"], [2.0, -1.0]
        ),
        "impossible probabilities",
    ),
    "lacks what predictions need": (lambda m, a: m["fitted"].pop("inverse_temperature_"), "does not work"),
}


@pytest.fixture(scope="module")
def stack_file(stack, tmp_path_factory):
    path = tmp_path_factory.mktemp("stack") / "model"
    save_model(stack(StackedClassifier), path)
    return path.read_bytes()


@pytest.mark.parametrize("forgery", STACK_FORGERIES)
def test_forged_stacks(stack_file, tmp_path, forgery):
    change, message = STACK_FORGERIES[forgery]
    (tmp_path / "model").write_bytes(stack_file)
    with pytest.raises(ModelFileError, match=message):
        load_model(forge(tmp_path / "model", change))


def first(model):
    return model["pipeline"][0][1]


STEP_FORGERIES = {
    "scale of zero": (
        StandardScaler(),
        lambda s, a: put(a, s["fitted"]["scale_"], np.zeros(8)),
        "impossible values",
    ),
    "scale of another shape": (
        RobustScaler(),
        lambda s, a: put(a, s["fitted"]["scale_"], np.ones(3)),
        "does not work",
    ),
    "range of one": (
        MinMaxScaler(clip=True),
        lambda s, a: s["parameters"].update(feature_range={"tuple": [1]}),
        "does not work",
    ),
    "nothing left": (
        VarianceThreshold(0.5),
        lambda s, a: put(a, s["fitted"]["variances_"], np.zeros(8)),
        "removes all features",
    ),
    "other number left": (
        SelectKBest(f_regression, k=5),
        lambda s, a: s["parameters"].update(k=4),
        "do not fit together",
    ),
    "foreign function": (
        SelectKBest(f_regression, k=5),
        lambda s, a: s["parameters"].update(score_func={"function": "eval"}),
        "not allowed",
    ),
    "infinite statistics": (
        SimpleImputer(),
        lambda s, a: put(a, s["fitted"]["statistics_"], np.full(8, np.inf)),
        "impossible values",
    ),
    "unknown dtype": (SimpleImputer(), lambda s, a: s["fitted"].update(_fit_dtype={"dtype": "object"}), "unknown"),
    "lacks what transforming needs": (
        SimpleImputer(),
        lambda s, a: s["fitted"].pop("_fit_dtype"),
        "does not work",
    ),
    "too wide": (
        FunctionTransformer(None),
        lambda s, a: (s["fitted"].pop("feature_names_in_"), s["fitted"].update(n_features_in_=2**60)),
        "memory",
    ),
}


@pytest.mark.parametrize("forgery", STEP_FORGERIES)
def test_forged_preprocessing(problem, tmp_path, forgery):
    X, y = problem
    step, change, message = STEP_FORGERIES[forgery]
    save_model(make_pipeline(step, SPCA(**REDUCTION)).fit(X, y), tmp_path / "model")
    with pytest.raises(ModelFileError, match=message):
        load_model(forge(tmp_path / "model", lambda m, a: change(first(m), a)))
