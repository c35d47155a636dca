"""Kernel methods in model files: alone, in pipelines and in stacks, and no forged ones."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from forged_models import forge, put
from ispca import (
    HorseshoeSurvival,
    KernelClassifier,
    KernelRegressor,
    KernelScores,
    PenalizedClassifier,
    PenalizedRegressor,
    PenalizedSurvival,
    StackedClassifier,
    StackedRegressor,
    StackedSurvival,
)
from ispca.persistence import ModelFileError, load_model, save_model
from kinds import survival_data

SHORT = {"n_draws": 20, "n_warmup": 40, "n_chains": 2, "retry": False, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 60)) + rng.normal(size=(40, 60))
    return X, X[:, 0] + rng.normal(size=40)


def reloaded(model, tmp_path):
    save_model(model, tmp_path / "model")
    return load_model(tmp_path / "model")


@pytest.mark.parametrize("convert", [np.asarray, np.float32, sp.csr_array, sp.csc_matrix, np.round])
def test_samples_in_every_form(problem, tmp_path, convert):
    X, y = problem
    X = convert(X * (X > 0)) if sp.issparse(convert(X)) else convert(X)
    model = KernelRegressor().fit(X, y)
    loaded = reloaded(model, tmp_path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.predict_interval(X), model.predict_interval(X))
    assert np.array_equal(loaded.log_predictive_density(X, y), model.log_predictive_density(X, y))
    assert np.array_equal(loaded.coef_, model.coef_)
    assert loaded.training_.dtype == X.dtype
    assert sp.issparse(loaded.training_) == sp.issparse(X)


def test_samples_that_were_not_in_memory(problem, tmp_path):
    X, y = problem
    mapped = np.memmap(tmp_path / "X", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    loaded = reloaded(KernelRegressor().fit(mapped, y), tmp_path)
    assert np.array_equal(loaded.training_, X)
    assert np.allclose(loaded.predict(X), KernelRegressor().fit(X, y).predict(X), rtol=0, atol=1e-9)


def test_heavy_tails_are_stored(problem, tmp_path):
    X, y = problem
    model = KernelRegressor().fit(X, y + 100 * (np.arange(40) == 3))
    assert model.degrees_of_freedom_ == 3
    assert np.array_equal(reloaded(model, tmp_path).predict_interval(X), model.predict_interval(X))
    with pytest.raises(ModelFileError, match="degrees_of_freedom_"):
        load_model(forge(tmp_path / "model", lambda model, _: model["fitted"].update(degrees_of_freedom_=1.5)))


@pytest.mark.parametrize("cuts", [[0], [-1, 1]])
def test_classes_in_a_pipeline(problem, tmp_path, cuts):
    X, y = problem
    labels = np.array(["a", "b", "c"])[np.digitize(y, cuts)]
    model = make_pipeline(StandardScaler(), KernelClassifier(kernels=("rbf", "linear"))).fit(X, labels)
    loaded = reloaded(model, tmp_path)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded[-1].get_params() == model[-1].get_params()


def test_categories_and_missing_values(problem, tmp_path):
    X, y = problem
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(60)]).assign(batch=["a", "b"] * 20)
    frame.iloc[3, 4] = np.nan
    model = KernelRegressor(adjust=["batch"], missing="mean").fit(frame, y)
    assert np.array_equal(reloaded(model, tmp_path).predict(frame), model.predict(frame))


def test_scores_in_a_pipeline_and_in_a_stack(tmp_path):
    X, y = survival_data(np.random.default_rng(0))
    pipeline = make_pipeline(KernelScores(), HorseshoeSurvival(prior="ridge", **SHORT))
    candidates = {"kernels": pipeline, "lasso": PenalizedSurvival(random_state=0)}
    for model in (pipeline, StackedSurvival(candidates, cv=2, n_jobs=1, random_state=0)):
        model.fit(X, y)
        loaded = reloaded(model, tmp_path)
        assert np.array_equal(loaded.predict(X), model.predict(X))
    assert not hasattr(reloaded(pipeline, tmp_path)[0], "training_scores_")


@pytest.mark.parametrize("stack", [StackedRegressor, StackedClassifier])
def test_candidates_of_a_stack(problem, tmp_path, stack):
    X, y = problem
    regression = stack is StackedRegressor
    first, second = (
        (KernelRegressor, PenalizedRegressor) if regression else (KernelClassifier, PenalizedClassifier)
    )
    model = stack({"kernels": first(), "lasso": second(random_state=0)}, cv=3, n_jobs=1, random_state=0)
    model.fit(X, y if regression else y > 0)
    loaded = reloaded(model, tmp_path)
    predict = "predict" if regression else "predict_proba"
    assert np.array_equal(getattr(loaded, predict)(X), getattr(model, predict)(X))


FORGERIES = {
    "training_": (np.zeros((40, 59)), "does not work"),
    "dual_coef_": (np.zeros((2, 2)), "does not work"),
    "member_kernels_": (np.full(3, 7), "does not work"),
    "member_weights_": (np.full(3, 7.0), "does not work"),
    "unpenalized_coef_": (np.zeros((1, 2, 1)), "does not work"),
    "mean_": (np.full(60, np.inf), "mean_"),
    "weight_": (np.zeros(3), "does not work"),
    "slopes_": (np.zeros(3), "does not work"),
    "intercepts_": (np.zeros((3, 2)), "does not work"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_attributes_are_refused(problem, tmp_path, name):
    X, y = problem
    save_model(KernelClassifier().fit(X, y > 0), tmp_path / "model")
    values, message = FORGERIES[name]
    with pytest.raises(ModelFileError, match=message):
        load_model(forge(tmp_path / "model", lambda model, arrays: put(arrays, model["fitted"][name], values)))


def test_forged_sparse_samples_are_refused(problem, tmp_path):
    X, y = problem
    model = KernelRegressor().fit(sp.csr_array(X * (X > 1)), y)
    for part, values in ((2, np.full(10_000, 99)), (3, np.arange(41) * 10**6), (1, np.array(["x"]))):
        save_model(model, tmp_path / "model")

        def change(model, arrays, part=part, values=values):
            put(arrays, model["fitted"]["training_"]["sparse"][part], values)

        with pytest.raises(ModelFileError):
            load_model(forge(tmp_path / "model", change))


@pytest.mark.parametrize(("name", "value"), [("width_", float("nan")), ("mean_", None)])
def test_forged_numbers_are_refused(problem, tmp_path, name, value):
    X, y = problem
    save_model(KernelClassifier().fit(X, y > 0), tmp_path / "model")
    with pytest.raises(ModelFileError):
        load_model(forge(tmp_path / "model", lambda model, arrays: model["fitted"].__setitem__(name, value)))
