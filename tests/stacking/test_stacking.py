"""Stacking: the mixture is a distribution, and the folds see complete procedures."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import integrate
from scipy.stats import norm
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca import ISPCA, HorseshoeClassifier, HorseshoeRegressor, KernelClassifier, KernelScores, StackedClassifier
from ispca.stacking.candidates import default_candidates, in_fold
from ispca.stacking.combination import concentrations
from ispca.targets.base_rates import BaseRateRegressor
from ispca.targets.mixture_weights import stacking_weights
from ispca.transformers import base as _transformer_base
from ispca.validation import compare
from odd_methods import GroupsNoted, Noted
from stacks import NORMAL, QUICK, classifier, make_classes, make_values, regressor


@pytest.fixture
def data(rng):
    return make_classes(rng)


@pytest.fixture
def values(rng):
    return make_values(rng)


@pytest.mark.parametrize("cv", [4, GroupKFold(3)])
def test_the_samples_of_a_patient_are_never_in_training_and_held_out(data, tmp_path, cv):
    X, y = data
    patients = np.arange(60) // 4
    seen = tmp_path / "seen"
    classifier([("noted", Noted(str(seen))), *QUICK], cv=cv).fit(X, y, groups=patients)
    for line in seen.read_text().splitlines():
        train = np.isin(np.arange(60), [int(number) for number in line.split("|")[3].split()])
        assert not set(patients[train]) & set(patients[~train])


def test_regression_folds_keep_groups_together(values):
    X, y = values
    groups = np.arange(80) // 8
    by_number = regressor(cv=10).fit(X, y, groups=groups)
    by_splitter = regressor(cv=GroupKFold(10)).fit(X, y, groups=groups)
    # Leaving out one group at a time is the only way to make as many folds as groups.
    np.testing.assert_allclose(by_number.weights_, by_splitter.weights_, atol=1e-6)


def test_candidates_with_folds_of_their_own_get_the_groups(data, tmp_path):
    groups = np.arange(60) // 4
    seen = tmp_path / "seen"
    classifier([("noted", GroupsNoted(str(seen))), *QUICK], cv=3).fit(*data, groups=groups)
    *folds, final = seen.read_text().splitlines()
    assert len(folds) == 3
    assert " ".join(folds).split().count("7") == 2 * 4
    assert final.split() == groups.astype(str).tolist()


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_a_splitter_that_divides_groups_is_refused(data):
    with pytest.raises(ValueError, match=r"divides \d+ groups"):
        classifier(cv=KFold(4, shuffle=True, random_state=1)).fit(*data, groups=np.arange(60) % 15)


# Classes


def test_weights_come_from_out_of_fold_predictions(data):
    X, y = data
    stack = classifier(cv=KFold(4)).fit(X, y)
    columns = [cross_val_predict(model, X, y, cv=KFold(4), method="predict_proba") for _, model in QUICK]
    density = np.log([P[np.arange(60), (y == "sick").astype(int)] for P in columns]).T
    np.testing.assert_allclose(stack.weights_, stacking_weights(density, 1.5), atol=1e-6)
    table = stack.cv_table_
    assert table.candidate.tolist() == ["logistic", "bayes", "base rate"]
    np.testing.assert_array_equal(table.weight, stack.weights_)
    np.testing.assert_allclose(table.mlpd, density.mean(axis=0))
    np.testing.assert_allclose(table.mlpd_error, density.std(axis=0, ddof=1) / np.sqrt(60))
    assert (table.seconds > 0).all()


def test_the_log_probability_of_observed_classes(data):
    X, y = data
    stack = classifier().fit(X, y)
    expected = np.log(stack.predict_proba(X)[np.arange(60), np.searchsorted(stack.classes_, y)])
    np.testing.assert_allclose(stack.log_predictive_density(X, y), expected)
    with pytest.raises(ValueError, match="maybe"):
        stack.log_predictive_density(X, np.where(np.arange(60) == 3, "maybe", y))


def test_a_pool_of_forecasts_with_different_knowledge_is_sharpened(rng):
    # Two classes of features, each candidate sees one: the pool is too cautious by theory.
    X = rng.normal(size=(400, 2))
    y = (X.sum(axis=1) + 0.1 * rng.normal(size=400) > 0).astype(int)
    halves = [
        (name, make_pipeline(ColumnTransformer([("one", "passthrough", [j])]), LogisticRegression()))
        for j, name in enumerate("ab")
    ]
    assert classifier(halves).fit(X, y).inverse_temperature_ > 1.3


def test_the_mixture_of_probabilities(data):
    X, y = data
    stack = classifier().fit(X, y)
    P = stack.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-14)
    full = [clone(model).fit(X, y).predict_proba(X) for _, model in QUICK]
    powers = np.einsum("k,kij->ij", stack.weights_, full) ** stack.inverse_temperature_
    np.testing.assert_allclose(P, powers / powers.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(stack.classes_, ["healthy", "sick"])
    np.testing.assert_array_equal(stack.predict(X), stack.classes_[P.argmax(axis=1)])
    assert list(stack.estimators_) == ["logistic", "bayes", "base rate"]


def test_each_fold_refits_the_whole_procedure(data, tmp_path):
    """No fold's fit sees a sample that it then predicts, and the last fit sees all."""
    log = tmp_path / "log"
    classifier({"noted": make_pipeline(Noted(str(log)))}, cv=5).fit(*data)
    seen = [{int(item) for item in line.split("|")[3].split()} for line in log.read_text().splitlines()]
    assert [len(item) for item in seen] == [48] * 5 + [60]
    left_out = [set(range(60)) - item for item in seen[:5]]
    assert set.union(*left_out) == set(range(60))


def test_the_better_candidate_gets_the_weight(data):
    X, y = data
    stack = classifier([("good", LogisticRegression()), ("noise", DummyClassifier(strategy="uniform"))]).fit(X, y)
    assert stack.weights_[0] > 0.85


@pytest.mark.parametrize("container", [pd.DataFrame, sp.csr_array, np.ndarray.tolist])
def test_containers(data, container):
    X, y = data
    models = {"a": make_pipeline(ISPCA(2, random_state=0), LogisticRegression()), "b": LogisticRegression()}
    expected = classifier(models).fit(X, y).predict_proba(X)
    X = container(X)
    if isinstance(X, pd.DataFrame):
        X.columns = [f"gene{j}" for j in X.columns]
    stack = classifier(models).fit(X, pd.Series(y))
    np.testing.assert_allclose(stack.predict_proba(X), expected, rtol=1e-6)
    assert stack.n_features_in_ == 6
    if isinstance(X, pd.DataFrame):
        assert stack.feature_names_in_[0] == "gene0"


def test_many_classes(rng):
    X, y = rng.normal(size=(90, 3)), np.repeat([3, 5, 9], 30)
    X[:, 0] += 2 * y
    stack = classifier().fit(X, y)
    assert stack.score(X, y) > 0.9
    assert stack.predict_proba(X).shape == (90, 3)


@pytest.mark.slow
def test_any_number_of_workers(data):
    models = [("ispca", make_pipeline(ISPCA(2), GaussianNB())), *QUICK]
    one, two = (classifier(models, n_jobs=n_jobs).fit(*data) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.weights_, two.weights_)
    np.testing.assert_array_equal(one.predict_proba(data[0]), two.predict_proba(data[0]))


def test_the_candidates_of_a_fold_and_the_final_fits_share_their_design(data, monkeypatch):
    made = []
    make = _transformer_base.make_design
    monkeypatch.setattr(_transformer_base, "make_design", lambda *args, **kw: made.append(1) or make(*args, **kw))
    both = [(str(count), make_pipeline(ISPCA(count, n_supervised=0), LogisticRegression())) for count in (1, 2)]
    classifier(both, cv=3).fit(*data)
    assert len(made) == 3 + 1


def test_resuming(data, tmp_path):
    log, folder = tmp_path / "log", tmp_path / "fits"
    models = {"a": Noted(str(log), "a"), "b": Noted(str(log), "b")}
    first = classifier(models, resume=folder).fit(*data)
    assert len(log.read_text().splitlines()) == 12
    again = classifier(models, resume=folder).fit(*data)
    # The folds come from the directory; only the final fits are made again.
    assert len(log.read_text().splitlines()) == 14
    np.testing.assert_array_equal(first.weights_, again.weights_)
    with pytest.raises(ValueError, match="random_state"):
        classifier(models, resume=folder, random_state=None).fit(*data)


def test_as_an_estimator(data):
    stack = classifier(cv=3)
    assert clone(stack).get_params().keys() == stack.get_params().keys()
    assert [name for name, _ in clone(stack).estimators] == [name for name, _ in QUICK]
    assert stack.set_params(cv=4, concentration=3.0).cv == 4
    with pytest.raises(NotFittedError):
        stack.predict(data[0])
    stack.fit(*data)
    restored = pickle.loads(pickle.dumps(stack))
    np.testing.assert_array_equal(restored.predict_proba(data[0]), stack.predict_proba(data[0]))
    pipeline = make_pipeline(StandardScaler(), classifier(cv=3))
    assert cross_val_score(pipeline, *data, cv=3).mean() > 0.7


def test_inside_a_comparison(data, tmp_path):
    """Nested folds run inside one worker with one thread each, and give the same for any number of workers."""
    log = tmp_path / "log"
    noted = Noted(str(log))
    stack = StackedClassifier([("noted", noted), *QUICK], cv=3, n_jobs=-1)
    tables = [compare({"stack": stack, **dict(QUICK)}, *data, cv=2, n_jobs=n).table for n in (1, 2)]
    np.testing.assert_array_equal(tables[0].mlpd, tables[1].mlpd)
    lines = [line.split("|") for line in log.read_text().splitlines()]
    assert len(lines) == 2 * 2 * 4
    assert {line[2] for line in lines} == {"1"}
    # One process for the first comparison, and at most two for the second.
    assert len({line[1] for line in lines}) <= 3
    # No fit of the stack saw a sample that the comparison held out.
    assert max(len(line[3].split()) for line in lines) == 48


def test_kernels_are_judged_by_refits_like_the_others(data):
    """Neither their calibration nor their weights see the outcomes of a fold that they predict."""
    X, y = data
    folds = [(np.flatnonzero(np.arange(60) % 3 != k), np.flatnonzero(np.arange(60) % 3 == k)) for k in range(3)]
    stack = classifier({"kernels": KernelClassifier(), "base rate": DummyClassifier()}, cv=folds).fit(X, y)
    densities = [
        KernelClassifier().fit(X[rest], y[rest]).log_predictive_density(X[fold], y[fold]) for rest, fold in folds
    ]
    assert stack.cv_table_["mlpd"][0] == pytest.approx(np.concatenate(densities).mean(), abs=1e-9)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, sp.csr_array])
def test_copies_stay_in_one_fold(rng, container):
    X, y = np.tile(rng.normal(size=(20, 30)), (3, 1)), np.tile(rng.integers(0, 2, 20), 3)
    stack = classifier({"neighbor": KNeighborsClassifier(1), "base rate": DummyClassifier()}, cv=4).fit(
        container(X), y
    )
    assert stack.cv_table_["mlpd"][0] < -5  # half of its certain predictions are wrong


def test_the_prior_of_kernels_does_not_depend_on_their_name():
    scores = make_pipeline(KernelScores(), HorseshoeClassifier())
    candidates = [KernelClassifier(), scores, make_pipeline(ISPCA(), HorseshoeClassifier()), DummyClassifier()]
    assert concentrations(candidates, 1.5).tolist() == [5, 5, 1.5, 1.5]


def test_chains_are_shorter_in_the_folds():
    pipeline = make_pipeline(ISPCA(), HorseshoeClassifier(n_warmup=2000, n_draws=100))
    short = in_fold(pipeline)[1]
    assert (short.n_chains, short.n_warmup, short.n_draws, short.retry) == (2, 400, 100, False)
    assert pipeline[1].n_warmup == 2000


def test_default_candidates():
    names = ["kernels", "lasso", "SPCA", "ISPCA-cross-fitted", "base rate"]
    many = [name for name in names if name != "SPCA"]
    for kind, n_classes, n_components, expected in (
        ("classification", 2, 50, names),
        ("classification", 5, 20, many),
        ("regression", 0, 50, names),
        ("survival", 0, 50, names),
        ("ordinal", 4, 50, [name for name in names if name != "lasso"]),
    ):
        candidates = dict(default_candidates(kind, n_classes))
        assert list(candidates) == expected
        assert candidates["ISPCA-cross-fitted"][0].n_components == n_components


# Values


def test_the_mixture_density_integrates_to_one(values):
    X, y = values
    stack = regressor().fit(X, y)
    grid = np.linspace(-20, 25, 4001)
    for sample in X[:3]:
        density = np.exp(stack.log_predictive_density(np.tile(sample, (len(grid), 1)), grid))
        assert integrate.simpson(density, x=grid) == pytest.approx(1, abs=1e-6)
        mean, spread = (float(item[0]) for item in stack.predict(sample[None], return_std=True))
        assert integrate.simpson(grid * density, x=grid) == pytest.approx(mean, abs=1e-5)
        assert integrate.simpson((grid - mean) ** 2 * density, x=grid) == pytest.approx(spread**2, abs=1e-4)
        low, high = stack.predict_interval(sample[None], 0.8)[0]
        inside = (grid >= low) & (grid <= high)
        assert integrate.simpson(density[inside], x=grid[inside]) == pytest.approx(0.8, abs=0.02)
    np.testing.assert_array_equal(stack.predict(X), stack.predict(X, return_std=True)[0])


def test_the_density_by_hand(values):
    X, y = values
    stack = regressor().fit(X, y)
    parts = [norm.pdf(y, *clone(model).fit(X, y).predict(X, return_std=True)) for _, model in NORMAL]
    np.testing.assert_allclose(np.exp(stack.log_predictive_density(X, y)), stack.weights_ @ np.array(parts))


def test_intervals_cover(rng):
    covered = []
    for _ in range(6):
        X = rng.normal(size=(460, 5))
        y = X[:, 0] - X[:, 1] + rng.normal(size=460)
        low, high = regressor().fit(X[:60], y[:60]).predict_interval(X[60:]).T
        covered.append(np.mean((low < y[60:]) & (y[60:] < high)))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_posteriors_in_a_stack(values):
    X, y = values
    short = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False}
    horseshoe = make_pipeline(ISPCA(2, whiten=True, family="gaussian"), HorseshoeRegressor(**short))
    stack = regressor([("horseshoe", horseshoe), *NORMAL], cv=3).fit(X, y)
    assert stack.score(X, y) > 0.5
    assert np.isfinite(stack.log_predictive_density(X, y)).all()
    result = compare({"stack": stack, "base": BaseRateRegressor()}, X, y, cv=2, n_jobs=1)
    assert result.table["method"][0] == "stack"
    assert np.isfinite(result.scores["coverage"]).all()


WEIGHTED = [("ridge", BayesianRidge()), ("strong ridge", BayesianRidge(lambda_1=10.0))]
LEFT_TO_CANDIDATES = {"check_dtype_object": "objects in X are left to the candidates, whose errors are collected"}


@pytest.mark.grid(3)
@parametrize_with_checks(
    [classifier(QUICK[:2], cv=2), regressor(WEIGHTED, cv=2), BaseRateRegressor()],
    expected_failed_checks=lambda item: {} if isinstance(item, BaseRateRegressor) else LEFT_TO_CANDIDATES,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_check(estimator, check):
    check(estimator)
