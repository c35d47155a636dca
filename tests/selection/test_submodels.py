"""Submodels predict from projected draws like any other model of the package, for every kind of target."""

import numpy as np
import pytest
from sklearn.base import clone

from ispca.models.coefficients import coefficients_by_column
from ispca.selection.projection import project
from ispca.selection.reference import reference_predictions
from ispca.selection.submodels_and_panels import SUBMODELS
from ispca.targets import find_target
from ispca.targets.samples import Samples
from selected_models import NAMES, REFERENCES, problem, reference, submodel

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # The panel passes its names on, so that scikit-learn has nothing to warn about.
    pytest.mark.filterwarnings("error:X does not have valid feature names"),
]
CLASSES = [name for name, (kind, _) in REFERENCES.items() if kind in ("classification", "ordinal")]


@pytest.mark.parametrize("name", REFERENCES)
def test_all_features_predict_like_the_reference(name):
    X, y = problem(name)
    model, *_ = reference(name)
    full = submodel(name, tuple(NAMES))
    n_draws = model.posterior_.n_draws
    used = np.arange(60) * n_draws // 60
    assert full[-1].posterior_.coef.shape[:2] == (1, 60)
    contrasts = model.posterior_.contrasts()[0]
    expected = contrasts.reshape(n_draws, *contrasts.shape[2:])[used]
    np.testing.assert_allclose(full[-1].posterior_.coef[0], expected, atol=1e-6)
    density = full[-1].log_predictive_density(X, y).mean()
    assert density == pytest.approx(model.log_predictive_density(X, y).mean(), abs=0.02)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_pipeline_takes_the_full_table_and_its_last_step_the_panel(name):
    X, y = problem(name)
    model = submodel(name, ("c", "a"))
    np.testing.assert_array_equal(model.predict(X), model[-1].predict(X[["c", "a"]]))
    assert model[-1].feature_names_in_.tolist() == ["c", "a"]
    # The first feature drives the target, and a submodel without features knows only its distribution.
    without = submodel(name, ())[-1].log_predictive_density(X[[]], y).mean()
    assert model[-1].log_predictive_density(X[["c", "a"]], y).mean() > without + 0.1
    assert model.score(X, y) > submodel(name, ()).score(X, y) + 0.1


@pytest.mark.parametrize("name", CLASSES)
def test_probabilities_belong_to_the_classes(name):
    X, _ = problem(name)
    model = submodel(name, ("c", "a"))
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert model.classes_.tolist() == reference(name)[2].tolist()
    assert model.predict(X).tolist() == model.classes_[probabilities.argmax(axis=1)].tolist()


@pytest.mark.parametrize("name", REFERENCES)
def test_coefficients_with_intervals_in_original_features(name):
    model = submodel(name, ("c", "a"))
    table = coefficients_by_column(model)
    n_outputs = len(set(table.target_class))
    assert n_outputs == (3 if name == "three classes" else 1)
    assert table.feature.tolist() == ["(intercept)", *NAMES] * n_outputs
    assert not table[np.isin(table.feature, ["b", "d"])]["mean"].any()
    coef, intercept = (np.atleast_2d(values) for values in (model[-1].coef_, model[-1].intercept_))
    for feature, place in (("c", 0), ("a", 1)):
        rows = table[table.feature == feature]
        np.testing.assert_allclose(rows["mean"], coef[:, place])
        assert (rows.q5 < rows["mean"]).all()
        assert (rows["mean"] < rows.q95).all()
    np.testing.assert_allclose(table[:: len(NAMES) + 1]["mean"], intercept.ravel(), atol=1e-12)
    alone = coefficients_by_column(model[-1])
    assert alone.feature.tolist() == ["(intercept)", "c", "a"] * n_outputs


@pytest.mark.parametrize("name", REFERENCES)
def test_without_features_all_samples_are_predicted_alike(name):
    X, _ = problem(name)
    model = submodel(name, ())
    assert model[-1].n_features_in_ == 0
    assert not hasattr(model[-1], "feature_names_in_")
    for predicted in (model.predict(X), model[-1].predict(X[[]]), model[-1].predict(np.empty((len(X), 0)))):
        assert (len(predicted), len(set(predicted.tolist()))) == (len(X), 1)
    table = coefficients_by_column(model[-1])
    assert set(table.feature) == {"(intercept)"}
    assert not coefficients_by_column(model)["mean"].reshape(-1, len(NAMES) + 1)[:, 1:].any()
    with pytest.raises(ValueError, match="1 features"):
        model[-1].predict(X[["a"]])


@pytest.mark.parametrize("name", ["three classes", "ordinal", "numbers", "survival"])
@pytest.mark.parametrize("features", [("c", "a"), ()])
def test_draws_go_to_arviz(name, features):
    pytest.importorskip("arviz", reason="ArviZ is not installed")
    data = submodel(name, features)[-1].to_arviz()
    draws = data["posterior"]
    assert draws["coef"].sizes["draw"] == 60
    assert draws["feature"].to_numpy().tolist() == list(features)
    assert not {"tau", "slab", "local_scale"} & set(draws.data_vars)
    groups = data.groups() if callable(data.groups) else data.groups
    assert not any("sample_stats" in group for group in groups)


def test_survival_curves_use_hazards_of_the_submodel():
    X, y = problem("survival")
    model, without = submodel("survival", ("c", "a"))[-1], submodel("survival", ())[-1]
    reference_model = reference("survival")[0]
    times = [0.2, 0.5, 1.0]
    curves = model.survival_curves(X[["c", "a"]], times)
    assert np.abs(curves.mean - reference_model.survival_curves(X, times).mean).mean() < 0.05
    assert model.event_times_.tolist() == reference_model.event_times_.tolist()
    # Without features, Breslow's estimate is that of Nelson and Aalen.
    at_risk = np.array([(y["time"] >= time).sum() for time in without.event_times_])
    np.testing.assert_allclose(np.exp(without.cumulative_hazard_.log_values[0]), np.cumsum(1 / at_risk))


def test_samples_of_weight_zero_do_not_count():
    X, y = problem("survival")
    _, predictions, _ = reference("survival")
    used = np.arange(len(y)) % 3 > 0
    fewer = predictions._replace(mean=predictions.mean[used], offset=predictions.offset[used], y=y[used])
    weighted = predictions._replace(sample_weight=used.astype(float))
    first = SUBMODELS["survival"]().fit(X[["a"]], weighted)
    second = SUBMODELS["survival"]().fit(X.loc[used, ["a"]], fewer)
    np.testing.assert_allclose(first.coef_, second.coef_)
    np.testing.assert_allclose(first.posterior_.hazard.log_rates, second.posterior_.hazard.log_rates)
    assert first.event_times_.tolist() == second.event_times_.tolist()


def test_counts_take_an_offset():
    X, _ = problem("poisson")
    model = submodel("poisson", ("c", "a"))[-1]
    offset = np.full(len(X), np.log(2.0))
    np.testing.assert_allclose(model.predict(X[["c", "a"]], offset), 2 * model.predict(X[["c", "a"]]))


@pytest.mark.parametrize("kind", SUBMODELS)
def test_clones_have_learned_nothing(kind):
    name = next(name for name, (other, _) in REFERENCES.items() if other == kind)
    fitted = submodel(name, ("c", "a"))
    assert type(fitted[-1]) is SUBMODELS[kind]
    copy = clone(fitted)
    assert (copy[0].features, copy[-1].get_params()) == (["c", "a"], {})
    assert not hasattr(copy[-1], "posterior_")


def test_the_draws_are_those_of_the_projection():
    X, _ = problem("numbers")
    _, predictions, _ = reference("numbers")
    found = project(X[["c", "a"]].to_numpy(), predictions)
    posterior = submodel("numbers", ("c", "a"))[-1].posterior_
    np.testing.assert_array_equal(posterior.coef[0], found.coef)
    np.testing.assert_array_equal(posterior.sigma[0], found.extra)


def test_inputs_that_do_not_belong_together_are_refused():
    X, _ = problem("numbers")
    _, predictions, _ = reference("numbers")
    model = SUBMODELS["regression"]()
    with pytest.raises(ValueError, match="X has 79 samples, but there are predictions for 80"):
        model.fit(X.iloc[1:], predictions)
    with pytest.raises(ValueError, match="project draws, not clusters"):
        model.fit(X, predictions._replace(weights=np.arange(60) / 1770))
    with pytest.raises(ValueError, match="Pass classes if"):
        model.fit(X, predictions, ["a", "b"])
    with pytest.raises(ValueError, match="Pass classes if"):
        SUBMODELS["classification"]().fit(X, reference("two classes")[1])


@pytest.mark.parametrize("name", REFERENCES)
def test_a_submodel_can_be_the_reference_of_a_smaller_one(name):
    X, y = problem(name)
    kind, larger = REFERENCES[name][0], submodel(name, ("c", "a"))
    classes = getattr(larger, "classes_", None)
    drawn = reference_predictions(larger, Samples(X, y), find_target(kind, classes), 60)
    again = SUBMODELS[kind]().fit(X[["c", "a"]], drawn, classes)
    np.testing.assert_allclose(again.posterior_.coef, larger[-1].posterior_.coef, atol=1e-6)
