"""ProjectionSelector: what it finds, what it shows, and that it is a scikit-learn selector."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from ispca.selection import ProjectionSelector
from ispca.selection import selector as selector_module
from ispca.validation import compare
from selected_models import NAMES, REFERENCES, problem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"max_features": 5, "cv": 4, "n_draws": 20, "n_jobs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def frame():
    """Eighty samples; TWIN nearly repeats GENE3, and the target depends on GENE3 and GENE7."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(80, 10)), columns=[f"GENE{i}" for i in range(10)])
    X["TWIN"] = X["GENE3"] + 0.01 * rng.normal(size=80)
    y = 2 * X["GENE3"] - X["GENE7"] + 0.5 * rng.normal(size=80)
    return X, y


@pytest.fixture(scope="module")
def selector(frame):
    return ProjectionSelector(BayesianRidge(), **QUICK).fit(*frame)


def assert_same(first, second):
    assert first.dtype.names == second.dtype.names
    for name in first.dtype.names:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


def test_the_true_features_are_suggested(selector):
    assert selector.validated_
    assert selector.n_features_ == 2
    assert set(selector.path_.feature[1:3]) <= {"GENE3", "TWIN", "GENE7"}
    assert selector.path_.feature[0] == ""
    assert selector.path_.dtype.names == (
        *("size", "feature", "dropped", "divergence"),
        *("density", "difference", "difference_error", "r2", "fraction"),
    )
    path = selector.path_
    np.testing.assert_allclose(path.difference, path.density - selector.reference_density_)
    assert (np.diff(path.divergence) < 1e-12).all()
    assert selector.message_.startswith("2 features predict held-out samples as well as the reference")


def test_features_are_counted_in_folds_that_chose_them(selector):
    table = selector.panel()
    assert table.feature.tolist() == [selector.feature_names_in_[place] for place in selector.panels_[2]]
    assert table.fraction[table.feature == "GENE7"] == 1
    assert ((table.fraction >= 0) & (table.fraction <= 1)).all()
    np.testing.assert_allclose(selector.path_.fraction[2], table.fraction.mean())
    assert np.isnan(selector.path_.fraction[0])
    effect = dict(zip(table.feature, table["mean"], strict=True))
    assert effect.pop("GENE7") == pytest.approx(-1, abs=0.3)
    assert effect.popitem()[1] == pytest.approx(2, abs=0.3)
    assert len(selector.panel(0)) == 0


def test_a_feature_stands_for_its_twin(selector):
    chosen, other = (name if name in selector.path_.feature[1:3] else None for name in ("GENE3", "TWIN"))
    chosen, other = (chosen, "TWIN") if chosen else (other, "GENE3")
    groups = selector.groups_
    assert other in groups.stands_for[groups.feature == chosen]
    assert "GENE7" not in groups.feature
    table = selector.alternatives(chosen)
    assert table.feature[0] == other
    assert table.equivalent.tolist() == [True] + [False] * (len(table) - 1)
    assert table.correlation[0] > 0.99
    assert (np.diff(table.cost) >= 0).all()
    np.testing.assert_allclose(table.cost_in_errors, table.cost / selector.path_.difference_error[2])
    by_index = selector.alternatives(int(selector.panels_[1][0]), size=1)
    assert by_index.feature.tolist() == selector.alternatives(selector.path_.feature[1], size=1).feature.tolist()


def test_a_scikit_learn_selector(selector, frame):
    X, y = frame
    assert selector.get_support().sum() == 2
    names = selector.get_feature_names_out()
    assert set(names) == set(selector.path_.feature[1:3])
    np.testing.assert_array_equal(selector.transform(X), X[names])
    framed = clone(selector).set_output(transform="pandas").fit(X, y)
    pd.testing.assert_frame_equal(framed.transform(X), X[names])
    assert clone(selector).get_params()["reference__max_iter"] == 300
    chain = make_pipeline(clone(selector), BayesianRidge()).fit(X, y)
    assert chain[-1].n_features_in_ == 2
    compared = compare({"chain": chain}, X, y, cv=2, n_jobs=1)
    assert not compared.errors


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["array", "sparse"])
def test_other_containers_give_the_same(selector, frame, container):
    X, y = container(frame[0]), frame[1]
    reference = LogisticRegression()
    labels = np.where(y > 0, "high", "low")
    dense = ProjectionSelector(reference, **QUICK).fit(frame[0], labels)
    other = ProjectionSelector(reference, **QUICK).fit(X, labels)
    assert [panel.tolist() for panel in other.panels_] == [panel.tolist() for panel in dense.panels_]
    assert other.path_.feature[1] == str(other.panels_[1][0])
    np.testing.assert_allclose(other.path_.density, dense.path_.density, rtol=1e-6)
    assert other.submodel(2).predict(X).dtype == labels.dtype


def test_submodels_predict_and_match(selector, frame):
    X = frame[0]
    submodel = selector.submodel()
    panel = selector.path_.feature[1:3]
    assert submodel[-1].feature_names_in_.tolist() == panel.tolist()
    np.testing.assert_allclose(submodel.predict(X), submodel[-1].predict(X[panel]))
    np.testing.assert_allclose(submodel.predict(X), selector.reference_.predict(X), atol=0.5)
    assert np.ptp(selector.submodel(0).predict(X)) < 1e-12
    with pytest.raises(ValueError, match="size=6, but the path has sizes from 0 to 5"):
        selector.submodel(6)
    with pytest.raises(ValueError, match=r"'GENE0' is not in the submodel of size 2. Did you mean GENE"):
        selector.alternatives("GENE0")


@pytest.mark.parametrize("name", list(REFERENCES))
def test_every_kind_of_target(name):
    X, y = problem(name)
    kind, model = REFERENCES[name]
    selector = ProjectionSelector(clone(model), kind=kind, **QUICK | {"max_features": 2, "cv": 2}).fit(X, y)
    assert selector.path_.feature[1] == NAMES[0]
    assert np.isfinite(selector.path_.density).all()
    assert selector.path_.density[1] > selector.path_.density[0]
    predicted = selector.submodel(1).predict(X)
    assert len(predicted) == len(X)
    if kind == "classification":
        assert set(predicted) <= set(y)


def test_ordered_classes_keep_their_labels():
    X, y = problem("ordinal")
    words = np.array(["low", "middle", "high", "top"])[: len(np.unique(y))]
    labels = pd.Categorical(words[np.searchsorted(np.unique(y), y)], words, ordered=True)
    model = REFERENCES["ordinal"][1]
    selector = ProjectionSelector(clone(model), **QUICK | {"max_features": 1, "cv": 2}).fit(X, labels)
    assert set(selector.submodel(1).predict(X)) <= set(words)
    given = ProjectionSelector(clone(model).fit(X, labels), prefit=True, **QUICK | {"cv": None}).fit(X, labels)
    assert set(given.submodel(1).predict(X)) <= set(words)


def test_wanted_and_unwanted_features(frame):
    X, y = frame
    settings = QUICK | {"max_features": 4, "cv": 2}
    selector = ProjectionSelector(BayesianRidge(), always=["GENE9", "GENE0"], never=["GENE3", 7], **settings)
    with pytest.raises(ValueError, match="never contains names"):
        selector.fit(X, y)
    selector.set_params(never=["GENE3", "GENE7"]).fit(X, y)
    assert selector.path_.feature[1:3].tolist() == ["GENE9", "GENE0"]
    assert not {"GENE3", "GENE7"} & set(selector.path_.feature)
    assert not {"GENE3", "GENE7"} & set(selector.alternatives("TWIN", 4).feature)
    assert selector.n_features_ >= 2


def test_prices(frame):
    X, y = frame
    free = ProjectionSelector(BayesianRidge(), costs={"GENE3": 50, "TWIN": 2.5}, **QUICK | {"cv": None}).fit(X, y)
    assert "TWIN" in free.path_.feature[1:3]
    np.testing.assert_allclose(sorted(np.diff(free.path_.cost)[:2]), [1, 2.5])
    prices = np.where(X.columns == "GENE3", 50, np.where(X.columns == "TWIN", 2.5, 1.0))
    same = clone(free).set_params(costs=prices).fit(X, y)
    assert_same(same.path_, free.path_)


def test_no_validation(frame, selector):
    unvalidated = ProjectionSelector(BayesianRidge(), **QUICK | {"cv": None}).fit(*frame)
    assert not unvalidated.validated_
    assert unvalidated.reference_density_ is None
    assert unvalidated.path_.dtype.names == ("size", "feature", "dropped", "divergence")
    np.testing.assert_array_equal(unvalidated.path_.divergence, selector.path_.divergence)
    assert unvalidated.message_.startswith("Not validated")
    assert np.isnan(unvalidated.panel(1).fraction).all()
    assert len(unvalidated.alternatives(unvalidated.path_.feature[1]))


def test_nothing_to_find(rng):
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 2, 60)
    selector = ProjectionSelector(LogisticRegression(), **QUICK).fit(X, y)
    assert selector.n_features_ == 0
    assert "significantly better" in selector.message_
    assert len(selector.groups_) == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X).shape == (60, 0)
    assert len(selector.submodel().predict_proba(X)) == 60


def test_a_fitted_reference_is_used_as_it_is(frame, selector):
    X, y = frame
    fitted = BayesianRidge().fit(X, y)
    given = ProjectionSelector(fitted, prefit=True, **QUICK).fit(X, y)
    assert given.reference_ is fitted
    assert_same(given.path_, selector.path_)


def test_text_is_never_chosen(frame):
    X, y = frame
    mixed = X.assign(batch=np.where(np.arange(80) % 2, "A", "B"))
    genes = make_column_transformer(("passthrough", list(X.columns)))
    selector = ProjectionSelector(make_pipeline(genes, BayesianRidge()), **QUICK).fit(mixed, y)
    plain = ProjectionSelector(BayesianRidge(), **QUICK).fit(X, y)
    assert selector.path_.feature.tolist() == plain.path_.feature.tolist()
    assert selector.transform(mixed).dtype == np.float64
    assert len(selector.submodel(2).predict(mixed)) == 80


def test_an_interrupted_validation_leaves_the_path(frame, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(selector_module, "validate_path", interrupted)
    selector = ProjectionSelector(BayesianRidge(), **QUICK)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(*frame)
    assert not selector.validated_
    assert selector.message_.startswith("Not validated")
    assert selector.transform(frame[0]).shape == (80, selector.n_features_)


@pytest.mark.parametrize(
    "reference", [BayesianRidge(), pytest.param(LogisticRegression(), marks=pytest.mark.slow)]
)
def test_scikit_learn_checks(reference):
    settings = {"max_features": 2, "cv": 2, "n_draws": 4, "n_jobs": 1, "random_state": 0}
    check_estimator(ProjectionSelector(reference, **settings))
